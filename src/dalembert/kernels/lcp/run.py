"""From a problem as it was given to a judged answer: check, scale, solve, scale back, judge. One compiled call per problem.

Every method ends its file with a kernel `run` that has one signature (`codes.RUN`) and calls `prepare`, the method, `conclude`. A run that
took the method as a first-class argument would be one kernel for all, but looking that argument up costs 4 us per call.

    status, pivots, residual, relative = run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w)

    z                      in: the start, where options[WARM]; out: the answer, within its bounds
    w                      M z + q
    S (n, n), V (13, n)    workspace beside that of the method; V[7]: the direction of the ray where the method ended on one
    info (8,)              PLACE: index of what is wrong with the input
"""

import math

from dalembert.kernels._jit import inline
from dalembert.kernels.lcp.codes import BAD_START, FREE, LOWER, PIVOTS, PLACE, SCALE, SOLVED, SYMMETRIC, UPPER, WARM
from dalembert.kernels.lcp.judge import residuals
from dalembert.kernels.lcp.scaling import check, scale, symmetric


@inline
def _start(g, d, lower, upper, side, z):
    """Scaled start and its sides."""
    for i in range(z.shape[0]):
        x = min(max(z[i], lower[i]), upper[i])
        side[i] = FREE
        if x == lower[i]:
            side[i] = LOWER
        elif x == upper[i]:
            side[i] = UPPER
        z[i] = x / (g * d[i])


@inline
def prepare(M, q, lower, upper, side, z, options, S, V, info):
    """Check the input and scale it: S, V[9], V[10], V[11] are M, q, lower, upper; V[8] and info[SCALE] the scales of z.

    Returns SOLVED or what is wrong.
    """
    n, d = q.shape[0], V[8]
    for i in range(info.shape[0]):
        info[i] = 0.0
    bad = check(M, q, lower, upper, V[0], info)
    if bad != SOLVED:
        return bad
    info[SYMMETRIC] = 1.0 if symmetric(M) else 0.0
    g = scale(M, q, lower, upper, info[SYMMETRIC] != 0.0, d, V[0], S, V[9], V[10], V[11])
    if options[WARM] != 0.0:
        for i in range(n):
            if not abs(z[i]) < math.inf:
                info[PLACE] = i
                return BAD_START
        _start(g, d, lower, upper, side, z)
    else:
        for i in range(n):
            z[i] = min(max(0.0, V[10, i]), V[11, i])
    info[SCALE] = g
    return SOLVED


@inline
def conclude(status, M, q, lower, upper, z, w, V, info):
    """Scale back and judge; z is put within its bounds. Returns what `run` does."""
    for i in range(z.shape[0]):
        V[7, i] = w[i] * V[8, i]  # a ray is a direction of z
        x = info[SCALE] * V[8, i] * z[i]
        z[i] = min(max(x if abs(x) < math.inf else 0.0, lower[i]), upper[i])
    residual, relative = residuals(M, q, lower, upper, z, w)
    return status, int(info[PIVOTS]), residual, relative
