"""One evaluation of the Lagrangian of a tree: dL/dv and dL/dq with all forces, in O(n), without a mass matrix.

At a configuration q with joint velocities v, body-fixed twists and wrenches, link axes:

    V_i = X_i V_parent + S_i v_i                       twist
    P_i = I_i V_i + sum over children X_j^T P_j        momentum of the subtree
    G_i = weight and loads on the subtree              wrench about the origin of the link
    l_i = S_i^T P_i + armature v_i                     dL/dv
    f_i = S_i^T (ad(X_i V_parent)^T P_i + G_i) + tau_i dL/dq in body-fixed coordinates, passive joint forces and control included

For joints of one degree of freedom S^T ad(X V_parent)^T P = S^T ad(V)^T P = 1/2 v^T (dM/dq) v.            Kobilarov (21), (64)
"""

from dalembert.kernels._jit import ARRAY, INT, VOID, far, inline, kernel
from dalembert.kernels.mat3 import apply_transposed, load9
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.aba import momentum_of
from dalembert.kernels.tree.kinematics import joint_twist, place, sweep, world
from dalembert.kernels.tree.layout import (
    ARMATURE,
    FORCE,
    GRAVITY,
    HEADER,
    KIND,
    LIMIT_STIFFNESS,
    LINK_SIZE,
    LINKS,
    LOADS,
    MASS,
    MOMENT,
    PARENT,
    PASSIVE,
    PRISMATIC,
    Q_AT,
    REVOLUTE,
    SCRATCH,
    SLIDES,
    SPHERICAL,
    TURNS,
    V_AT,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.limits import limit_force
from dalembert.kernels.tree.loads import apply_loads, passive
from dalembert.kernels.tree.record import NOT_NEGATIVE, record
from dalembert.kernels.tree.variational.layout import FALL, MOM, SIDE_SIZE, STOP, WRENCH, places


@inline
def outward(system, work, i, v, side, forces):
    """Twist, momentum and weight of link i alone."""
    at, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE)
    parent = int(system[at + PARENT])
    omega, vel = joint_twist(system, work, i, v)
    rot = load9(work, out + R)
    if parent >= 0:
        above = record(side, parent, SIDE_SIZE)
        omega_p = load3(work, above + VEL)
        omega = add(omega, apply_transposed(rot, omega_p))
        vel = add(vel, apply_transposed(rot, add(load3(work, above + VEL + 3), cross(omega_p, load3(work, out + P)))))
        fall = load3(work, above + FALL)
    else:
        fall = load3(system, GRAVITY)
    store3(work, out + VEL, omega)
    store3(work, out + VEL + 3, vel)
    L, p = momentum_of(system, i, omega, vel)
    store3(work, out + MOM, L)
    store3(work, out + MOM + 3, p)
    if forces:
        fall = apply_transposed(rot, fall)
        store3(work, out + FALL, fall)
        store3(work, out + WRENCH, cross(load3(system, at + MOMENT), fall))
        store3(work, out + WRENCH + 3, scale(system[at + MASS], fall))


@inline
def add3(work, i, a):
    """work[i : i + 3] += a"""
    work[i] += a[0]
    work[i + 1] += a[1]
    work[i + 2] += a[2]


@inline
def hand_on(work, out, above, slot):
    """Add the wrench of a link to that of its parent."""
    rot = load9(work, out + R)
    force = mat_vec(rot, load3(work, out + slot + 3))
    add3(work, above + slot, add(mat_vec(rot, load3(work, out + slot)), cross(load3(work, out + P), force)))
    add3(work, above + slot + 3, force)


@inline
def project(system, work, i, v, side, l, f, forces):
    """Entries of dL/dv and dL/dq of joint i; work[f:] holds the joint forces already."""
    at, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE)
    kind, vi = int(system[at + KIND]), int(system[at + V_AT])
    l, f, v = record(l, vi, 1), record(f, vi, 1), record(v, vi, 1)
    w, u = load3(work, out + VEL), load3(work, out + VEL + 3)
    L, p = load3(work, out + MOM), load3(work, out + MOM + 3)
    r = system[at + ARMATURE]
    if kind == REVOLUTE:
        work[l] = L[2] + r * work[v]
        work[f] += w[1] * L[0] - w[0] * L[1] + u[1] * p[0] - u[0] * p[1]
        if forces:
            work[f] += work[out + WRENCH + 2]
    elif kind == PRISMATIC:
        turn, slide = system[at + TURNS], system[at + SLIDES]
        work[l] = slide * p[2] + turn * L[2] + r * work[v]
        work[f] += slide * (w[1] * p[0] - w[0] * p[1]) + turn * (w[1] * L[0] - w[0] * L[1] + u[1] * p[0] - u[0] * p[1])
        if forces:
            work[f] += slide * work[out + WRENCH + 5] + turn * work[out + WRENCH + 2]
    else:
        n = 3 if kind == SPHERICAL else 6
        for k in range(n):
            work[l + k] = work[out + MOM + k] + r * work[v + k]
            if forces:
                work[f + k] += work[out + WRENCH + k]
        if kind == SPHERICAL:  # a free joint hangs on the world, which does not move
            w = sub(w, load3(work, v))
            add3(work, f, scale(-1.0, add(cross(w, L), cross(u, p))))


@inline
def stop(system, work, i, q, side, f):
    """A limit that is exceeded pushes back; over the step of the midpoint rule in the mean (`limits.py`)."""
    at, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE)
    work[out + STOP] = 0.0
    if system[at + LIMIT_STIFFNESS] != 0.0:
        s, to = places(system), int(system[at + V_AT])
        d = 0.5 * work[s.hv + to] if s.inside != 0 else 0.0
        force, work[out + STOP] = limit_force(system, at, work[record(q, int(system[at + Q_AT]), 1)], d)
        work[record(f, to, 1)] += force
        if force != 0.0:
            work[s.touched] = 1.0


@far(VOID(ARRAY, ARRAY, INT, INT, INT))
def add_loads(system, work, q, v, side):
    """Loads on links, by the sweep of the forward dynamics."""
    sweep(system, work, q, v)
    world(system, work)
    n = int(system[LINKS])
    for i in range(n):
        for k in range(6):
            work[i * SCRATCH + FORCE + k] = 0.0
    apply_loads(system, work)
    for i in range(n):
        for k in range(6):
            work[side + i * SIDE_SIZE + WRENCH + k] -= work[i * SCRATCH + FORCE + k]


@kernel
def evaluate(system, work, q, v, side, l, f, placed, forces, kept):
    """work[l:] = dL/dv and work[f:] = dL/dq with all forces at work[q:], work[v:]; the records at work[side:] are filled.

    placed: the places of the links in the records are those of q already. forces: False leaves out gravity, loads and joint forces.
    kept: so are the wrenches of the subtrees, as no load depends on the velocity.
    """
    s = places(system)
    f = f & NOT_NEGATIVE
    for i in range(s.links):
        if not placed:
            place(system, work, i, q, record(side, i, SIDE_SIZE))
        outward(system, work, i, v, side, forces and not kept)
    for k in range(s.nv):
        work[f + k] = work[s.held + k] if forces else 0.0
    if forces:
        if system[LOADS] != 0.0 and not kept:
            add_loads(system, work, q, v, side)
        if system[PASSIVE] != 0.0:
            passive(system, work, q, v, f)
    for j in range(s.links):
        i = s.links - 1 - j
        project(system, work, i, v, side, l, f, forces)
        if forces:
            stop(system, work, i, q, side, f)
        parent = int(system[record(HEADER, i, LINK_SIZE) + PARENT])
        if parent >= 0:
            out, above = record(side, i, SIDE_SIZE), record(side, parent, SIDE_SIZE)
            hand_on(work, out, above, MOM)
            if forces and not kept:
                hand_on(work, out, above, WRENCH)
