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

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.registry import Answer
from dalembert.complementarity.residual import judge
from dalembert.complementarity.solve import lcp

LADDER = (1e-6, 1e-5, 1e-4)  # e of the proximal points relative to the mean of the diagonal of W
_PROXIMAL, _SLOW = 40, 5


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
    """One linear complementarity problem by a method of `lcp`; by proximal points where that gave up."""
    H0, U, q, T = parts(problem, d, per_axis, eps)
    H = H0 + U
    found = lcp(H, q, method=method)
    z, status, pivots, tries, helper = found.z, found.status, found.pivots, 1, found.fallback
    best = found.relative_residual
    for e in LADDER if fallback and not found.solved else ():
        other, word, more, count = _proximal(H, q, e * float(np.diag(problem.W).mean()))
        pivots, tries, relative = pivots + more, tries + count, judge(H, q, other).relative
        if word == "solved" or relative < best:
            z, status, best, helper = other, word, relative, "proximal points"
        if word == "solved":
            break
    return Answer(T @ z[: T.shape[1]], status, tries, pivots, helper)


def _proximal(H: Array, q: Array, e: float) -> tuple[Array, str, int, int]:
    """(z, status, pivots, iterations) of z' = SOL(H + e 1, q - e z), z = 0 at first.

    H + e 1 is strictly copositive: Lemke's method solves every one of these problems, where it may fail on H itself, whose pivots can be
    round-off when contacts are redundant. What stays fixed solves LCP(H, q); a small e takes two or three iterations.
    """
    z, pivots, shifted = np.zeros(len(q)), 0, H + e * np.eye(len(q))
    for k in range(_PROXIMAL):
        found = lcp(shifted, q - e * z, method="lemke", start=z if k else None)
        pivots += found.pivots
        if k == _SLOW:  # the sides are mostly right by now, and may do without e
            last = lcp(H, q, method="lemke", start=z)
            pivots += last.pivots
            if last.solved:
                return last.z, "solved", pivots, k + 1
        if not found.solved:
            return z, found.status, pivots, k + 1
        change, z = np.abs(found.z - z).max(), found.z
        if change <= 1e-13 * np.abs(z).max() or judge(H, q, z).solved(1e-12):
            return z, "solved", pivots, k + 1
    return z, "iteration-limit", pivots, _PROXIMAL
