"""Vectors of six numbers: a twist or a wrench, angular part first."""

from dalembert.kernels._jit import inline


@inline
def load6(a, i):
    """Six numbers of a flat array from index i on."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5])


@inline
def store6(a, i, x):
    """a[i : i + 6] = x"""
    a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5] = x[0], x[1], x[2], x[3], x[4], x[5]


@inline
def axpy6(s, a, b):
    """s a + b"""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5])


@inline
def dot6(a, b):
    """a . b, summed in two parts"""
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@inline
def add6(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inline
def scale6(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])
