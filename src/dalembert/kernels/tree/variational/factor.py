"""Newton's matrix of a variational step, eliminated along the tree in O(n).

For the discrete Lagrangian h L(q_theta, v) with q_theta = q_k tau(theta h v), and the weights wl = (1 - theta) h, wr = theta h, a change
delta of the interval velocity changes twists by y_i, momenta by z_i:

    y_i = X_i y_parent + s_i delta_i,                   s_i = S_i + wr ad(V_i) S_i
    z_i = I_i y_i + sum (X_j^T z_j + t_j delta_j),      t_j = X_j^T t'_j,  t'_j = -wr ad(S_j)^T P_j
    a_i^T z_i + b_i^T y_i + r_i delta_i = -e_i,         a_i = S_i - wl ad(V_i) S_i,  b_i = wl ad(S_i)^T P_i

r_i: armature, wl damping, wl wr stiffness. From the leaves to the root, with z = A y + B on each subtree:

    u = A^T a + b,   D = u^T s + r,   w = A s + t',   A_parent += X^T (A - w u^T / D) X,   B_parent += X^T (B - w (e + a^T B) / D)

and back: delta = -(e + a^T B + u^T X y_parent) / D, y = X y_parent + s delta. Spherical joints have 6 x 3 matrices in place of s, a, u, w,
and dtau_x^-T in front of their momentum; a free joint is the root and gives six equations. This is the exact linearisation but for
the exponential in place of the Cayley map, springs between links
(`constrained.py`), and the following for the weight: where
it is taken at q_theta (`stiff`), P - wl G takes the place of P in t' and the turning of the weight enters with wl wr: exact up to h^3.
wl = wr = 0 gives the mass matrix: `solve` then applies -M^-1.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import apply_transposed, conjugate, hat_mul, load9, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.aba import outer_sub
from dalembert.kernels.tree.layout import (
    ARMATURE,
    AT_LOADS,
    DAMPING,
    FREE,
    HEADER,
    INERTIA,
    KIND,
    LINK_SIZE,
    LINKS,
    LOAD_FORCE,
    LOAD_KIND,
    LOAD_LINK,
    LOAD_POINT,
    LOAD_SIZE,
    LOAD_TORQUE,
    LOADS,
    MASS,
    MOMENT,
    PARENT,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    STIFFNESS,
    V_AT,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.variational.ball import factor_ball, hat, move_ball, reduce_ball
from dalembert.kernels.tree.variational.base import factor_free, move_free, reduce_free
from dalembert.kernels.tree.variational.layout import (
    AA,
    AB,
    BA,
    BB,
    BIAS,
    D_INV,
    DOWN,
    FACTOR_SIZE,
    FALL,
    MOM,
    MOVE,
    RIGHT,
    ROW,
    SHIFT,
    SIDE_SIZE,
    STOP,
    UP,
    WRENCH,
)


@inline
def hat_mul_right(m, p):
    """m hat(p)"""
    return (
        m[1] * p[2] - m[2] * p[1], m[2] * p[0] - m[0] * p[2], m[0] * p[1] - m[1] * p[0],
        m[4] * p[2] - m[5] * p[1], m[5] * p[0] - m[3] * p[2], m[3] * p[1] - m[4] * p[0],
        m[7] * p[2] - m[8] * p[1], m[8] * p[0] - m[6] * p[2], m[6] * p[1] - m[7] * p[0],
    )  # fmt: skip


@inline
def add9(work, at, m):
    """work[at : at + 9] += m"""
    for k in range(9):
        work[at + k] += m[k]


@inline
def own_inertia(system, work, i, side, fac, turning):
    """A of the link alone; turning: wl wr where its weight turns with it."""
    at = HEADER + i * LINK_SIZE
    out = fac + i * FACTOR_SIZE
    h = load3(system, at + MOMENT)
    m = system[at + MASS]
    xx, yy, zz = load3(system, at + INERTIA)
    xy, xz, yz = load3(system, at + INERTIA + 3)
    aa = (xx, xy, xz, xy, yy, yz, xz, yz, zz)
    ba = (0.0, h[2], -h[1], -h[2], 0.0, h[0], h[1], -h[0], 0.0)
    store9(work, out + AB, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    store9(work, out + BB, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m))
    if turning != 0.0:
        g = scale(-turning, load3(work, side + i * SIDE_SIZE + FALL))
        hat_g = (0.0, -g[2], g[1], g[2], 0.0, -g[0], -g[1], g[0], 0.0)
        aa = plus(aa, hat_mul(h, hat_g))
        ba = axpy9(m, hat_g, ba)
    store9(work, out + AA, aa)
    store9(work, out + BA, ba)


@kernel
def add_drag(system, work, fac, wl):
    """Drag -c (v + w x r) at the point r and -c' w of a link: wl times its matrix joins A."""
    for k in range(int(system[LOADS])):
        at = int(system[AT_LOADS]) + k * LOAD_SIZE
        if int(system[at + LOAD_KIND]) != 3:
            continue
        out = fac + int(system[at + LOAD_LINK]) * FACTOR_SIZE
        c, turn, r = wl * system[at + LOAD_FORCE], wl * system[at + LOAD_TORQUE], load3(system, at + LOAD_POINT)
        hat_r = (0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0)
        one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        add9(work, out + AA, axpy9(turn, one, axpy9(-c, hat_mul(r, hat_r), (0.0,) * 9)))
        add9(work, out + AB, axpy9(c, hat_r, (0.0,) * 9))
        add9(work, out + BA, axpy9(-c, hat_r, (0.0,) * 9))
        add9(work, out + BB, axpy9(c, one, (0.0,) * 9))


@inline
def plus(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@inline
def axpy9(s, a, b):
    """s a + b"""
    return (
        s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2],
        s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5],
        s * a[6] + b[6], s * a[7] + b[7], s * a[8] + b[8],
    )  # fmt: skip


@inline
def hand_on(work, rec, to, aa, ab, ba, bb):
    """A_parent += X^T A X; rec: the record with R and p of the link, to: the parent's factors."""
    rot, p = load9(work, rec + R), load3(work, rec + P)
    aa, ab, ba, bb = conjugate(rot, aa), conjugate(rot, ab), conjugate(rot, ba), conjugate(rot, bb)
    ba = axpy9(-1.0, hat_mul_right(bb, p), ba)
    add9(work, to + BB, bb)
    add9(work, to + BA, ba)
    aa = plus(axpy9(-1.0, hat_mul_right(ab, p), aa), hat_mul(p, ba))
    add9(work, to + AA, aa)
    add9(work, to + AB, plus(ab, hat_mul(p, bb)))


@inline
def factor_single(system, work, i, side, fac, wl, wr, stiff, revolute):
    """A joint of one degree of freedom. False where the pivot vanishes."""
    at = HEADER + i * LINK_SIZE
    rec, out = side + i * SIDE_SIZE, fac + i * FACTOR_SIZE
    w, u = load3(work, rec + VEL), load3(work, rec + VEL + 3)
    L, p = load3(work, rec + MOM), load3(work, rec + MOM + 3)
    KL, Kp = L, p
    if stiff:
        KL = axpy(-wl, load3(work, rec + WRENCH), L)
        Kp = axpy(-wl, load3(work, rec + WRENCH + 3), p)
    if revolute:  # ad(V) S = (w x z, u x z),  ad(S)^T P = (L x z, p x z)
        g_w, g_v = (w[1], -w[0], 0.0), (u[1], -u[0], 0.0)
        b_w, b_v = (wl * L[1], -wl * L[0], 0.0), (wl * p[1], -wl * p[0], 0.0)
        t_w, t_v = (-wr * KL[1], wr * KL[0], 0.0), (-wr * Kp[1], wr * Kp[0], 0.0)
        s_w, s_v = (wr * g_w[0], wr * g_w[1], 1.0), scale(wr, g_v)
        a_w, a_v = (-wl * g_w[0], -wl * g_w[1], 1.0), scale(-wl, g_v)
    else:  # ad(V) S = (0, w x z),  ad(S)^T P = (p x z, 0)
        g_v = (w[1], -w[0], 0.0)
        b_w, b_v = (wl * p[1], -wl * p[0], 0.0), (0.0, 0.0, 0.0)
        t_w, t_v = (-wr * Kp[1], wr * Kp[0], 0.0), (0.0, 0.0, 0.0)
        s_w, s_v = (0.0, 0.0, 0.0), (wr * g_v[0], wr * g_v[1], 1.0)
        a_w, a_v = (0.0, 0.0, 0.0), (-wl * g_v[0], -wl * g_v[1], 1.0)
    aa, ab, ba, bb = load9(work, out + AA), load9(work, out + AB), load9(work, out + BA), load9(work, out + BB)
    u_w = add(add(apply_transposed(aa, a_w), apply_transposed(ba, a_v)), b_w)
    u_v = add(add(apply_transposed(ab, a_w), apply_transposed(bb, a_v)), b_v)
    d = dot(u_w, s_w) + dot(u_v, s_v) + system[at + ARMATURE] + wl * system[at + DAMPING]
    if stiff:
        d += wl * wr * (system[at + STIFFNESS] + work[rec + STOP])
    if not abs(d) > 0.0:
        return False
    d_inv = 1.0 / d
    store3(work, out + SHIFT, s_w)
    store3(work, out + SHIFT + 3, s_v)
    store3(work, out + ROW, a_w)
    store3(work, out + ROW + 3, a_v)
    store3(work, out + UP, u_w)
    store3(work, out + UP + 3, u_v)
    work[out + D_INV] = d_inv
    parent = int(system[at + PARENT])
    if parent >= 0:
        d_w = add(add(mat_vec(aa, s_w), mat_vec(ab, s_v)), t_w)
        d_v = add(add(mat_vec(ba, s_w), mat_vec(bb, s_v)), t_v)
        store3(work, out + DOWN, d_w)
        store3(work, out + DOWN + 3, d_v)
        aa, ab = outer_sub(aa, d_w, u_w, d_inv), outer_sub(ab, d_w, u_v, d_inv)
        ba, bb = outer_sub(ba, d_v, u_w, d_inv), outer_sub(bb, d_v, u_v, d_inv)
        hand_on(work, rec, fac + parent * FACTOR_SIZE, aa, ab, ba, bb)
    return True


@inline
def turn_share(work, out, f, s):
    """A += s [[hat(a), hat(b)], [hat(b), 0]] for the force (a, b) of a free joint: its share at the first node, (1 + Ad_E)^-T f, turns
    with the step (to order h^2; ball.py has it exactly)."""
    a, b = hat(load3(work, f), s), hat(load3(work, f + 3), s)
    add9(work, out + AA, a)
    add9(work, out + AB, b)
    add9(work, out + BA, b)


@kernel
def factor(system, work, side, fac, x, l, f, wl, wr, stiff):
    """Eliminate the tree at the records of `side`; work[x:] is h v, work[l:] dL/dv, work[f:] dL/dq. False if the matrix is singular.

    stiff: gravity and stiffness are taken at the configuration of the side; give no constant, for which all of it would be compiled again.
    """
    n = int(system[LINKS])
    turning = wl * wr if stiff else 0.0
    for i in range(n):
        own_inertia(system, work, i, side, fac, turning)
    if system[LOADS] != 0.0 and wl != 0.0:
        add_drag(system, work, fac, wl)
    for j in range(n):
        i = n - 1 - j
        at = HEADER + i * LINK_SIZE
        kind = int(system[at + KIND])
        if kind <= PRISMATIC:
            ok = factor_single(system, work, i, side, fac, wl, wr, stiff, kind == REVOLUTE)
        elif kind == SPHERICAL:
            ok = factor_ball(system, work, i, side, fac, x, l, f, wl, wr, stiff)
            parent = int(system[at + PARENT])
            if ok and parent >= 0:
                out = fac + i * FACTOR_SIZE
                aa, ab, ba, bb = load9(work, out + AA), load9(work, out + AB), load9(work, out + BA), load9(work, out + BB)
                hand_on(work, side + i * SIDE_SIZE, fac + parent * FACTOR_SIZE, aa, ab, ba, bb)
        else:
            if stiff:
                turn_share(work, fac + i * FACTOR_SIZE, f + int(system[at + V_AT]), 0.5 * wl * wr)
            ok = kind == FREE and factor_free(system, work, i, fac, x, l, wl, wr)
        if not ok:
            return False
    return True


@inline
def reduce_single(system, work, i, side, fac, e):
    """RIGHT = e + a^T B; what is left of B goes to the parent."""
    at = HEADER + i * LINK_SIZE
    out = fac + i * FACTOR_SIZE
    b_w, b_v = load3(work, out + BIAS), load3(work, out + BIAS + 3)
    right = work[e + int(system[at + V_AT])] + dot(load3(work, out + ROW), b_w) + dot(load3(work, out + ROW + 3), b_v)
    work[out + RIGHT] = right
    parent = int(system[at + PARENT])
    if parent >= 0:
        s = right * work[out + D_INV]
        pass_bias(work, side + i * SIDE_SIZE, fac + parent * FACTOR_SIZE, axpy(-s, load3(work, out + DOWN), b_w), axpy(-s, load3(work, out + DOWN + 3), b_v))


@inline
def pass_bias(work, rec, to, b_w, b_v):
    """B_parent += X^T B."""
    rot = load9(work, rec + R)
    force = mat_vec(rot, b_v)
    torque = add(mat_vec(rot, b_w), cross(load3(work, rec + P), force))
    for k in range(3):
        work[to + BIAS + k] += torque[k]
        work[to + BIAS + 3 + k] += force[k]


@inline
def carried(system, work, i, side, fac):
    """X y_parent."""
    parent = int(system[HEADER + i * LINK_SIZE + PARENT])
    if parent < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    rec, above = side + i * SIDE_SIZE, fac + parent * FACTOR_SIZE
    rot = load9(work, rec + R)
    y_w = load3(work, above + MOVE)
    return apply_transposed(rot, y_w), apply_transposed(rot, sub(load3(work, above + MOVE + 3), cross(load3(work, rec + P), y_w)))


@kernel
def solve(system, work, side, fac, e, dv):
    """work[dv:] = minus the inverse of the factored matrix times work[e:]."""
    n = int(system[LINKS])
    for i in range(n):
        for k in range(6):
            work[fac + i * FACTOR_SIZE + BIAS + k] = 0.0
    for j in range(n):
        i = n - 1 - j
        kind = int(system[HEADER + i * LINK_SIZE + KIND])
        if kind <= PRISMATIC:
            reduce_single(system, work, i, side, fac, e)
        elif kind == SPHERICAL:
            b_w, b_v = reduce_ball(system, work, i, fac, e)
            parent = int(system[HEADER + i * LINK_SIZE + PARENT])
            if parent >= 0:
                pass_bias(work, side + i * SIDE_SIZE, fac + parent * FACTOR_SIZE, b_w, b_v)
        else:
            reduce_free(system, work, i, fac, e)
    for i in range(n):
        out = fac + i * FACTOR_SIZE
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        y_w, y_v = carried(system, work, i, side, fac)
        if kind <= PRISMATIC:
            delta = -work[out + D_INV] * (work[out + RIGHT] + dot(load3(work, out + UP), y_w) + dot(load3(work, out + UP + 3), y_v))
            work[dv + vi] = delta
            y_w, y_v = axpy(delta, load3(work, out + SHIFT), y_w), axpy(delta, load3(work, out + SHIFT + 3), y_v)
        elif kind == SPHERICAL:
            y_w, y_v = move_ball(work, out, y_w, y_v, dv + vi)
        else:
            y_w, y_v = move_free(work, out, dv + vi)
        store3(work, out + MOVE, y_w)
        store3(work, out + MOVE + 3, y_v)
