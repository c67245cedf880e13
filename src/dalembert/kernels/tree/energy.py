"""Energy, momentum and their gradients, in O(n).

P_i = I_i V_i + sum over children X^T P_j                               momentum of the subtree of link i, link axes
(M v)_i = S_i^T P_i,   1/2 v^T (dM/dq_i) v = S_i^T ad(V_i)^T P_i = -S_i^T (omega x L + v x p, omega x p)        Kobilarov (21), (64)
dV/dq_i = -S_i^T (sum over the subtree of the weight, as a wrench about the origin of link i)
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.mat3 import apply_transposed, load9
from dalembert.kernels.smallmat import add, cross, dot, load3, mat_vec, scale, store3
from dalembert.kernels.tree.aba import momentum_of
from dalembert.kernels.tree.layout import (
    ARMATURE,
    FORCE,
    GRAVITY,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    MASS,
    MOMENT,
    P_W,
    PARENT,
    PRISMATIC,
    R_W,
    SCRATCH,
    SLIDES,
    TURNS,
    V_AT,
    VEL,
)
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.rnea import send_to_parent
from dalembert.kernels.tree.subspace import along, degrees, first


@kernel
def kinetic_energy(system, work, v):
    """sum V . I V / 2 and the armatures; twists are known (`sweep`)."""
    total = 0.0
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        omega, vel = load3(work, record(0, i, SCRATCH) + VEL), load3(work, record(0, i, SCRATCH) + VEL + 3)
        L, p = momentum_of(system, i, omega, vel)
        total += 0.5 * (dot(omega, L) + dot(vel, p))
        vi = v + int(system[at + V_AT])
        for k in range(degrees(int(system[at + KIND]))):
            total += 0.5 * system[at + ARMATURE] * work[vi + k] ** 2
    return total


@kernel
def gravity_energy(system, work):
    """-sum g . (m x_com); world poses are known (`world`)."""
    total = 0.0
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        moment = mat_vec(load9(work, record(0, i, SCRATCH) + R_W), load3(system, at + MOMENT))
        position = scale(system[at + MASS], load3(work, record(0, i, SCRATCH) + P_W))
        total -= dot(load3(system, GRAVITY), add(position, moment))
    return total


@kernel
def spatial_momentum(system, work, out):
    """work[out : out + 6] = (angular about the world origin, linear); twists and world poses are known. Armatures carry no spatial
    momentum."""
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(int(system[LINKS])):
        at = record(0, i, SCRATCH)
        L, p = momentum_of(system, i, load3(work, at + VEL), load3(work, at + VEL + 3))
        rot = load9(work, at + R_W)
        p = mat_vec(rot, p)
        angular = add(angular, add(mat_vec(rot, L), cross(load3(work, at + P_W), p)))
        linear = add(linear, p)
    store3(work, out, angular)
    store3(work, out + 3, linear)


@kernel
def momenta(system, work, v, out, gradient):
    """work[out:] = M v and work[gradient:] = 1/2 v^T (dM/dq) v at fixed v; twists are known. FORCE of each link holds P_i afterwards."""
    n = int(system[LINKS])
    for i in range(n):
        at = record(0, i, SCRATCH)
        L, p = momentum_of(system, i, load3(work, at + VEL), load3(work, at + VEL + 3))
        store3(work, at + FORCE, L)
        store3(work, at + FORCE + 3, p)
    for j in range(n):
        i = n - 1 - j
        mine = record(HEADER, i, LINK_SIZE)
        at = record(0, i, SCRATCH)
        kind, vi = int(system[mine + KIND]), int(system[mine + V_AT])
        L, p = load3(work, at + FORCE), load3(work, at + FORCE + 3)
        omega, vel = load3(work, at + VEL), load3(work, at + VEL + 3)
        a, b = scale(-1.0, add(cross(omega, L), cross(vel, p))), scale(-1.0, cross(omega, p))
        six = (a[0], a[1], a[2], b[0], b[1], b[2])
        for k in range(degrees(kind)):
            work[out + vi + k] = along(system, mine, kind, k, work, at + FORCE) + system[mine + ARMATURE] * work[v + vi + k]
            work[gradient + vi + k] = six[first(kind) + k]
        if kind == PRISMATIC:
            work[gradient + vi] = system[mine + SLIDES] * six[5] + system[mine + TURNS] * six[2]
        parent = int(system[mine + PARENT])
        if parent >= 0:
            send_to_parent(work, i, parent)


@kernel
def gravity_gradient(system, work, out):
    """work[out:] = dV/dq in body-fixed coordinates; world poses are known."""
    n = int(system[LINKS])
    g = load3(system, GRAVITY)
    for i in range(n):
        mine = record(HEADER, i, LINK_SIZE)
        at = record(0, i, SCRATCH)
        g_L = apply_transposed(load9(work, at + R_W), g)
        store3(work, at + FORCE, scale(-1.0, cross(load3(system, mine + MOMENT), g_L)))
        store3(work, at + FORCE + 3, scale(-system[mine + MASS], g_L))
    for j in range(n):
        i = n - 1 - j
        mine = record(HEADER, i, LINK_SIZE)
        kind, vi = int(system[mine + KIND]), int(system[mine + V_AT])
        for k in range(degrees(kind)):
            work[out + vi + k] = along(system, mine, kind, k, work, record(0, i, SCRATCH) + FORCE)
        parent = int(system[mine + PARENT])
        if parent >= 0:
            send_to_parent(work, i, parent)
