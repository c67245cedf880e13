"""The linear program with better and better beta: beta <- alpha / |alpha|, from one start or from several.

    phi(alpha / |alpha|) = g / |alpha| <= h      for every beta: the largest of all that were met is kept

At a fixed point beta = alpha / |alpha| the ray meets its facet at a right angle. Bodies that are apart have one at most, and it is their
distance; it exists where the nearest feature of K1 - K2 is a facet (vertex and face, edge and edge). A few go round in circles there, and
going halfway breaks most of these (then 274 of 277 settle, without it 267). Where the nearest feature is an edge or a vertex, nothing
settles: UNSETTLED. Bodies that overlap may have one for each facet; several starts find the right one more often.
"""

import math

from dalembert.kernels._jit import kernel
from dalembert.kernels.separation.layout import ALPHA, BETA, RAY_STATUS, SOLVED, STEPS, UNSETTLED, G
from dalembert.kernels.separation.ray import cast, record
from dalembert.kernels.separation.support import length, row, unit
from dalembert.kernels.smallmat import add, load3, scale

ROUNDS = 50
FREELY = 10  # rounds, after which two of three go halfway only


@kernel
def _settle(X, Y, beta, best, R, tol, limit, work, out):
    """Iterate from beta; a program with g / |alpha| above best is written into the row. Returns the best."""
    before = math.inf
    for k in range(ROUNDS):
        status, pivots, g, alpha = cast(X, Y, beta, R, tol, limit, work)
        out[STEPS] += pivots
        if status != SOLVED:
            return best
        size = length(alpha)
        settled = abs(g - before) <= 16.0 * tol * R and abs(size - 1.0) <= 1e-9
        if g / size > best or (settled and g / size >= best - 16.0 * tol * R):
            best = max(best, g / size)
            record(X, Y, beta, SOLVED if settled else UNSETTLED, 0, g, alpha, work, out)
        if settled:
            return best
        before, alpha = g / size, scale(1.0 / size, alpha)
        beta = unit(add(beta, alpha)) if k > FREELY and k % 3 > 0 else alpha
    return best


@kernel
def iterated(X, Y, starts, R, tol, limit, work, out):
    """From the program in the row, if it is bounded, and from beta = starts[k]."""
    best = -math.inf
    if out[RAY_STATUS] == SOLVED:
        alpha = load3(out, ALPHA)
        best = out[G] / length(alpha)
        out[RAY_STATUS] = UNSETTLED
        best = _settle(X, Y, load3(out, BETA), best, R, tol, limit, work, out)
    for k in range(starts.shape[0]):
        best = _settle(X, Y, row(starts, k), best, R, tol, limit, work, out)
    return int(out[RAY_STATUS])
