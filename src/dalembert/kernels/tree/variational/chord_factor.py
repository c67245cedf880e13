"""Newton's matrix of `chord.py`, eliminated along the tree in O(n).

A change y = (omega, v) of the poses at the second node, seen in the frame of the step, moves material points by dx1 = v + omega x x1 and
the momentum of a link by z = A y,

    A = [[tr(C) - C^T, hat(s0)], [-hat(s1), m]],   C = sum mu x0 x1^T = R0 E R1^T + c0 s1^T + R0 s c1^T,  s0, s1 = sum mu x0, x1

    y_i = y_parent + s_i delta_i,     z_i = A_i y_i + sum z_j,     a_i^T z_i + r_i delta_i = -e_i

a: twists of the joint at the first node, s: at the second (for spherical and free joints times dtau_-x, x = h v), r: armature and half of
    A = [[tr(C) - C^T, hat(s0)], [-hat(s1), m]],  C = sum mu x0 x1^T = R0 E R1^T + c0 s1^T + R0 s c1^T,  s0, s1: sum mu x0, x1
The exact linearisation, but for the exponential in place of the Cayley map and for loads that depend on the velocity.

    dcay_-x = (1 - hat(w)/2)/(1 + |w|^2/4) on SO(3);   on SE(3), t = (1 - hat(w)/2)^-1 u,  B = (1 + hat(w)/2)^-1:
    omega = dcay_-w dw,    v = B (du - t x dw/2)
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.mat3 import hat_mul, load9, mul, transpose
from dalembert.kernels.smallmat import axpy, cross, dot, load3, mat_vec, scale
from dalembert.kernels.tree.layout import (
    ARMATURE,
    DAMPING,
    HEADER,
    KIND,
    LINK_SIZE,
    MASS,
    MOMENT,
    PARENT,
    PRISMATIC,
    SLIDES,
    SPHERICAL,
    TURNS,
    V_AT,
)
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.ball import (
    diagonal,
    factor_ball,
    hat,
    minus,
    move_ball,
    outer,
    plus,
    put_twists,
    reduce_ball,
    scaled,
)
from dalembert.kernels.tree.variational.base import invert, put
from dalembert.kernels.tree.variational.chord import second_moment
from dalembert.kernels.tree.variational.factor import move_single, reduce_single
from dalembert.kernels.tree.variational.layout import (
    BALL_D,
    BALL_DOWN,
    BALL_ROW,
    BALL_SHIFT,
    BALL_UP,
    BIAS,
    C0,
    C1,
    CHORD_SIZE,
    D_INV,
    DOWN,
    FACTOR_SIZE,
    FREE_D,
    FREE_RIGHT,
    FREE_SPARE,
    INERTIA,
    MOVE,
    R0,
    R1,
    ROW,
    SHIFT,
    UP,
    places,
)
from dalembert.kernels.tree.variational.one_joint import add_row
from dalembert.kernels.tree.variational.retraction import motion
from dalembert.kernels.tree.variational.six import add6, axpy6, dot6, load6, scale6, store6


@inline
def own_matrix(system, work, i, rec, out):
    """A += that of link i itself."""
    at = record(HEADER, i, LINK_SIZE)
    m, s = system[at + MASS], load3(system, at + MOMENT)
    rot_0, rot_1 = load9(work, rec + R0), load9(work, rec + R1)
    c_0, c_1 = load3(work, rec + C0), load3(work, rec + C1)
    first = mat_vec(rot_0, s)
    s_0, s_1 = axpy(m, c_0, first), axpy(m, c_1, mat_vec(rot_1, s))
    C = mul(mul(rot_0, second_moment(system, at)), transpose(rot_1))
    C = plus(C, plus(outer(c_0, s_1, 1.0), outer(first, c_1, 1.0)))
    d = C[0] + C[4] + C[8]
    to = out + INERTIA
    add_row(work, to, (d - C[0], -C[3], -C[6], 0.0, -s_0[2], s_0[1]))
    add_row(work, to + 6, (-C[1], d - C[4], -C[7], s_0[2], 0.0, -s_0[0]))
    add_row(work, to + 12, (-C[2], -C[5], d - C[8], -s_0[1], s_0[0], 0.0))
    add_row(work, to + 18, (0.0, s_1[2], -s_1[1], m, 0.0, 0.0))
    add_row(work, to + 24, (-s_1[2], 0.0, s_1[0], 0.0, m, 0.0))
    add_row(work, to + 30, (s_1[1], -s_1[0], 0.0, 0.0, 0.0, m))


@inline
def twist(system, at, rot, c):
    """Of a joint of one degree of freedom, in the frame of the step."""
    z = (rot[2], rot[5], rot[8])
    w = scale(system[at + TURNS], z)
    v = axpy(system[at + SLIDES], z, cross(c, w))
    return (w[0], w[1], w[2], v[0], v[1], v[2])


@inline
def factor_single(system, at, work, rec, out, above, inner, wl):
    """Eliminate a joint of one degree of freedom. False where the pivot vanishes."""
    a = twist(system, at, load9(work, rec + R0), load3(work, rec + C0))
    s = twist(system, at, load9(work, rec + R1), load3(work, rec + C1))
    A = out + INERTIA
    A0, A1, A2 = load6(work, A), load6(work, A + 6), load6(work, A + 12)
    A3, A4, A5 = load6(work, A + 18), load6(work, A + 24), load6(work, A + 30)
    u = axpy6(a[0], A0, axpy6(a[1], A1, scale6(a[2], A2)))
    u = add6(u, axpy6(a[3], A3, axpy6(a[4], A4, scale6(a[5], A5))))
    w = (dot6(A0, s), dot6(A1, s), dot6(A2, s), dot6(A3, s), dot6(A4, s), dot6(A5, s))
    d = system[at + ARMATURE] + wl * system[at + DAMPING] + dot6(u, s)
    if not abs(d) > 0.0:
        return False
    u = scale6(1.0 / d, u)
    store6(work, out + SHIFT, s)
    store6(work, out + ROW, a)
    store6(work, out + UP, u)
    store6(work, out + DOWN, w)
    work[out + D_INV] = 1.0 / d
    if inner:
        to = above + INERTIA
        add_row(work, to, axpy6(-w[0], u, A0))
        add_row(work, to + 6, axpy6(-w[1], u, A1))
        add_row(work, to + 12, axpy6(-w[2], u, A2))
        add_row(work, to + 18, axpy6(-w[3], u, A3))
        add_row(work, to + 24, axpy6(-w[4], u, A4))
        add_row(work, to + 30, axpy6(-w[5], u, A5))
    return True


@kernel
def put_ball(system, at, work, rec, out, x, wl):
    """a, s and r of a spherical joint."""
    n2, none = 1.0 + 0.25 * dot(x, x), diagonal(0.0)
    put_twists(work, out + BALL_ROW, 6, load9(work, rec + R0), load3(work, rec + C0), diagonal(1.0), none)
    turn = scaled(1.0 / n2, minus(diagonal(1.0), hat(x, 0.5)))
    put_twists(work, out + BALL_SHIFT, 6, load9(work, rec + R1), load3(work, rec + C1), turn, none)
    for k in range(18):
        work[out + BALL_UP + k] = 0.0
        work[out + BALL_DOWN + k] = 0.0
    for k in range(9):
        work[out + BALL_D + k] = 0.0
    for k in range(3):
        work[out + BALL_D + 4 * k] = n2 * system[at + ARMATURE] + wl * system[at + DAMPING]


@inline
def put_shift(work, to, rot, c, w, u):
    """The twist of a free joint at the second node for a change of x, 6 x 6: in the frame of the step."""
    s = 1.0 / (1.0 + 0.25 * dot(w, w))
    turn = scaled(s, minus(diagonal(1.0), hat(w, 0.5)))
    B = plus(turn, outer(w, w, 0.25 * s))
    _, t = motion(w, u, False)
    omega, linear = mul(rot, turn), mul(rot, B)
    put(work, to, 0, 0, omega)
    put(work, to, 0, 3, diagonal(0.0))
    put(work, to, 3, 0, plus(hat_mul(c, omega), mul(linear, hat(t, -0.5))))
    put(work, to, 3, 3, linear)


@kernel
def factor_root(system, at, work, rec, out, x, wl):
    """D^-1 of a free joint, and its twists s."""
    rot, c, w, u = load9(work, rec + R1), load3(work, rec + C1), load3(work, x), load3(work, x + 3)
    A, S, D = out + INERTIA, out + FREE_D, out + FREE_SPARE
    put_shift(work, S, rot, c, w, u)
    for r in range(6):
        for k in range(6):
            total = 0.0
            for j in range(6):
                total += work[A + 6 * r + j] * work[S + 6 * j + k]
            work[D + 6 * r + k] = total
        work[D + 7 * r] += system[at + ARMATURE] + wl * system[at + DAMPING]
    ok = invert(work, D, out + FREE_D, 6)
    put_shift(work, D, rot, c, w, u)  # the room of the inversion
    return ok


@far(BOOL(REAL, ARRAY, ARRAY))
def factor_chord(h, system, work):
    """Eliminate the tree at the poses that `chord_momentum` has filled. False if the matrix is singular."""
    s = places(system)
    wl = 0.5 * h
    for i in range(s.links):
        for k in range(36):
            work[record(s.factor, i, FACTOR_SIZE) + INERTIA + k] = 0.0
    for j in range(s.links):
        i = s.links - 1 - j
        at, rec, out = record(HEADER, i, LINK_SIZE), record(s.chords, i, CHORD_SIZE), record(s.factor, i, FACTOR_SIZE)
        kind, parent, x = int(system[at + KIND]), int(system[at + PARENT]), record(s.hv, int(system[at + V_AT]), 1)
        above = record(s.factor, parent, FACTOR_SIZE)
        own_matrix(system, work, i, rec, out)
        if kind <= PRISMATIC:
            ok = factor_single(system, at, work, rec, out, above, parent >= 0, wl)
        elif kind == SPHERICAL:
            put_ball(system, at, work, rec, out, load3(work, x), wl)
            ok = factor_ball(work, out, above, parent >= 0)
        else:
            ok = factor_root(system, at, work, rec, out, x, wl)
        if not ok:
            return False
    return True


@inline
def move_root(work, out, dv):
    """work[dv : dv + 6] = delta; returns y = s delta."""
    for r in range(6):
        total = 0.0
        for k in range(6):
            total -= work[out + FREE_D + 6 * r + k] * work[out + FREE_RIGHT + k]
        work[dv + r] = total
    y, S = load6(work, dv), out + FREE_SPARE
    return (
        dot6(load6(work, S), y),
        dot6(load6(work, S + 6), y),
        dot6(load6(work, S + 12), y),
        dot6(load6(work, S + 18), y),
        dot6(load6(work, S + 24), y),
        dot6(load6(work, S + 30), y),
    )


@far(VOID(ARRAY, ARRAY, INT, INT))
def solve_chord(system, work, e, dv):
    """work[dv:] = minus the inverse of the factored matrix times work[e:]."""
    s = places(system)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(s.links):
        store6(work, record(s.factor, i, FACTOR_SIZE) + BIAS, zero)
    for j in range(s.links):
        i = s.links - 1 - j
        at, rec = record(HEADER, i, LINK_SIZE), record(s.factor, i, FACTOR_SIZE)
        kind, parent, to = int(system[at + KIND]), int(system[at + PARENT]), record(e, int(system[at + V_AT]), 1)
        above = record(s.factor, parent, FACTOR_SIZE)
        if kind <= PRISMATIC:
            reduce_single(work, rec, above, parent >= 0, to)
        elif kind == SPHERICAL:
            reduce_ball(work, rec, above, parent >= 0, to)
        else:
            store6(work, rec + FREE_RIGHT, add6(load6(work, to), load6(work, rec + BIAS)))
    for i in range(s.links):
        at, rec = record(HEADER, i, LINK_SIZE), record(s.factor, i, FACTOR_SIZE)
        kind, parent, to = int(system[at + KIND]), int(system[at + PARENT]), record(dv, int(system[at + V_AT]), 1)
        y = load6(work, record(s.factor, parent, FACTOR_SIZE) + MOVE) if parent >= 0 else zero
        if kind == SPHERICAL:
            store6(work, rec + MOVE, y)
            move_ball(work, rec, to)
            continue
        y = move_single(work, rec, y, to) if kind <= PRISMATIC else move_root(work, rec, to)
        store6(work, rec + MOVE, y)
