"""Kinetic energy of straight paths: the discrete Lagrangian of director coordinates, in joint coordinates.

In director coordinates q = (phi, d1, d2, d3) of every body the mass matrix is constant, and the midpoint rule moves each material point
along the chord between its places x0 and x1 at the nodes:

    L_d = 1/(2h) sum mu |x1 - x0|^2 - h/2 [V(q_k) + V(q_k+1)]          Leyendecker et al. (8), (9); of the weight, linear in x, V is exact

With the null-space matrix P of the joints, P^T (D2 L_d + D1 L_d) = 0 in place of multipliers (11): P holds the twists a_j that a joint
gives to all bodies behind it, so each joint has one equation for each of its degrees of freedom. Per link, with material points
x = c + R X, first moment s and second moment E = sum mu X X^T (J = tr(E) - E), all in one frame that does not move during the step,

    f = sum mu (x1 - x0)      = (R1 - R0) s + m (c1 - c0)
    n = sum mu x0 x (x1 - x0) = vee(R0 E (R1 - R0)^T) + c0 x f + R0 s x (c1 - c0)          = sum mu x1 x (x1 - x0)
    W_i = (n, f)/h + sum over children W_j                              momentum of the subtree, the same seen from both nodes
    p_left = a_j^T W_j (joint axes at q_k),    p_right = s_j^T W_j (joint axes at q_k+1)

    e(v) = p_left - h f_left - p_k,    p_k+1 = p_right + h f_right,     q_k+1 = q_k tau(h v)

f_left and f_right are half the forces at the nodes. Differences are composed from the increments of the joints, never subtracted:

    R1 - R0 = (R1 - R0)_parent R_i E + R0 (E - 1),    (E, t) = tau(h v_i)
    c1 - c0 = (c1 - c0)_parent + (R1 - R0)_parent p_i + R1_parent R_i t

vee(K) = (K23 - K32, K31 - K13, K12 - K21). The frame: axes of the root link of the tree at the first node, about the first link with mass.
What is left of e after the last correction is taken off p_k+1, so that momentum does not drift with the tolerance.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.mat3 import apply_transposed, load9, mul, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import (
    ARMATURE,
    AT_CALL,
    GRAVITY,
    HEADER,
    INERTIA,
    KIND,
    LINK_SIZE,
    LOADS,
    MASS,
    MOMENT,
    PARENT,
    PASSIVE,
    PRISMATIC,
    SLIDES,
    SPHERICAL,
    TURNS,
    V_AT,
    P,
    R,
)
from dalembert.kernels.tree.loads import passive
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.ball import plus
from dalembert.kernels.tree.variational.layout import (
    C0,
    C1,
    CHORD_SIZE,
    DC,
    DR,
    FALL,
    IMPULSE,
    R0,
    R1,
    SIDE_SIZE,
    WRENCH,
    places,
)
from dalembert.kernels.tree.variational.one_joint import IDENTITY, start_of
from dalembert.kernels.tree.variational.retraction import motion, pulled_back, retract
from dalembert.kernels.tree.variational.side import add_loads, hand_on, stop
from dalembert.kernels.tree.variational.six import add6, load6, store6
from dalembert.kernels.trig import sin_cos


@inline
def put_start(system, work, i, side, chords):
    """R0 and c0 of link i; those of its parent are known."""
    out, parent = record(chords, i, CHORD_SIZE), int(system[record(HEADER, i, LINK_SIZE) + PARENT])
    if parent >= 0:
        rec, above = record(side, i, SIDE_SIZE), record(chords, parent, CHORD_SIZE)
        turn = load9(work, above + R0)
        rot, c = mul(turn, load9(work, rec + R)), add(load3(work, above + C0), mat_vec(turn, load3(work, rec + P)))
    else:
        rot, c = IDENTITY, start_of(system, work, i, side)
    store9(work, out + R0, rot)
    store3(work, out + C0, c)


@inline
def less_one(q):
    """R(q) - 1 of a unit quaternion, without cancellation."""
    s, x, y, z = q
    return (
        -2.0 * (y * y + z * z), 2.0 * (x * y - s * z), 2.0 * (x * z + s * y),
        2.0 * (x * y + s * z), -2.0 * (x * x + z * z), 2.0 * (y * z - s * x),
        2.0 * (x * z - s * y), 2.0 * (y * z + s * x), -2.0 * (x * x + y * y),
    )  # fmt: skip


@inline
def turned(T, rot, s, c):
    """T E + rot (E - 1) for a rotation E about z: columns 0 and 1 are mixed."""
    d = -s * s / (1.0 + c) if c > 0.0 else c - 1.0
    return (
        c * T[0] + s * T[1] + d * rot[0] + s * rot[1], c * T[1] - s * T[0] + d * rot[1] - s * rot[0], T[2],
        c * T[3] + s * T[4] + d * rot[3] + s * rot[4], c * T[4] - s * T[3] + d * rot[4] - s * rot[3], T[5],
        c * T[6] + s * T[7] + d * rot[6] + s * rot[7], c * T[7] - s * T[6] + d * rot[7] - s * rot[6], T[8],
    )  # fmt: skip


@inline
def put_end(system, work, i, side, chords, x, exponential):
    """Pose of link i at the second node and what it differs by; those of its parent are known. work[x:] is h v."""
    at, out = record(HEADER, i, LINK_SIZE), record(chords, i, CHORD_SIZE)
    kind, parent, xi = int(system[at + KIND]), int(system[at + PARENT]), record(x, int(system[at + V_AT]), 1)
    rot = load9(work, out + R0)
    change, shift = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if parent >= 0:
        rec, above = record(side, i, SIDE_SIZE), record(chords, parent, CHORD_SIZE)
        turn = load9(work, above + DR)
        change = mul(turn, load9(work, rec + R))
        shift = add(load3(work, above + DC), mat_vec(turn, load3(work, rec + P)))
    if kind <= PRISMATIC:
        slide = system[at + SLIDES] * work[xi]
        shift = axpy(slide, (rot[2] + change[2], rot[5] + change[5], rot[8] + change[8]), shift)
        if system[at + TURNS] != 0.0:
            s, c = sin_cos(system[at + TURNS] * work[xi])
            change = turned(change, rot, s, c)
    else:
        w = load3(work, xi)
        u = (0.0, 0.0, 0.0) if kind == SPHERICAL else load3(work, xi + 3)
        turn, t = motion(w, u, exponential)
        less, before = less_one(turn), plus(rot, change)
        shift = add(shift, mat_vec(before, t))
        change = plus(change, mul(before, less))  # carried E + rot (E - 1)
    store9(work, out + DR, change)
    store3(work, out + DC, shift)
    store9(work, out + R1, plus(rot, change))
    store3(work, out + C1, add(load3(work, out + C0), shift))


@inline
def second_moment(system, at):
    """E = tr(J)/2 - J of a link about its origin, by rows."""
    xx, yy, zz = load3(system, at + INERTIA)
    xy, xz, yz = load3(system, at + INERTIA + 3)
    return (0.5 * (yy + zz - xx), -xy, -xz, -xy, 0.5 * (zz + xx - yy), -yz, -xz, -yz, 0.5 * (xx + yy - zz))


@inline
def vee_of(b, d):
    """vee(b d^T)"""
    return (
        (b[3] * d[6] + b[4] * d[7] + b[5] * d[8]) - (b[6] * d[3] + b[7] * d[4] + b[8] * d[5]),
        (b[6] * d[0] + b[7] * d[1] + b[8] * d[2]) - (b[0] * d[6] + b[1] * d[7] + b[2] * d[8]),
        (b[0] * d[3] + b[1] * d[4] + b[2] * d[5]) - (b[3] * d[0] + b[4] * d[1] + b[5] * d[2]),
    )


@inline
def put_own(system, work, i, chords, inverse):
    """W of link i alone; inverse: 1/h."""
    at, out = record(HEADER, i, LINK_SIZE), record(chords, i, CHORD_SIZE)
    m = system[at + MASS]
    if m == 0.0 and system[at + INERTIA] == 0.0 and system[at + INERTIA + 1] == 0.0 and system[at + INERTIA + 2] == 0.0:
        store6(work, out + IMPULSE, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        return
    rot, change, s = load9(work, out + R0), load9(work, out + DR), load3(system, at + MOMENT)
    shift = load3(work, out + DC)
    f = axpy(m, shift, mat_vec(change, s))
    n = add(vee_of(mul(rot, second_moment(system, at)), change), add(cross(load3(work, out + C0), f), cross(mat_vec(rot, s), shift)))
    store3(work, out + IMPULSE, scale(inverse, n))
    store3(work, out + IMPULSE + 3, scale(inverse, f))


@inline
def along(system, at, rot, c, W):
    """Component of a wrench along a joint of one degree of freedom: axes rot, origin c."""
    f, turn = load3(W, 3), system[at + TURNS]
    z = (rot[2], rot[5], rot[8])
    return turn * dot(z, sub(load3(W, 0), cross(c, f))) + system[at + SLIDES] * dot(z, f)


@inline
def kinetic(system, work, i, h, chords, l, v, x, exponential):
    """p_left of joint i in work[l:], the rotor of its motor included."""
    at, out = record(HEADER, i, LINK_SIZE), record(chords, i, CHORD_SIZE)
    kind, vi = int(system[at + KIND]), int(system[at + V_AT])
    l, v, x, r = record(l, vi, 1), record(v, vi, 1), record(x, vi, 1), system[at + ARMATURE]
    rot, c, W = load9(work, out + R0), load3(work, out + C0), load6(work, out + IMPULSE)
    if kind <= PRISMATIC:
        work[l] = along(system, at, rot, c, W) + r * work[v]
        return
    ball = kind == SPHERICAL
    n, f = apply_transposed(rot, sub(load3(W, 0), cross(c, load3(W, 3)))), apply_transposed(rot, load3(W, 3))
    if r != 0.0:
        w, u = load3(work, x), ((0.0, 0.0, 0.0) if ball else load3(work, x + 3))
        a, b = pulled_back(w, u, scale(r / h, w), scale(r / h, u), exponential)
        n, f = add(n, a), add(f, b)
    store3(work, l, n)
    if not ball:
        store3(work, l + 3, f)


@far(VOID(REAL, ARRAY, ARRAY, BOOL))
def chord_momentum(h, system, work, again):
    """work[s.l:] = p_left at h v; the places of the first node are known. again: R0 and c0 are known too."""
    s = places(system)
    exponential = s.exponential != 0
    for i in range(s.links):
        if not again:
            put_start(system, work, i, s.side_0, s.chords)
        put_end(system, work, i, s.side_0, s.chords, s.hv, exponential)
        put_own(system, work, i, s.chords, 1.0 / h)
    for j in range(s.links):
        i = s.links - 1 - j
        kinetic(system, work, i, h, s.chords, s.l, s.v, s.hv, exponential)
        parent = int(system[record(HEADER, i, LINK_SIZE) + PARENT])
        if parent >= 0:
            out, above = record(s.chords, i, CHORD_SIZE) + IMPULSE, record(s.chords, parent, CHORD_SIZE) + IMPULSE
            store6(work, above, add6(load6(work, out), load6(work, above)))


@inline
def fall(system, work, i, side):
    """Weight of link i alone, link axes."""
    at, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE)
    parent = int(system[at + PARENT])
    g = load3(system, GRAVITY) if parent < 0 else load3(work, record(side, parent, SIDE_SIZE) + FALL)
    g = apply_transposed(load9(work, out + R), g)
    store3(work, out + FALL, g)
    store3(work, out + WRENCH, cross(load3(system, at + MOMENT), g))
    store3(work, out + WRENCH + 3, scale(system[at + MASS], g))


@inline
def push_joint(system, work, i, side, f):
    """Component of the forces on the subtree along joint i."""
    at, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE)
    kind, f = int(system[at + KIND]), record(f, int(system[at + V_AT]), 1)
    if kind <= PRISMATIC:
        work[f] += system[at + TURNS] * work[out + WRENCH + 2] + system[at + SLIDES] * work[out + WRENCH + 5]
    else:
        for k in range(3 if kind == SPHERICAL else 6):
            work[f + k] += work[out + WRENCH + k]


@kernel
def half_forces(system, work, q, v, side, f):
    """work[f:] = half of all forces at work[q:] with the velocity work[v:]; the places of the records at work[side:] are those of q."""
    s = places(system)
    for i in range(s.links):
        fall(system, work, i, side)
    for k in range(s.nv):
        work[f + k] = work[s.held + k]
    if system[LOADS] != 0.0:
        add_loads(system, work, q, v, side)
    if system[PASSIVE] != 0.0:
        passive(system, work, q, v, f)
    for j in range(s.links):
        i = s.links - 1 - j
        push_joint(system, work, i, side, f)
        stop(system, work, i, q, side, f)
        parent = int(system[record(HEADER, i, LINK_SIZE) + PARENT])
        if parent >= 0:
            hand_on(work, record(side, i, SIDE_SIZE), record(side, parent, SIDE_SIZE), WRENCH)
    for k in range(s.nv):
        work[f + k] *= 0.5


@far(VOID(REAL, ARRAY, ARRAY, BOOL, BOOL))
def chord_residual(h, system, work, again, last):
    """work[s.e:] = e(v). again: not for the first time in this step; last: forces at the second node are evaluated too."""
    s = places(system)
    call = int(system[AT_CALL])
    for i in range(s.nv):
        work[s.hv + i] = h * work[s.v + i]
    chord_momentum(h, system, work, again)
    if not again or system[LOADS] != 0.0 or system[PASSIVE] != 0.0:  # some of these depend on the velocity
        work[call + 1] = work[call]
        half_forces(system, work, s.q_old, s.v, s.side_0, s.f_left)
    if last:
        retract(system, work, s.q_old, s.hv, s.q_new, s.exponential != 0, s.nv < 0)
        for i in range(s.links):
            place(system, work, i, s.q_new, record(s.side_1, i, SIDE_SIZE))
        work[call + 1] = work[call] + h
        half_forces(system, work, s.q_new, s.v, s.side_1, s.f_right)
    for i in range(s.nv):
        work[s.e + i] = work[s.l + i] - h * work[s.f_left + i] - work[s.p_old + i]


@far(VOID(REAL, ARRAY, ARRAY, INT))
def chord_right(h, system, work, out):
    """work[out:] = p_k+1; work[s.p_old:] holds the impulses of constraints too. What is left of e is taken off, seen from the new node."""
    s = places(system)
    for i in range(s.links):
        at, rec = record(HEADER, i, LINK_SIZE), record(s.chords, i, CHORD_SIZE)
        kind, vi, r = int(system[at + KIND]), int(system[at + V_AT]), system[at + ARMATURE]
        rot, c, W = load9(work, rec + R1), load3(work, rec + C1), load6(work, rec + IMPULSE)
        for k in range(1 if kind <= PRISMATIC else (3 if kind == SPHERICAL else 6)):
            work[out + vi + k] = work[s.l + vi + k] - h * work[s.f_left + vi + k] - work[s.p_old + vi + k]
        if kind <= PRISMATIC:
            work[out + vi] = along(system, at, rot, c, W) + r * work[s.v + vi] - work[out + vi] + h * work[s.f_right + vi]
            continue
        ball = kind == SPHERICAL
        start, left = load9(work, rec + R0), load3(work, out + vi)
        n, f = load3(W, 0), load3(W, 3)
        if ball:
            n = sub(n, mat_vec(start, left))
        else:  # the root: its frame is the one that all is seen from
            n, f = sub(n, left), sub(f, load3(work, out + vi + 3))
        n, f = apply_transposed(rot, sub(n, cross(c, f))), apply_transposed(rot, f)
        if r != 0.0:
            w, u = scale(-1.0, load3(work, s.hv + vi)), ((0.0, 0.0, 0.0) if ball else scale(-1.0, load3(work, s.hv + vi + 3)))
            a, b = pulled_back(w, u, scale(-r / h, w), scale(-r / h, u), s.exponential != 0)
            n, f = add(n, a), add(f, b)
        store3(work, out + vi, axpy(h, load3(work, s.f_right + vi), n))
        if not ball:
            store3(work, out + vi + 3, axpy(h, load3(work, s.f_right + vi + 3), f))
