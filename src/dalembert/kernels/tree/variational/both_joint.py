"""What a link and its joint bring into the elimination of `factor_both.py`, in axes and about the origin of the root link of the tree.

With (R, c) axes and origin of the link in the root link, at each of the two nodes:

    twist (w, v) -> (R w, R v + c x R w),   wrench (L, p) -> (R L + c x R p, R p)

One degree of freedom:

    s = (S; S + h ad(V') S),     a = (S/2 - h/2 ad(V) S; S/2),     b = (h/2 ad(S)^T P; 0),     t' = (0; -h ad(S)^T P')
    r = armature + h/2 damping

Spherical, with (w, v) and (w', v') the twists that the joint inherits, x = h omega_joint, T = dcay_-x, l = dL/d(omega_joint):

    s = (1, 0; 1 + h hat(w') T, h hat(v') T),     a = (Q/2 - h/2 hat(w), -h/2 hat(v); Q/2, 0),     Q = dcay_x^-1
    b = (h/2 hat(L), h/2 hat(p); 0, 0),           t' = (0, 0; -h hat(L') T, -h hat(p') T)
    r = armature Q^T + h d/dx (dcay_x^-T l) + h/2 hat(L) + h/2 damping

dcay as in `ball.py`.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import conjugate_symmetric, hat_mul, load9, mul, store9, transpose
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.layout import ARMATURE, DAMPING, HEADER, LINK_SIZE, MASS, MOMENT, PARENT, SLIDES, TURNS, V_AT, VEL, P, R
from dalembert.kernels.tree.layout import INERTIA as LINK_INERTIA
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.ball import diagonal, hat, outer, plus, put_columns, put_twists, put_wrenches, scaled
from dalembert.kernels.tree.variational.both_layout import BOTH_SIZE, COLUMNS, FRAME_0, FRAME_1, INERTIA
from dalembert.kernels.tree.variational.layout import MOM, SIDE_SIZE


@inline
def frame_of(system, work, i, side, fac, frame):
    """(R, c) of link i in the root link of its tree, kept in its record."""
    out = record(fac, i, BOTH_SIZE) + frame
    parent = int(system[record(HEADER, i, LINK_SIZE) + PARENT])
    if parent < 0:
        rot, c = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    else:
        above, rec = record(fac, parent, BOTH_SIZE) + frame, record(side, i, SIDE_SIZE)
        turn = load9(work, above)
        rot = mul(turn, load9(work, rec + R))
        c = add(load3(work, above + 9), mat_vec(turn, load3(work, rec + P)))
    store9(work, out, rot)
    store3(work, out + 9, c)
    return rot, c


@inline
def put_inertia(system, at, work, to, rot, c):
    """Inertia of a rigid link in root axes, written to a diagonal 6 x 6 block of the 12 x 12 matrix at work[to:].

    h' = R h,  J = R I R^T - hat(c) hat(h') - hat(h') hat(c) - m hat(c)^2,  first moment h' + m c.
    """
    xx, yy, zz = load3(system, at + LINK_INERTIA)
    xy, xz, yz = load3(system, at + LINK_INERTIA + 3)
    m = system[at + MASS]
    first = mat_vec(rot, load3(system, at + MOMENT))
    turned = conjugate_symmetric(rot, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
    k = axpy(0.5 * m, c, first)  # -hat(c) hat(k) - hat(k) hat(c) = 2 c.k - c k^T - k c^T
    d = 2.0 * dot(c, k)
    f = axpy(m, c, first)
    xx, yy, zz = turned[0] + d - 2.0 * c[0] * k[0], turned[4] + d - 2.0 * c[1] * k[1], turned[8] + d - 2.0 * c[2] * k[2]
    xy, xz = turned[1] - c[0] * k[1] - k[0] * c[1], turned[2] - c[0] * k[2] - k[0] * c[2]
    yz = turned[5] - c[1] * k[2] - k[1] * c[2]
    row(work, to, (xx, xy, xz), (0.0, -f[2], f[1]))
    row(work, to + 12, (xy, yy, yz), (f[2], 0.0, -f[0]))
    row(work, to + 24, (xz, yz, zz), (-f[1], f[0], 0.0))
    row(work, to + 36, (0.0, f[2], -f[1]), (m, 0.0, 0.0))
    row(work, to + 48, (-f[2], 0.0, f[0]), (0.0, m, 0.0))
    row(work, to + 60, (f[1], -f[0], 0.0), (0.0, 0.0, m))


@inline
def row(work, at, a, b):
    """work[at : at + 6] = (a, b)"""
    store3(work, at, a)
    store3(work, at + 3, b)


@inline
def own_inertia(system, work, i, fac, rot_0, c_0, rot_1, c_1):
    """A of the link alone: its inertia at both nodes."""
    at, out = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE) + INERTIA
    for r in range(6):
        for k in range(6):
            work[out + 12 * r + 6 + k] = 0.0
            work[out + 72 + 12 * r + k] = 0.0
    put_inertia(system, at, work, out, rot_0, c_0)
    put_inertia(system, at, work, out + 78, rot_1, c_1)


@inline
def put_twist(work, to, rot, c, w, v):
    """A twist in root axes."""
    w = mat_vec(rot, w)
    row(work, to, w, add(mat_vec(rot, v), cross(c, w)))


@inline
def put_wrench(work, to, rot, c, L, p):
    """A wrench in root axes."""
    p = mat_vec(rot, p)
    row(work, to, add(mat_vec(rot, L), cross(c, p)), p)


@inline
def screw(s, a):
    """s a x z"""
    return (s * a[1], -s * a[0], 0.0)


@inline
def put_single(system, work, i, side_0, side_1, fac, h, revolute, rot_0, c_0, rot_1, c_1):
    """s, a, b (in the place of u), t' (in the place of w) and r (in the place of D) of a joint of one degree of freedom."""
    at, out = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE) + COLUMNS
    rec_0, rec_1 = record(side_0, i, SIDE_SIZE), record(side_1, i, SIDE_SIZE)
    w, v, w1, v1 = load3(work, rec_0 + VEL), load3(work, rec_0 + VEL + 3), load3(work, rec_1 + VEL), load3(work, rec_1 + VEL + 3)
    L, p, L1, p1 = load3(work, rec_0 + MOM), load3(work, rec_0 + MOM + 3), load3(work, rec_1 + MOM), load3(work, rec_1 + MOM + 3)
    k, zero, z = -0.5 * h, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    if revolute:  # ad(V) S = (w x z, v x z),  ad(S)^T P = (L x z, p x z)
        put_twist(work, out, rot_0, c_0, z, zero)
        put_twist(work, out + 6, rot_1, c_1, (h * w1[1], -h * w1[0], 1.0), (h * v1[1], -h * v1[0], 0.0))
        put_twist(work, out + 12, rot_0, c_0, (k * w[1], -k * w[0], 0.5), (k * v[1], -k * v[0], 0.0))
        put_twist(work, out + 18, rot_1, c_1, (0.0, 0.0, 0.5), zero)
        put_wrench(work, out + 24, rot_0, c_0, (-k * L[1], k * L[0], 0.0), (-k * p[1], k * p[0], 0.0))
        put_wrench(work, out + 42, rot_1, c_1, (-h * L1[1], h * L1[0], 0.0), (-h * p1[1], h * p1[0], 0.0))
    else:  # slide times ad(V) S = (0, w x z),  ad(S)^T P = (p x z, 0), and turn times that of a rotation
        e, s = system[at + TURNS], system[at + SLIDES]
        put_twist(work, out, rot_0, c_0, scale(e, z), scale(s, z))
        ahead = add(screw(h * s, w1), screw(h * e, v1))
        put_twist(work, out + 6, rot_1, c_1, add(screw(h * e, w1), scale(e, z)), add(ahead, scale(s, z)))
        behind = add(screw(k * s, w), screw(k * e, v))
        put_twist(work, out + 12, rot_0, c_0, add(screw(k * e, w), scale(0.5 * e, z)), add(behind, scale(0.5 * s, z)))
        put_twist(work, out + 18, rot_1, c_1, scale(0.5 * e, z), scale(0.5 * s, z))
        put_wrench(work, out + 24, rot_0, c_0, add(screw(-k * s, p), screw(-k * e, L)), screw(-k * e, p))
        put_wrench(work, out + 42, rot_1, c_1, add(screw(-h * s, p1), screw(-h * e, L1)), screw(-h * e, p1))
    row(work, out + 30, zero, zero)
    row(work, out + 36, zero, zero)
    work[out + 48] = system[at + ARMATURE] + 0.5 * h * system[at + DAMPING]


@kernel
def put_ball(system, work, i, side_0, side_1, fac, x_at, l_at, h):
    """s, a, b (in the place of u), t' (in the place of w) and r (in the place of D) of a spherical joint."""
    at, out = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE)
    rec_0, rec_1 = record(side_0, i, SIDE_SIZE), record(side_1, i, SIDE_SIZE)
    vi = int(system[at + V_AT])
    x, l = load3(work, x_at + vi), load3(work, l_at + vi)
    own = scale(1.0 / h, x) if h != 0.0 else (0.0, 0.0, 0.0)
    w, v = sub(load3(work, rec_0 + VEL), own), load3(work, rec_0 + VEL + 3)
    w1, v1 = sub(load3(work, rec_1 + VEL), own), load3(work, rec_1 + VEL + 3)
    L, p, L1, p1 = load3(work, rec_0 + MOM), load3(work, rec_0 + MOM + 3), load3(work, rec_1 + MOM), load3(work, rec_1 + MOM + 3)
    rot_0, c_0 = load9(work, out + FRAME_0), load3(work, out + FRAME_0 + 9)
    rot_1, c_1 = load9(work, out + FRAME_1), load3(work, out + FRAME_1 + 9)
    out += COLUMNS
    one, zero = diagonal(1.0), diagonal(0.0)
    pull = plus(plus(one, hat(x, -0.5)), outer(x, x, 0.25))
    hT = scaled(h / (1.0 + 0.25 * dot(x, x)), plus(one, hat(x, -0.5)))
    put_twists(work, out, 12, rot_0, c_0, one, zero)
    put_twists(work, out + 6, 12, rot_1, c_1, plus(one, hat_mul(w1, hT)), hat_mul(v1, hT))
    put_twists(work, out + 36, 12, rot_0, c_0, plus(scaled(0.5, pull), hat(w, -0.5 * h)), hat(v, -0.5 * h))
    put_twists(work, out + 42, 12, rot_1, c_1, scaled(0.5, pull), zero)
    put_wrenches(work, out + 72, 12, rot_0, c_0, hat(L, 0.5 * h), hat(p, 0.5 * h))
    put_columns(work, out + 78, 12, zero, zero)
    put_columns(work, out + 108, 12, zero, zero)
    put_wrenches(work, out + 114, 12, rot_1, c_1, scaled(-1.0, hat_mul(L1, hT)), scaled(-1.0, hat_mul(p1, hT)))
    r = plus(scaled(system[at + ARMATURE], transpose(pull)), plus(hat(L, 0.5 * h), diagonal(0.5 * h * system[at + DAMPING])))
    turning = plus(hat(l, -0.5), plus(diagonal(0.25 * dot(x, l)), outer(x, l, 0.25)))
    store9(work, out + 144, plus(r, scaled(h, turning)))
