"""SE(3): poses g = [[R, x], [0, 1]] and twists xi = (w, v), angular first.

A function of ad(w, v) = [[hat(w), 0], [hat(v), hat(w)]] is the same function on SO(3) at the dual vector w + epsilon v. So, with the
coefficients of kernels/so3.py and S = hat(w) hat(v) + hat(v) hat(w) = w v^T + v w^T - 2 (w . v) 1,

    dexp     = [[D, 0], [D', D]]   D = 1 + B hat(w) + C hat(w)^2,   D' = B hat(v) + C S + (w . v)(B_dot hat(w) + C_dot hat(w)^2)
    dexp_inv = [[D, 0], [D', D]]   D = 1 - hat(w)/2 + E hat(w)^2,   D' = -hat(v)/2 + E S + (w . v) E_dot hat(w)^2
    exp      = [[exp(w), dexp_SO3(w) v], [0, 1]]                                       Park & Chung (18)-(24), Kobilarov (52)
    cay      = [[cay(w), (1 - hat(w)/2)^-1 v], [0, 1]] = (1 - hat(xi)/2)^-1 (1 + hat(xi)/2)
    dcay     = [[d, 0], [hat(v) d/2, (1 - hat(w)/2)^-1]],  d = dcay_SO3(w)
    dcay_inv = [[1 - hat(w)/2 + w w^T/4, 0], [-(1 - hat(w)/2) hat(v)/2, 1 - hat(w)/2]]                       Kobilarov (55)

Deviation from print: the translation of Kobilarov (54) lacks a term; it is 2/(4 + |w|^2) (2 + hat(w) + w w^T/2) v = (1 - hat(w)/2)^-1 v.
Only with it is (55) the tangent of cay. `out` must not share memory with an argument.
"""

from dalembert.kernels import so3
from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.smallmat import cross, dot, mat_vec


@inline
def _split(xi):
    """(w, v)"""
    return (xi[0], xi[1], xi[2]), (xi[3], xi[4], xi[5])


@inline
def _position(g):
    return (g[0, 3], g[1, 3], g[2, 3])


@inline
def _finish(x, out):
    """Translation and last row of a pose."""
    for i in range(3):
        out[i, 3] = x[i]
        out[3, i] = 0.0
    out[3, 3] = 1.0


@inline
def _blocks(A, L, D, out):
    """out = [[A, 0], [L, D]] for 3x3 blocks given as nine numbers."""
    so3.place(A, out, 0, 0)
    so3.place(L, out, 3, 0)
    so3.place(D, out, 3, 3)
    for i in range(3):
        for j in range(3, 6):
            out[i, j] = 0.0


@inline
def _matmul(A, B):
    """A B, each nine numbers by rows."""
    c0 = mat_vec(A, (B[0], B[3], B[6]))
    c1 = mat_vec(A, (B[1], B[4], B[7]))
    c2 = mat_vec(A, (B[2], B[5], B[8]))
    return (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])


@inline
def _slope(b, c, b_dot, c_dot, w, v):
    """b hat(v) + c (hat(w) hat(v) + hat(v) hat(w)) + (w . v)(b_dot hat(w) + c_dot hat(w)^2): quadratic(1, b, c, .) at w along v."""
    k = dot(w, v)
    Q = so3.quadratic(0.0, k * b_dot, k * c_dot, w)
    x, y, z = b * v[0], b * v[1], b * v[2]
    xx, yy, zz = 2.0 * c * w[0] * v[0], 2.0 * c * w[1] * v[1], 2.0 * c * w[2] * v[2]
    xy, xz, yz = c * (w[0] * v[1] + w[1] * v[0]), c * (w[0] * v[2] + w[2] * v[0]), c * (w[1] * v[2] + w[2] * v[1])
    return (
        Q[0] - (yy + zz),
        Q[1] + (xy - z),
        Q[2] + (xz + y),
        Q[3] + (xy + z),
        Q[4] - (xx + zz),
        Q[5] + (yz - x),
        Q[6] + (xz - y),
        Q[7] + (yz + x),
        Q[8] - (xx + yy),
    )


@inline
def _cay_shift(w):
    """(1 - hat(w)/2)^-1 = 1 + (2 hat(w) + hat(w)^2)/(4 + |w|^2)"""
    s = 1.0 / (4.0 + so3.square(w))
    return so3.quadratic(1.0, 2.0 * s, s, w)


@kernel
def hat(xi, out):
    """[[hat(w), v], [0, 0]]"""
    w, v = _split(xi)
    so3.place(so3.quadratic(0.0, 1.0, 0.0, w), out, 0, 0)
    _finish(v, out)
    out[3, 3] = 0.0


@kernel
def vee(X, out):
    """Inverse of hat: (vee of the antisymmetric part of the 3x3 block, last column)."""
    so3.vee(X, out)
    for i in range(3):
        out[3 + i] = X[i, 3]


@kernel
def exp(xi, out):
    """[[exp(w), dexp(w) v], [0, 1]]"""
    w, v = _split(xi)
    A, B, C = so3.exp_coefficients(so3.square(w))
    so3.place(so3.quadratic(1.0, A, B, w), out, 0, 0)
    _finish(mat_vec(so3.quadratic(1.0, B, C, w), v), out)


@kernel
def log(g, out):
    """(w, dexp_inv(w) x) with w = log(R), |w| <= pi."""
    so3.log(g, out)
    w = (out[0], out[1], out[2])
    E, _ = so3.inverse_coefficients(so3.square(w))
    v = mat_vec(so3.quadratic(1.0, -0.5, E, w), _position(g))
    for i in range(3):
        out[3 + i] = v[i]


@kernel
def dexp(xi, out):
    """[[D, 0], [D', D]] with D = dexp(w) and D' its derivative along v."""
    w, v = _split(xi)
    t = so3.square(w)
    _, B, C = so3.exp_coefficients(t)
    B_dot, C_dot = so3.exp_slopes(t)
    D = so3.quadratic(1.0, B, C, w)
    _blocks(D, _slope(B, C, B_dot, C_dot, w, v), D, out)


@kernel
def dexp_inv(xi, out):
    """[[D, 0], [D', D]] with D = dexp_inv(w) and D' its derivative along v; singular at |w| = 2 pi k, k > 0."""
    w, v = _split(xi)
    E, E_dot = so3.inverse_coefficients(so3.square(w))
    D = so3.quadratic(1.0, -0.5, E, w)
    _blocks(D, _slope(-0.5, E, 0.0, E_dot, w, v), D, out)


@kernel
def cay(xi, out):
    """[[cay(w), (1 - hat(w)/2)^-1 v], [0, 1]]: Kobilarov (54), corrected."""
    w, v = _split(xi)
    so3.cay(w, out)
    _finish(mat_vec(_cay_shift(w), v), out)


@kernel
def cay_inv(g, out):
    """(w, (1 - hat(w)/2) x) with w = cay_inv(R); not a number where the angle is pi to round-off."""
    w = so3.cay_inv_tuple(g)
    x = _position(g)
    shift = cross(w, x)
    for i in range(3):
        out[i] = w[i]
        out[3 + i] = x[i] - 0.5 * shift[i]


@kernel
def dcay(xi, out):
    """[[d, 0], [hat(v) d/2, (1 - hat(w)/2)^-1]] with d = 2/(4 + |w|^2) (2 + hat(w))."""
    w, v = _split(xi)
    s = 2.0 / (4.0 + so3.square(w))
    d = so3.quadratic(2.0 * s, s, 0.0, w)
    _blocks(d, _matmul(so3.quadratic(0.0, 0.5, 0.0, v), d), _cay_shift(w), out)


@kernel
def dcay_inv(xi, out):
    """[[1 - hat(w)/2 + w w^T/4, 0], [-(1 - hat(w)/2) hat(v)/2, 1 - hat(w)/2]]: Kobilarov (55)."""
    w, v = _split(xi)
    D = so3.quadratic(1.0, -0.5, 0.0, w)
    top = so3.quadratic(1.0 + 0.25 * so3.square(w), -0.5, 0.25, w)
    _blocks(top, _matmul(D, so3.quadratic(0.0, -0.5, 0.0, v)), D, out)


@kernel
def Ad(g, out):
    """[[R, 0], [hat(x) R, R]]: the twist xi seen from the frame that g maps to, hat(Ad xi) = g hat(xi) g^-1."""
    R = (g[0, 0], g[0, 1], g[0, 2], g[1, 0], g[1, 1], g[1, 2], g[2, 0], g[2, 1], g[2, 2])
    _blocks(R, _matmul(so3.quadratic(0.0, 1.0, 0.0, _position(g)), R), R, out)


@kernel
def ad(xi, out):
    """[[hat(w), 0], [hat(v), hat(w)]]: ad(xi) eta is the bracket of xi and eta."""
    w, v = _split(xi)
    W = so3.quadratic(0.0, 1.0, 0.0, w)
    _blocks(W, so3.quadratic(0.0, 1.0, 0.0, v), W, out)


@kernel
def inv(g, out):
    """[[R^T, -R^T x], [0, 1]]"""
    T = (g[0, 0], g[1, 0], g[2, 0], g[0, 1], g[1, 1], g[2, 1], g[0, 2], g[1, 2], g[2, 2])
    x = mat_vec(T, _position(g))
    so3.place(T, out, 0, 0)
    _finish((-x[0], -x[1], -x[2]), out)


@kernel
def mul(g1, g2, out):
    """g1 g2 = [[R1 R2, R1 x2 + x1], [0, 1]]"""
    for i in range(3):
        for j in range(4):
            out[i, j] = g1[i, 0] * g2[0, j] + g1[i, 1] * g2[1, j] + g1[i, 2] * g2[2, j]
        out[i, 3] += g1[i, 3]
        out[3, i] = 0.0
    out[3, 3] = 1.0
