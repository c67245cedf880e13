"""Forces that a model holds: wrenches, drag, springs between points (on links), and passive joint forces.

Each load is added to the bias wrench of its link with the opposite sign: FORCE_i -= wrench, (torque about the link's origin, force), link
axes.
"""

import math

from dalembert.kernels._jit import ARRAY, VOID, call_at, far, inline, kernel
from dalembert.kernels.mat3 import apply_transposed, load9
from dalembert.kernels.smallmat import add, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.tree.layout import (
    AT_CALL,
    AT_LOADS,
    DAMPING,
    FORCE,
    FUNCTION,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    LOAD_DAMPING,
    LOAD_FORCE,
    LOAD_KIND,
    LOAD_LENGTH,
    LOAD_LINK,
    LOAD_LINK_B,
    LOAD_POINT,
    LOAD_POINT_B,
    LOAD_SIZE,
    LOAD_STIFFNESS,
    LOAD_TORQUE,
    LOADS,
    NQ,
    NV,
    P_W,
    PRISMATIC,
    Q_AT,
    R_W,
    REST,
    SCRATCH,
    SPHERICAL,
    STIFFNESS,
    V_AT,
    VEL,
)


@inline
def push(work, i, point, force, torque):
    """Apply a force at a point of link i and a torque, link axes."""
    at = i * SCRATCH + FORCE
    store3(work, at, sub(load3(work, at), add(torque, cross(point, force))))
    store3(work, at + 3, sub(load3(work, at + 3), force))


@inline
def point_in_world(work, i, point):
    """World position of a point of link i (-1: the world itself)."""
    if i < 0:
        return point
    return add(load3(work, i * SCRATCH + P_W), mat_vec(load9(work, i * SCRATCH + R_W), point))


@inline
def point_velocity(work, i, point):
    """World velocity of a point of link i."""
    if i < 0:
        return (0.0, 0.0, 0.0)
    at = i * SCRATCH
    return mat_vec(load9(work, at + R_W), add(load3(work, at + VEL + 3), cross(load3(work, at + VEL), point)))


@inline
def spring_tension(system, work, at):
    """(tension, unit vector from the first to the second point): k (d - l0) + c d_dot; none where the points coincide."""
    i, j = int(system[at + LOAD_LINK]), int(system[at + LOAD_LINK_B])
    a, b = load3(system, at + LOAD_POINT), load3(system, at + LOAD_POINT_B)
    d = sub(point_in_world(work, j, b), point_in_world(work, i, a))
    length = math.sqrt(dot(d, d))
    if length == 0.0:
        return 0.0, d
    e = scale(1.0 / length, d)
    rate = dot(e, sub(point_velocity(work, j, b), point_velocity(work, i, a)))
    return system[at + LOAD_STIFFNESS] * (length - system[at + LOAD_LENGTH]) + system[at + LOAD_DAMPING] * rate, e


@far(VOID(ARRAY, ARRAY))
def apply_loads(system, work):
    """All loads; world poses and twists of the links are known."""
    zero = (0.0, 0.0, 0.0)
    for k in range(int(system[LOADS])):
        at = int(system[AT_LOADS]) + k * LOAD_SIZE
        kind = int(system[at + LOAD_KIND])
        i = int(system[at + LOAD_LINK])
        point = load3(system, at + LOAD_POINT)
        if kind == 0:
            push(work, i, point, load3(system, at + LOAD_FORCE), load3(system, at + LOAD_TORQUE))
        elif kind == 1:
            rot = load9(work, i * SCRATCH + R_W)
            push(
                work,
                i,
                point,
                apply_transposed(rot, load3(system, at + LOAD_FORCE)),
                apply_transposed(rot, load3(system, at + LOAD_TORQUE)),
            )
        elif kind == 3:
            omega = load3(work, i * SCRATCH + VEL)
            v = add(load3(work, i * SCRATCH + VEL + 3), cross(omega, point))
            push(work, i, point, scale(-system[at + LOAD_FORCE], v), scale(-system[at + LOAD_TORQUE], omega))
        else:
            tension, e = spring_tension(system, work, at)
            push(work, i, point, apply_transposed(load9(work, i * SCRATCH + R_W), scale(tension, e)), zero)
            j = int(system[at + LOAD_LINK_B])
            if j >= 0:
                push(work, j, load3(system, at + LOAD_POINT_B), apply_transposed(load9(work, j * SCRATCH + R_W), scale(-tension, e)), zero)


@inline
def call_function(system, work, q, v):
    """Forces that were given as functions f(t, q, v), at the time that is written behind the start of the step; returns where they are."""
    nq, nv, at = int(system[NQ]), int(system[NV]), int(system[AT_CALL]) + 1
    for i in range(nq):
        work[at + 1 + i] = work[q + i]
    for i in range(nv):
        work[at + 1 + nq + i] = work[v + i]
    call_at(int(system[FUNCTION]), work, at, work, at + 1 + nq + nv)
    return at + 1 + nq + nv


@kernel
def passive(system, work, q, v, tau):
    """Add joint damping, joint stiffness and forces that are functions to work[tau:]."""
    if system[FUNCTION] != 0.0:
        found = call_function(system, work, q, v)
        for i in range(int(system[NV])):
            work[tau + i] += work[found + i]
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind = int(system[at + KIND])
        n = 1 if kind <= PRISMATIC else (3 if kind == SPHERICAL else 6)
        vi = int(system[at + V_AT])
        for k in range(n):
            work[tau + vi + k] -= system[at + DAMPING] * work[v + vi + k]
        stiffness = system[at + STIFFNESS]
        if stiffness != 0.0:
            qi = q + int(system[at + Q_AT])
            if kind <= PRISMATIC:
                work[tau + vi] -= stiffness * (work[qi] - system[at + REST])
            elif kind == SPHERICAL:
                ball_stiffness(work, stiffness, qi, tau + vi)


@inline
def ball_stiffness(work, stiffness, qi, out):
    """-k times the rotation vector: the gradient of k |rotation vector|^2 / 2, which points along the axis in body axes too."""
    s = work[qi]
    sign = -1.0 if s < 0.0 else 1.0
    n = math.sqrt(work[qi + 1] ** 2 + work[qi + 2] ** 2 + work[qi + 3] ** 2)
    angle = 2.0 * math.atan2(n, sign * s)
    f = sign * stiffness * (angle / n if n > 0.0 else 2.0)
    for k in range(3):
        work[out + k] -= f * work[qi + 1 + k]
