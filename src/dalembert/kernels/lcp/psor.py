"""Projected successive over-relaxation: see `dalembert.complementarity.psor`."""

from dalembert.kernels._jit import kernel, packed
from dalembert.kernels.lcp.codes import FIRST, KEPT, LIMIT, PIVOT_LIMIT, PIVOTS, RUN, SINGULAR, SOLVED, WARM
from dalembert.kernels.lcp.dense import dot, product
from dalembert.kernels.lcp.polish import guess, polish, size, worst
from dalembert.kernels.lcp.run import conclude, prepare


@kernel
def _sweep(M, q, lower, upper, z, omega):
    """One sweep. Returns the largest natural residual met on the way."""
    most = 0.0
    for i in range(q.shape[0]):
        w = q[i] + dot(M[i], z)
        r = abs(z[i] - min(max(z[i] - w, lower[i]), upper[i]))
        most = r if not r <= most else most
        z[i] = min(max(z[i] - omega * w / M[i, i], lower[i]), upper[i])
    return most


@kernel
def psor(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """options: FIRST omega, FIRST + 1 tolerance of the natural residual relative to max(1, |z|), FIRST + 2 whether to finish by a solve."""
    n, kept = q.shape[0], V[2]
    for i in range(n):
        if not M[i, i] > 0.0:
            return SINGULAR
        if options[WARM] == 0.0:
            z[i] = min(max(0.0, lower[i]), upper[i])
    status = PIVOT_LIMIT
    while info[PIVOTS] < options[LIMIT]:
        most = _sweep(M, q, lower, upper, z, options[FIRST])
        info[PIVOTS] += 1.0
        if not most < 1e150:
            break
        if most <= options[FIRST + 1] * size(z):
            status = SOLVED
            break
    product(M, z, q, w)
    if options[FIRST + 2] != 0.0 and size(z) < 1e150:
        for i in range(n):
            kept[i] = z[i]
        guess(side, z, w, lower, upper, 1.0)
        if polish(M, q, lower, upper, side, z, w, options, B, V, I, info) and worst(side, z, w, lower, upper) <= 1e-13 * size(z):
            return SOLVED
        for i in range(n):
            z[i] = kept[i]
        product(M, z, q, w)
    return status


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(psor(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
