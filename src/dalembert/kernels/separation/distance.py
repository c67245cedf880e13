"""The signed distance of two convex polytopes, exactly: h = max over |alpha| = 1 of min alpha.(x - y) (QCLP, Leyendecker et al., 4.1).

    h > 0    distance; n from the nearest point of K = K1 - K2 to the origin
    h <= 0   minus the least translation that parts them; n normal of the facet of K nearest to the origin, inwards

A ray cast along the line of the means (`ray.py`) says which: sign g = sign h, |g| >= |h|. Then `nearest.py` or `depth.py` finds h, and of
their normal and that of the facet that the ray met the one with the larger phi is taken: where bodies just touch, the direction of a point
at a distance of round-off means nothing, while the facet is as good as ever, and any phi is a lower bound of h.

    status = signed_distance(X, Y, tol, patch, limit, work, out)

The one entry for callers that want distance, normal and a point to push at; `layout.py` says what stands in `out` and how large `work` is.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.separation.depth import depth
from dalembert.kernels.separation.layout import (
    A1,
    A2,
    BAD,
    CENTRE,
    GX_AT,
    GY_AT,
    PLACE,
    SCALE,
    SEPARATED,
    SIZE,
    SLACK,
    SOLVED,
    STEPS,
    X_AT,
    Y_AT,
    G,
    H,
    N,
)
from dalembert.kernels.separation.nearest import NU, nearest
from dalembert.kernels.separation.patch import centre
from dalembert.kernels.separation.ray import LEVEL, cast, record, witness
from dalembert.kernels.separation.support import highest, length, lowest, sizes, support, unit
from dalembert.kernels.smallmat import axpy, load3, scale, store3, sub

ROUNDS = 8  # of rays along the normal


@inline
def clear(out):
    """A row of zeros."""
    for k in range(SIZE):
        out[k] = 0.0


@inline
def along(c, R, tol):
    """Unit vector along c; where that is round-off, some unit vector."""
    size = length(c)
    return scale(1.0 / size, c) if size > tol * R else (1.0, 0.0, 0.0)


@kernel
def _planes(X, Y, n, out):
    """Supporting planes of a unit normal into the row. Returns h."""
    a1, _ = lowest(X, n)
    a2, _ = highest(Y, n)
    out[H], out[A1], out[A2] = a1 - a2, a1, a2
    store3(out, N, n)
    return a1 - a2


@inline
def _witness(X, Y, work, count, level, out):
    x, y = witness(X, Y, work, count, level)
    store3(out, X_AT, x)
    store3(out, Y_AT, y)


@kernel
def _polish(X, Y, upper, R, tol, limit, work, out):
    """Rays along n: each is an upper bound of a distance, its facet has a normal that may be better, its weights are those of witnesses.

    Of bodies that overlap: upper is infinite, and the witnesses of the last ray count. Returns the least upper bound.
    """
    noise = tol * R
    for _ in range(ROUNDS):
        n, h = load3(out, N), out[H]
        status, pivots, g, alpha = cast(X, Y, n, R, tol, limit, work)
        out[STEPS] += pivots
        if status != SOLVED:
            return upper
        if g < upper:
            _witness(X, Y, work, 3, LEVEL, out)
            upper = g if upper < math.inf else upper
        other = unit(alpha)
        better, _, _ = support(X, Y, other)
        if better <= h + noise:
            return upper
        _planes(X, Y, other, out)
    return upper


@kernel
def _apart(X, Y, first, ray, tol, R, limit, work, out):
    """Distance, normal and witnesses of bodies that are apart. first: normal of a plane that parts them; ray: length of the first ray."""
    noise = tol * R
    lower, i, j = support(X, Y, first)
    status, steps, count, size, n = nearest(X, Y, i, j, R, tol, limit, work)
    out[STEPS] += steps
    _witness(X, Y, work, count, NU, out)
    if ray < size:
        size = ray
        store3(out, X_AT, load3(out, GX_AT))
        store3(out, Y_AT, load3(out, GY_AT))
    if size <= noise or _planes(X, Y, n, out) < lower - noise:
        _planes(X, Y, first, out)
    if size - out[H] > 16.0 * noise:
        size = _polish(X, Y, size, R, tol, limit, work, out)
    out[SLACK] = max(size - out[H], 0.0)
    return status


@inline
def _mismatch(out):
    """|x - y - h n|"""
    return length(axpy(-out[H], load3(out, N), sub(load3(out, X_AT), load3(out, Y_AT))))


@kernel
def _mend(X, Y, R, tol, limit, work, out):
    """Witnesses of bodies that touch with a K so thin that no ray meets it: those of the nearest point, if they fit better."""
    x, y, before = load3(out, X_AT), load3(out, Y_AT), _mismatch(out)
    _, i, j = support(X, Y, load3(out, N))
    _, steps, count, _, _ = nearest(X, Y, i, j, R, tol, limit, work)
    out[STEPS] += steps
    _witness(X, Y, work, count, NU, out)
    if not _mismatch(out) < before:
        store3(out, X_AT, x)
        store3(out, Y_AT, y)


@kernel
def _overlapping(X, Y, beta, first, tol, R, limit, work, out):
    """Depth, normal and witnesses of bodies that overlap or touch. first: normal of the facet that a ray along beta met.

    A K without thickness is never left by a depth: h is 0 or, where the ray was wrong about a gap below its pivots, positive.
    """
    status, steps, deep, n, inner = depth(X, Y, beta, R, tol, limit, work)
    out[STEPS] += steps
    if deep == 0.0:
        return _apart(X, Y, scale(-1.0, n), math.inf, tol, R, limit, work, out)
    other, _, _ = support(X, Y, first)
    if _planes(X, Y, scale(-1.0, n), out) <= other:
        _planes(X, Y, first, out)
    store3(out, X_AT, load3(out, GX_AT))  # good enough where the ray along n misses by round-off: bodies that touch
    store3(out, Y_AT, load3(out, GY_AT))
    _polish(X, Y, math.inf, R, tol, limit, work, out)
    if _mismatch(out) > 100.0 * tol * R:
        _mend(X, Y, R, tol, limit, work, out)
    out[SLACK] = max(-out[H] - inner, 0.0)
    return status


@kernel
def signed_distance_from(X, Y, beta, R, tol, patch, limit, work, out):
    """As `signed_distance`, with the first ray along a unit beta. The row has been cleared; R as of `sizes`."""
    status, pivots, g, alpha = cast(X, Y, beta, R, tol, limit, work)
    record(X, Y, beta, status, pivots, g, alpha, work, out)
    size = length(alpha)
    first = scale(1.0 / size, alpha) if size > 0.0 else beta
    if status == SEPARATED or (status == SOLVED and g > tol * R):
        status = _apart(X, Y, first, out[G], tol, R, limit, work, out)
    else:
        status = _overlapping(X, Y, beta, first, tol, R, limit, work, out)
    x, y = load3(out, X_AT), load3(out, Y_AT)
    store3(out, CENTRE, centre(X, Y, load3(out, N), out[A1], out[A2], x, y, patch * R, work))
    return status


@kernel
def signed_distance(X, Y, tol, patch, limit, work, out):
    """h, n, a1, a2, witnesses x, y, the common point and the ray cast along the line of the means, into a row of `out`."""
    clear(out)
    R, bad, c = sizes(X, Y)
    out[SCALE] = R
    if bad >= 0:
        out[PLACE] = bad
        return BAD
    return signed_distance_from(X, Y, along(c, R, tol), R, tol, patch, limit, work, out)
