"""Block principal pivoting: see `dalembert.complementarity.block_pivot`."""

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
    SYMMETRIC,
    UPPER,
    WARM,
)
from dalembert.kernels.lcp.dense import axpy
from dalembert.kernels.lcp.dictionary import sides
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.polish import refine, size, solve_sides, worst
from dalembert.kernels.lcp.run import conclude, prepare


@inline
def _move(side, z, w, lower, upper, tol):
    """Move every infeasible index: free ones to the bound that they broke, others to free. Returns how many moved."""
    moved = 0
    for i in range(side.shape[0]):
        if side[i] == FREE:
            if z[i] < lower[i] - tol:
                side[i] = LOWER
                moved += 1
            elif z[i] > upper[i] + tol:
                side[i] = UPPER
                moved += 1
        elif lower[i] < upper[i] and ((side[i] == LOWER and w[i] < -tol) or (side[i] == UPPER and w[i] > tol)):
            side[i] = FREE
            moved += 1
    return moved


@inline
def _sweep(M, rate, lower, upper, z, w):
    """One projected Gauss-Seidel sweep; w = M z + q follows z: M is symmetric."""
    for i in range(z.shape[0]):
        step = min(max(z[i] - rate[i] * w[i], lower[i]), upper[i]) - z[i]
        if step != 0.0:
            z[i] += step
            axpy(w, step, M[i])


@kernel
def _first_sides(M, q, lower, upper, side, z, w, sweeps, rate):
    """Sides after a few sweeps from 0 on a symmetric matrix. rate: for the steps 1.3 / M_ii, relaxation 1.3."""
    for i in range(q.shape[0]):
        z[i], w[i] = min(max(0.0, lower[i]), upper[i]), q[i]
        rate[i] = 1.3 / M[i, i] if M[i, i] > 0.0 else 0.0
    for i in range(q.shape[0]):
        if z[i] != 0.0:
            axpy(w, z[i], M[i])
    for _ in range(sweeps):
        _sweep(M, rate, lower, upper, z, w)
    for i in range(q.shape[0]):
        side[i] = LOWER if z[i] == lower[i] else UPPER if z[i] == upper[i] else FREE


@kernel
def block_pivot(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """options[FIRST]: sweeps before the first sides. Sides alone determine the next sides, so a repetition is a cycle."""
    if options[WARM] == 0.0:
        sides(lower, upper, side)
        if options[FIRST] > 0.0 and info[SYMMETRIC] != 0.0:
            _first_sides(M, q, lower, upper, side, z, w, int(options[FIRST]), V[0])
    forget(info)
    while True:
        if not solve_sides(M, q, lower, upper, side, z, w, options, B, V, I, info):
            return SINGULAR
        if repeats(side, 0, info):
            return CYCLE
        tol = options[FEASIBILITY] * size(z)
        if info[SYMMETRIC] == 0.0 and worst(side, z, w, lower, upper) <= tol:
            refine(M, q, side, z, w, options, B, V, I, info)  # L D L^T of a definite matrix is as accurate without
        if _move(side, z, w, lower, upper, tol) == 0:
            return SOLVED
        if info[PIVOTS] >= options[LIMIT]:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(block_pivot(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
