"""One contact, exactly: u = W r + b for a 3 x 3 block W, radius c + mu r_n of the disc of tangential impulses.

Either r_n = 0 and the tangential impulse is that of a disc of radius c, with u_n >= 0; or u_n = 0, the normal is eliminated,

    r_n = -(b_n + W_nt r_t) / W_nn,    (A + a 1) r_t = -d,    A = W_tt - W_tn W_nt / W_nn,  d = b_t - W_tn b_n / W_nn,

and a = |u_t| / |r_t| >= 0 is the zero of g(a) = |r_t(a)| - c - mu r_n(a), a = 0 where g(0) <= 0 (stick). g < 0 for large a unless the first
case holds, so that a zero is always found between brackets, for nonsymmetric blocks as well.
"""

import math

from dalembert.kernels._jit import inline, kernel

_STEPS = 200


@inline
def tangential(a00, a01, a10, a11, shift, d0, d1):
    """r_t = -(A + shift 1)^-1 d; huge where that is singular."""
    p, q = a00 + shift, a11 + shift
    det = p * q - a01 * a10
    if not det > 0.0:
        return 1e300, 1e300
    return -(q * d0 - a01 * d1) / det, -(p * d1 - a10 * d0) / det


@inline
def excess(r0, r1, c, mu, n_b, n_0, n_1):
    """g = |r_t| - c - mu r_n with r_n = n_b + n_0 r_0 + n_1 r_1."""
    return math.hypot(r0, r1) - c - mu * (n_b + n_0 * r0 + n_1 * r1)


@kernel
def disc(a00, a01, a10, a11, d0, d1, c, mu, n_b, n_0, n_1):
    """r_t with (A + a 1) r_t = -d, a >= 0 and |r_t| <= c + mu (n_b + n . r_t), equal where a > 0."""
    if not c + mu > 0.0:
        return 0.0, 0.0
    r0, r1 = tangential(a00, a01, a10, a11, 0.0, d0, d1)
    g_low = excess(r0, r1, c, mu, n_b, n_0, n_1)
    if g_low <= 0.0:
        return r0, r1
    low, high = 0.0, 0.5 * (a00 + a11) + 1e-300
    g_high = 1.0
    for _ in range(1000):
        r0, r1 = tangential(a00, a01, a10, a11, high, d0, d1)
        g_high = excess(r0, r1, c, mu, n_b, n_0, n_1)
        if g_high <= 0.0 or not high < 1e290:
            break
        low, g_low = high, g_high
        high *= 4.0
    if g_high > 0.0:
        return 0.0, 0.0
    last = 0
    for k in range(_STEPS):  # the Illinois rule; a bisection every fourth step
        span = high - low
        if span <= 1e-16 * high or g_high == 0.0:
            break
        a = low + span * g_low / (g_low - g_high)
        if k % 4 == 3 or not (low < a < high):
            a = low + 0.5 * span
        r0, r1 = tangential(a00, a01, a10, a11, a, d0, d1)
        g = excess(r0, r1, c, mu, n_b, n_0, n_1)
        if g > 0.0:
            low, g_low = a, g
            if last == 1:
                g_high *= 0.5
            last = 1
        else:
            high, g_high = a, g
            if last == -1:
                g_low *= 0.5
            last = -1
    return tangential(a00, a01, a10, a11, high, d0, d1)


@kernel
def contact(W, i, b_n, b_0, b_1, c, mu):
    """(r_n, r_0, r_1) of the contact whose rows begin at i, where b is what its velocity would be without its own impulse."""
    w = W[i, i]
    t00, t01, t10, t11 = W[i + 1, i + 1], W[i + 1, i + 2], W[i + 2, i + 1], W[i + 2, i + 2]
    r0, r1 = disc(t00, t01, t10, t11, b_0, b_1, c, 0.0, 0.0, 0.0, 0.0)
    if b_n + W[i, i + 1] * r0 + W[i, i + 2] * r1 >= 0.0 or not w > 0.0:
        return 0.0, r0, r1
    n_0, n_1, n_b = -W[i, i + 1] / w, -W[i, i + 2] / w, -b_n / w
    v_0, v_1 = W[i + 1, i], W[i + 2, i]
    r0, r1 = disc(
        t00 + v_0 * n_0, t01 + v_0 * n_1, t10 + v_1 * n_0, t11 + v_1 * n_1, b_0 + v_0 * n_b, b_1 + v_1 * n_b, c, mu, n_b, n_0, n_1
    )
    return max(0.0, n_b + n_0 * r0 + n_1 * r1), r0, r1
