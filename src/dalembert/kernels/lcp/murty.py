"""Murty's principal pivoting: see `dalembert.complementarity.murty`."""

from dalembert.kernels._jit import inline, kernel, packed
from dalembert.kernels.lcp.codes import (
    CYCLE,
    FEASIBILITY,
    FIRST,
    FREE,
    KEPT,
    LIMIT,
    LOWER,
    PIVOT_LIMIT,
    PIVOTS,
    RUN,
    SINGULAR,
    SOLVED,
    UPPER,
    WARM,
)
from dalembert.kernels.lcp.dense import axpy
from dalembert.kernels.lcp.dictionary import build, pivot, sides, values
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.polish import polish, size
from dalembert.kernels.lcp.run import conclude, prepare


@inline
def _infeasible(i, side, x, lower, upper, tol):
    if side[i] == FREE:
        return x[i] < lower[i] - tol or x[i] > upper[i] + tol
    if lower[i] == upper[i]:
        return False
    return x[i] < -tol if side[i] == LOWER else x[i] > tol


@inline
def _select(side, x, lower, upper, tol, last):
    """The last (or first) infeasible index, -1 if there is none."""
    n = side.shape[0]
    for k in range(n):
        i = n - 1 - k if last else k
        if _infeasible(i, side, x, lower, upper, tol):
            return i
    return -1


@inline
def _toggle(T, r, x, side, lower, upper, n):
    """Move index r to where its partner becomes feasible, and pivot."""
    if side[r] == FREE:
        low = x[r] < lower[r]
        theta = ((lower[r] if low else upper[r]) - x[r]) / T[r, r]
        axpy(x, theta, T[r])
        x[r] = theta
        side[r] = LOWER if low else UPPER
    else:
        bound = lower[r] if side[r] == LOWER else upper[r]
        theta = -x[r] / T[r, r]
        axpy(x, theta, T[r])
        x[r] = bound + theta
        side[r] = FREE
    pivot(T, r, n)


@kernel
def murty(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """options[FIRST]: 1 takes the last infeasible index, 0 the first."""
    n, x, limit, tiny = q.shape[0], V[2], options[LIMIT], 1e-14
    if options[WARM] == 0.0:
        sides(lower, upper, side)
    forget(info)
    while True:  # each turn starts from a fresh factorisation
        if not (build(M, lower, upper, side, A, tiny) and polish(M, q, lower, upper, side, z, w, options, B, V, I, info)):
            return SINGULAR
        values(side, z, w, x)
        tol = options[FEASIBILITY] * size(z)
        turn = 0
        while turn < 4 * n + 40:
            r = _select(side, x, lower, upper, tol, options[FIRST] != 0.0)
            if r < 0:
                break
            if info[PIVOTS] >= limit:
                return PIVOT_LIMIT
            if not abs(A[r, r]) > tiny:
                return SINGULAR
            if repeats(side, 0, info):
                return CYCLE
            _toggle(A, r, x, side, lower, upper, n)
            info[PIVOTS] += 1.0
            turn += 1
        if turn == 0:
            return SOLVED


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(murty(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
