"""Articulated-body algorithm: joint accelerations in O(n) (Featherstone).

Spatial inertia of a link as blocks [[A, B], [B^T, M]] on (omega, v): rigid A = I_o, B = hat(h), M = m 1, h = m c. Gravity is an
acceleration -g of the world.

    inward   U = I S, D = S^T U + armature, u = tau - S^T F,   I_a = I - U D^-1 U^T,   F_a = F + I_a c + U D^-1 u,   both added to the
    parent
    outward  a' = X a_parent + c,   qdd = D^-1 (u - U^T a'),   a = a' + S qdd
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.gauss import solve_in_place
from dalembert.kernels.mat3 import apply_transposed, conjugate, conjugate_symmetric, hat_mul, load9, mul, store9, transpose
from dalembert.kernels.smallmat import add, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.layout import (
    ACC,
    ARMATURE,
    BIAS,
    D_INV,
    FORCE,
    FREE,
    GRAVITY,
    HEADER,
    INERTIA,
    KIND,
    LINK_SIZE,
    LINKS,
    LOADS,
    MASS,
    MOMENT,
    PARENT,
    PASSIVE,
    PRISMATIC,
    RESIDUAL,
    REVOLUTE,
    SCRATCH,
    SLIDES,
    SOLVE,
    SPHERICAL,
    TURNS,
    V_AT,
    VEL,
    A,
    B,
    M,
    P,
    R,
    U,
)
from dalembert.kernels.tree.loads import apply_loads, passive
from dalembert.kernels.tree.record import record


@inline
def momentum_of(system, i, omega, v):
    """(angular, linear) momentum of the rigid link i about its origin: I_o omega + h x v, m v + omega x h."""
    at = record(HEADER, i, LINK_SIZE)
    h = load3(system, at + MOMENT)
    xx, yy, zz = load3(system, at + INERTIA)
    xy, xz, yz = load3(system, at + INERTIA + 3)
    angular = (
        xx * omega[0] + xy * omega[1] + xz * omega[2],
        xy * omega[0] + yy * omega[1] + yz * omega[2],
        xz * omega[0] + yz * omega[1] + zz * omega[2],
    )
    return add(angular, cross(h, v)), add(scale(system[at + MASS], v), cross(omega, h))


@kernel
def rigid(system, work):
    """Rigid inertias and gyroscopic wrenches V x* (I V) of all links."""
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        out = record(0, i, SCRATCH)
        h = load3(system, at + MOMENT)
        m = system[at + MASS]
        xx, yy, zz = load3(system, at + INERTIA)
        xy, xz, yz = load3(system, at + INERTIA + 3)
        store9(work, out + A, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
        store9(work, out + B, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
        store9(work, out + M, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m))
        omega, v = load3(work, out + VEL), load3(work, out + VEL + 3)
        L, p = momentum_of(system, i, omega, v)
        store3(work, out + FORCE, add(cross(omega, L), cross(v, p)))
        store3(work, out + FORCE + 3, cross(omega, p))


@inline
def pass_inward(work, i, parent, a, b, m, n, f):
    """Add inertia (a, b, m) and wrench (n, f) of link i, both in its axes, to its parent.

    In parent axes about the parent's origin: M' = R M R^T, B' = R B R^T + hat(p) M', A' = R A R^T + X + X^T with X = hat(p) (R B R^T)^T +
    hat(p) M' hat(p)^T / 2.
    """
    out = record(0, i, SCRATCH)
    to = record(0, parent, SCRATCH)
    rot, p = load9(work, out + R), load3(work, out + P)
    m2 = conjugate_symmetric(rot, m)
    b2 = conjugate(rot, b)
    a2 = conjugate_symmetric(rot, a)
    pm = hat_mul(p, m2)
    x = hat_mul(p, transpose(b2))
    y = hat_mul(p, transpose(pm))  # hat(p) (hat(p) M')^T = -hat(p) M' hat(p) = hat(p) M' hat(p)^T
    for k in range(9):
        work[to + M + k] += m2[k]
        work[to + B + k] += b2[k] + pm[k]
    a2 = symmetric(
        a2[0] + x[0] + x[0] + y[0], a2[1] + x[1] + x[3] + y[1], a2[2] + x[2] + x[6] + y[2],
        a2[4] + x[4] + x[4] + y[4], a2[5] + x[5] + x[7] + y[5], a2[8] + x[8] + x[8] + y[8],
    )  # fmt: skip
    for k in range(9):
        work[to + A + k] += a2[k]
    force = mat_vec(rot, f)
    torque = add(mat_vec(rot, n), cross(p, force))
    store3(work, to + FORCE, add(load3(work, to + FORCE), torque))
    store3(work, to + FORCE + 3, add(load3(work, to + FORCE + 3), force))


@inline
def outer_sub(m, x, y, s):
    """m - s x y^T"""
    a, b, c = s * x[0], s * x[1], s * x[2]
    return (
        m[0] - a * y[0], m[1] - a * y[1], m[2] - a * y[2],
        m[3] - b * y[0], m[4] - b * y[1], m[5] - b * y[2],
        m[6] - c * y[0], m[7] - c * y[1], m[8] - c * y[2],
    )  # fmt: skip


@inline
def symmetric(xx, xy, xz, yy, yz, zz):
    """A symmetric matrix by rows."""
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@inline
def square_sub(m, x, s):
    """m - s x x^T for symmetric m."""
    a, b, c = s * x[0], s * x[1], s * x[2]
    return symmetric(m[0] - a * x[0], m[1] - a * x[1], m[2] - a * x[2], m[4] - b * x[1], m[5] - b * x[2], m[8] - c * x[2])


@inline
def inward_single(system, work, i, tau, revolute):
    """A joint of one degree of freedom. False if its inertia is not positive."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    a, b, m = load9(work, out + A), load9(work, out + B), load9(work, out + M)
    n, f = load3(work, out + FORCE), load3(work, out + FORCE + 3)
    t = work[tau + int(system[at + V_AT])]
    if revolute:
        u_ang, u_lin = (a[2], a[5], a[8]), (b[6], b[7], b[8])
        d, u = a[8] + system[at + ARMATURE], t - n[2]
    else:
        turn, slide = system[at + TURNS], system[at + SLIDES]
        u_ang = (slide * b[2] + turn * a[2], slide * b[5] + turn * a[5], slide * b[8] + turn * a[8])
        u_lin = (slide * m[2] + turn * b[6], slide * m[5] + turn * b[7], slide * m[8] + turn * b[8])
        d, u = slide * u_lin[2] + turn * u_ang[2] + system[at + ARMATURE], t - slide * f[2] - turn * n[2]
    if not d > 0.0:
        return False
    d_inv = 1.0 / d
    store3(work, out + U, u_ang)
    store3(work, out + U + 3, u_lin)
    work[out + D_INV] = d_inv
    work[out + RESIDUAL] = u
    parent = int(system[at + PARENT])
    if parent >= 0:
        a, b, m = square_sub(a, u_ang, d_inv), outer_sub(b, u_ang, u_lin, d_inv), square_sub(m, u_lin, d_inv)
        c_ang, c_lin = load3(work, out + BIAS), load3(work, out + BIAS + 3)
        s = u * d_inv
        n = add(n, add(add(mat_vec(a, c_ang), mat_vec(b, c_lin)), scale(s, u_ang)))
        f = add(f, add(add(apply_transposed(b, c_ang), mat_vec(m, c_lin)), scale(s, u_lin)))
        pass_inward(work, i, parent, a, b, m, n, f)
    return True


@kernel
def inward_ball(system, work, i, tau):
    """A spherical joint: D = A + armature, a 3x3 inverse. False if it is singular."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    a, b, m = load9(work, out + A), load9(work, out + B), load9(work, out + M)
    n, f = load3(work, out + FORCE), load3(work, out + FORCE + 3)
    r = system[at + ARMATURE]
    x, y, z = a[0] + r, a[4] + r, a[8] + r
    c0, c1, c2 = y * z - a[5] * a[7], a[5] * a[6] - a[3] * z, a[3] * a[7] - y * a[6]
    det = x * c0 + a[1] * c1 + a[2] * c2
    if not det > 0.0:
        return False
    e = 1.0 / det
    d = (
        e * c0, e * (a[2] * a[7] - a[1] * z), e * (a[1] * a[5] - a[2] * y),
        e * c1, e * (x * z - a[2] * a[6]), e * (a[2] * a[3] - x * a[5]),
        e * c2, e * (a[1] * a[6] - x * a[7]), e * (x * y - a[1] * a[3]),
    )  # fmt: skip
    u = sub(load3(work, tau + int(system[at + V_AT])), n)
    store9(work, out + SOLVE, d)
    store3(work, out + RESIDUAL, u)
    parent = int(system[at + PARENT])
    if parent >= 0:
        da, db = mul(d, a), mul(d, b)
        a2, b2, m2 = minus(a, mul(a, da)), minus(b, mul(a, db)), minus(m, mul(transpose(b), db))
        c_ang, c_lin = load3(work, out + BIAS), load3(work, out + BIAS + 3)
        du = mat_vec(d, u)
        n = add(n, add(add(mat_vec(a2, c_ang), mat_vec(b2, c_lin)), mat_vec(a, du)))
        f = add(f, add(add(apply_transposed(b2, c_ang), mat_vec(m2, c_lin)), apply_transposed(b, du)))
        pass_inward(work, i, parent, a2, b2, m2, n, f)
    return True


@inline
def minus(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5], a[6] - b[6], a[7] - b[7], a[8] - b[8])


@inline
def inherited(system, work, i):
    """a' = X a_parent + c of link i."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    parent = int(system[at + PARENT])
    rot = load9(work, out + R)
    if parent >= 0:
        alpha, acc = load3(work, record(0, parent, SCRATCH) + ACC), load3(work, record(0, parent, SCRATCH) + ACC + 3)
        acc = add(acc, cross(alpha, load3(work, out + P)))
        alpha = apply_transposed(rot, alpha)
    else:
        alpha, acc = (0.0, 0.0, 0.0), scale(-1.0, load3(system, GRAVITY))
    return add(alpha, load3(work, out + BIAS)), add(apply_transposed(rot, acc), load3(work, out + BIAS + 3))


@kernel
def free_acceleration(system, work, i, tau, acc, alpha, a):
    """Six equations (I + armature) qdd = tau - F - I a' of a free link. False if they are singular."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    vi = int(system[at + V_AT])
    x = (alpha[0], alpha[1], alpha[2], a[0], a[1], a[2])
    for r in range(3):
        for c in range(3):
            work[out + SOLVE + 6 * r + c] = work[out + A + 3 * r + c]
            work[out + SOLVE + 6 * r + 3 + c] = work[out + B + 3 * r + c]
            work[out + SOLVE + 6 * (r + 3) + c] = work[out + B + 3 * c + r]
            work[out + SOLVE + 6 * (r + 3) + 3 + c] = work[out + M + 3 * r + c]
    for r in range(6):
        right = work[tau + vi + r] - work[out + FORCE + r]
        for c in range(6):
            right -= work[out + SOLVE + 6 * r + c] * x[c]
        work[out + SOLVE + 36 + r] = right
        work[out + SOLVE + 7 * r] += system[at + ARMATURE]
    if not solve_in_place(work, out + SOLVE, out + SOLVE + 36, 6):
        return False
    for r in range(6):
        work[acc + vi + r] = work[out + SOLVE + 36 + r]
        work[out + ACC + r] = x[r] + work[out + SOLVE + 36 + r]
    return True


@inline
def outward(system, work, i, tau, acc):
    """Acceleration of link i and of its joint."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    kind = int(system[at + KIND])
    vi = acc + int(system[at + V_AT])
    alpha, a = inherited(system, work, i)
    if kind <= PRISMATIC:
        qdd = work[out + D_INV] * (work[out + RESIDUAL] - dot(load3(work, out + U), alpha) - dot(load3(work, out + U + 3), a))
        work[vi] = qdd
        if kind == REVOLUTE:
            alpha = (alpha[0], alpha[1], alpha[2] + qdd)
        else:
            alpha, a = (alpha[0], alpha[1], alpha[2] + system[at + TURNS] * qdd), (a[0], a[1], a[2] + system[at + SLIDES] * qdd)
    elif kind == SPHERICAL:
        right = sub(load3(work, out + RESIDUAL), add(mat_vec(load9(work, out + A), alpha), mat_vec(load9(work, out + B), a)))
        qdd3 = mat_vec(load9(work, out + SOLVE), right)
        store3(work, vi, qdd3)
        alpha = add(alpha, qdd3)
    else:
        return free_acceleration(system, work, i, tau, acc, alpha, a)
    store3(work, out + ACC, alpha)
    store3(work, out + ACC + 3, a)
    return True


@kernel
def accelerations(system, work, q, v, tau, acc):
    """work[acc:] = joint accelerations at work[q:], work[v:] under work[tau:] and all forces of the model. False if the tree is singular.

    work[tau:] is changed: passive joint forces are added to it.
    """
    n = int(system[LINKS])
    sweep(system, work, q, v)
    rigid(system, work)
    if system[LOADS] != 0.0:
        world(system, work)
        apply_loads(system, work)
    if system[PASSIVE] != 0.0:
        passive(system, work, q, v, tau)
    for j in range(n):
        i = n - 1 - j
        kind = int(system[record(HEADER, i, LINK_SIZE) + KIND])
        if kind == REVOLUTE:
            ok = inward_single(system, work, i, tau, True)
        elif kind == PRISMATIC:
            ok = inward_single(system, work, i, tau, False)
        elif kind == SPHERICAL:
            ok = inward_ball(system, work, i, tau)
        else:
            ok = kind == FREE
        if not ok:
            return False
    for i in range(n):
        if not outward(system, work, i, tau, acc):
            return False
    return True
