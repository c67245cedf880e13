"""Contact points of two boxes: separating axes with memory, face against face or edge against edge.

    separation along a unit axis n    s = |n.(c_B - c_A)| - sum_i e_A,i |n.a_i| - sum_j e_B,j |n.b_j|
    axes                              0-2 faces of A, 3-5 faces of B, 6 + 3 i + j: a_i x b_j; those with |a_i x b_j| < 1e-3 are left out

The boxes are apart if any s is above the margin. Of the others one is chosen so that it changes seldom, and then to a shallower one:

    a face is kept while no s exceeds its own by more than the slack
    edges are kept while theirs is at least that of the best face, and that of the best edges minus the slack
    otherwise the best face, unless the best edges exceed it by more than the slack
    edges whose axis is within an angle of a face normal give way to that face, which is then left at twice that angle only

Without this memory the axes of a heap flicker and it never comes to rest. A face gets the polygon of the most antiparallel face of the
other box (the one of the last time while it is nearly so: a box on its edge has two), clipped by its sides, all corners below the margin
(at most eight); edges get one point. Where the nearest corner was clipped away from fast boxes that are apart, their nearest points follow
(nearest.py). Points lie midway between the boxes, the normal points from A to B.

    remembered    axis of edges, or axis + 16 (1 + incident face), incident face = 2 axis + (1 if its normal is along that axis)
    feature       (axis, four signs), or (axis, incident face, incoming label, outgoing label)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.manifold import clip_to_rectangle, put
from dalembert.kernels.contact.nearest import nearest_contact
from dalembert.kernels.smallmat import dot

NO_AXIS = -1
PARALLEL = 1e-3
NEARLY = 0.02  # of the cosine between normals
NEAREST_FEATURE, FACE_FEATURES = 960, 1024  # features of edges are below


@kernel
def separations(c, R, half, A, B, margin, C, s):
    """s (15), and C = R_A^T R_B. Returns False as soon as one is above the margin."""
    d = (c[B, 0] - c[A, 0], c[B, 1] - c[A, 1], c[B, 2] - c[A, 2])
    for i in range(3):
        s[i] = R[A, 0, i] * d[0] + R[A, 1, i] * d[1] + R[A, 2, i] * d[2]
        for j in range(3):
            C[i, j] = R[A, 0, i] * R[B, 0, j] + R[A, 1, i] * R[B, 1, j] + R[A, 2, i] * R[B, 2, j]
    t = (s[0], s[1], s[2])  # d in the axes of A
    for i in range(3):
        reach = half[A, i] + half[B, 0] * abs(C[i, 0]) + half[B, 1] * abs(C[i, 1]) + half[B, 2] * abs(C[i, 2])
        s[i] = abs(t[i]) - reach
        if s[i] > margin:
            return False
    for j in range(3):
        reach = half[B, j] + half[A, 0] * abs(C[0, j]) + half[A, 1] * abs(C[1, j]) + half[A, 2] * abs(C[2, j])
        s[3 + j] = abs(t[0] * C[0, j] + t[1] * C[1, j] + t[2] * C[2, j]) - reach
        if s[3 + j] > margin:
            return False
    return _of_edges(t, half, A, B, margin, C, s)


@inline
def _of_edges(t, half, A, B, margin, C, s):
    """a_i x b_j = C_kj a_l - C_lj a_k in the axes of A, with (i, k, l) cyclic."""
    for i in range(3):
        k, l = (i + 1) % 3, (i + 2) % 3
        t_k, t_l = (t[1], t[2]) if i == 0 else ((t[2], t[0]) if i == 1 else (t[0], t[1]))
        for j in range(3):
            length = math.sqrt(C[k, j] * C[k, j] + C[l, j] * C[l, j])
            if length < PARALLEL:
                s[6 + 3 * i + j] = -math.inf
                continue
            m, n = (j + 1) % 3, (j + 2) % 3
            reach = half[A, k] * abs(C[l, j]) + half[A, l] * abs(C[k, j]) + half[B, m] * abs(C[i, n]) + half[B, n] * abs(C[i, m])
            value = (abs(t_l * C[k, j] - t_k * C[l, j]) - reach) / length
            s[6 + 3 * i + j] = value
            if value > margin:
                return False
    return True


@inline
def _best(s, start, stop):
    found = start
    for k in range(start + 1, stop):
        if s[k] > s[found]:
            found = k
    return found


@kernel
def choose(s, kept, slack):
    """The axis to use, given the one that was used before (NO_AXIS: none)."""
    face, edge = _best(s, 0, 6), _best(s, 6, 15)
    if 0 <= kept < 6 and max(s[face], s[edge]) <= s[kept] + slack:
        return kept
    if kept >= 6 and s[kept] >= s[face] and s[kept] >= s[edge] - slack:
        return kept
    return edge if s[edge] > s[face] + slack else face


@inline
def column(R, A, i):
    """Axis i of a box."""
    return (R[A, 0, i], R[A, 1, i], R[A, 2, i])


@inline
def face_axis(R, A, B, code):
    """Axis 0 ... 5 as a vector, of either sign."""
    return column(R, A, code) if code < 3 else column(R, B, code - 3)


@inline
def direction(c, R, A, B, code):
    """The axis as a unit vector from A to B."""
    if code < 6:
        n = face_axis(R, A, B, code)
    else:
        a, b = column(R, A, (code - 6) // 3), column(R, B, (code - 6) % 3)
        n = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        f = 1.0 / math.sqrt(dot(n, n))
        n = (f * n[0], f * n[1], f * n[2])
    if n[0] * (c[B, 0] - c[A, 0]) + n[1] * (c[B, 1] - c[A, 1]) + n[2] * (c[B, 2] - c[A, 2]) < 0.0:
        n = (-n[0], -n[1], -n[2])
    return n


@kernel
def give_way(R, A, B, n, code, kept, angle):
    """The face whose normal is within the angle of an edge axis n, twice the angle if it is the kept one; else the edges' code.

    1 - cos(x) = x^2/2 up to 1e-6 of such small angles.
    """
    most, found = 0.0, code
    for k in range(6):
        g = abs(dot(n, face_axis(R, A, B, k)))
        if k == kept and 1.0 - g < 2.0 * angle * angle:
            return k
        if g > most and 1.0 - g < 0.5 * angle * angle:
            most, found = g, k
    return found


@kernel
def edge_contact(c, R, half, A, B, code, gap, found, at):
    """Nearest points of the two edges that the axis comes from. Returns 1."""
    n = direction(c, R, A, B, code)
    i, j, signs = (code - 6) // 3, (code - 6) % 3, 0
    p, q = (c[A, 0], c[A, 1], c[A, 2]), (c[B, 0], c[B, 1], c[B, 2])
    for k in range(3):
        if k != i:
            a = column(R, A, k)
            up = dot(n, a) > 0.0
            e = half[A, k] if up else -half[A, k]
            p = (p[0] + e * a[0], p[1] + e * a[1], p[2] + e * a[2])
            signs = 2 * signs + (1 if up else 0)
        if k != j:
            b = column(R, B, k)
            up = dot(n, b) > 0.0
            e = -half[B, k] if up else half[B, k]
            q = (q[0] + e * b[0], q[1] + e * b[1], q[2] + e * b[2])
            signs = 2 * signs + (1 if up else 0)
    u, w, r = column(R, A, i), column(R, B, j), (q[0] - p[0], q[1] - p[1], q[2] - p[2])
    uw, ur, wr = dot(u, w), dot(u, r), dot(w, r)
    along = 1.0 / (1.0 - uw * uw)  # at least 1/PARALLEL^2 away from a division by zero
    x = min(max((ur - uw * wr) * along, -half[A, i]), half[A, i])
    y = min(max((uw * ur - wr) * along, -half[B, j]), half[B, j])
    middle = (
        0.5 * (p[0] + x * u[0] + q[0] + y * w[0]),
        0.5 * (p[1] + x * u[1] + q[1] + y * w[1]),
        0.5 * (p[2] + x * u[2] + q[2] + y * w[2]),
    )
    put(found, at, middle, n, gap, 64 * code + signs)
    return 1


@inline
def _incident(R, I, n, kept):
    """The face of a box that is most antiparallel to n, as 2 axis + (1 if its side is up); the kept one (-1: none) while it nearly is."""
    best, most, mine = 0, -1.0, -1.0
    for face in range(6):
        g = dot(n, column(R, I, face // 2))
        g = -g if face % 2 else g
        if face == kept:
            mine = g
        if g > most:
            best, most = face, g
    return kept if mine > most - NEARLY else best


@inline
def _lay(c, R, half, F, I, a, up, b, side, polygon, label):
    """Corners of face (b, side) of the incident box I, in the axes of face a of the reference box F with outward normal up."""
    a1, a2, b1, b2 = (a + 1) % 3, (a + 2) % 3, (b + 1) % 3, (b + 2) % 3
    x, y = column(R, F, a1), column(R, F, a2)
    f, g, h = column(R, I, b), column(R, I, b1), column(R, I, b2)
    for k in range(4):
        e0 = side * half[I, b]
        e1 = half[I, b1] if (k + 1) % 4 < 2 else -half[I, b1]
        e2 = half[I, b2] if k < 2 else -half[I, b2]
        p = (
            c[I, 0] - c[F, 0] + e0 * f[0] + e1 * g[0] + e2 * h[0],
            c[I, 1] - c[F, 1] + e0 * f[1] + e1 * g[1] + e2 * h[1],
            c[I, 2] - c[F, 2] + e0 * f[2] + e1 * g[2] + e2 * h[2],
        )
        polygon[0, k, 0], polygon[0, k, 1], polygon[0, k, 2] = dot(p, x), dot(p, y), dot(p, up) - half[F, a]
        label[0, k] = k


@kernel
def face_contacts(c, R, half, A, B, code, kept, margin, tolerance, polygon, label, found, at):
    """The clipped polygon of the face that meets face `code`, the kept one if it still does. Returns (number of points, incident face)."""
    n = direction(c, R, A, B, code)
    F, I, sign = (A, B, 1.0) if code < 3 else (B, A, -1.0)
    a, up = code % 3, (sign * n[0], sign * n[1], sign * n[2])
    incident = _incident(R, I, up, kept)
    b, side = incident // 2, (1.0 if incident % 2 else -1.0)
    _lay(c, R, half, F, I, a, up, b, side, polygon, label)
    left = clip_to_rectangle(polygon, label, 4, half[F, (a + 1) % 3], half[F, (a + 2) % 3], tolerance)
    x, y, count = column(R, F, (a + 1) % 3), column(R, F, (a + 2) % 3), 0
    face = FACE_FEATURES + 64 * (6 * code + incident)
    for k in range(left):
        gap = polygon[0, k, 2]
        if gap < margin:
            u, v, w = polygon[0, k, 0], polygon[0, k, 1], half[F, a] + 0.5 * gap
            point = (
                c[F, 0] + u * x[0] + v * y[0] + w * up[0],
                c[F, 1] + u * x[1] + v * y[1] + w * up[1],
                c[F, 2] + u * x[2] + v * y[2] + w * up[2],
            )
            before = label[0, k - 1 if k > 0 else left - 1]
            put(found, at + count, point, n, gap, face + 8 * before + label[0, k])
            count += 1
    return count, incident


@inline
def _least(found, at, count):
    """Least gap of contacts; infinite of none."""
    least = math.inf
    for k in range(at, min(at + count, found.gap.shape[0])):
        least = min(least, found.gap[k])
    return least


@kernel
def boxes(shapes, work, A, B, margin, fast, slack, tolerance, angle, kept, found, at):
    """Contacts of two boxes from `at` on. kept: what was remembered, or NO_AXIS. Returns (points, what to remember)."""
    c, R, half = work.c, work.R, shapes.half
    if not separations(c, R, half, A, B, margin, work.C, work.s):
        return 0, NO_AXIS
    axis, incident = (kept % 16, kept // 16 - 1) if kept >= 0 else (NO_AXIS, -1)
    code = choose(work.s, axis, slack)
    if code >= 6:
        code = give_way(R, A, B, direction(c, R, A, B, code), code, axis, angle)
    if code >= 6:
        return edge_contact(c, R, half, A, B, code, work.s[code], found, at), code
    face = incident if axis == code else -1
    count, face = face_contacts(c, R, half, A, B, code, face, margin, tolerance, work.polygon, work.label, found, at)
    if fast and work.s[code] > 0.0 and _least(found, at, count) > work.s[code] + 10.0 * tolerance:
        count += nearest_contact(c, R, half, A, B, margin, NEAREST_FEATURE, found, at + count)
    return count, code + 16 * (1 + face)
