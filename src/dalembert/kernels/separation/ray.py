"""The linear program of supporting separating hyperplanes (LCLP), as a ray cast in K = K1 - K2: revised simplex with 3 x 3 bases.

    g(beta) = max a1 - a2   with alpha.x >= a1 on K1, alpha.y <= a2 on K2, beta.alpha = 1                 Leyendecker et al., section 4.1
            = min { t : t beta in K }                                                                      its dual

With unit vectors u, v across beta, w in K is (p, s) = ((w.u, w.v), w.beta), and the dual is

    min sum nu_k s_k   with sum nu_k p_k = 0, sum nu_k = 1, nu >= 0:

three rows, one column for each of the n1 n2 vertices w = x_i - y_j, and the cheapest column is found by n1 + n2 products: alpha of a basis
is the normal of the triangle of its three points with beta.alpha = 1, and the column that enters is the supporting point, least alpha.w.
The optimal triangle lies in the facet of K that the line t beta meets first.

Phase 1 drives out two columns (+-R, 0, 0), (0, +-R, 0) that make the first point a basis. Where it cannot, the line misses K: its
multipliers are a direction d across beta with d.w > 0 on all of K. The bodies are apart, and the program is unbounded: SEPARATED. A column
that stays at level 0 because all of K lies in a line or a plane along beta stands for a row that says nothing.

The basis is solved anew at every pivot, so nothing accumulates. After half of the limit Bland's rule chooses, which cannot cycle.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.separation.layout import ALPHA, BETA, GX_AT, GY_AT, LIMIT, RAY_STATUS, SEPARATED, SOLVED, STEPS, G
from dalembert.kernels.separation.support import across, difference, length, row, support, unit
from dalembert.kernels.smallmat import axpy, cross, dot, scale, store3

LEVEL = 6  # work[k] = (p_u, p_v, 1 or 0, s, i, j, nu): column k of the basis; i = -1: artificial
SMALL = 1e-11  # pivots


@inline
def _put(work, k, X, Y, i, j, u, v, beta):
    w = difference(X, Y, i, j)
    work[k, 0], work[k, 1], work[k, 2], work[k, 3] = dot(w, u), dot(w, v), 1.0, dot(w, beta)
    work[k, 4], work[k, 5] = i, j


@inline
def _artificial(work, k, p, q):
    work[k, 0], work[k, 1], work[k, 2], work[k, 3] = p, q, 0.0, 0.0
    work[k, 4], work[k, 5] = -1.0, -1.0


@inline
def _inverse(work):
    """Rows of the inverse of the basis; its last column are the levels nu."""
    m0, m1, m2 = row(work, 0), row(work, 1), row(work, 2)
    r0 = cross(m1, m2)
    f = 1.0 / dot(m0, r0)
    r0, r1, r2 = scale(f, r0), scale(f, cross(m2, m0)), scale(f, cross(m0, m1))
    work[0, LEVEL], work[1, LEVEL], work[2, LEVEL] = r0[2], r1[2], r2[2]
    return r0, r1, r2


@inline
def _multipliers(work, r0, r1, r2, phase):
    """pi with pi.column = cost for the columns of the basis: 1 and 0 in phase 1 for artificial ones and points, else 0 and s."""
    if phase == 1:
        c0, c1, c2 = 1.0 - work[0, 2], 1.0 - work[1, 2], 1.0 - work[2, 2]
    else:
        c0, c1, c2 = work[0, 3], work[1, 3], work[2, 3]
    return axpy(c0, r0, axpy(c1, r1, scale(c2, r2)))


@inline
def _normal(pi, u, v, beta, phase):
    """The direction in which columns are priced: cost - pi.column = normal.w - pi_3."""
    base = (0.0, 0.0, 0.0) if phase == 1 else beta
    return axpy(-pi[0], u, axpy(-pi[1], v, base))


@kernel
def _bland(X, Y, d, bound):
    """(i, j) of the first column with d.w < bound, or (-1, -1)."""
    for i in range(X.shape[0]):
        s = dot(d, row(X, i))
        for j in range(Y.shape[0]):
            if s - dot(d, row(Y, j)) < bound:
                return i, j
    return -1, -1


@inline
def _leaving(work, d, careful):
    """The row whose level is zero first as a column enters at rates d, -1 if none; of ties the largest rate, or the lowest index."""
    best, at = math.inf, -1
    for k in range(3):
        rate = d[0] if k == 0 else d[1] if k == 1 else d[2]
        if rate > SMALL:
            ratio = max(work[k, LEVEL], 0.0) / rate
            tie = ratio == best
            old = at if tie else k
            most = d[0] if old == 0 else d[1] if old == 1 else d[2]
            earlier = work[k, 4] < work[old, 4] or (work[k, 4] == work[old, 4] and work[k, 5] < work[old, 5])
            if ratio < best or (tie and (earlier if careful else rate > most)):
                best, at = ratio, k
    return at


@inline
def _present(work, i, j):
    return (work[0, 4] == i and work[0, 5] == j) or (work[1, 4] == i and work[1, 5] == j) or (work[2, 4] == i and work[2, 5] == j)


@kernel
def _drive_out(X, Y, u, v, beta, work):
    """Replace artificial columns at level 0 by points where any has a rate in that row, however its sign."""
    for k in range(3):
        if work[k, 2] == 0.0:
            r0, r1, r2 = _inverse(work)
            r = r0 if k == 0 else r1 if k == 1 else r2
            d = axpy(r[0], u, scale(r[1], v))
            low, i, j = support(X, Y, d)
            high, m, n = support(X, Y, scale(-1.0, d))
            if abs(low + r[2]) > SMALL and abs(low + r[2]) >= abs(r[2] - high):
                _put(work, k, X, Y, i, j, u, v, beta)
            elif abs(r[2] - high) > SMALL:
                _put(work, k, X, Y, m, n, u, v, beta)


@inline
def _artificial_levels(work):
    return (1.0 - work[0, 2]) * work[0, LEVEL] + (1.0 - work[1, 2]) * work[1, LEVEL] + (1.0 - work[2, 2]) * work[2, LEVEL]


@kernel
def cast(X, Y, beta, R, tol, limit, work):
    """(status, pivots, g, alpha) for a unit beta; work[0 : 3] is the basis. SEPARATED: alpha is a d with d.w >= g > 0 on K."""
    u, v = across(beta)
    _, i, j = support(X, Y, beta)
    _put(work, 0, X, Y, i, j, u, v, beta)
    _artificial(work, 1, -math.copysign(R, work[0, 0]), 0.0)
    _artificial(work, 2, 0.0, -math.copysign(R, work[0, 1]))
    phase, noise = 1, 4.0 * tol * R
    for pivot in range(limit):
        r0, r1, r2 = _inverse(work)
        if phase == 1 and _artificial_levels(work) <= 4.0 * tol:
            _drive_out(X, Y, u, v, beta, work)
            r0, r1, r2 = _inverse(work)
            phase = 2
        pi = _multipliers(work, r0, r1, r2, phase)
        d = _normal(pi, u, v, beta, phase)
        bound = pi[2] - noise * length(d)
        if 2 * pivot < limit:
            s, i, j = support(X, Y, d)
            done = s >= bound or _present(work, i, j)
        else:
            i, j = _bland(X, Y, d, bound)
            done = i < 0
        if done:
            return (SOLVED if phase == 2 else SEPARATED), pivot, pi[2], d
        w = difference(X, Y, i, j)
        m = (dot(w, u), dot(w, v), 1.0)
        k = _leaving(work, (dot(r0, m), dot(r1, m), dot(r2, m)), 2 * pivot >= limit)
        if k < 0:  # all rates are round-off: K is flat within SMALL R
            return (SOLVED if phase == 2 else LIMIT), pivot, pi[2], d
        _put(work, k, X, Y, i, j, u, v, beta)
    return LIMIT, limit, pi[2], d


@inline
def witness(X, Y, work, count, level):
    """(sum nu x, sum nu y) over the points among rows 0 ... count of work; weights are put into [0, 1] with sum 1."""
    x, y, total = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    for k in range(count):
        nu = work[k, level]
        if work[k, 4] >= 0.0 and nu > 0.0:
            total += nu
            x = axpy(nu, row(X, int(work[k, 4])), x)
            y = axpy(nu, row(Y, int(work[k, 5])), y)
    return scale(1.0 / total, x), scale(1.0 / total, y)


@kernel
def record(X, Y, beta, status, pivots, g, alpha, work, out):
    """Write a ray cast into a row; the basis is still in work."""
    out[RAY_STATUS] = status
    out[STEPS] += pivots
    store3(out, BETA, beta)
    if status == SEPARATED:
        alpha = unit(alpha)
        out[G] = math.inf
        _, i, j = support(X, Y, alpha)
        x, y = row(X, i), row(Y, j)
    else:
        out[G] = g
        x, y = witness(X, Y, work, 3, LEVEL)
    store3(out, ALPHA, alpha)
    store3(out, GX_AT, x)
    store3(out, GY_AT, y)
    return status


@kernel
def lclp(X, Y, beta, R, tol, limit, work, out):
    """g, alpha, beta and witnesses of the linear program, into a row."""
    status, pivots, g, alpha = cast(X, Y, beta, R, tol, limit, work)
    return record(X, Y, beta, status, pivots, g, alpha, work, out)
