"""Nearest points of two boxes that are apart: of all vertices with the other box, and of all edges with all edges.

Nearest points of disjoint polytopes lie on a vertex of one of them, or inside an edge of each. For boxes that come near corner to corner or
corner to edge: no face has the nearest point of the other above it, and fast ones would not be seen before they overlap.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.manifold import put
from dalembert.kernels.smallmat import dot, sub


@inline
def _axis(R, A, k):
    return (R[A, 0, k], R[A, 1, k], R[A, 2, k])


@inline
def _moved(p, s, u):
    return (p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2])


@kernel
def on_box(c, R, half, A, p):
    """The point of a box nearest to p."""
    out = (c[A, 0], c[A, 1], c[A, 2])
    d = sub(p, out)
    for k in range(3):
        u = _axis(R, A, k)
        out = _moved(out, min(max(dot(d, u), -half[A, k]), half[A, k]), u)
    return out


@kernel
def _corner(c, R, half, A, signs, skip):
    """Corner of a box by three bits; the middle of the edge along axis `skip`."""
    p = (c[A, 0], c[A, 1], c[A, 2])
    for k in range(3):
        if k != skip:
            p = _moved(p, half[A, k] if signs >> k & 1 else -half[A, k], _axis(R, A, k))
    return p


@kernel
def between(p, u, d, q, v, e):
    """Nearest points of segments p + s u, |s| <= d, and q + t v, |t| <= e; u and v unit vectors."""
    r, b = sub(q, p), dot(u, v)
    den, ur, vr = 1.0 - b * b, dot(u, r), dot(v, r)
    s = min(max((ur - b * vr) / den, -d), d) if den > 1e-14 else 0.0
    t = min(max(b * s - vr, -e), e)
    s = min(max(ur + b * t, -d), d)
    return _moved(p, s, u), _moved(q, t, v)


@kernel
def nearest_contact(c, R, half, A, B, margin, feature, found, at):
    """One contact between the nearest points of boxes that are apart by less than the margin. Returns the number of points, 0 or 1."""
    a, b, least = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), math.inf
    for signs in range(8):
        x = _corner(c, R, half, A, signs, -1)
        y = on_box(c, R, half, B, x)
        square = dot(sub(y, x), sub(y, x))
        if square < least:
            a, b, least = x, y, square
        y = _corner(c, R, half, B, signs, -1)
        x = on_box(c, R, half, A, y)
        square = dot(sub(y, x), sub(y, x))
        if square < least:
            a, b, least = x, y, square
    for edge in range(12 * 12):
        i, j = edge // 12, edge % 12
        k, l = i // 4, j // 4
        p, q = _corner(c, R, half, A, _bits(i % 4, k), k), _corner(c, R, half, B, _bits(j % 4, l), l)
        x, y = between(p, _axis(R, A, k), half[A, k], q, _axis(R, B, l), half[B, l])
        square = dot(sub(y, x), sub(y, x))
        if square < least:
            a, b, least = x, y, square
    gap = math.sqrt(least)
    if gap >= margin or gap == 0.0:
        return 0
    d = sub(b, a)
    put(found, at, _moved(a, 0.5, d), (d[0] / gap, d[1] / gap, d[2] / gap), gap, feature)
    return 1


@inline
def _bits(two, axis):
    """Two bits as signs of the axes other than one."""
    return two << 1 if axis == 0 else ((two & 1) | (two & 2) << 1 if axis == 1 else two)
