"""Contact points of convex polytopes with each other, boxes included: the rules of boxes.py for any faces and edges.

    faces of A, B    s = least height of the other's vertices over the face
    edges            s = n.(p_B - p_A), n = e_A x e_B / |e_A x e_B| away from A, for edges whose arcs of normals cross on the Gauss map:
                     only these can be the nearest ones (D. Gregorius, The Separating Axis Test, GDC 2013)
    codes            0 ... faces of A, then those of B, then edges: n_A + n_B + a E_B + b

An axis is kept, and gives way to a face, as that of boxes. A face gets the most antiparallel face of the other one, clipped by its sides.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.boxes import NEARLY, NO_AXIS, PARALLEL
from dalembert.kernels.contact.detect import margin_of
from dalembert.kernels.contact.filters import material
from dalembert.kernels.contact.manifold import put
from dalembert.kernels.contact.tables import BOX, HULL
from dalembert.kernels.smallmat import cross, dot, sub

INCIDENT = 4096  # what is remembered: code * INCIDENT + 1 + incident face
LABELS = 128  # labels of corners: edges of the incident face, then sides of the reference face
FACES = 1 << 40  # features of faces are above


@inline
def vector(a, i):
    """Row i."""
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def turn(shapes, polytopes, c, R, corners, normals):
    """World positions of all vertices, world normals of all faces."""
    for i in range(shapes.owner.shape[0]):
        for k in range(shapes.first[i], shapes.first[i + 1]):
            v = vector(shapes.vertices, k)
            for m in range(3):
                corners[k, m] = c[i, m] + R[i, m, 0] * v[0] + R[i, m, 1] * v[1] + R[i, m, 2] * v[2]
        for k in range(polytopes.face_first[i], polytopes.face_first[i + 1]):
            n = vector(polytopes.face_normal, k)
            for m in range(3):
                normals[k, m] = R[i, m, 0] * n[0] + R[i, m, 1] * n[1] + R[i, m, 2] * n[2]


@inline
def over_face(p, corners, normals, face, start, stop):
    """Least height of vertices start ... stop over a face."""
    n, on = vector(normals, face), vector(corners, p.face_vertex[p.face_start[face]])
    least = math.inf
    for k in range(start, stop):
        least = min(least, dot(n, sub(vector(corners, k), on)))
    return least


@inline
def edges_apart(p, corners, normals, a, b, centre):
    """(separation, n) of two edges, -inf where they cannot be the nearest ones; centre: some point inside A."""
    none = (-math.inf, (0.0, 0.0, 0.0))
    a0, a1 = vector(normals, p.edges[a, 2]), vector(normals, p.edges[a, 3])
    b0, b1 = vector(normals, p.edges[b, 2]), vector(normals, p.edges[b, 3])
    arc_a, arc_b = cross(a0, a1), cross(b0, b1)  # of -b0, -b1 it is the same
    x, y = -dot(b0, arc_a), -dot(b1, arc_a)
    z, w = dot(a0, arc_b), dot(a1, arc_b)
    if x * y >= 0.0 or z * w >= 0.0 or x * w <= 0.0:
        return none
    origin = vector(corners, p.edges[a, 0])
    u = sub(vector(corners, p.edges[a, 1]), origin)
    v = sub(vector(corners, p.edges[b, 1]), vector(corners, p.edges[b, 0]))
    n = cross(u, v)
    length = math.sqrt(dot(n, n))
    if length < PARALLEL * math.sqrt(dot(u, u) * dot(v, v)):
        return none
    f = 1.0 / length if dot(n, sub(origin, centre)) > 0.0 else -1.0 / length
    n = (f * n[0], f * n[1], f * n[2])
    return dot(n, sub(vector(corners, p.edges[b, 0]), origin)), n


@kernel
def best_face(shapes, p, corners, normals, A, B, margin, axis):
    """(best separation, its code, that of the kept code) over the faces of both; above the margin as soon as one is."""
    best, code, kept, at = -math.inf, 0, -math.inf, 0
    for side in range(2):
        own, other = (A, B) if side == 0 else (B, A)
        for face in range(p.face_first[own], p.face_first[own + 1]):
            s = over_face(p, corners, normals, face, shapes.first[other], shapes.first[other + 1])
            if at == axis:
                kept = s
            if s > best:
                best, code = s, at
            if s > margin:
                return best, code, kept
            at += 1
    return best, code, kept


@kernel
def best_edges(p, corners, normals, A, B, centre, margin, axis):
    """(best separation, its code, that of the kept code) over pairs of edges."""
    best, code, kept = -math.inf, -1, -math.inf
    faces = p.face_first[A + 1] - p.face_first[A] + p.face_first[B + 1] - p.face_first[B]
    for a in range(p.edge_first[A], p.edge_first[A + 1]):
        for b in range(p.edge_first[B], p.edge_first[B + 1]):
            s, _ = edges_apart(p, corners, normals, a, b, centre)
            at = faces + (a - p.edge_first[A]) * (p.edge_first[B + 1] - p.edge_first[B]) + b - p.edge_first[B]
            if at == axis:
                kept = s
            if s > best:
                best, code = s, at
                if s > margin:
                    return best, code, kept
    return best, code, kept


@kernel
def near_face(p, normals, A, B, n, code, axis, angle):
    """The face whose normal is within the angle of n, twice the angle if it is the kept one; else the code of the edges."""
    most, found, at = 0.0, code, 0
    for side in range(2):
        own, sign = (A, 1.0) if side == 0 else (B, -1.0)
        for face in range(p.face_first[own], p.face_first[own + 1]):
            g = sign * dot(n, vector(normals, face))
            if at == axis and 1.0 - g < 2.0 * angle * angle:
                return at
            if g > most and 1.0 - g < 0.5 * angle * angle:
                most, found = g, at
            at += 1
    return found


@kernel
def edge_point(p, corners, normals, a, b, code, centre, found, at):
    """Nearest points of two edges. Returns 1."""
    gap, n = edges_apart(p, corners, normals, a, b, centre)
    x0, y0 = vector(corners, p.edges[a, 0]), vector(corners, p.edges[b, 0])
    u, v, r = sub(vector(corners, p.edges[a, 1]), x0), sub(vector(corners, p.edges[b, 1]), y0), sub(y0, x0)
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    f = 1.0 / (uu * vv - uv * uv)
    s, t = min(max((ur * vv - uv * vr) * f, 0.0), 1.0), min(max((uv * ur - uu * vr) * f, 0.0), 1.0)
    middle = (
        0.5 * (x0[0] + s * u[0] + y0[0] + t * v[0]),
        0.5 * (x0[1] + s * u[1] + y0[1] + t * v[1]),
        0.5 * (x0[2] + s * u[2] + y0[2] + t * v[2]),
    )
    put(found, at, middle, n, gap, code)
    return 1


@inline
def incident_face(p, normals, other, n, kept):
    """The face most antiparallel to n, counted from the first of the other polytope; the kept one (-1: none) while it nearly is."""
    best, most, mine = 0, -2.0, -2.0
    for face in range(p.face_first[other], p.face_first[other + 1]):
        g, k = -dot(n, vector(normals, face)), face - p.face_first[other]
        if k == kept:
            mine = g
        if g > most:
            best, most = k, g
    return kept if mine > most - NEARLY else best


@kernel
def clipped(p, corners, face, incident, n, tolerance, polygon, label):
    """Corners of the incident face within the sides of the face, relative to its first corner. Returns (how many, where in polygon)."""
    start, sides = p.face_start[face], p.face_start[face + 1] - p.face_start[face]
    origin = vector(corners, p.face_vertex[start])
    count, source = p.face_start[incident + 1] - p.face_start[incident], 0
    for k in range(count):
        d = sub(vector(corners, p.face_vertex[p.face_start[incident] + k]), origin)
        polygon[0, k, 0], polygon[0, k, 1], polygon[0, k, 2] = d[0], d[1], d[2]
        label[0, k] = k
    for side in range(sides):
        q = sub(vector(corners, p.face_vertex[start + side]), origin)
        to = sub(vector(corners, p.face_vertex[start + (side + 1) % sides]), origin)
        m = cross(sub(to, q), n)
        f = 1.0 / math.sqrt(dot(m, m))
        m = (f * m[0], f * m[1], f * m[2])
        count = cut(polygon, label, source, count, m, dot(m, q) + tolerance, LABELS // 2 + side)
        source = 1 - source
    return count, source


@inline
def cut(polygon, label, source, n, m, d, own):
    """manifold.clip for a plane in space."""
    target, k = 1 - source, 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        a, b = dot(m, vector(polygon[source], i)) - d, dot(m, vector(polygon[source], j)) - d
        if a <= 0.0:
            for r in range(3):
                polygon[target, k, r] = polygon[source, i, r]
            label[target, k] = label[source, i]
            k += 1
        if (a <= 0.0) != (b <= 0.0):
            t = a / (a - b)
            for r in range(3):
                polygon[target, k, r] = polygon[source, i, r] + t * (polygon[source, j, r] - polygon[source, i, r])
            label[target, k] = own if a <= 0.0 else label[source, i]
            k += 1
    return k


@kernel
def face_points(p, corners, normals, A, B, code, kept, margin, tolerance, polygon, label, found, at):
    """The clipped polygon of the face that meets face `code`. Returns (number of points, incident face)."""
    faces = p.face_first[A + 1] - p.face_first[A]
    other, sign = (B, 1.0) if code < faces else (A, -1.0)
    face = p.face_first[A] + code if code < faces else p.face_first[B] + code - faces
    n = vector(normals, face)
    incident = incident_face(p, normals, other, n, kept)
    left, where = clipped(p, corners, face, p.face_first[other] + incident, n, tolerance, polygon, label)
    origin, count = vector(corners, p.face_vertex[p.face_start[face]]), 0
    for k in range(left):
        d = vector(polygon[where], k)
        gap = dot(n, d)
        if gap < margin:
            s = -0.5 * gap
            point = (origin[0] + d[0] + s * n[0], origin[1] + d[1] + s * n[1], origin[2] + d[2] + s * n[2])
            before = label[where, k - 1 if k > 0 else left - 1]
            feature = FACES + ((code * INCIDENT + incident) * LABELS + before) * LABELS + label[where, k]
            put(found, at + count, point, (sign * n[0], sign * n[1], sign * n[2]), gap, feature)
            count += 1
    return count, incident


@kernel
def two_hulls(shapes, p, A, B, margin, slack, tolerance, angle, remembered, corners, normals, polygon, label, found, at):
    """Contacts of two polytopes from `at` on. Returns (points, what to remember; NO_AXIS if they are apart)."""
    axis, incident = (remembered // INCIDENT, remembered % INCIDENT - 1) if remembered >= 0 else (NO_AXIS, -1)
    s_face, face, kept = best_face(shapes, p, corners, normals, A, B, margin, axis)
    if s_face > margin:
        return 0, NO_AXIS
    centre, faces = vector(corners, shapes.first[A]), p.face_first[A + 1] - p.face_first[A] + p.face_first[B + 1] - p.face_first[B]
    mean = (0.0, 0.0, 0.0)
    for k in range(shapes.first[A], shapes.first[A + 1]):
        v = sub(vector(corners, k), centre)
        mean = (mean[0] + v[0], mean[1] + v[1], mean[2] + v[2])
    f = 1.0 / (shapes.first[A + 1] - shapes.first[A])
    centre = (centre[0] + f * mean[0], centre[1] + f * mean[1], centre[2] + f * mean[2])
    s_edge, edge, kept_edge = best_edges(p, corners, normals, A, B, centre, margin, axis)
    if s_edge > margin:
        return 0, NO_AXIS
    code = edge if s_edge > s_face + slack else face
    if 0 <= axis < faces:
        if max(s_face, s_edge) <= kept + slack:
            code = axis
    elif axis >= faces and kept_edge >= s_face and kept_edge >= s_edge - slack:
        code = axis
    if code >= faces:
        edges = p.edge_first[B + 1] - p.edge_first[B]
        a, b = p.edge_first[A] + (code - faces) // edges, p.edge_first[B] + (code - faces) % edges
        _, n = edges_apart(p, corners, normals, a, b, centre)
        near = near_face(p, normals, A, B, n, code, axis, angle)
        if near == code:
            return edge_point(p, corners, normals, a, b, code, centre, found, at), code * INCIDENT
        code = near
    own = incident if axis == code else -1
    count, own = face_points(p, corners, normals, A, B, code, own, margin, tolerance, polygon, label, found, at)
    return count, code * INCIDENT + 1 + own


@kernel
def hull_pairs(shapes, filters, settings, polytopes, reach, work, keys, codes, scratch, found, at):
    """Contacts of hulls with hulls and boxes among the candidates of the last sweep, from `at` on. Returns (contacts then, axes).

    keys, codes: axes of the last time, sorted; those of this time go to work.axis_keys, axis_codes, whose contents have been read.
    """
    corners, normals, polygon, label = scratch
    turn(shapes, polytopes, work.c, work.R, corners, normals)
    n_shapes, axes, old = shapes.owner.shape[0], 0, 0
    for i in range(n_shapes):
        for k in range(work.start[i], work.start[i + 1]):
            j = work.second[k]
            flat = (shapes.kind[i] == HULL or shapes.kind[i] == BOX) and (shapes.kind[j] == HULL or shapes.kind[j] == BOX)
            if not flat or (shapes.kind[i] == BOX and shapes.kind[j] == BOX):
                continue
            key, scale = i * n_shapes + j, min(shapes.scale[i], shapes.scale[j])
            while old < keys.shape[0] and keys[old] < key:
                old += 1
            kept = codes[old] if old < keys.shape[0] and keys[old] == key else NO_AXIS
            margin, slack, tolerance = margin_of(shapes, reach, settings, i, j), scale * settings.slack, scale * settings.clip
            count, code = two_hulls(
                shapes, polytopes, i, j, margin, slack, tolerance, settings.angle, kept, corners, normals, polygon, label, found, at
            )
            for m in range(at, min(at + count, found.gap.shape[0])):
                found.bodies[m, 0], found.bodies[m, 1], found.key[m] = shapes.owner[i], shapes.owner[j], key
                found.material[m] = material(filters, i, j)
            at += count
            if code != NO_AXIS:
                work.axis_keys[axes], work.axis_codes[axes] = key, code
                axes += 1
    return at, axes
