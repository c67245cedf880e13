"""The facet of K = K1 - K2 nearest to the origin, for bodies that overlap: a polytope of vertices of K grows where it is nearest.

    h = - min over facets of K of n.w,  n the outward unit normal                          QCLP, origin in K

Faces (n, d) of the polytope, n.z <= d inside it, wait in order of d. The supporting value S = max_(w in K) n.w of the nearest face is an
upper bound of the depth; if w lies beyond the face, the polytope takes it in: all faces that w sees go, their rim is joined to w. It ends
when the least S is not above the least d that is left: the ball of that radius is in K. Faces may start with the origin outside (d < 0).

Points in the plane of a face count as seeing it, so that edges never run on in a line; a face whose supporting vertex it has already is
closed with S. Whatever round-off does to the polytope, every S belongs to a supporting plane of K.

    work rows from BASIS on: room vertices (w, i, j), 3 room faces (n, d, key, a, b, c), 2 room edges of the rim (a, b)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.separation.layout import BASIS, LIMIT, SOLVED
from dalembert.kernels.separation.support import across, difference, length, row, support, unit
from dalembert.kernels.smallmat import cross, dot, scale, store3, sub

D, KEY = 3, 4
CLOSED = math.inf  # key of a face that has been looked at
SLIVER = 1e-20  # square of (height over length) of a face
FLAT = 8.0  # K is flat where it is not thicker than FLAT tol R


@inline
def _farthest(X, Y, d):
    """(i, j) of the vertex of K with the largest d.w."""
    _, i, j = support(X, Y, scale(-1.0, d))
    return i, j


@inline
def _keep(work, at, X, Y, i, j):
    store3(work[BASIS + at], 0, difference(X, Y, i, j))
    work[BASIS + at, 3], work[BASIS + at, 4] = i, j


@inline
def _off(count, work, w):
    """Distance of w from the affine hull of the first one, two or three vertices."""
    a = row(work, BASIS)
    e = sub(w, a)
    if count == 1:
        return length(e)
    if count == 2:
        d = sub(row(work, BASIS + 1), a)
        return length(cross(d, e)) / length(d)
    n = cross(sub(row(work, BASIS + 1), a), sub(row(work, BASIS + 2), a))
    return abs(dot(n, e)) / length(n)


@inline
def _ways(count, work, k):
    """Direction k = 0 ... 5 in which the next vertex is sought: axes, across the line, across the plane; one way and the other."""
    sign = 1.0 - 2.0 * (k % 2)
    if count == 1:
        return ((sign if k < 2 else 0.0), (sign if k // 2 == 1 else 0.0), (sign if k > 3 else 0.0))
    a = row(work, BASIS)
    d = unit(sub(row(work, BASIS + 1), a))
    if count == 2:
        u, v = across(d)
        return scale(sign, u if k < 2 else v)
    return scale(sign, unit(cross(d, sub(row(work, BASIS + 2), a))))


@kernel
def start(X, Y, d, flat, work):
    """Vertices of a first tetrahedron. Returns how many of its four there are: fewer where K is flat, a line or a point."""
    _, i, j = support(X, Y, d)
    _keep(work, 0, X, Y, i, j)
    for count in range(1, 4):
        best = flat
        found = False
        for k in range(6):
            i, j = _farthest(X, Y, _ways(count, work, k))
            far = _off(count, work, difference(X, Y, i, j))
            if far > best:
                best, found = far, True
                _keep(work, count, X, Y, i, j)
        if not found:
            return count
    return 4


@kernel
def across_flat(work, count, d):
    """A unit normal of a K without thickness, of those the nearest to d."""
    if count == 1:
        return unit(d)
    a = row(work, BASIS)
    e = unit(sub(row(work, BASIS + 1), a))
    if count == 2:
        n = sub(d, scale(dot(d, e), e))
        u, _ = across(e)
        return unit(n) if length(n) > 1e-3 * length(d) else u
    n = unit(cross(e, sub(row(work, BASIS + 2), a)))
    return scale(math.copysign(1.0, dot(n, d)), n)


@inline
def _face(work, at, a, b, c):
    """Write face a b c, seen counter-clockwise from outside. A face without area is closed: no plane belongs to it."""
    p = row(work, BASIS + a)
    n = cross(sub(row(work, BASIS + b), p), sub(row(work, BASIS + c), p))
    size = length(n)
    if size > 0.0:
        n = scale(1.0 / size, n)
    store3(work[at], 0, n)
    work[at, D] = dot(n, p)
    work[at, KEY] = work[at, D] if size > 0.0 else CLOSED
    work[at, 5], work[at, 6], work[at, 7] = a, b, c


@inline
def _tetrahedron(work, first):
    """Its four faces."""
    a = row(work, BASIS)
    n = cross(sub(row(work, BASIS + 1), a), sub(row(work, BASIS + 2), a))
    up = dot(n, sub(row(work, BASIS + 3), a)) > 0.0
    b, c = (1, 2) if up else (2, 1)
    _face(work, first, 0, c, b)
    _face(work, first + 1, 0, b, 3)
    _face(work, first + 2, b, c, 3)
    _face(work, first + 3, c, 0, 3)


@inline
def _rim(work, edges, count, a, b):
    """Add edge a b to the rim, or take b a out of it. Returns how many edges the rim has."""
    for k in range(count):
        if work[edges + k, 0] == b and work[edges + k, 1] == a:
            work[edges + k, 0], work[edges + k, 1] = work[edges + count - 1, 0], work[edges + count - 1, 1]
            return count - 1
    work[edges + count, 0], work[edges + count, 1] = a, b
    return count + 1


@kernel
def _grow(work, first, faces, edges, vertex, noise):
    """Take vertex in. Returns how many faces there are, 0 where there is no room."""
    w = row(work, BASIS + vertex)
    rim, k = 0, 0
    while k < faces:
        at = first + k
        if dot(row(work, at), w) < work[at, D] - noise:
            k += 1
            continue
        if edges + rim + 3 > work.shape[0]:
            return 0
        for m in range(3):
            rim = _rim(work, edges, rim, work[at, 5 + m], work[at, 5 + (m + 1) % 3])
        faces -= 1
        for m in range(8):
            work[at, m] = work[first + faces, m]
    if first + faces + rim > edges:
        return 0
    for k in range(rim):
        _face(work, first + faces + k, int(work[edges + k, 0]), int(work[edges + k, 1]), vertex)
    return faces + rim


@inline
def _nearest_face(work, first, faces):
    best, at = CLOSED, -1
    for k in range(faces):
        if work[first + k, KEY] < best:
            best, at = work[first + k, KEY], k
    return best, at


@inline
def _known(work, count, w, noise):
    """Whether w is one of the vertices."""
    for k in range(count):
        v = row(work, BASIS + k)
        if abs(v[0] - w[0]) <= noise and abs(v[1] - w[1]) <= noise and abs(v[2] - w[2]) <= noise:
            return True
    return False


@inline
def _inner(work, first, faces):
    """Least d of all faces: a ball of that radius is in the polytope. Slivers do not count: they have no plane to speak of."""
    least = math.inf
    for k in range(faces):
        at = first + k
        a, b, c = row(work, BASIS + int(work[at, 5])), row(work, BASIS + int(work[at, 6])), row(work, BASIS + int(work[at, 7]))
        e, f, g = sub(b, a), sub(c, a), sub(c, b)
        n = cross(e, f)
        if dot(n, n) > SLIVER * max(dot(e, e), dot(f, f), dot(g, g)) ** 2:
            least = min(least, work[at, D])
    return least


@kernel
def depth(X, Y, d, R, tol, limit, work):
    """(status, steps, depth, unit n outwards, least d of the polytope) for a K that has the origin in it or on it.

    d: some direction to start in. A K without thickness has depth 0 and a normal across it.
    """
    noise = tol * R
    count = start(X, Y, d, FLAT * noise, work)
    if count < 4:
        return SOLVED, count, 0.0, across_flat(work, count, d), 0.0
    room = (work.shape[0] - BASIS) // 6
    first, edges = BASIS + room, BASIS + 4 * room
    _tetrahedron(work, first)
    faces = 4
    best, normal = math.inf, (0.0, 0.0, 1.0)
    for step in range(limit):
        least, at = _nearest_face(work, first, faces)
        if at < 0 or best <= least + noise:
            return SOLVED, step, best, normal, _inner(work, first, faces)
        n = row(work, first + at)
        i, j = _farthest(X, Y, n)
        w = difference(X, Y, i, j)
        s = dot(n, w)
        if s < best:
            best, normal = s, n
        if _known(work, count, w, noise) or s <= work[first + at, D] + noise:
            work[first + at, KEY] = CLOSED
            continue
        if count == room:
            return LIMIT, step, best, normal, least
        _keep(work, count, X, Y, i, j)
        faces = _grow(work, first, faces, edges, count, 0.25 * noise)
        count += 1
        if faces == 0:
            return LIMIT, step, best, normal, least
    return LIMIT, limit, best, normal, least
