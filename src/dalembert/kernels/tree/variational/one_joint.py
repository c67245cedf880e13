"""What a link and a joint of one degree of freedom bring into the elimination of `factor.py`, in axes of the root link of the tree and
about one origin: that of the root link, or where this is the first of a compound joint and without mass, of the first link with mass.

With (R, c) axes and origin of the link there

    twist (w, v) -> (R w, R v + c x R w),   wrench (L, p) -> (R L + c x R p, R p)

and for the inertia, h' = R h

    J = R I R^T - hat(c) hat(h') - hat(h') hat(c) - m hat(c)^2,   first moment h' + m c
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import conjugate_symmetric, load9, mul, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.layout import (
    ARMATURE,
    AT_LOADS,
    DAMPING,
    FREE,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    LOADS,
    MASS,
    MOMENT,
    PARENT,
    SLIDES,
    STIFFNESS,
    TURNS,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.layout import INERTIA as LINK_INERTIA
from dalembert.kernels.tree.load_layout import GROUP_SIZE, LENGTH, MATRIX, call_matrix
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE, FALL, FRAME, INERTIA, MOM, SIDE_SIZE, STOP, WRENCH
from dalembert.kernels.tree.variational.six import add6, load6, store6

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def start_of(system, work, i, side):
    """Where the root link i is, seen from the first link with mass behind it (itself for a free joint). A planar joint that has gone far
    would have long arms otherwise."""
    n, rot, c = int(system[LINKS]), IDENTITY, (0.0, 0.0, 0.0)
    if int(system[HEADER + i * LINK_SIZE + KIND]) == FREE:
        return c
    while system[HEADER + i * LINK_SIZE + MASS] == 0.0 and i + 1 < n and int(system[HEADER + (i + 1) * LINK_SIZE + PARENT]) == i:
        i += 1
        rec = side + i * SIDE_SIZE
        c = sub(c, mat_vec(rot, load3(work, rec + P)))
        rot = mul(rot, load9(work, rec + R))
    return c


@inline
def put_frame(system, work, i, side, fac):
    """(R, c) of link i, kept in its record, and A = 0; the frame of its parent is known."""
    out, parent = record(fac, i, FACTOR_SIZE), int(system[record(HEADER, i, LINK_SIZE) + PARENT])
    if parent >= 0:
        rec, above = record(side, i, SIDE_SIZE), record(fac, parent, FACTOR_SIZE)
        turn = load9(work, above + FRAME)
        rot = mul(turn, load9(work, rec + R))
        c = add(load3(work, above + FRAME + 9), mat_vec(turn, load3(work, rec + P)))
    else:
        rot, c = IDENTITY, start_of(system, work, i, side)
    store9(work, out + FRAME, rot)
    store3(work, out + FRAME + 9, c)
    for k in range(36):
        work[out + INERTIA + k] = 0.0


@inline
def with_own(system, at, work, rec, out, rot, c, turning):
    """Rows of A, children and the link itself.

    turning: wl wr where its weight turns with it, which adds [[hat(f) hat(g), 0], [m hat(g), 0]], f the first moment, g = -wl wr gravity.
    """
    xx, yy, zz = load3(system, at + LINK_INERTIA)
    xy, xz, yz = load3(system, at + LINK_INERTIA + 3)
    m = system[at + MASS]
    first = mat_vec(rot, load3(system, at + MOMENT))
    turned = conjugate_symmetric(rot, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
    k = axpy(0.5 * m, c, first)  # -hat(c) hat(k) - hat(k) hat(c) = 2 c.k - c k^T - k c^T
    f = axpy(m, c, first)
    g = scale(-turning, mat_vec(rot, load3(work, rec + FALL))) if turning != 0.0 else (0.0, 0.0, 0.0)
    d = 2.0 * dot(c, k) - dot(f, g)  # hat(f) hat(g) = g f^T - f.g
    xx, yy, zz = turned[0] + d - 2.0 * c[0] * k[0], turned[4] + d - 2.0 * c[1] * k[1], turned[8] + d - 2.0 * c[2] * k[2]
    xy, xz = turned[1] - c[0] * k[1] - k[0] * c[1], turned[2] - c[0] * k[2] - k[0] * c[2]
    yz = turned[5] - c[1] * k[2] - k[1] * c[2]
    b = axpy(-m, g, f)
    to = out + INERTIA
    A0, A1, A2 = load6(work, to), load6(work, to + 6), load6(work, to + 12)
    A3, A4, A5 = load6(work, to + 18), load6(work, to + 24), load6(work, to + 30)
    return (
        (A0[0] + (xx + g[0] * f[0]), A0[1] + (xy + g[0] * f[1]), A0[2] + (xz + g[0] * f[2]), A0[3], A0[4] - f[2], A0[5] + f[1]),
        (A1[0] + (xy + g[1] * f[0]), A1[1] + (yy + g[1] * f[1]), A1[2] + (yz + g[1] * f[2]), A1[3] + f[2], A1[4], A1[5] - f[0]),
        (A2[0] + (xz + g[2] * f[0]), A2[1] + (yz + g[2] * f[1]), A2[2] + (zz + g[2] * f[2]), A2[3] - f[1], A2[4] + f[0], A2[5]),
        (A3[0], A3[1] + b[2], A3[2] - b[1], A3[3] + m, A3[4], A3[5]),
        (A4[0] - b[2], A4[1], A4[2] + b[0], A4[3], A4[4] + m, A4[5]),
        (A5[0] + b[1], A5[1] - b[0], A5[2], A5[3], A5[4], A5[5] + m),
    )


@inline
def across(rot, s, a):
    """s R (a x z)"""
    x, y = s * a[1], -s * a[0]
    return (rot[0] * x + rot[1] * y, rot[3] * x + rot[4] * y, rot[6] * x + rot[7] * y)


@inline
def wrench(c, L, p):
    """A wrench about the origin of the link, in root axes, moved to the origin of the root."""
    q = cross(c, p)
    return (L[0] + q[0], L[1] + q[1], L[2] + q[2], p[0], p[1], p[2])


@inline
def join(a, b):
    """Six numbers of two vectors."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@inline
def columns(system, at, work, rec, rot, c, wl, wr, stiff, revolute):
    """s, a, b, t', r."""
    w, v = load3(work, rec + VEL), load3(work, rec + VEL + 3)
    L, p = load3(work, rec + MOM), load3(work, rec + MOM + 3)
    KL, Kp = L, p
    r = system[at + ARMATURE] + wl * system[at + DAMPING]
    if stiff:
        KL = axpy(-wl, load3(work, rec + WRENCH), L)
        Kp = axpy(-wl, load3(work, rec + WRENCH + 3), p)
        r += wl * wr * (system[at + STIFFNESS] + work[rec + STOP])
    z = (rot[2], rot[5], rot[8])
    if revolute:  # ad(V) S = (w x z, v x z),  ad(S)^T P = (L x z, p x z)
        S_w, S_v = z, cross(c, z)
        g_w = across(rot, 1.0, w)
        g_v = add(across(rot, 1.0, v), cross(c, g_w))
        b = wrench(c, across(rot, wl, L), across(rot, wl, p))
        t = wrench(c, across(rot, -wr, KL), across(rot, -wr, Kp))
    else:  # slide times ad(V) S = (0, w x z),  ad(S)^T P = (p x z, 0), and turn times that of a rotation
        turn, slide = system[at + TURNS], system[at + SLIDES]
        S_w = scale(turn, z)
        S_v = axpy(slide, z, cross(c, S_w))
        g_w = across(rot, turn, w)
        g_v = add(across(rot, slide, w), add(across(rot, turn, v), cross(c, g_w)))
        b = wrench(c, add(across(rot, slide * wl, p), across(rot, turn * wl, L)), across(rot, turn * wl, p))
        t = wrench(c, add(across(rot, -slide * wr, Kp), across(rot, -turn * wr, KL)), across(rot, -turn * wr, Kp))
    return join(axpy(wr, g_w, S_w), axpy(wr, g_v, S_v)), join(axpy(-wl, g_w, S_w), axpy(-wl, g_v, S_v)), b, t, r


@kernel
def add_own(system, at, work, rec, out, turning):
    """A += that of the link itself."""
    rows = with_own(system, at, work, rec, out, load9(work, out + FRAME), load3(work, out + FRAME + 9), turning)
    for k in range(6):
        store6(work, out + INERTIA + 6 * k, rows[k])


@inline
def add_row(work, at, x):
    """work[at : at + 6] += x"""
    store6(work, at, add6(x, load6(work, at)))


@kernel
def add_load_matrices(system, work, fac, wl):
    """wl times minus the derivative of loads by the twist of their link joins A, where they tell it."""
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last, slot = at + int(system[at + LENGTH]), int(system[at + MATRIX])
        if slot != 0:
            call_matrix(slot, system, work, at + GROUP_SIZE, last, fac + FRAME, fac + INERTIA, FACTOR_SIZE, wl)
        at = last
