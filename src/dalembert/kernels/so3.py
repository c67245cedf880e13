"""SO(3): rotation vectors w, rotation matrices R, and the right-trivialised tangents of exp and of the Cayley map.

    exp(w)      = 1 + A hat(w) + B hat(w)^2          dexp(w)     = 1 + B hat(w) + C hat(w)^2
    dexp_inv(w) = 1 - hat(w)/2 + E hat(w)^2          t = |w|^2, theta = |w|, dot = d/dtheta / theta

    A = sin(theta)/theta        B = (1 - cos(theta))/t      C = (1 - A)/t       E = (1 - theta/2 cot(theta/2))/t
    B_dot = (A - 2 B)/t         C_dot = (B - 3 C)/t         E_dot = (((theta/2)/sin(theta/2))^2 + theta/2 cot(theta/2) - 2)/t^2

Park & Chung (10), (12), (18)-(24) in another notation, with their (11) corrected to sin^2(theta/2)/(theta^2/2); Kobilarov (52), (53).
The dotted coefficients serve SE(3), whose maps are those of SO(3) at the dual vector w + epsilon v.

Small angles. The quotients C, E and those with a dot cancel. In the matrices their error is about 3 eps/theta (C_dot, E_dot multiply
|w|^3 |v| and carry 3 eps/t^2), so below theta = 0.5, where that would exceed 6 eps, the power series in t are summed.
With t = 1/4 the first omitted terms, relative to the sum, are
    A: t^7/15! = 5e-17    B: 2 t^7/16! = 6e-18    C: 6 t^7/17! = 1e-18    B_dot: 12 * 16 t^7/18! = 2e-18    C_dot: 60 * 16 t^7/19! = 5e-19
    E: about 0.61 (t/4 pi^2)^8 = 2e-18            E_dot: about 0.92 * 9 (t/4 pi^2)^8 = 2e-17
all below the unit round-off 1.1e-16. A matrix given as a result is written to `out`, which must not share memory with an argument.
"""

import math

from dalembert.kernels import quat
from dalembert.kernels._jit import inline, kernel

SERIES_BELOW = 0.25  # |w|^2
# |Bernoulli number B_2k| / (2k)! for k = 1 ... 9
_BERNOULLI = (
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30240.0,
    1.0 / 1209600.0,
    1.0 / 47900160.0,
    691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
)
_A = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(7))
_B = tuple((-1) ** k / math.factorial(2 * k + 2) for k in range(7))
_C = tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(7))
_B_DOT = tuple(-((-1) ** k) * 2.0 * (k + 1) / math.factorial(2 * k + 4) for k in range(7))
_C_DOT = tuple(-((-1) ** k) * 2.0 * (k + 1) / math.factorial(2 * k + 5) for k in range(7))
_E = _BERNOULLI[:8]
_E_DOT = tuple(2.0 * (k + 1) * _BERNOULLI[k + 1] for k in range(8))


@inline
def _horner(c, t):
    """c[0] + c[1] t + c[2] t^2 + ..."""
    s = c[-1]
    for i in range(len(c) - 2, -1, -1):
        s = s * t + c[i]
    return s


@inline
def exp_coefficients(t):
    """(A, B, C) at t = |w|^2."""
    if t < SERIES_BELOW:
        return _horner(_A, t), _horner(_B, t), _horner(_C, t)
    theta = math.sqrt(t)
    A = math.sin(theta) / theta
    s = math.sin(0.5 * theta)
    return A, 2.0 * s * s / t, (1.0 - A) / t


@inline
def exp_slopes(t):
    """(B_dot, C_dot) at t = |w|^2."""
    if t < SERIES_BELOW:
        return _horner(_B_DOT, t), _horner(_C_DOT, t)
    A, B, C = exp_coefficients(t)
    return (A - 2.0 * B) / t, (B - 3.0 * C) / t


@inline
def inverse_coefficients(t):
    """(E, E_dot) at t = |w|^2; poles at |w| = 2 pi k, k > 0."""
    if t < SERIES_BELOW:
        return _horner(_E, t), _horner(_E_DOT, t)
    half = 0.5 * math.sqrt(t)
    r = half / math.sin(half)
    gamma = r * math.cos(half)
    return (1.0 - gamma) / t, (r * r + gamma - 2.0) / t / t


@inline
def square(w):
    """|w|^2"""
    return w[0] * w[0] + w[1] * w[1] + w[2] * w[2]


@inline
def quadratic(a, b, c, w):
    """a 1 + b hat(w) + c hat(w)^2, nine numbers by rows."""
    xx, yy, zz = c * w[0] * w[0], c * w[1] * w[1], c * w[2] * w[2]
    xy, xz, yz = c * w[0] * w[1], c * w[0] * w[2], c * w[1] * w[2]
    x, y, z = b * w[0], b * w[1], b * w[2]
    return (a - (yy + zz), xy - z, xz + y, xy + z, a - (xx + zz), yz - x, xz - y, yz + x, a - (xx + yy))


@inline
def place(A, out, i, j):
    """out[i:i+3, j:j+3] = A for nine numbers by rows."""
    for k in range(3):
        for l in range(3):
            out[i + k, j + l] = A[3 * k + l]


@kernel
def hat(w, out):
    """hat(w) x = w cross x."""
    place(quadratic(0.0, 1.0, 0.0, w), out, 0, 0)


@kernel
def vee(S, out):
    """Inverse of hat; of a matrix that is not antisymmetric, the antisymmetric part (S - S^T)/2 counts."""
    out[0] = 0.5 * (S[2, 1] - S[1, 2])
    out[1] = 0.5 * (S[0, 2] - S[2, 0])
    out[2] = 0.5 * (S[1, 0] - S[0, 1])


@kernel
def exp(w, out):
    """1 + A hat(w) + B hat(w)^2"""
    A, B, _ = exp_coefficients(square(w))
    place(quadratic(1.0, A, B, w), out, 0, 0)


@kernel
def log(R, out):
    """The rotation vector of length at most pi, through the quaternion of R: no digit is lost near 0 or near pi."""
    w = quat.log(quat.from_matrix(R))
    for i in range(3):
        out[i] = w[i]


@kernel
def dexp(w, out):
    """1 + B hat(w) + C hat(w)^2: d/dt exp(w) = hat(dexp(w) dw/dt) exp(w)."""
    _, B, C = exp_coefficients(square(w))
    place(quadratic(1.0, B, C, w), out, 0, 0)


@kernel
def dexp_inv(w, out):
    """1 - hat(w)/2 + E hat(w)^2; singular at |w| = 2 pi k, k > 0."""
    E, _ = inverse_coefficients(square(w))
    place(quadratic(1.0, -0.5, E, w), out, 0, 0)


@kernel
def cay(w, out):
    """(1 - hat(w)/2)^-1 (1 + hat(w)/2) = 1 + 4/(4 + |w|^2) (hat(w) + hat(w)^2/2)"""
    s = 1.0 / (4.0 + square(w))
    place(quadratic(1.0, 4.0 * s, 2.0 * s, w), out, 0, 0)


@inline
def cay_inv_tuple(R):
    """2 q_v/q_s of the quaternion of R, which equals 2 vee(R - R^T)/(1 + tr R). Not a number where the angle is pi to round-off.

    q_s is known to about 1e-16: below 1e-15 no digit of the result would be right.
    """
    q = quat.from_matrix(R)
    s = 2.0 / q[0] if q[0] >= 1e-15 else math.nan
    return (s * q[1], s * q[2], s * q[3])


@kernel
def cay_inv(R, out):
    """w with cay(w) = R; not a number where the angle is pi to round-off."""
    w = cay_inv_tuple(R)
    for i in range(3):
        out[i] = w[i]


@kernel
def dcay(w, out):
    """2/(4 + |w|^2) (2 + hat(w)): Kobilarov (53a)."""
    s = 2.0 / (4.0 + square(w))
    place(quadratic(2.0 * s, s, 0.0, w), out, 0, 0)


@kernel
def dcay_inv(w, out):
    """1 - hat(w)/2 + w w^T/4: Kobilarov (53b)."""
    place(quadratic(1.0 + 0.25 * square(w), -0.5, 0.25, w), out, 0, 0)
