"""Fastest vibration and fastest decay of a tree about rest at one configuration.

With K and C the derivatives of the forces that hold the machine at rest, by q and by v (central differences), on the motions that the
constraints allow,

    vibration    sqrt of the largest |eigenvalue| of M^-1 K            decay    the largest |eigenvalue| of M^-1 C

Trees of more than `DENSE` degrees of freedom without constraints: the largest Ritz value of `STEPS` steps of Arnoldi's method in the metric
of M, which is within the field of values of M^-1 K; each step costs O(n). Measured: for chains of 40 to 500 links within 2e-8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigvals

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.aba import accelerations
from dalembert.kernels.tree.group import move
from dalembert.model import Model
from dalembert.model.compile_tree import work_size

DIFFERENCE = 1e-5  # rad or m; rad/s or m/s
DENSE = 32
STEPS = 24

Times = Callable[[Array], Array]


def fastest_rates(model: Model, q: Array, t: float, functions: Sequence[Any], stops: Array, damped: bool) -> tuple[float, float]:
    """(vibration, decay), 1/s. functions: forces f(t, q, v) beside those of the model; stops: stiffness of limits, (nv,).

    damped: forces depend on velocities beside what inertia does, which is even in them and so has no slope at rest.
    """

    rest, moved, bare = np.zeros(model.nv), _mover(model), model.without("function")

    def held(at: Array, v: Array) -> Array:
        return bare.inverse_dynamics(at, v, rest) - sum((np.asarray(f(t, at, v), dtype=float) for f in functions), start=rest)

    def K(x: Array) -> Array:
        return held(moved(q, x), rest) - held(moved(q, -x), rest) + 2.0 * stops * x

    def C(x: Array) -> Array:
        return held(q, x) - held(q, -x)

    found = _largest(model, q, K), _largest(model, q, C) if damped or functions else 0.0
    return float(np.sqrt(found[0])), found[1]


def _largest(model: Model, q: Array, change: Times) -> float:
    """Largest |eigenvalue| of M^-1 A, `change` twice A x for small x; 0 where there is none, or none that is finite."""

    def A_times(x: Array) -> Array:
        d = DIFFERENCE / max(float(np.abs(x).max()), np.finfo(float).tiny)
        return change(d * x) / (2.0 * d)

    if model.nv > DENSE and not model._has_rows:
        return ritz_value(A_times, _solver(model, q), model.nv)
    N = _allowed(model, q)
    M, A = N.T @ model.mass_matrix(q) @ N, N.T @ np.array([A_times(x) for x in np.eye(model.nv)]).T @ N
    if not len(M) or not np.isfinite(A).all() or not np.isfinite(M).all() or not A.any():
        return 0.0
    found = np.abs(eigvals(A, M))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def ritz_value(times: Times, solve: Times, n: int, steps: int = STEPS) -> float:
    """Largest |Ritz value| of M^-1 A: A x by `times`, M^-1 f by `solve`. 0 where numbers are not finite.

    V: basis with V M V^T = 1, F = V M, kept side by side: M w = A v is known before w.
    """
    steps = min(steps, n)
    V, F, H = np.zeros((steps, n)), np.zeros((steps, n)), np.zeros((steps, steps))
    f = np.random.default_rng(0).normal(size=n)
    w, whole = solve(f), 0.0
    for j in range(steps):
        square = float(w @ f)
        if not square > (1e-12 * whole) ** 2 or not np.isfinite(square):
            steps = j
            break
        norm = np.sqrt(square)
        if j:
            H[j, j - 1] = norm
        V[j], F[j] = w / norm, f / norm
        f = times(V[j])
        w = solve(f)
        whole = np.sqrt(abs(float(w @ f)))
        for _ in range(2):  # orthogonal to round-off
            h = F[: j + 1] @ w
            w, f = w - h @ V[: j + 1], f - h @ F[: j + 1]
            H[: j + 1, j] += h
    if not steps or not np.isfinite(H).all():
        return 0.0
    return float(np.max(np.abs(np.linalg.eigvals(H[:steps, :steps]))))


def _mover(model: Model) -> Callable[[Array, Array], Array]:
    """(q, dq) -> q exp(dq)."""
    if model.nq == model.nv:
        return np.add
    system = model._dynamics().system
    at_q, at_v, work, n = int(system[at.AT_Q]), int(system[at.AT_V]), np.zeros(work_size(system)), model.nq

    def moved(q: Array, dq: Array) -> Array:
        work[at_q : at_q + n], work[at_v : at_v + len(dq)] = q, dq
        move(system, work, at_q, at_v, at_q)
        return work[at_q : at_q + n].copy()

    return moved


def _solver(model: Model, q: Array) -> Times:
    """f -> M(q)^-1 f: accelerations from rest without weight and loads."""
    bare = model._dynamics().bare.copy()
    bare[at.GRAVITY : at.GRAVITY + 3] = 0.0
    bare[at.PASSIVE] = 0.0
    work, nq, nv = np.zeros(work_size(bare)), model.nq, model.nv
    at_q, at_v, tau, acc = (int(bare[k]) for k in (at.AT_Q, at.AT_V, at.AT_TAU, at.AT_ACC))

    def solve(f: Array) -> Array:
        work[at_q : at_q + nq], work[at_v : at_v + nv], work[tau : tau + nv] = q, 0.0, f
        ok = accelerations(bare, work, at_q, at_v, tau, acc)
        return work[acc : acc + nv].copy() if ok else np.full(nv, np.nan)

    return solve


def _allowed(model: Model, q: Array) -> Array:
    """Velocities that the constraints allow, columns."""
    if not model._has_rows:
        return np.eye(model.nv)
    _, s, Vt = np.linalg.svd(model.constraint_rows(q)[1])
    return np.asarray(Vt[int(np.sum(s > 1e-9 * s.max(initial=0.0))) :].T)
