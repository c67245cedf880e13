"""Forces that a model holds: loads on links, whatever kind of force they are (`load_layout.py`), and passive joint forces.

Each load is added to the bias wrench of its link with the opposite sign: FORCE_i -= wrench, (torque about the link's origin, force), link
axes.
"""

import math

from dalembert.kernels._jit import ARRAY, VOID, call_at, far, inline, kernel
from dalembert.kernels.mat3 import apply_transposed, load9
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, store3, sub
from dalembert.kernels.tree.layout import (
    AT_CALL,
    AT_LOADS,
    DAMPING,
    FORCE,
    FREE,
    FUNCTION,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    LOADS,
    NQ,
    NV,
    P_W,
    PARENT,
    PRISMATIC,
    Q_AT,
    R_W,
    REST,
    SCRATCH,
    SLIDES,
    SPHERICAL,
    STIFFNESS,
    TURNS,
    V_AT,
    VEL,
)
from dalembert.kernels.tree.load_layout import APPLY, ENERGY, GROUP_SIZE, LENGTH, call_apply, call_energy
from dalembert.kernels.tree.record import record


@inline
def push(work, i, point, force, torque):
    """Apply a force at a point of link i and a torque, link axes."""
    at = record(0, i, SCRATCH) + FORCE
    store3(work, at, sub(load3(work, at), add(torque, cross(point, force))))
    store3(work, at + 3, sub(load3(work, at + 3), force))


@inline
def point_in_world(work, i, point):
    """World position of a point of link i (-1: the world itself)."""
    if i < 0:
        return point
    return add(load3(work, record(0, i, SCRATCH) + P_W), mat_vec(load9(work, record(0, i, SCRATCH) + R_W), point))


@inline
def point_velocity(work, i, point):
    """World velocity of a point of link i."""
    if i < 0:
        return (0.0, 0.0, 0.0)
    at = record(0, i, SCRATCH)
    return mat_vec(load9(work, at + R_W), add(load3(work, at + VEL + 3), cross(load3(work, at + VEL), point)))


@inline
def to_link(work, i, x):
    """A vector of the world in axes of link i."""
    return apply_transposed(load9(work, record(0, i, SCRATCH) + R_W), x)


@inline
def add_wrench(system, work, link, sign, f, n, x, row):
    """Add the work of a wrench per unit of each velocity to the row at work[row:]."""
    i = link
    while i >= 0:
        at = record(HEADER, i, LINK_SIZE)
        rot = load9(work, record(0, i, SCRATCH) + R_W)
        kind, vi = int(system[at + KIND]), row + int(system[at + V_AT])
        if kind == PRISMATIC:
            work[vi] += sign * system[at + SLIDES] * (rot[2] * f[0] + rot[5] * f[1] + rot[8] * f[2])
        if kind != PRISMATIC or system[at + TURNS] != 0.0:
            torque = add(n, cross(sub(x, load3(work, record(0, i, SCRATCH) + P_W)), f))
            if kind <= PRISMATIC:
                work[vi] += sign * system[at + TURNS] * (rot[2] * torque[0] + rot[5] * torque[1] + rot[8] * torque[2])
            else:
                torque = apply_transposed(rot, torque)
                for k in range(3):
                    work[vi + k] += sign * torque[k]
                if kind == FREE:
                    force = apply_transposed(rot, f)
                    for k in range(3):
                        work[vi + 3 + k] += sign * force[k]
        i = int(system[at + PARENT])


@far(VOID(ARRAY, ARRAY))
def apply_loads(system, work):
    """All loads; world poses and twists of the links are known."""
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last = at + int(system[at + LENGTH])
        call_apply(int(system[at + APPLY]), system, work, at + GROUP_SIZE, last)
        at = last


@inline
def load_energy(system, work):
    """Potential energy of all loads; world poses are known."""
    total, at = 0.0, int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last = at + int(system[at + LENGTH])
        if system[at + ENERGY] != 0.0:
            total += call_energy(int(system[at + ENERGY]), system, work, at + GROUP_SIZE, last)
        at = last
    return total


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
        at = record(HEADER, i, LINK_SIZE)
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
