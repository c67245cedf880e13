"""SE(2): planar poses g = [[R, x], [0, 1]] (3x3) and twists xi = (w, vx, vy), angular first.

With the plane's quarter turn J = [[0, -1], [1, 0]], ad(w, v) = [[0, 0], [-J v, w J]] satisfies ad^3 = -w^2 ad as hat(w) does on SO(3),
so the same coefficients appear (kernels/so3.py):

    exp      = [[rotation by w, V v], [0, 1]],  V = A 1 + w B J
    dexp     = 1 + B ad + C ad^2   = [[1, 0], [-B J v + w C v, V]]
    dexp_inv = 1 - ad/2 + E ad^2   = [[1, 0], [J v/2 + w E v, (1 - w^2 E) 1 - w J/2]]
    cay      = [[cay(w), (1 - w J/2)^-1 v], [0, 1]],  (1 - w J/2)^-1 = (1 + w J/2)/k,  k = 1 + w^2/4
    dcay     = [[1/k, 0], [-J v/(2 k), (1 + w J/2)/k]]      dcay_inv = [[k, 0], [(1 - w J/2) J v/2, 1 - w J/2]]

Kobilarov (52)-(55) restricted to the plane, with (54) corrected as in kernels/se3.py. `out` must not share memory with an argument.
"""

import math

from dalembert.kernels import so3
from dalembert.kernels._jit import inline, kernel


@inline
def _pose(c, s, x, y, out):
    """[[c, -s, x], [s, c, y], [0, 0, 1]]"""
    out[0, 0] = out[1, 1] = c
    out[0, 1], out[1, 0] = -s, s
    out[0, 2], out[1, 2] = x, y
    out[2, 0] = out[2, 1] = 0.0
    out[2, 2] = 1.0


@inline
def _tangent(a, x, y, c, s, out):
    """[[a, 0, 0], [x, c, -s], [y, s, c]]"""
    out[0, 0] = a
    out[0, 1] = out[0, 2] = 0.0
    out[1, 0], out[2, 0] = x, y
    out[1, 1] = out[2, 2] = c
    out[1, 2], out[2, 1] = -s, s


@kernel
def hat(xi, out):
    """[[w J, v], [0, 0]]"""
    _pose(0.0, xi[0], xi[1], xi[2], out)
    out[2, 2] = 0.0


@kernel
def vee(X, out):
    """Inverse of hat; of the 2x2 block the antisymmetric part counts."""
    out[0] = 0.5 * (X[1, 0] - X[0, 1])
    out[1] = X[0, 2]
    out[2] = X[1, 2]


@kernel
def exp(xi, out):
    """[[rotation by w, (A + w B J) v], [0, 1]]"""
    w, x, y = xi[0], xi[1], xi[2]
    A, B, _ = so3.exp_coefficients(w * w)
    s = w * B
    _pose(math.cos(w), math.sin(w), A * x - s * y, s * x + A * y, out)


@kernel
def log(g, out):
    """(w, (1 - w^2 E - w J/2) x) with w in [-pi, pi]."""
    w = math.atan2(g[1, 0] - g[0, 1], g[0, 0] + g[1, 1])
    E, _ = so3.inverse_coefficients(w * w)
    c = 1.0 - w * w * E
    out[0] = w
    out[1] = c * g[0, 2] + 0.5 * w * g[1, 2]
    out[2] = c * g[1, 2] - 0.5 * w * g[0, 2]


@kernel
def dexp(xi, out):
    """[[1, 0], [-B J v + w C v, A + w B J]]"""
    w, x, y = xi[0], xi[1], xi[2]
    A, B, C = so3.exp_coefficients(w * w)
    _tangent(1.0, B * y + w * C * x, w * C * y - B * x, A, w * B, out)


@kernel
def dexp_inv(xi, out):
    """[[1, 0], [J v/2 + w E v, 1 - w^2 E - w J/2]]; singular at |w| = 2 pi k, k > 0."""
    w, x, y = xi[0], xi[1], xi[2]
    E, _ = so3.inverse_coefficients(w * w)
    _tangent(1.0, w * E * x - 0.5 * y, 0.5 * x + w * E * y, 1.0 - w * w * E, -0.5 * w, out)


@kernel
def cay(xi, out):
    """[[cay(w), (1 + w J/2) v/k], [0, 1]], k = 1 + w^2/4"""
    w, x, y = xi[0], xi[1], xi[2]
    r = 1.0 / (1.0 + 0.25 * w * w)
    _pose(r * (1.0 - 0.25 * w * w), r * w, r * (x - 0.5 * w * y), r * (y + 0.5 * w * x), out)


@kernel
def cay_inv(g, out):
    """(w, (1 - w J/2) x) with w = 2 tan(angle/2); not a number where the angle is pi to round-off."""
    half = 0.5 * math.atan2(g[1, 0] - g[0, 1], g[0, 0] + g[1, 1])
    c = math.cos(half)
    w = 2.0 * math.sin(half) / c if c >= 1e-15 else math.nan
    out[0] = w
    out[1] = g[0, 2] + 0.5 * w * g[1, 2]
    out[2] = g[1, 2] - 0.5 * w * g[0, 2]


@kernel
def dcay(xi, out):
    """[[1/k, 0], [-J v/(2 k), (1 + w J/2)/k]], k = 1 + w^2/4"""
    w, x, y = xi[0], xi[1], xi[2]
    r = 1.0 / (1.0 + 0.25 * w * w)
    _tangent(r, 0.5 * r * y, -0.5 * r * x, r, 0.5 * r * w, out)


@kernel
def dcay_inv(xi, out):
    """[[k, 0], [(1 - w J/2) J v/2, 1 - w J/2]], k = 1 + w^2/4"""
    w, x, y = xi[0], xi[1], xi[2]
    _tangent(1.0 + 0.25 * w * w, 0.25 * w * x - 0.5 * y, 0.5 * x + 0.25 * w * y, 1.0, -0.5 * w, out)
