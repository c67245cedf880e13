"""Products of 3x3 matrices as nine numbers by rows, inlined, in registers."""

from dalembert.kernels._jit import inline


@inline
def load9(a, i):
    """Nine numbers of a flat array from index i on."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8])


@inline
def store9(a, i, m):
    """a[i:i+9] = m"""
    a[i], a[i + 1], a[i + 2] = m[0], m[1], m[2]
    a[i + 3], a[i + 4], a[i + 5] = m[3], m[4], m[5]
    a[i + 6], a[i + 7], a[i + 8] = m[6], m[7], m[8]


@inline
def mul(a, b):
    """a b"""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7], a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6], a[3] * b[1] + a[4] * b[4] + a[5] * b[7], a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7], a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@inline
def transpose(a):
    """a^T"""
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@inline
def conjugate(r, a):
    """r a r^T"""
    return mul(mul(r, a), transpose(r))


@inline
def conjugate_symmetric(r, a):
    """r a r^T for symmetric a: six entries computed, the others copied."""
    t = mul(r, a)
    xx = t[0] * r[0] + t[1] * r[1] + t[2] * r[2]
    xy = t[0] * r[3] + t[1] * r[4] + t[2] * r[5]
    xz = t[0] * r[6] + t[1] * r[7] + t[2] * r[8]
    yy = t[3] * r[3] + t[4] * r[4] + t[5] * r[5]
    yz = t[3] * r[6] + t[4] * r[7] + t[5] * r[8]
    zz = t[6] * r[6] + t[7] * r[7] + t[8] * r[8]
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@inline
def apply_transposed(a, x):
    """a^T x"""
    return (a[0] * x[0] + a[3] * x[1] + a[6] * x[2], a[1] * x[0] + a[4] * x[1] + a[7] * x[2], a[2] * x[0] + a[5] * x[1] + a[8] * x[2])


@inline
def hat_mul(p, m):
    """hat(p) m"""
    return (
        p[1] * m[6] - p[2] * m[3], p[1] * m[7] - p[2] * m[4], p[1] * m[8] - p[2] * m[5],
        p[2] * m[0] - p[0] * m[6], p[2] * m[1] - p[0] * m[7], p[2] * m[2] - p[0] * m[8],
        p[0] * m[3] - p[1] * m[0], p[0] * m[4] - p[1] * m[1], p[0] * m[5] - p[1] * m[2],
    )  # fmt: skip
