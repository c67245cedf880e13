"""Block principal pivoting: see `dalembert.complementarity.block_pivot`."""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.codes import CYCLE, FEASIBILITY, FREE, LIMIT, LOWER, PIVOT_LIMIT, PIVOTS, SINGULAR, SOLVED, UPPER, WARM
from dalembert.kernels.lcp.dictionary import sides
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.polish import polish, size


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


@kernel
def block_pivot(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Sides alone determine the next sides, so a repetition is a cycle."""
    if options[WARM] == 0.0:
        sides(lower, upper, side)
    forget(info)
    while True:
        if not polish(M, q, lower, upper, side, z, w, B, V, I):
            return SINGULAR
        if repeats(side, info):
            return CYCLE
        if _move(side, z, w, lower, upper, options[FEASIBILITY] * size(z)) == 0:
            return SOLVED
        if info[PIVOTS] >= options[LIMIT]:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
