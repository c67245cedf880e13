"""One call for Python, and one for many pairs: the exact distance and the linear program with the beta that was asked for.

NEAREST     beta = n, the normal of the exact distance: the program has the value h, and alpha = n is one of its solutions
CENTROIDS   along the line of the means of the vertices
ITERATED    from there on beta <- alpha / |alpha|; from `starts` as well
GIVEN       options[CHOSEN : CHOSEN + 3], of any length but 0
"""

from dalembert.kernels._jit import kernel, packed
from dalembert.kernels.separation.distance import signed_distance
from dalembert.kernels.separation.iterate import iterated
from dalembert.kernels.separation.layout import (
    ALPHA,
    BAD,
    BETA,
    CHOSEN,
    GIVEN,
    GX_AT,
    GY_AT,
    ITERATED,
    KEPT,
    MODE,
    NEAREST,
    PATCH,
    PIVOTS,
    RAY_STATUS,
    RUN,
    SCALE,
    SOLVED,
    TOL,
    X_AT,
    Y_AT,
    G,
    H,
    N,
)
from dalembert.kernels.separation.ray import lclp
from dalembert.kernels.separation.support import unit
from dalembert.kernels.smallmat import load3, store3


@kernel
def one(options, starts, work, X, Y, out):
    """A pair, into a row. Returns the status of the exact distance; that of the program is in the row."""
    tol, limit, mode = options[TOL], int(options[PIVOTS]), int(options[MODE])
    status = signed_distance(X, Y, tol, options[PATCH], limit, work, out)
    if status == BAD:
        return status
    if mode == NEAREST:
        out[G], out[RAY_STATUS] = out[H], SOLVED
        store3(out, ALPHA, load3(out, N))
        store3(out, BETA, load3(out, N))
        store3(out, GX_AT, load3(out, X_AT))
        store3(out, GY_AT, load3(out, Y_AT))
    elif mode == ITERATED:
        iterated(X, Y, starts, out[SCALE], tol, limit, work, out)
    elif mode == GIVEN:
        lclp(X, Y, unit(load3(options, CHOSEN)), out[SCALE], tol, limit, work, out)
    return status


@packed(RUN, KEPT)
def run(options, starts, work, X, Y, out):
    """As `one`, for Python."""
    return one(options, starts, work, X, Y, out)


@kernel
def many(points, first, pairs, options, starts, work, out):
    """Row k of out: bodies a, b = pairs[k], whose vertices are points[first[a] : first[a + 1]]. Returns the largest status."""
    worst = SOLVED
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        status = one(options, starts, work, points[first[a] : first[a + 1]], points[first[b] : first[b + 1]], out[k])
        worst = max(worst, status)
    return worst
