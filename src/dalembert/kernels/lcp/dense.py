"""Dense rows: the loops in which the solvers spend their time. Written so that they vectorise without unsafe arithmetic.

Rows that are written to must not overlap others.
"""

import math

from dalembert.kernels._eights import eight_sizes, eight_sums
from dalembert.kernels._jit import apart, disjoint, inline, kernel


@disjoint
def axpy(y, factor, x):
    """y += factor x."""
    for j in range(y.shape[0]):
        y[j] += factor * x[j]


@disjoint
def scaled(y, factor, x):
    """y = factor x."""
    for j in range(y.shape[0]):
        y[j] = factor * x[j]


@disjoint
def axpy4(y, f0, x0, f1, x1, f2, x2, f3, x3):
    """y += f0 x0 + f1 x1 + f2 x2 + f3 x3: four times the work of `axpy` for each load and store of y."""
    for j in range(y.shape[0]):
        y[j] += (f0 * x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j])


@disjoint
def axpy4_twice(y, f0, f1, f2, f3, z, g0, g1, g2, g3, x0, x1, x2, x3):
    """y += f0 x0 + f1 x1 + f2 x2 + f3 x3 and z with g in place of f: each x is read once for both."""
    for j in range(y.shape[0]):
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        y[j] += (f0 * a + f1 * b) + (f2 * c + f3 * d)
        z[j] += (g0 * a + g1 * b) + (g2 * c + g3 * d)


@inline
def _short(x, y):
    """x . y of few numbers, in two sums."""
    n = x.shape[0]
    a = x[0] * y[0] if n % 2 else 0.0
    b = 0.0
    for j in range(n % 2, n, 2):
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
    return a + b


@inline
def dot(x, y):
    """x . y with eight partial sums: a single one would wait for itself at every addition."""
    n = x.shape[0]
    if n < 8:
        return _short(x, y)
    a0, a1, a2, a3, a4, a5, a6, a7 = eight_sums(x, y)
    for j in range(8 * (n // 8), n):
        a0 += x[j] * y[j]
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@inline
def absolute_dot(x, y):
    """sum |x_j y_j|, with eight partial sums."""
    n = x.shape[0]
    a0, a1, a2, a3, a4, a5, a6, a7 = eight_sizes(x, y)
    for j in range(8 * (n // 8), n):
        a0 += abs(x[j] * y[j])
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@inline
def largest(x):
    """max |x_j|, with four partial maxima."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = 0.0
    for k in range(n // 4):
        j = 4 * k
        b0, b1, b2, b3 = abs(x[j]), abs(x[j + 1]), abs(x[j + 2]), abs(x[j + 3])
        a0 = b0 if b0 > a0 else a0
        a1 = b1 if b1 > a1 else a1
        a2 = b2 if b2 > a2 else a2
        a3 = b3 if b3 > a3 else a3
    for j in range(4 * (n // 4), n):
        a0 = max(a0, abs(x[j]))
    return max(max(a0, a1), max(a2, a3))


@inline
def least(x):
    """min x_j, with four partial minima; infinite where there is none."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = math.inf
    for k in range(n // 4):
        j = 4 * k
        b0, b1, b2, b3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        a0 = b0 if b0 < a0 else a0
        a1 = b1 if b1 < a1 else a1
        a2 = b2 if b2 < a2 else a2
        a3 = b3 if b3 < a3 else a3
    for j in range(4 * (n // 4), n):
        a0 = min(a0, x[j])
    return min(min(a0, a1), min(a2, a3))


@inline
def largest_product(x, y):
    """max |x_j| y_j, with four partial maxima."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = 0.0
    for k in range(n // 4):
        j = 4 * k
        b0, b1, b2, b3 = abs(x[j]) * y[j], abs(x[j + 1]) * y[j + 1], abs(x[j + 2]) * y[j + 2], abs(x[j + 3]) * y[j + 3]
        a0 = b0 if b0 > a0 else a0
        a1 = b1 if b1 > a1 else a1
        a2 = b2 if b2 > a2 else a2
        a3 = b3 if b3 > a3 else a3
    for j in range(4 * (n // 4), n):
        a0 = max(a0, abs(x[j]) * y[j])
    return max(max(a0, a1), max(a2, a3))


@kernel
def product(M, z, q, w):
    """w = M z + q."""
    for i in range(M.shape[0]):
        w[i] = q[i] + dot(M[i], z)


@apart
def add_product(M, symmetric, y, index, w):
    """w += M y. Of a symmetric M only the rows with y_i != 0 are read. index: workspace of whole numbers."""
    n, k = M.shape[0], 0
    for i in range(n):
        if y[i] != 0.0:
            index[k] = i
            k += 1
    if k == 0:
        return
    if not symmetric:
        for i in range(n):
            w[i] += dot(M[i], y)
        return
    for b in range(k // 4):
        i0, i1, i2, i3 = index[4 * b], index[4 * b + 1], index[4 * b + 2], index[4 * b + 3]
        axpy4(w, y[i0], M[i0], y[i1], M[i1], y[i2], M[i2], y[i3], M[i3])
    for b in range(4 * (k // 4), k):
        axpy(w, y[index[b]], M[index[b]])
