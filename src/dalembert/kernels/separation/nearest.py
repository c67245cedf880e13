"""The point of K = K1 - K2 that is nearest to the origin, for bodies that are apart: P. Wolfe, Math. Programming 11 (1976) 128-149.

A simplex of at most four vertices of K has the least point p = sum nu_k w_k of its affine hull inside it. The supporting vertex in
direction -p enters; nu goes towards the weights mu of the least point of the larger affine hull, columns whose weight becomes zero leave,
until mu > 0. |p| falls at every step, and a simplex determines p, so it ends: at p.w >= p.p on all of K.

    work[k] = (w, nu, i, j, mu)      columns of the simplex; four rows later: as it was before the last step
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.separation.layout import LIMIT, SOLVED
from dalembert.kernels.separation.support import difference, length, row, support
from dalembert.kernels.smallmat import axpy, cross, dot, scale, store3, sub

NU, MU = 3, 6
SAME = 1.0 + 1e-15  # ratio of two lengths that may be the same
FLATS = 8  # steps on which |p| may stay
KEPT = 4  # rows with the simplex before the last step


@inline
def least_of_line(a, b):
    """mu_b of the point of the line a b that is nearest to 0; NaN if a = b."""
    e = sub(b, a)
    return -dot(a, e) / dot(e, e)


@inline
def least_of_plane(a, b, c):
    """(mu_b, mu_c) of the plane a b c: the foot of -a in the edges from a.

    Along the longer edge e first, then along what the other one has across it: so the foot is right to round-off along a sliver, whose
    normal is not.
    """
    e, f = sub(b, a), sub(c, a)
    swap = dot(f, f) > dot(e, e)
    if swap:
        e, f = f, e
    g = 1.0 / dot(e, e)
    along = g * dot(f, e)
    d = axpy(-along, e, f)
    d = axpy(-g * dot(d, e), e, d)
    nu = -dot(a, d) / dot(d, d)
    mu = -g * dot(a, e) - nu * along
    return (nu, mu) if swap else (mu, nu)


@inline
def of_tetrahedron(a, b, c, d):
    """(mu_b, mu_c, mu_d) of the origin."""
    e, f, h = sub(b, a), sub(c, a), sub(d, a)
    n = cross(f, h)
    g = -1.0 / dot(e, n)
    return g * dot(a, n), g * dot(a, cross(h, e)), g * dot(a, cross(e, f))


@inline
def _weights(work, count):
    """mu of the affine hull into work[:, MU]; False where the points are affinely dependent."""
    m1, m2, m3 = 0.0, 0.0, 0.0
    a = row(work, 0)
    if count == 2:
        m1 = least_of_line(a, row(work, 1))
    elif count == 3:
        m1, m2 = least_of_plane(a, row(work, 1), row(work, 2))
    elif count == 4:
        m1, m2, m3 = of_tetrahedron(a, row(work, 1), row(work, 2), row(work, 3))
    work[0, MU], work[1, MU], work[2, MU], work[3, MU] = 1.0 - m1 - m2 - m3, m1, m2, m3
    return abs(m1) + abs(m2) + abs(m3) < math.inf


@inline
def _inwards(work, count):
    """Move nu towards mu as far as nu >= 0 allows and drop what is zero. Returns how many columns stay; all where mu >= 0."""
    theta, last = 1.0, -1
    for k in range(count):
        if work[k, MU] < 0.0:
            t = work[k, NU] / (work[k, NU] - work[k, MU])
            if t < theta or last < 0:
                theta, last = t, k
    for k in range(count):
        work[k, NU] += theta * (work[k, MU] - work[k, NU])
    if last < 0:
        return count
    for m in range(6):
        work[last, m] = work[count - 1, m]
    return count - 1


@inline
def _off(p, e):
    """p without its part along e."""
    return axpy(-dot(p, e) / dot(e, e), e, p)


@inline
def point(work, count):
    """p = sum nu w, once more made perpendicular to the simplex: a sum of long w has lost the direction of a short p."""
    p = scale(work[0, NU], row(work, 0))
    for k in range(1, count):
        p = axpy(work[k, NU], row(work, k), p)
    if count == 2:
        return _off(p, sub(row(work, 1), row(work, 0)))
    if count == 3:
        e, f = sub(row(work, 1), row(work, 0)), sub(row(work, 2), row(work, 0))
        if dot(f, f) > dot(e, e):
            e, f = f, e
        return _off(_off(p, e), _off(_off(f, e), e))
    return p


@inline
def _settle(work, count):
    """Shrink the simplex until its least point is inside. Returns how many columns are left, 0 where they are dependent."""
    while True:
        if not _weights(work, count):
            return 0
        left = _inwards(work, count)
        if left == count:
            return count
        count = left


@inline
def _direction(work, count, p):
    """Unit normal at p: of the triangle where there is one that is larger than |p|, else p / |p|; some unit vector at p = 0."""
    size = length(p)
    d = scale(1.0 / size, p) if size > 0.0 else (0.0, 0.0, 1.0)
    if count == 3:
        a = row(work, 0)
        n = cross(sub(row(work, 1), a), sub(row(work, 2), a))
        area = length(n)
        if area > size * size:
            return scale(math.copysign(1.0 / area, dot(n, a)), n)
    return d


@inline
def _copy(work, source, target, count):
    for k in range(count):
        for m in range(6):
            work[target + k, m] = work[source + k, m]


@kernel
def nearest(X, Y, i, j, R, tol, limit, work):
    """(status, steps, columns, |p|, unit normal) from the vertex x_i - y_j on; |p| is an upper bound of the distance.

    The origin must not be in K: then |p| ends at round-off and the normal means nothing. A step that neither brings p nearer nor its plane
    (s / |p| is the distance of the supporting plane across p), or whose points are dependent, is round-off: it is taken back, and that is
    the end.
    """
    store3(work[0], 0, difference(X, Y, i, j))
    work[0, NU], work[0, 4], work[0, 5] = 1.0, i, j
    count, kept, noise = 1, 1, tol * R
    p = row(work, 0)
    size, level, flat, flats = length(p), -math.inf, False, 0
    for step in range(limit):
        s, i, j = support(X, Y, p)
        if flat and (s <= level * size or flats > FLATS):
            _copy(work, KEPT, 0, kept)
            p = point(work, kept)
            return SOLVED, step, kept, length(p), _direction(work, kept, p)
        if size <= noise or s >= size * (size - noise):
            return SOLVED, step, count, size, _direction(work, count, p)
        for k in range(count):
            if work[k, 4] == i and work[k, 5] == j:
                return SOLVED, step, count, size, _direction(work, count, p)
        kept, level = count, s / size
        _copy(work, 0, KEPT, count)
        store3(work[count], 0, difference(X, Y, i, j))
        work[count, NU], work[count, 4], work[count, 5] = 0.0, i, j
        left = _settle(work, count + 1)
        nearer = point(work, max(left, 1))
        if left == 0 or left == 4 or not length(nearer) <= size * SAME:
            _copy(work, KEPT, 0, count)
            return SOLVED, step, count, size, _direction(work, count, p)
        flat = length(nearer) >= size
        flats += flat
        count, p, size = left, nearer, length(nearer)
    return LIMIT, limit, count, size, _direction(work, count, p)
