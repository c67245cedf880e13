"""Spherical joints in the elimination of `factor.py`: three columns of six numbers in place of vectors.

In link axes (`put_twists` and `put_wrenches` take them to those of the root), with w' = omega_parent and v (the twist that the joint
inherits), x = h omega_joint, S = (1; 0), l = dL/d(omega_joint),
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

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline
from dalembert.kernels.mat3 import hat_mul, load9, mul, store9, transpose
from dalembert.kernels.smallmat import add, axpy, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.layout import ARMATURE, DAMPING, HEADER, LINK_SIZE, STIFFNESS, V_AT, VEL
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.layout import (
    BALL_D,
    BALL_DOWN,
    BALL_RIGHT,
    BALL_ROW,
    BALL_SHIFT,
    BALL_UP,
    BIAS,
    FACTOR_SIZE,
    FRAME,
    INERTIA,
    MOM,
    MOVE,
    SIDE_SIZE,
    WRENCH,
)
from dalembert.kernels.tree.variational.six import add6, axpy6, dot6, load6, store6


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


@inline
def put_columns(work, to, stride, a, b):
    """A 6 x 3 matrix of blocks a, b into the first six numbers of three columns, `stride` apart."""
    for k in range(3):
        for r in range(3):
            work[to + stride * k + r] = a[3 * r + k]
            work[to + stride * k + 3 + r] = b[3 * r + k]


@inline
def put_twists(work, to, stride, rot, c, w, v):
    """Three twists in root axes."""
    w = mul(rot, w)
    put_columns(work, to, stride, w, plus(mul(rot, v), hat_mul(c, w)))


@inline
def put_wrenches(work, to, stride, rot, c, L, p):
    """Three wrenches in root axes."""
    p = mul(rot, p)
    put_columns(work, to, stride, plus(mul(rot, L), hat_mul(c, p)), p)


@far(VOID(ARRAY, ARRAY, INT, INT, INT, INT, INT, INT, REAL, REAL, BOOL))
def put_ball(system, work, i, side, fac, x_at, l_at, f_at, wl, wr, stiff):
    """s, a, b (in the place of u), t' (in the place of w) and r (in the place of D) of a spherical joint."""
    at, rec, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE), record(fac, i, FACTOR_SIZE)
    vi = int(system[at + V_AT])
    h = wl + wr
    x, l = load3(work, x_at + vi), load3(work, l_at + vi)
    own = scale(1.0 / h, x) if h != 0.0 else (0.0, 0.0, 0.0)
    w, v = sub(load3(work, rec + VEL), own), load3(work, rec + VEL + 3)
    L, p = load3(work, rec + MOM), load3(work, rec + MOM + 3)
    KL, Kp = L, p
    if stiff:
        KL = axpy(-wl, load3(work, rec + WRENCH), L)
        Kp = axpy(-wl, load3(work, rec + WRENCH + 3), p)
    rot, c = load9(work, out + FRAME), load3(work, out + FRAME + 9)
    pull = plus(plus(diagonal(1.0), hat(x, -0.5)), outer(x, x, 0.25))
    n = math.sqrt(1.0 + 0.25 * dot(x, x))
    hN, T, hde = diagonal(wl), diagonal(0.0), diagonal(0.0)
    if wr != 0.0:
        e = scale(0.5 / (n + 1.0), x)
        hN = plus(diagonal(0.5 * h), hat(e, -0.5 * h))
        T = scaled(1.0 / (n * n), mul(plus(diagonal(0.5 * h), hat(e, 0.5 * h)), plus(diagonal(1.0), hat(x, -0.5))))
        hde = plus(diagonal(0.5 * h / (n + 1.0)), outer(x, x, -0.125 * h / (n * (n + 1.0) ** 2)))
    put_twists(work, out + BALL_SHIFT, 6, rot, c, plus(diagonal(1.0), hat_mul(w, T)), hat_mul(v, T))
    put_twists(work, out + BALL_ROW, 6, rot, c, minus(pull, hat_mul(w, hN)), scaled(-1.0, hat_mul(v, hN)))
    put_wrenches(work, out + BALL_UP, 6, rot, c, hat_mul(L, hN), hat_mul(p, hN))
    put_wrenches(work, out + BALL_DOWN, 6, rot, c, scaled(-1.0, hat_mul(KL, T)), scaled(-1.0, hat_mul(Kp, T)))
    r = scaled(system[at + ARMATURE], transpose(pull))
    r = plus(r, scaled(h, plus(hat(l, -0.5), plus(diagonal(0.25 * dot(x, l)), outer(x, l, 0.25)))))
    r = plus(r, mul(transpose(hN), plus(hat(L, 1.0), diagonal(system[at + DAMPING]))))
    if stiff:
        r = plus(r, diagonal(wl * wr * system[at + STIFFNESS]))
    store9(work, out + BALL_D, plus(r, scaled(0.5 * h, hat_mul(load3(work, f_at + vi), hde))))


@far(BOOL(ARRAY, INT, INT, BOOL))
def factor_ball(work, rec, above, inner):
    """Eliminate a spherical joint; above: the parent's record where there is one (inner). False where D is singular."""
    s, a, u, w, m = rec + BALL_SHIFT, rec + BALL_ROW, rec + BALL_UP, rec + BALL_DOWN, rec + INERTIA
    for r in range(6):
        line = load6(work, m + 6 * r)
        for k in range(3):
            store6(work, u + 6 * k, axpy6(work[a + 6 * k + r], line, load6(work, u + 6 * k)))
            work[w + 6 * k + r] += dot6(line, load6(work, s + 6 * k))
    for r in range(3):
        for k in range(3):
            work[rec + BALL_D + 3 * r + k] += dot6(load6(work, u + 6 * r), load6(work, s + 6 * k))
    det, d = inverse(load9(work, rec + BALL_D))
    if not abs(det) > 0.0:
        return False
    store9(work, rec + BALL_D, d)
    for k in range(u, u + 6):  # D^-1 u^T in place of u
        work[k], work[k + 6], work[k + 12] = mat_vec(d, (work[k], work[k + 6], work[k + 12]))
    if inner:
        to = above + INERTIA
        for r in range(6):
            line = add6(load6(work, m + 6 * r), load6(work, to + 6 * r))
            for k in range(3):
                line = axpy6(-work[w + 6 * k + r], load6(work, u + 6 * k), line)
            store6(work, to + 6 * r, line)
    return True


@far(VOID(ARRAY, INT, INT, BOOL, INT))
def reduce_ball(work, rec, above, inner, e):
    """D^-1 (e + a^T B) is kept; what is left of B goes to the parent."""
    a, w, b = rec + BALL_ROW, rec + BALL_DOWN, load6(work, rec + BIAS)
    product = (dot6(load6(work, a), b), dot6(load6(work, a + 6), b), dot6(load6(work, a + 12), b))
    right = mat_vec(load9(work, rec + BALL_D), add(load3(work, e), product))
    store3(work, rec + BALL_RIGHT, right)
    if inner:
        left = axpy6(-right[0], load6(work, w), axpy6(-right[1], load6(work, w + 6), axpy6(-right[2], load6(work, w + 12), b)))
        store6(work, above + BIAS, add6(left, load6(work, above + BIAS)))


@far(VOID(ARRAY, INT, INT))
def move_ball(work, rec, dv):
    """work[dv : dv + 3] = delta; what the link inherits, work[rec + MOVE :], becomes its y."""
    s, u, y = rec + BALL_SHIFT, rec + BALL_UP, load6(work, rec + MOVE)
    turned = (dot6(load6(work, u), y), dot6(load6(work, u + 6), y), dot6(load6(work, u + 12), y))
    delta = scale(-1.0, add(load3(work, rec + BALL_RIGHT), turned))
    store3(work, dv, delta)
    y = axpy6(delta[0], load6(work, s), axpy6(delta[1], load6(work, s + 6), axpy6(delta[2], load6(work, s + 12), y)))
    store6(work, rec + MOVE, y)
