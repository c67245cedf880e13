"""Flat ends of cylinders on planes and on faces of boxes: the rim, and its point towards which the load leans.

    8 points of the rim, fixed in the cylinder, clipped by the sides of the face; and one at    c + r d/|d|,
    d = -(n - (n.a) a)    towards the lowest point of the rim, a: axis, where it is tilted by more than TILTED
    d = u - (u.a) a       else towards the way u of the cylinder over the face in the step, with the velocities that it has without
                          constraints, where that is more than TILTED of u

What stands on a slope has u = g h^2, so it tips about the point of the rim down the slope, at tan(angle) = r/(H/2); where nothing leans
the eight points do. Ends that are tilted by more than FLAT touch a plane in the lowest point of each rim; with boxes they are MuJoCo's.
Points lie midway; feature: point of the rim, 8 the one of the load, or labels of clipped corners (manifold.py), and which end.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.manifold import clip_to_rectangle, put
from dalembert.kernels.contact.tables import PLANE
from dalembert.kernels.smallmat import axpy, dot, scale

SIDES = 8
FLAT = 0.98877  # cosine of 0.15 rad
NEARLY = 0.9987  # cosine of 0.05 rad: so near to a face normal are those that MuJoCo finds by iteration
TILTED = 1e-3
LOAD, CORNERS, END = SIDES, 16, 4096  # features
EDGES = 8  # labels of the edges of the rim, behind those of the sides of the face


@inline
def _axis(R, i, k):
    return (R[i, 0, k], R[i, 1, k], R[i, 2, k])


@inline
def face_of(R, kind, other, n):
    """(axis, sign) of the face whose normal n is, nearly; -1: none."""
    if kind == PLANE:
        return 2, 1.0
    for k in range(3):
        g = dot(n, _axis(R, other, k))
        if abs(g) > NEARLY:
            return k, (1.0 if g > 0.0 else -1.0)
    return -1, 1.0


@inline
def leaning(n, a, u):
    """d/|d|, 0 where nothing leans."""
    for d, size in ((axpy(dot(n, a), a, scale(-1.0, n)), 1.0), (axpy(-dot(u, a), a, u), math.sqrt(dot(u, u)))):
        length = math.sqrt(dot(d, d))
        if length > TILTED * size:
            return scale(1.0 / length, d)
    return (0.0, 0.0, 0.0)


@inline
def _in_face(c, R, other, k, top, n, p):
    """(x, y, height) of a point in the axes of a face."""
    d = (p[0] - c[other, 0], p[1] - c[other, 1], p[2] - c[other, 2])
    return dot(d, _axis(R, other, (k + 1) % 3)), dot(d, _axis(R, other, (k + 2) % 3)), dot(d, n) - top


@inline
def _put_point(c, R, other, k, top, n, sign, x, y, z, feature, found, at):
    """One contact at (x, y, z) of the face."""
    e, f, s = _axis(R, other, (k + 1) % 3), _axis(R, other, (k + 2) % 3), top + 0.5 * z
    point = (
        c[other, 0] + x * e[0] + y * f[0] + s * n[0],
        c[other, 1] + x * e[1] + y * f[1] + s * n[1],
        c[other, 2] + x * e[2] + y * f[2] + s * n[2],
    )
    put(found, at, point, scale(sign, n), z, feature)


@kernel
def cap_points(shapes, work, cylinder, other, n, u, sign, margin, tolerance, found, at):
    """Contacts of a flat end with a plane or box, from `at` on; n: normal to the cylinder, u: its way over the other one; sign: 1 if the
    normal of the contacts is n, else -1. Returns how many; 0: no flat end on a face."""
    c, R, polygon, label = work.c, work.R, work.polygon, work.label
    k, up = face_of(R, shapes.kind[other], other, n)
    a, radius = _axis(R, cylinder, 2), shapes.half[cylinder, 0]
    if k < 0:
        return 0
    n = scale(up, _axis(R, other, k))
    if abs(dot(a, n)) < FLAT:
        return 0
    end = -1.0 if dot(a, n) > 0.0 else 1.0
    middle = axpy(end * shapes.half[cylinder, 2], a, (c[cylinder, 0], c[cylinder, 1], c[cylinder, 2]))
    top = 0.0 if shapes.kind[other] == PLANE else shapes.half[other, k]
    w, d = shapes.half[other, (k + 1) % 3] + tolerance, shapes.half[other, (k + 2) % 3] + tolerance
    bounded = shapes.kind[other] != PLANE
    for m in range(SIDES):
        angle = 2.0 * math.pi * m / SIDES
        p = axpy(radius * math.cos(angle), _axis(R, cylinder, 0), middle)
        p = axpy(radius * math.sin(angle), _axis(R, cylinder, 1), p)
        polygon[0, m, 0], polygon[0, m, 1], polygon[0, m, 2] = _in_face(c, R, other, k, top, n, p)
        label[0, m] = EDGES + m
    left = clip_to_rectangle(polygon, label, SIDES, w - tolerance, d - tolerance, tolerance) if bounded else SIDES
    count, own = 0, (0 if end < 0.0 else END)
    for m in range(left):
        x, y, z = polygon[0, m, 0], polygon[0, m, 1], polygon[0, m, 2]
        if z < margin:
            before, after = label[0, m - 1 if m > 0 else left - 1], label[0, m]
            whole = before >= EDGES and after >= EDGES
            feature = own + (after - EDGES if whole else CORNERS * (1 + before) + after)
            _put_point(c, R, other, k, top, n, sign, x, y, z, feature, found, at + count)
            count += 1
    toward = leaning(n, a, u)
    x, y, z = _in_face(c, R, other, k, top, n, axpy(radius, toward, middle))
    inside = not bounded or (abs(x) <= w and abs(y) <= d)
    if left > 0 and inside and z < margin and dot(toward, toward) > 0.0:
        _put_point(c, R, other, k, top, n, sign, x, y, z, own + LOAD, found, at + count)
        count += 1
    return count


@kernel
def rims_on_plane(shapes, work, cylinder, plane, margin, found, at):
    """Lowest points of both rims of a cylinder that does not stand on a plane. Returns how many are below the margin."""
    c, R, n, count = work.c, work.R, _axis(work.R, plane, 2), 0
    a, radius, half = _axis(R, cylinder, 2), shapes.half[cylinder, 0], shapes.half[cylinder, 2]
    toward = leaning(n, a, n)
    for end in (-1.0, 1.0):
        middle = axpy(end * half, a, (c[cylinder, 0], c[cylinder, 1], c[cylinder, 2]))
        x, y, z = _in_face(c, R, plane, 2, 0.0, n, axpy(radius, toward, middle))
        if z < margin:
            _put_point(c, R, plane, 2, 0.0, n, 1.0, x, y, z, (0 if end < 0.0 else END) + LOAD, found, at + count)
            count += 1
    return count


@kernel
def cylinder_on_plane(shapes, work, cylinder, plane, u, margin, found, at):
    """Contacts of a cylinder with a plane; u: see `cap_points`. Returns how many."""
    n = _axis(work.R, plane, 2)
    if abs(dot(_axis(work.R, cylinder, 2), n)) < FLAT:
        return rims_on_plane(shapes, work, cylinder, plane, margin, found, at)
    return cap_points(shapes, work, cylinder, plane, n, u, 1.0, margin, 0.0, found, at)
