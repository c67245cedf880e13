"""Jacobi's elliptic functions and Legendre's integrals, safe near m = 1.

Every function takes the parameter m = k^2 and its complement m1 = 1 - m, both computed by the caller without cancellation: near a
separatrix 1 - m formed from m loses all digits of m1, and with them those of the period, K ~ log(4 / sqrt(m1)).

    K = R_F(0, m1, 1)                                                       quarter period, infinite at m1 = 0
    F = s R_F(c^2, d^2, 1)                                                  s = sn, c = cn, d^2 = dn^2 = c^2 + m1 s^2, |u| <= K
    P(n) = int_0^u dv / (1 - n sn^2 v) = u + (n / 3) s^3 R_J(c^2, d^2, 1, 1 - n s^2)          0 < n < 1
    P(n) = -m1 n P(N) / ((1 - n)(m - n)) + m u / (m - n) + sqrt(-n / ((1 - n)(m - n))) arctan(sqrt(-n (m - n) / (1 - n)) s c / d)
                                                                            n < 0, N = (m - n) / (1 - n): no cancellation for any n

with Carlson's symmetric integrals R_F, R_J; 1 - n is given by the caller as well. For m > 1/2 the functions
follow from the series of the imaginary transformation,

    dn u = (pi / 2K') sum_j sech x_j,  k cn u = (pi / 2K') sum_j (-1)^j sech x_j,  k sn u = (pi / 2K') sum_j (-1)^j tanh x_j,
    x_j = pi (u - 2 j K) / (2 K'),  K' = K(m1),

whose terms fall by exp(-pi K / K') < 0.044 for |u| <= K; at m1 = 0 only j = 0 is left: sech and tanh.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ellipj, ellipk, ellipkm1, elliprf, elliprj

from dalembert.arrays import Array


class Jacobi(NamedTuple):
    """sn, cn, dn at u, and u = 2 j K + rest with |rest| <= K."""

    sn: Array
    cn: Array
    dn: Array
    j: Array
    rest: Array


def quarter_period(m1: float) -> float:
    """K as a function of the complement m1 = 1 - m."""
    return float(ellipkm1(m1))


def incomplete_first(s: float, c: float, m1: float) -> float:
    """F of the amplitude with sine s and cosine c >= 0."""
    if s == 0.0:
        return 0.0
    if m1 == 0.0:
        return float(np.arcsinh(s / c))
    return float(s * elliprf(c * c, c * c + m1 * s * s, 1.0))


def jacobi(u: Any, m: float, m1: float) -> Jacobi:
    """sn, cn, dn for any real u, vectorised."""
    u = np.asarray(u, dtype=float)
    K = quarter_period(m1)
    j = np.zeros_like(u) if np.isinf(K) else np.rint(u / (2.0 * K))
    rest = u if np.isinf(K) else u - 2.0 * K * j
    if m <= 0.5:
        sn, cn, dn, _ = ellipj(rest, m)
    else:
        sn, cn, dn = _hyperbolic_series(rest, m, m1, K)
    flip = 1.0 - 2.0 * np.mod(j, 2.0)
    return Jacobi(flip * sn, flip * cn, dn, j, rest)


def _hyperbolic_series(u: Array, m: float, m1: float, K: float) -> tuple[Array, Array, Array]:
    """sn, cn, dn for |u| <= K and m > 1/2."""
    K_dual = float(ellipk(m1))
    x, shift = 0.5 * np.pi * u / K_dual, np.pi * K / K_dual
    sn, cn, dn = np.tanh(x), _sech(x), _sech(x)
    sign = 1.0
    for n in range(1, 1 if np.isinf(K) else 2 + int(37.0 / shift)):  # exp(-37) is below round-off
        sign = -sign
        left, right = _sech(x - n * shift), _sech(x + n * shift)
        sn = sn + sign * (np.tanh(x - n * shift) + np.tanh(x + n * shift))
        cn = cn + sign * (left + right)
        dn = dn + left + right
    scale = 0.5 * np.pi / K_dual
    k = np.sqrt(m)
    return scale / k * sn, scale / k * cn, scale * dn


def _sech(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return 2.0 * e / (1.0 + e * e)


def third_kind(f: Jacobi, n: float, n1: float, m: float, m1: float) -> Array:
    """int_0^u dv / (1 - n sn(v)^2) for n < 1 and n1 = 1 - n, over any number of periods."""
    if n == 0.0:
        return 2.0 * quarter_period(m1) * f.j + f.rest if m1 > 0.0 else f.rest
    if m1 == 0.0:
        return _third_kind_hyperbolic(f, n, n1)
    if n > 0.0:
        return _third_kind_positive(f, n, n1, m1)
    scale = n1 * (m - n)
    angle = np.arctan(np.sqrt(-n * (m - n) / n1) * f.sn * f.cn / f.dn)
    u = 2.0 * quarter_period(m1) * f.j + f.rest
    return -m1 * n / scale * _third_kind_positive(f, (m - n) / n1, m1 / n1, m1) + m / (m - n) * u + np.sqrt(-n / scale) * angle


def _third_kind_positive(f: Jacobi, n: float, n1: float, m1: float) -> Array:
    """0 < n < 1, by Carlson's R_J."""
    half_period = 2.0 * (quarter_period(m1) + n / 3.0 * float(elliprj(0.0, m1, 1.0, n1)))
    s = np.where(np.mod(f.j, 2.0) == 0.0, f.sn, -f.sn)
    return f.j * half_period + f.rest + n / 3.0 * s**3 * elliprj(f.cn**2, f.dn**2, 1.0, f.cn**2 + n1 * s * s)


def _third_kind_hyperbolic(f: Jacobi, n: float, n1: float) -> Array:
    """m = 1: int du / (1 - n tanh^2 u) = (u - n int sech^2 u / (1 - n tanh^2 u) du) / (1 - n)."""
    root = np.sqrt(abs(n))
    tail = root * np.arctan(root * f.sn) if n < 0.0 else -root * np.arctanh(root * f.sn)
    return (f.rest + tail) / n1


def amplitude_integral(f: Jacobi, n1: float) -> Array:
    """int_0^u dn(v) dv / (1 - n sn(v)^2) = arctan(sqrt(n1) sn / cn) / sqrt(n1), n1 = 1 - n > 0, continued over any number of periods."""
    root = np.sqrt(n1)
    flip = 1.0 - 2.0 * np.mod(f.j, 2.0)
    return (np.pi * f.j + np.arctan2(root * flip * f.sn, flip * f.cn)) / root
