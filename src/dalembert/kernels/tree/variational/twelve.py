"""Vectors of twelve numbers: a pair of twists or wrenches, (angular, linear) at the first node, then at the second."""

from dalembert.kernels._jit import inline


@inline
def load12(a, i):
    """Twelve numbers of a flat array from index i on."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8], a[i + 9], a[i + 10], a[i + 11])


@inline
def store12(a, i, x):
    """a[i : i + 12] = x"""
    a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5] = x[0], x[1], x[2], x[3], x[4], x[5]
    a[i + 6], a[i + 7], a[i + 8], a[i + 9], a[i + 10], a[i + 11] = x[6], x[7], x[8], x[9], x[10], x[11]


@inline
def axpy12(s, a, b):
    """s a + b"""
    return (
        s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5],
        s * a[6] + b[6], s * a[7] + b[7], s * a[8] + b[8], s * a[9] + b[9], s * a[10] + b[10], s * a[11] + b[11],
    )  # fmt: skip


@inline
def dot12(a, b):
    """a . b, summed in four parts"""
    p = a[0] * b[0] + a[4] * b[4] + a[8] * b[8]
    q = a[1] * b[1] + a[5] * b[5] + a[9] * b[9]
    r = a[2] * b[2] + a[6] * b[6] + a[10] * b[10]
    s = a[3] * b[3] + a[7] * b[7] + a[11] * b[11]
    return (p + q) + (r + s)


@inline
def add12(a, b):
    """a + b"""
    return axpy12(1.0, a, b)


@inline
def scale12(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5], s * a[6], s * a[7], s * a[8], s * a[9], s * a[10], s * a[11])
