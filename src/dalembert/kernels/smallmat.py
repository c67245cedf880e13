"""Vectors and matrices of three dimensions as tuples: no allocation, everything stays in registers.

A vector is (a0, a1, a2), a matrix is nine numbers by rows.
"""

from dalembert.kernels._jit import inline


@inline
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def add(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inline
def sub(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inline
def scale(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2])


@inline
def axpy(s, a, b):
    """s a + b"""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@inline
def diag_mul(d, a):
    """diag(d) a"""
    return (d[0] * a[0], d[1] * a[1], d[2] * a[2])


@inline
def diag_solve(d, a):
    """diag(d)^-1 a"""
    return (a[0] / d[0], a[1] / d[1], a[2] / d[2])


@inline
def max_abs(a):
    """max |a_i|; NaN in, NaN out."""
    m = abs(a[0])
    for x in (abs(a[1]), abs(a[2])):
        if x > m or x != x:
            m = x
    return m


@inline
def load3(array, i):
    """Three numbers of a flat array from index i on."""
    return (array[i], array[i + 1], array[i + 2])


@inline
def store3(array, i, a):
    """array[i:i+3] = a"""
    array[i] = a[0]
    array[i + 1] = a[1]
    array[i + 2] = a[2]


@inline
def mat_vec(A, b):
    """A b for nine numbers by rows."""
    return (
        A[0] * b[0] + A[1] * b[1] + A[2] * b[2],
        A[3] * b[0] + A[4] * b[1] + A[5] * b[2],
        A[6] * b[0] + A[7] * b[1] + A[8] * b[2],
    )


@inline
def solve3(A, b):
    """(det A, adj(A) b / det A) for nine numbers by rows. A singular A gives det 0 and a vector that is not finite."""
    c0 = A[4] * A[8] - A[5] * A[7]
    c1 = A[5] * A[6] - A[3] * A[8]
    c2 = A[3] * A[7] - A[4] * A[6]
    det = A[0] * c0 + A[1] * c1 + A[2] * c2
    x0 = c0 * b[0] + (A[2] * A[7] - A[1] * A[8]) * b[1] + (A[1] * A[5] - A[2] * A[4]) * b[2]
    x1 = c1 * b[0] + (A[0] * A[8] - A[2] * A[6]) * b[1] + (A[2] * A[3] - A[0] * A[5]) * b[2]
    x2 = c2 * b[0] + (A[1] * A[6] - A[0] * A[7]) * b[1] + (A[0] * A[4] - A[1] * A[3]) * b[2]
    return det, (x0 / det, x1 / det, x2 / det)
