"""Spherical joints in the elimination of `factor.py`: 6 x 3 matrices, row-major, in place of vectors.

With w' = omega_parent and v in link axes (the twist that the joint inherits), x = h omega_joint, S = (1; 0), l = dL/d(omega_joint),
f = dL/dq of the joint with its forces, and N the part of a force that belongs to the first node: N = (1 + R_E)^-1 = (1 - hat(e))/2 at the
middle (R_E: half the rotation), N = 1, N' = 0 at the first node; N' = 1 - N:

    s = S + (hat(w'); hat(v)) T,   T = h N' dtau_-x,    a = S dtau_x^-1 - h (hat(w'); hat(v)) N,   b = h (hat(L); hat(p)) N
    t' = -(hat(L); hat(p)) T
    r = armature dtau_x^-T + h d/dx (dtau_x^-T l) + h N^T hat(L) + h^2/2 hat(f) de/dx + h N^T damping + wl wr stiffness

For the Cayley map, with n = sqrt(1 + |x|^2/4),

    dcay_x^-1 = 1 - hat(x)/2 + x x^T/4,   dcay_-x = (1 - hat(x)/2)/n^2,   d/dx (dcay_x^-T l) = -hat(l)/2 + (x.l + x l^T)/4
    e = x/(2 (n + 1)),   de/dx = 1/(2 (n + 1)) - x x^T/(8 n (n + 1)^2)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import load9, mul, store9, transpose
from dalembert.kernels.smallmat import add, axpy, dot, load3, mat_vec, store3, sub
from dalembert.kernels.tree.layout import ARMATURE, DAMPING, HEADER, LINK_SIZE, STIFFNESS, V_AT, VEL
from dalembert.kernels.tree.variational.layout import (
    AA,
    AB,
    BA,
    BALL_D,
    BALL_DOWN,
    BALL_RIGHT,
    BALL_ROW,
    BALL_SHIFT,
    BALL_UP,
    BB,
    BIAS,
    FACTOR_SIZE,
    MOM,
    SIDE_SIZE,
    WRENCH,
)


@inline
def hat(a, s):
    """s hat(a)"""
    return (0.0, -s * a[2], s * a[1], s * a[2], 0.0, -s * a[0], -s * a[1], s * a[0], 0.0)


@inline
def plus(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@inline
def minus(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5], a[6] - b[6], a[7] - b[7], a[8] - b[8])


@inline
def diagonal(s):
    """s 1"""
    return (s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s)


@inline
def outer(a, b, s):
    """s a b^T"""
    return (
        s * a[0] * b[0], s * a[0] * b[1], s * a[0] * b[2],
        s * a[1] * b[0], s * a[1] * b[1], s * a[1] * b[2],
        s * a[2] * b[0], s * a[2] * b[1], s * a[2] * b[2],
    )  # fmt: skip


@inline
def scaled(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5], s * a[6], s * a[7], s * a[8])


@inline
def inverse(m):
    """(determinant, inverse)."""
    c0 = m[4] * m[8] - m[5] * m[7]
    c1 = m[5] * m[6] - m[3] * m[8]
    c2 = m[3] * m[7] - m[4] * m[6]
    det = m[0] * c0 + m[1] * c1 + m[2] * c2
    e = 1.0 / det if det != 0.0 else 0.0
    return det, (
        e * c0, e * (m[2] * m[7] - m[1] * m[8]), e * (m[1] * m[5] - m[2] * m[4]),
        e * c1, e * (m[0] * m[8] - m[2] * m[6]), e * (m[2] * m[3] - m[0] * m[5]),
        e * c2, e * (m[1] * m[6] - m[0] * m[7]), e * (m[0] * m[4] - m[1] * m[3]),
    )  # fmt: skip


@kernel
def factor_ball(system, work, i, side, fac, x_at, l_at, f_at, wl, wr, stiff):
    """Eliminate a spherical joint; A of the link becomes A - w D^-1 u^T. False where D is singular."""
    at = HEADER + i * LINK_SIZE
    rec, out = side + i * SIDE_SIZE, fac + i * FACTOR_SIZE
    vi = int(system[at + V_AT])
    h = wl + wr
    x, l = load3(work, x_at + vi), load3(work, l_at + vi)
    own = axpy(1.0 / h, x, (0.0, 0.0, 0.0)) if h != 0.0 else (0.0, 0.0, 0.0)
    w, v = sub(load3(work, rec + VEL), own), load3(work, rec + VEL + 3)
    L, p = load3(work, rec + MOM), load3(work, rec + MOM + 3)
    KL, Kp = L, p
    if stiff:
        KL = axpy(-wl, load3(work, rec + WRENCH), L)
        Kp = axpy(-wl, load3(work, rec + WRENCH + 3), p)
    pull = plus(plus(diagonal(1.0), hat(x, -0.5)), outer(x, x, 0.25))
    n = math.sqrt(1.0 + 0.25 * dot(x, x))
    hN, T, hde = diagonal(wl), diagonal(0.0), diagonal(0.0)
    if wr != 0.0:
        e = axpy(0.5 / (n + 1.0), x, (0.0, 0.0, 0.0))
        hN = plus(diagonal(0.5 * h), hat(e, -0.5 * h))
        T = scaled(1.0 / (n * n), mul(plus(diagonal(0.5 * h), hat(e, 0.5 * h)), plus(diagonal(1.0), hat(x, -0.5))))
        hde = plus(diagonal(0.5 * h / (n + 1.0)), outer(x, x, -0.125 * h / (n * (n + 1.0) ** 2)))
    s1, s2 = plus(diagonal(1.0), mul(hat(w, 1.0), T)), mul(hat(v, 1.0), T)
    a1, a2 = minus(pull, mul(hat(w, 1.0), hN)), scaled(-1.0, mul(hat(v, 1.0), hN))
    aa, ab, ba, bb = load9(work, out + AA), load9(work, out + AB), load9(work, out + BA), load9(work, out + BB)
    u1 = plus(plus(mul(transpose(aa), a1), mul(transpose(ba), a2)), mul(hat(L, 1.0), hN))
    u2 = plus(plus(mul(transpose(ab), a1), mul(transpose(bb), a2)), mul(hat(p, 1.0), hN))
    r = scaled(system[at + ARMATURE], transpose(pull))
    r = plus(r, scaled(h, plus(hat(l, -0.5), plus(diagonal(0.25 * dot(x, l)), outer(x, l, 0.25)))))
    r = plus(r, mul(transpose(hN), plus(hat(L, 1.0), diagonal(system[at + DAMPING]))))
    if stiff:
        r = plus(r, diagonal(wl * wr * system[at + STIFFNESS]))
    r = plus(r, scaled(0.5 * h, mul(hat(load3(work, f_at + vi), 1.0), hde)))
    det, d_inv = inverse(plus(plus(mul(transpose(u1), s1), mul(transpose(u2), s2)), r))
    if not abs(det) > 0.0:
        return False
    w1 = minus(plus(mul(aa, s1), mul(ab, s2)), mul(hat(KL, 1.0), T))
    w2 = minus(plus(mul(ba, s1), mul(bb, s2)), mul(hat(Kp, 1.0), T))
    store9(work, out + BALL_SHIFT, s1)
    store9(work, out + BALL_SHIFT + 9, s2)
    store9(work, out + BALL_ROW, a1)
    store9(work, out + BALL_ROW + 9, a2)
    store9(work, out + BALL_UP, u1)
    store9(work, out + BALL_UP + 9, u2)
    store9(work, out + BALL_DOWN, w1)
    store9(work, out + BALL_DOWN + 9, w2)
    store9(work, out + BALL_D, d_inv)
    du1, du2 = mul(d_inv, transpose(u1)), mul(d_inv, transpose(u2))
    store9(work, out + AA, minus(aa, mul(w1, du1)))
    store9(work, out + AB, minus(ab, mul(w1, du2)))
    store9(work, out + BA, minus(ba, mul(w2, du1)))
    store9(work, out + BB, minus(bb, mul(w2, du2)))
    return True


@inline
def applied_transposed(work, at, a, b):
    """m^T (a, b) for the 6 x 3 matrix at work[at:]."""
    return add(mat_vec(transpose(load9(work, at)), a), mat_vec(transpose(load9(work, at + 9)), b))


@kernel
def reduce_ball(system, work, i, fac, e):
    """D^-1 (e + a^T B) is kept; returns B - w D^-1 (e + a^T B)."""
    out = fac + i * FACTOR_SIZE
    b_w, b_v = load3(work, out + BIAS), load3(work, out + BIAS + 3)
    right = add(load3(work, e + int(system[HEADER + i * LINK_SIZE + V_AT])), applied_transposed(work, out + BALL_ROW, b_w, b_v))
    right = mat_vec(load9(work, out + BALL_D), right)
    store3(work, out + BALL_RIGHT, right)
    return sub(b_w, mat_vec(load9(work, out + BALL_DOWN), right)), sub(b_v, mat_vec(load9(work, out + BALL_DOWN + 9), right))


@kernel
def move_ball(work, out, y_w, y_v, dv):
    """work[dv : dv + 3] = delta; returns y of the link from what it inherits."""
    turned = mat_vec(load9(work, out + BALL_D), applied_transposed(work, out + BALL_UP, y_w, y_v))
    right = load3(work, out + BALL_RIGHT)
    delta = (-right[0] - turned[0], -right[1] - turned[1], -right[2] - turned[2])
    store3(work, dv, delta)
    return add(y_w, mat_vec(load9(work, out + BALL_SHIFT), delta)), add(y_v, mat_vec(load9(work, out + BALL_SHIFT + 9), delta))
