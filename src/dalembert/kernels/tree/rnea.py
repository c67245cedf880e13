"""Recursive Newton-Euler: the generalised forces of a motion, in O(n).

outward  a_i = X a_parent + c_i + S_i qdd_i (gravity as an acceleration -g of the world),   f_i = I_i a_i + V_i x* (I_i V_i) - loads
inward   tau_i = S_i^T f_i + armature qdd_i,   f_parent += X^T f_i
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import load9
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, store3
from dalembert.kernels.tree.aba import inherited, momentum_of
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.layout import (
    ACC,
    ARMATURE,
    FORCE,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    LOADS,
    PARENT,
    PRISMATIC,
    SCRATCH,
    SLIDES,
    TURNS,
    V_AT,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.loads import apply_loads
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.subspace import along, degrees, first


@inline
def send_to_parent(work, i, parent):
    """Add the wrench at FORCE of link i to that of its parent."""
    out, to = record(0, i, SCRATCH), record(0, parent, SCRATCH)
    rot = load9(work, out + R)
    f = mat_vec(rot, load3(work, out + FORCE + 3))
    n = add(mat_vec(rot, load3(work, out + FORCE)), cross(load3(work, out + P), f))
    store3(work, to + FORCE, add(load3(work, to + FORCE), n))
    store3(work, to + FORCE + 3, add(load3(work, to + FORCE + 3), f))


@kernel
def newton_euler(system, work, q, v, acc):
    """Wrench of every link at FORCE: what moves it as given, less the loads that act on it already."""
    n = int(system[LINKS])
    sweep(system, work, q, v)
    for i in range(n):
        at = record(HEADER, i, LINK_SIZE)
        out = record(0, i, SCRATCH)
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        alpha, a = inherited(system, work, i)
        store3(work, out + ACC, alpha)
        store3(work, out + ACC + 3, a)
        if kind == PRISMATIC:
            work[out + ACC + 2] += system[at + TURNS] * work[acc + vi]
            work[out + ACC + 5] += system[at + SLIDES] * work[acc + vi]
        else:
            for k in range(degrees(kind)):
                work[out + ACC + first(kind) + k] += work[acc + vi + k]
        omega, vel = load3(work, out + VEL), load3(work, out + VEL + 3)
        L, p = momentum_of(system, i, omega, vel)
        dL, dp = momentum_of(system, i, load3(work, out + ACC), load3(work, out + ACC + 3))
        store3(work, out + FORCE, add(dL, add(cross(omega, L), cross(vel, p))))
        store3(work, out + FORCE + 3, add(dp, cross(omega, p)))
    if system[LOADS] != 0.0:
        world(system, work)
        apply_loads(system, work)


@kernel
def inverse_dynamics(system, work, q, v, acc, tau):
    """work[tau:] = what motors must give for accelerations work[acc:]; passive joint forces are not subtracted here."""
    newton_euler(system, work, q, v, acc)
    n = int(system[LINKS])
    for j in range(n):
        i = n - 1 - j
        at = record(HEADER, i, LINK_SIZE)
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        for k in range(degrees(kind)):
            work[tau + vi + k] = (
                along(system, at, kind, k, work, record(0, i, SCRATCH) + FORCE) + system[at + ARMATURE] * work[acc + vi + k]
            )
        parent = int(system[at + PARENT])
        if parent >= 0:
            send_to_parent(work, i, parent)
