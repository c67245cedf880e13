"""By turns: a few sweeps of block Gauss-Seidel find who sticks and who slips, Newton finishes; where it stalls more sweeps follow."""

import math

from dalembert.kernels._jit import ARRAY, kernel, types
from dalembert.kernels.friction.newton import newton
from dalembert.kernels.friction.residual import natural
from dalembert.kernels.friction.sweep import sweep
from dalembert.kernels.lcp.codes import INTS, MATRIX
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

# options
TOLERANCE, FIRST_SWEEPS, SWEEP_LIMIT, NEWTON_LIMIT = 0, 1, 2, 3
# info
SWEEPS, NEWTONS, RELATIVE = 0, 1, 2

#: status = run(W, b, mu, c, r, u, options, G, V, order, info)
RUN = types.int64(MATRIX, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, MATRIX, MATRIX, INTS, ARRAY)


@kernel
def run(W, b, mu, c, r, u, options, G, V, order, info):
    """r: in the start, out the best impulses found; u = W r + b. G (3 m, 3 m), V (7, 3 m), order (3 m): workspace.

    Rounds of 2^k times the first number of sweeps, each followed by Newton; the sweeps go on from where sweeps ended, not from a point at
    which Newton stalled.
    """
    n = b.shape[0]
    kept = V[5]
    tol, sweeps, limit = options[TOLERANCE], int(options[FIRST_SWEEPS]), int(options[SWEEP_LIMIT])
    info[SWEEPS], info[NEWTONS], info[RELATIVE] = 0.0, 0.0, math.inf
    for i in range(n):
        kept[i] = r[i]
    best = math.inf
    while True:
        for _ in range(sweeps):
            sweep(W, b, mu, c, kept)
        info[SWEEPS] += sweeps
        relative, _ = natural(W, b, mu, c, kept, u, V[0])
        if not relative < math.inf:
            return NOT_FINITE
        if relative < best:
            best = relative
            for i in range(n):
                r[i] = kept[i]
        for i in range(n):
            V[6, i] = kept[i]
        relative, count = newton(W, b, mu, c, V[6], u, tol, int(options[NEWTON_LIMIT]), G, V, order)
        info[NEWTONS] += count
        if relative < best:
            best = relative
            for i in range(n):
                r[i] = V[6, i]
        if best <= tol or info[SWEEPS] >= limit:
            break
        sweeps = min(max(2 * sweeps, 1), limit - int(info[SWEEPS]))
    info[RELATIVE], _ = natural(W, b, mu, c, r, u, V[0])
    return OK if info[RELATIVE] <= tol else NOT_CONVERGED
