"""From a problem as it was given to a judged answer: check, scale, solve, scale back, judge. One compiled call."""

import math

from dalembert.kernels._jit import ARRAY, kernel, types
from dalembert.kernels.lcp.codes import (
    BAD_START,
    FREE,
    INT_MATRIX,
    INTS,
    LOWER,
    MATRIX,
    PLACE,
    RELATIVE,
    RESIDUAL,
    SOLVE,
    SOLVED,
    SYMMETRIC,
    UPPER,
    WARM,
)
from dalembert.kernels.lcp.judge import residuals
from dalembert.kernels.lcp.scaling import check, scale, symmetric

#: status = run(solve, M, q, lower, upper, side, z, w, options, S, A, B, V, I, info)
RUN = types.int64(
    types.FunctionType(SOLVE), MATRIX, ARRAY, ARRAY, ARRAY, INTS, ARRAY, ARRAY, ARRAY, MATRIX, MATRIX, MATRIX, MATRIX, INT_MATRIX, ARRAY
)


@kernel
def _unscale(g, d, lower, upper, z):
    """z within its bounds; on a bound where it was on the scaled one."""
    for i in range(z.shape[0]):
        x = g * d[i] * z[i]
        z[i] = min(max(x, lower[i]), upper[i])


@kernel
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


@kernel
def run(solve, M, q, lower, upper, side, z, w, options, S, A, B, V, I, info):
    """solve: a method of this folder. z: in the start, where options[WARM]; out the answer, within its bounds.

    w = M z + q, or the direction of the ray where the method ended on one. S (n, n) and V (12, n): workspace beside that of the method.
    """
    bad = check(M, q, lower, upper, info)
    if bad != SOLVED:
        return bad
    n = q.shape[0]
    d, q_s, lower_s, upper_s = V[8], V[9], V[10], V[11]
    alike = symmetric(M)
    options[SYMMETRIC] = 1.0 if alike else 0.0
    g = scale(M, q, lower, upper, alike, d, V[0], S, q_s, lower_s, upper_s)
    if options[WARM] != 0.0:
        for i in range(n):
            if not abs(z[i]) < math.inf:
                info[PLACE] = i
                return BAD_START
        _start(g, d, lower, upper, side, z)
    else:
        for i in range(n):
            z[i] = min(max(0.0, lower_s[i]), upper_s[i])
    status = solve(S, q_s, lower_s, upper_s, side, z, w, options, A, B, V, I, info)
    for i in range(n):
        V[7, i] = w[i] * d[i]  # a ray is a direction of z
        if not abs(z[i]) < math.inf:
            z[i] = min(max(0.0, lower[i]), upper[i])
    _unscale(g, d, lower, upper, z)
    info[RESIDUAL], info[RELATIVE] = residuals(M, q, lower, upper, z, w)
    return status
