"""Contacts with height fields: normals that the ground can have where it is touched.

MuJoCo takes a height field for a set of prisms, and gives contacts with the inner edges of each. A contact at q, witness w of the body, has
a normal n that the ground can have if the ground about q lies beneath the plane of n:

    n.(x - q) <= ALLOWED |x - q|    for the corners x of the triangles that q is on

as on an edge or a corner that is convex. Otherwise the normal of the triangle nearest to n takes its place, with gap = n.(w - x), as where
n is that one up to the errors of iteration: w is a corner of something flat, which that plane stops. What is round rolls w away, so of it
such contacts are left out where there is a gap: the ground beside q is nearer, and has a contact of its own. So flat ground is a plane,
and what rolls or slides over it meets no edges.

Triangles of a cell (model/shapes.py, HeightField.surface): corners (r, c), (r, c + 1), (r + 1, c + 1), and (r, c), (r + 1, c + 1),
(r + 1, c), r along y and c along x.
"""

import math
from typing import Any, NamedTuple

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.caps import FLAT
from dalembert.kernels.contact.tables import FOREIGN, SPHERE
from dalembert.kernels.contact.turned import turned, turned_back
from dalembert.kernels.smallmat import axpy, cross, dot, sub

ON = 1e-3  # of a cell: so near to a triangle a point is on it
ALLOWED = 1e-3  # sine of the angle of what rises over the plane: normals that MuJoCo finds by iteration err by as much
SAME = 1e-6  # 1 - cosine of the angle between normals that are one


class Heights(NamedTuple):
    """All height fields. Grids are of rows along y, columns along x."""

    first: Any  # (S,) where the heights of a shape begin, -1: it is none
    grid: Any  # (S, 2) rows, columns
    size: Any  # (S, 2) full lengths along x, y
    z: Any  # heights


@inline
def _point(h, s, r, c):
    """Point (r, c) of a grid, axes of the shape."""
    rows, columns = h.grid[s, 0], h.grid[s, 1]
    return (
        h.size[s, 0] * (c / (columns - 1) - 0.5),
        h.size[s, 1] * (r / (rows - 1) - 0.5),
        h.z[h.first[s] + r * columns + c],
    )


@inline
def _triangle(h, s, r, c, upper):
    """Corners and normal of a triangle of cell (r, c)."""
    x0, x2 = _point(h, s, r, c), _point(h, s, r + 1, c + 1)
    x1 = x2 if upper else _point(h, s, r, c + 1)
    x2 = _point(h, s, r + 1, c) if upper else x2
    n = cross(sub(x1, x0), sub(x2, x0))
    f = 1.0 / math.sqrt(dot(n, n))
    return x0, x1, x2, (f * n[0], f * n[1], f * n[2])


@inline
def _rises(n, q, x):
    """Is x above the plane of n through q?"""
    d = sub(x, q)
    return dot(n, d) > ALLOWED * math.sqrt(dot(d, d))


@inline
def _cells(at, count):
    """First and last cell of a row of `count` within which a coordinate is, in cells."""
    return min(max(math.floor(at - ON), 0), count - 1), min(max(math.floor(at + ON), 0), count - 1)


@kernel
def possible(h, s, n, q):
    """(normal, point of its plane, whether n is possible): n and q, or those of a triangle that q is on; axes of the shape."""
    rows, columns = h.grid[s, 0] - 1, h.grid[s, 1] - 1
    u, v = (q[0] / h.size[s, 0] + 0.5) * columns, (q[1] / h.size[s, 1] + 0.5) * rows
    (c0, c1), (r0, r1) = _cells(u, columns), _cells(v, rows)
    best, most, on, free = n, -2.0, q, True
    for r in range(r0, r1 + 1):
        for c in range(c0, c1 + 1):
            steeper = min(max(v - r, 0.0), 1.0) - min(max(u - c, 0.0), 1.0)
            for upper in range(2):
                if (steeper < -ON) if upper else (steeper > ON):
                    continue
                x0, x1, x2, own = _triangle(h, s, r, c, upper)
                free = free and not (_rises(n, q, x0) or _rises(n, q, x1) or _rises(n, q, x2))
                if dot(n, own) > most:
                    best, most, on = own, dot(n, own), x0
    if free and most < 1.0 - SAME:
        return n, q, True
    return best, on, free


@inline
def _rolls(kind, cylinder, R, i, n):
    """Is what touches ground of normal n (axes of the world) round there? Ends of cylinders are flat."""
    if kind[i] != FOREIGN:
        return kind[i] == SPHERE
    return cylinder[i] == 0 or abs(R[i, 0, 2] * n[0] + R[i, 1, 2] * n[1] + R[i, 2, 2] * n[2]) < FLAT


@kernel
def correct_normals(h, kind, cylinder, c, R, pair, point, frame, gap):
    """Contacts with height fields among those of pairs of shapes, in place; frame (m, 9): first the normal from pair[0] to pair[1].
    kind, cylinder (S,), c, R: of shapes. What is left out gets an infinite gap."""
    for k in range(gap.shape[0]):
        sign, s = (1.0, pair[k, 0]) if h.first[pair[k, 0]] >= 0 else (-1.0, pair[k, 1])
        if h.first[s] < 0:
            continue
        n, p = (sign * frame[k, 0], sign * frame[k, 1], sign * frame[k, 2]), (point[k, 0], point[k, 1], point[k, 2])
        q, w = _in_axes(c, R, s, axpy(-0.5 * gap[k], n, p)), _in_axes(c, R, s, axpy(0.5 * gap[k], n, p))
        own = turned_back(R, s, n)
        found, on, free = possible(h, s, own, q)
        if found == own:
            continue
        normal = turned(R, s, found)
        if gap[k] > 0.0 and not free and _rolls(kind, cylinder, R, pair[k, 1] if s == pair[k, 0] else pair[k, 0], normal):
            gap[k] = math.inf
            continue
        witness = axpy(0.5 * gap[k], n, p)
        gap[k] = dot(found, sub(w, on))
        for m in range(3):
            frame[k, m] = sign * normal[m]
            point[k, m] = witness[m] - 0.5 * gap[k] * normal[m]


@inline
def _in_axes(c, R, s, p):
    return turned_back(R, s, (p[0] - c[s, 0], p[1] - c[s, 1], p[2] - c[s, 2]))
