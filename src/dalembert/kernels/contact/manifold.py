"""Contact points of a flat face with what is below it: clipped polygons, and vertices under a plane.

Clipping is that of Sutherland and Hodgman. A polygon is a list of corners (x, y, z), x and y along the reference face, z above it. Each
corner carries the label of the edge that leaves it, 0 ... 3 edges of the incident face, 4 ... 7 sides of the reference face, so that
(incoming label, outgoing label) names a corner of the result as long as the same edges meet. Corners up to a tolerance outside of a side
are left alone: collinear edges would be cut at one step and not at the next.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.tables import BOX


@kernel
def clip(polygon, label, source, n, x, y, d, own):
    """Keep x X + y Y <= d of polygon[source] (n corners), in polygon[1 - source]; own: label of this side. Returns how many are left."""
    target, k = 1 - source, 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        a = x * polygon[source, i, 0] + y * polygon[source, i, 1] - d
        b = x * polygon[source, j, 0] + y * polygon[source, j, 1] - d
        if a <= 0.0:
            for m in range(3):
                polygon[target, k, m] = polygon[source, i, m]
            label[target, k] = label[source, i]
            k += 1
        if (a <= 0.0) != (b <= 0.0):
            t = a / (a - b)
            for m in range(3):
                polygon[target, k, m] = polygon[source, i, m] + t * (polygon[source, j, m] - polygon[source, i, m])
            label[target, k] = own if a <= 0.0 else label[source, i]
            k += 1
    return k


@kernel
def clip_to_rectangle(polygon, label, n, width, depth, tolerance):
    """polygon[0] (n corners) within |x| <= width, |y| <= depth, in place. Returns how many corners are left."""
    n = clip(polygon, label, 0, n, 1.0, 0.0, width + tolerance, 4)
    n = clip(polygon, label, 1, n, -1.0, 0.0, width + tolerance, 5)
    n = clip(polygon, label, 0, n, 0.0, 1.0, depth + tolerance, 6)
    return clip(polygon, label, 1, n, 0.0, -1.0, depth + tolerance, 7)


@kernel
def put(found, at, point, normal, gap, feature):
    """Write one contact if there is room for it."""
    if at < found.gap.shape[0]:
        for m in range(3):
            found.point[at, m] = point[m]
            found.normal[at, m] = normal[m]
        found.gap[at] = gap
        found.feature[at] = feature


@inline
def above(c, R, plane, p):
    """Height of a point over a plane, and the plane's normal."""
    n = (R[plane, 0, 2], R[plane, 1, 2], R[plane, 2, 2])
    return n[0] * (p[0] - c[plane, 0]) + n[1] * (p[1] - c[plane, 1]) + n[2] * (p[2] - c[plane, 2]), n


@inline
def corner(shapes, c, R, i, v):
    """World position of vertex v of a box or hull."""
    if shapes.kind[i] == BOX:
        x = shapes.half[i, 0] if v & 1 else -shapes.half[i, 0]
        y = shapes.half[i, 1] if v & 2 else -shapes.half[i, 1]
        z = shapes.half[i, 2] if v & 4 else -shapes.half[i, 2]
    else:
        k = shapes.first[i] + v
        x, y, z = shapes.vertices[k, 0], shapes.vertices[k, 1], shapes.vertices[k, 2]
    return (
        c[i, 0] + R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        c[i, 1] + R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        c[i, 2] + R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@kernel
def vertices_on_plane(shapes, c, R, plane, i, margin, found, at):
    """All vertices of a box or hull below the margin, midway between vertex and plane. Feature: the vertex. Returns how many."""
    n_vertices = 8 if shapes.kind[i] == BOX else shapes.first[i + 1] - shapes.first[i]
    count = 0
    for v in range(n_vertices):
        p = corner(shapes, c, R, i, v)
        gap, n = above(c, R, plane, p)
        if gap < margin:
            s = -0.5 * gap
            put(found, at + count, (p[0] + s * n[0], p[1] + s * n[1], p[2] + s * n[2]), n, gap, v)
            count += 1
    return count
