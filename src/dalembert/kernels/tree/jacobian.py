"""Body Jacobian: the twist of a frame on a link as a linear function of v, in O(depth).

A column of link i on the path to the root is the joint axis S_i carried to the frame b:  R_b^T R_i omega,  R_b^T (R_i v + (R_i omega) x
(p_b - p_i)).
"""

from dalembert.kernels._jit import ARRAY, INT, VOID, kernel
from dalembert.kernels.mat3 import apply_transposed, load9, mul
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, sub
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, NV, P_W, PARENT, PRISMATIC, R_W, SCRATCH, SLIDES, TURNS, V_AT
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.subspace import degrees, first


@kernel
def body_jacobian(system, work, link, R_LB, p_LB, out):
    """work[out : out + 6 nv] by rows (angular first, axes of the frame); the frame sits at (R_LB, p_LB) on the link. World poses are
    known."""
    nv = int(system[NV])
    for k in range(6 * nv):
        work[out + k] = 0.0
    rot_b = mul(load9(work, record(0, link, SCRATCH) + R_W), R_LB)
    p_b = add(load3(work, record(0, link, SCRATCH) + P_W), mat_vec(load9(work, record(0, link, SCRATCH) + R_W), p_LB))
    i = link
    while i >= 0:
        at = record(HEADER, i, LINK_SIZE)
        rot = load9(work, record(0, i, SCRATCH) + R_W)
        lever = sub(p_b, load3(work, record(0, i, SCRATCH) + P_W))
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        for k in range(degrees(kind)):
            c = first(kind) + k
            axis = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
            direction = mat_vec(rot, axis)
            turn, slide = (1.0, 0.0) if c < 3 else (0.0, 1.0)
            if kind == PRISMATIC:
                turn, slide = system[at + TURNS], system[at + SLIDES]
            angular = apply_transposed(rot_b, scale(turn, direction))
            linear = apply_transposed(rot_b, axpy(slide, direction, scale(turn, cross(direction, lever))))
            for r in range(3):
                work[out + r * nv + vi + k] = angular[r]
                work[out + (r + 3) * nv + vi + k] = linear[r]
        i = int(system[at + PARENT])


#: numbers that `push` is given: place of the body frame on its link, centre of mass there, 1 and the world point if one is given
G_R, G_P, G_COM, G_AT, G_POINT, G_FORCE, G_TORQUE, G_SIZE = 0, 9, 12, 15, 16, 19, 22, 25
PUSH = VOID(ARRAY, ARRAY, INT, INT, INT, ARRAY, ARRAY)


@kernel
def push(system, work, q, v, link, given, tau):
    """tau = the generalised force of a world force F at a point x and a world torque T on a link, at the configuration work[q:].

    Along joint axis d (world) of each link i on the path to the root:  d . (T + (x - p_i) x F)  of a rotation,  d . F  of a translation.
    """
    sweep(system, work, q, v)
    world(system, work)
    for k in range(int(system[NV])):
        tau[k] = 0.0
    rot_l = load9(work, record(0, link, SCRATCH) + R_W)
    on_link = add(load3(given, G_P), mat_vec(load9(given, G_R), load3(given, G_COM)))
    x = add(load3(work, record(0, link, SCRATCH) + P_W), mat_vec(rot_l, on_link))
    if given[G_AT] != 0.0:
        x = load3(given, G_POINT)
    F, T = load3(given, G_FORCE), load3(given, G_TORQUE)
    i = link
    while i >= 0:
        at = record(HEADER, i, LINK_SIZE)
        rot = load9(work, record(0, i, SCRATCH) + R_W)
        moment = add(T, cross(sub(x, load3(work, record(0, i, SCRATCH) + P_W)), F))
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        for k in range(degrees(kind)):
            c = first(kind) + k
            d = mat_vec(rot, (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0))
            tau[vi + k] = dot(d, moment) if c < 3 else dot(d, F)
            if kind == PRISMATIC:
                tau[vi] = system[at + SLIDES] * dot(d, F) + system[at + TURNS] * dot(d, moment)
        i = int(system[at + PARENT])
