"""Supporting vertices: K1 - K2 is never formed, its extreme point in a direction is the difference of those of the bodies."""

import math

from dalembert.kernels._jit import inline
from dalembert.kernels.smallmat import dot, scale, sub


@inline
def row(a, i):
    """Row i of (n, 3)."""
    return (a[i, 0], a[i, 1], a[i, 2])


@inline
def lowest(a, d):
    """(least d.a_i, i), the first where several are equal."""
    best, at = math.inf, 0
    for i in range(a.shape[0]):
        s = d[0] * a[i, 0] + d[1] * a[i, 1] + d[2] * a[i, 2]
        if s < best:
            best, at = s, i
    return best, at


@inline
def highest(a, d):
    """(largest d.a_i, i), the first where several are equal."""
    best, at = -math.inf, 0
    for i in range(a.shape[0]):
        s = d[0] * a[i, 0] + d[1] * a[i, 1] + d[2] * a[i, 2]
        if s > best:
            best, at = s, i
    return best, at


@inline
def support(X, Y, d):
    """(phi(d), i, j): least d.(x_i - y_j)."""
    low, i = lowest(X, d)
    high, j = highest(Y, d)
    return low - high, i, j


@inline
def difference(X, Y, i, j):
    """w = x_i - y_j"""
    return sub(row(X, i), row(Y, j))


@inline
def length(a):
    """|a|"""
    return math.sqrt(dot(a, a))


@inline
def unit(a):
    """a / |a|"""
    return scale(1.0 / length(a), a)


@inline
def across(d):
    """Two unit vectors across a unit vector d: (u, v, d) is right-handed and orthonormal."""
    k = 0
    for m in (1, 2):
        if abs(d[m]) < abs(d[k]):
            k = m
    a = 1.0 / math.sqrt(1.0 - d[k] * d[k])
    if k == 0:
        u = (0.0, a * d[2], -a * d[1])
    elif k == 1:
        u = (-a * d[2], 0.0, a * d[0])
    else:
        u = (a * d[1], -a * d[0], 0.0)
    return u, (d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0])


@inline
def sizes(X, Y):
    """(R, row that is not finite or -1, mean of X - mean of Y). R: the largest |x| + |y| + |z|, which bounds round-off.

    A body without vertices has row 0 that is not finite.
    """
    largest, bad = 0.0, -1
    c0, c1, c2 = 0.0, 0.0, 0.0
    for side in range(2):
        n = X.shape[0] if side == 0 else Y.shape[0]
        if n == 0:
            return 0.0, 0, (0.0, 0.0, 0.0)
        f = (1.0 if side == 0 else -1.0) / n
        for i in range(n):
            p = row(X, i) if side == 0 else row(Y, i)
            here = abs(p[0]) + abs(p[1]) + abs(p[2])
            if not here < math.inf:
                bad = i + side * X.shape[0] if bad < 0 else bad
            elif here > largest:
                largest = here
            c0, c1, c2 = c0 + f * p[0], c1 + f * p[1], c2 + f * p[2]
    return largest, bad, (c0, c1, c2)
