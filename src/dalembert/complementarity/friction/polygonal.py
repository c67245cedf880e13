"""Friction as one linear complementarity problem: impulses along given directions, all >= 0 (lacoursiere2007 (10.65-70), (10.76), (10.86)).

    z = (along directions, normal, slip speeds) >= 0,   r = T (along, normal)
    [ T^T W T + eps      [E; 0] ]       [ T^T b ]
    [ [-E^T  U]           eps   ] z  +  [   0   ]  >= 0  _|_  z                   U = mu

E: ones, where a slip speed belongs to a direction. One slip speed per contact is the polygonal cone of Anitescu, Potra, Stewart and
Trinkle, one per axis the pyramid. The matrix is positive semidefinite plus nonnegative, hence copositive (eps > 0: strictly): Lemke's
method ends with a solution for any mu >= 0, redundant contacts included. eps = 0 unless given; with eps > 0 the model changes, and the
judge will say so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.registry import Answer
from dalembert.complementarity.problem import Array
from dalembert.complementarity.residual import judge
from dalembert.complementarity.solve import lcp

LADDER = (1e-8, 1e-6, 1e-4)  # eps relative to the mean of the diagonal, where a problem without it was not solved


def parts(problem: ContactProblem, d: Array, per_axis: bool = False, eps: float = 0.0) -> tuple[Array, Array, Array, Array]:
    """(H0, U, q, T): H0 + U is the matrix above, U >= 0 holds the coefficients of friction alone (17.1).

    d: unit vectors (k, 2) for all contacts, or (m, k, 2).
    """
    m = problem.contacts
    d = np.broadcast_to(d, (m, *d.shape[-2:]))
    k = d.shape[1]
    T = np.zeros((3 * m, m * k + m))
    for i in range(m):
        T[3 * i + 1 : 3 * i + 3, k * i : k * i + k] = d[i].T
        T[3 * i, m * k + i] = 1.0
    axes = 2 if per_axis else 1
    owner = np.arange(k) % 2 if per_axis else np.zeros(k, dtype=int)  # directions of the pyramid: +1, +2, -1, -2
    E = np.kron(np.eye(m), (owner[:, None] == np.arange(axes)[None]).astype(float))
    first, slips = m * k + m, m * axes
    H0, U = np.zeros((first + slips, first + slips)), np.zeros((first + slips, first + slips))
    H0[:first, :first] = T.T @ problem.W @ T
    H0[: m * k, first:], H0[first:, : m * k] = E, -E.T
    H0[np.diag_indices(first + slips)] += eps
    U[first:, m * k : first] = np.kron(np.diag(problem.mu), np.ones((axes, 1)))
    return H0, U, np.concatenate([T.T @ problem.b, np.zeros(slips)]), T


def solve_polygonal(problem: ContactProblem, d: Array, method: str, eps: float, per_axis: bool = False, fallback: bool = True) -> Answer:
    """One linear complementarity problem by a method of `lcp`; where that gave up, by Lemke's with a small eps, and from there without."""
    H0, U, q, T = parts(problem, d, per_axis, eps)
    H = H0 + U
    found = best = lcp(H, q, method=method)
    size, pivots, tries, helper = float(np.diag(problem.W).mean()), found.pivots, 1, found.fallback
    for e in LADDER:
        if best.solved or not fallback:
            break
        near = lcp(H + e * size * np.eye(len(q)), q, method="lemke")
        found = lcp(H, q, method="lemke", start=near.z) if near.solved else near
        pivots, tries, helper = pivots + near.pivots + found.pivots, tries + 2, "lemke with eps"
        for candidate in (near.z, found.z):
            again = judge(H, q, candidate)
            if again.relative < best.relative_residual:
                best = replace(near, z=candidate, relative_residual=again.relative, status="solved" if again.solved() else "singular")
    return Answer(T @ best.z[: T.shape[1]], best.status, tries, pivots, helper)
