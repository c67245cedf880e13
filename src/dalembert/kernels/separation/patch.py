"""The middle of the patch in which two bodies meet: the faces, edges or corners in the two supporting planes, cut with each other.

A witness of a linear program is some corner of the patch, and a push there would turn bodies that lie flat on each other. The middle is

    polygon with polygon       centroid of the area of their cut (Sutherland and Hodgman, Comm. ACM 17 (1974) 32-42)
    edge with polygon or edge  middle of what they share
    a corner, crossing edges   the witness

Everything is done in the plane, with unit vectors u, v across the normal, from an origin at the witness. Points nearer to each other than
`near` are one point, and a polygon thinner than that is an edge.

    work rows   A: points of body 1, B: of body 2, C: the cut; (p_u, p_v)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.separation.layout import BASIS
from dalembert.kernels.separation.support import across, row
from dalembert.kernels.smallmat import add, axpy, dot, scale, sub

OVER = 1e-4  # cuts leave OVER near more: an edge that lies on the side of a polygon is inside it, whatever the last digit says


@inline
def _turn(work, a, b, c):
    """Twice the signed area of the triangle of three rows."""
    return (work[b, 0] - work[a, 0]) * (work[c, 1] - work[a, 1]) - (work[b, 1] - work[a, 1]) * (work[c, 0] - work[a, 0])


@inline
def _gap(work, a, b):
    return math.hypot(work[b, 0] - work[a, 0], work[b, 1] - work[a, 1])


@kernel
def _collect(P, n, at, sign, tol, origin, u, v, work, first):
    """Vertices of P in its supporting plane n.p = at (sign 1: P lies above it), into rows from first on. Returns how many."""
    count = 0
    for i in range(P.shape[0]):
        p = row(P, i)
        if sign * (dot(n, p) - at) <= tol:
            r = sub(p, origin)
            work[first + count, 0], work[first + count, 1] = dot(r, u), dot(r, v)
            count += 1
    return count


@inline
def _swap(work, a, b):
    p, q = work[a, 0], work[a, 1]
    work[a, 0], work[a, 1] = work[b, 0], work[b, 1]
    work[b, 0], work[b, 1] = p, q


@kernel
def _wrap(work, first, count, near):
    """Put the corners of the convex hull in front, counter-clockwise (gift wrapping). Returns how many: 1, 2 or more."""
    for k in range(1, count):
        if work[first + k, 0] < work[first, 0] or (work[first + k, 0] == work[first, 0] and work[first + k, 1] < work[first, 1]):
            _swap(work, first, first + k)
    corners = 1
    while corners < count:
        last, best = first + corners - 1, -1
        for k in range(first + corners, first + count):
            if _gap(work, last, k) <= near:
                continue
            if best < 0:
                best = k
                continue
            far, turn = _gap(work, last, best), _turn(work, last, best, k)
            if turn < -near * far or (turn <= near * far and _gap(work, last, k) > far):
                best = k
        if best < 0 or _gap(work, best, first) <= near:
            break
        if corners > 1:  # is the way back to the first corner the outer one?
            turn, far = _turn(work, last, first, best), _gap(work, last, first)
            if turn > near * far or (turn >= -near * far and _gap(work, last, best) <= far):
                break
        _swap(work, first + corners, best)
        corners += 1
    return corners


@inline
def _left(work, C, k, ax, ay, dx, dy):
    """Height of a corner over the line from (ax, ay) along the unit vector (dx, dy)."""
    return dx * (work[C + k, 3] - ay) - dy * (work[C + k, 2] - ax)


@kernel
def _clip(work, C, count, ax, ay, dx, dy, over):
    """Leave of polygon C what is left of a line, or not farther than `over` behind it. Returns how many corners that has."""
    for k in range(count):
        work[C + k, 2], work[C + k, 3] = work[C + k, 0], work[C + k, 1]
    kept = 0
    for k in range(count):
        after = (k + 1) % count
        s, t = _left(work, C, k, ax, ay, dx, dy) + over, _left(work, C, after, ax, ay, dx, dy) + over
        if s >= 0.0:
            work[C + kept, 0], work[C + kept, 1] = work[C + k, 2], work[C + k, 3]
            kept += 1
        if (s > 0.0 and t < 0.0) or (s < 0.0 and t > 0.0):
            f = s / (s - t)
            work[C + kept, 0] = work[C + k, 2] + f * (work[C + after, 2] - work[C + k, 2])
            work[C + kept, 1] = work[C + k, 3] + f * (work[C + after, 3] - work[C + k, 3])
            kept += 1
    return kept


@inline
def _along(work, a, b):
    """Unit vector from row a to row b."""
    far = _gap(work, a, b)
    return (work[b, 0] - work[a, 0]) / far, (work[b, 1] - work[a, 1]) / far


@kernel
def _cut(work, A, nA, B, nB, C, near):
    """A within B, into rows C: A of two corners or more, B of two if A has two. Returns how many corners it has; 0: they cross."""
    for k in range(nA):
        work[C + k, 0], work[C + k, 1] = work[A + k, 0], work[A + k, 1]
    if nB == 2:
        dx, dy = _along(work, B, B + 1)
        for k in range(2):
            if abs(_turn(work, B, B + 1, A + k)) > near * _gap(work, B, B + 1):
                return 0
        count = _clip(work, C, nA, work[B, 0], work[B, 1], dy, -dx, OVER * near)
        return _clip(work, C, count, work[B + 1, 0], work[B + 1, 1], -dy, dx, OVER * near)
    count = nA
    for k in range(nB):
        dx, dy = _along(work, B + k, B + (k + 1) % nB)
        count = _clip(work, C, count, work[B + k, 0], work[B + k, 1], dx, dy, OVER * near)
    return count


@kernel
def _middle(work, C, count, near):
    """Centroid of the polygon; where it has no area the point halfway between the two corners farthest from each other."""
    far, a, b = -1.0, C, C
    for k in range(count):
        for m in range(k + 1, count):
            if _gap(work, C + k, C + m) > far:
                far, a, b = _gap(work, C + k, C + m), C + k, C + m
    area, x, y = 0.0, 0.0, 0.0
    for k in range(1, count - 1):
        t = _turn(work, C, C + k, C + k + 1)
        area += t
        x += t * (work[C + k, 0] + work[C + k + 1, 0] + work[C, 0])
        y += t * (work[C + k, 1] + work[C + k + 1, 1] + work[C, 1])
    if area <= 4.0 * near * far:
        return 0.5 * (work[a, 0] + work[b, 0]), 0.5 * (work[a, 1] + work[b, 1])
    return x / (3.0 * area), y / (3.0 * area)


@kernel
def centre(X, Y, n, a1, a2, x, y, near, work):
    """The common point: in the middle of the patch, and halfway between the planes n.p = a1, a2. x, y: witnesses."""
    origin = scale(0.5, add(x, y))
    u, v = across(n)
    A, B, C = BASIS, BASIS + X.shape[0], BASIS + X.shape[0] + Y.shape[0]
    nA = _wrap(work, A, _collect(X, n, a1, 1.0, near, origin, u, v, work, A), near)
    nB = _wrap(work, B, _collect(Y, n, a2, -1.0, near, origin, u, v, work, B), near)
    if nA > 1 and nB > 1:
        count = _cut(work, A, nA, B, nB, C, near) if nA == 2 or nB > 2 else _cut(work, B, nB, A, nA, C, near)
        if count > 0:
            p, q = _middle(work, C, count, near)
            origin = axpy(p, u, axpy(q, v, origin))
    return axpy(0.5 * (a1 + a2) - dot(n, origin), n, origin)
