"""The account of a tree: work of each kind of force that has no potential in the model, and impulse of all forces from outside.

At a configuration q with joint velocities v, weighted by the share of the step for which they stand,

    work      control . v,   functions . v,   wrench . twist of loads without a potential,   -d v^2 of dampers,   force . v of limits
    impulse   sum of all wrenches from outside about the world origin: weight, loads, and in joints to the world
              what acts along their coordinates (control, functions, damping, stiffness, limits)

Reactions of joints and loops are not in it: along motions that those allow they push nothing. A step of a variational method changes
the momentum of such a motion by exactly the weighted wrenches where the method evaluates them (`variational/account.py`).

A joint of several coordinates is a chain of links; its forces act on the last one (CARRIED). A slide that comes before a turn pushes at
the origin of that link, which both carry.
"""

from dalembert.kernels._jit import ARRAY, REAL, VOID, far, inline, kernel
from dalembert.kernels.mat3 import load9, mul, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3
from dalembert.kernels.tree.account_layout import CONTROL, DAMPING, FUNCTION, IMPULSE, LIMITS, PUSH, SIZE
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.layout import (
    ACC,
    AT_CALL,
    AT_HELD,
    AT_LOADS,
    AT_TAU,
    CARRIED,
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
    NQ,
    NV,
    P_W,
    PARENT,
    PASSIVE,
    PRISMATIC,
    Q_AT,
    R_W,
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
from dalembert.kernels.tree.layout import DAMPING as JOINT_DAMPING
from dalembert.kernels.tree.layout import FUNCTION as ADDRESS
from dalembert.kernels.tree.limits import limit_force
from dalembert.kernels.tree.load_layout import APPLY, COLUMN, ENERGY, GROUP_SIZE, LENGTH, POWER, call_apply, call_power
from dalembert.kernels.tree.loads import passive
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.subspace import degrees


@inline
def joint_wrench(system, work, i, tau):
    """(torque, force, point) in the world of what acts along the coordinates of a joint to the world."""
    at, zero = record(HEADER, i, LINK_SIZE), (0.0, 0.0, 0.0)
    kind, end = int(system[at + KIND]), int(system[at + CARRIED])
    rot, place = load9(work, record(0, i, SCRATCH) + R_W), load3(work, record(0, end, SCRATCH) + P_W)
    vi = tau + int(system[at + V_AT])
    axis = (rot[2], rot[5], rot[8])
    if kind == REVOLUTE:
        return scale(work[vi], axis), zero, place
    if kind == PRISMATIC:
        turn, slide = system[at + TURNS], system[at + SLIDES]
        along = scale(work[vi] / (turn * turn + slide * slide), axis)  # of all wrenches that do this work the smallest
        return scale(turn, along), scale(slide, along), place
    torque = mat_vec(rot, load3(work, vi))
    return torque, (zero if kind == SPHERICAL else mat_vec(rot, load3(work, vi + 3))), place


@inline
def root_poses(system, work):
    """World poses of the links of joints to the world; those of their joint before them are known."""
    for i in range(int(system[LINKS])):
        at, out = record(HEADER, i, LINK_SIZE), record(0, i, SCRATCH)
        if system[at + CARRIED] >= 0.0:
            parent = int(system[at + PARENT])
            rot, p = load9(work, out + R), load3(work, out + P)
            if parent >= 0:
                above = load9(work, record(0, parent, SCRATCH) + R_W)
                rot, p = mul(above, rot), add(load3(work, record(0, parent, SCRATCH) + P_W), mat_vec(above, p))
            store9(work, out + R_W, rot)
            store3(work, out + P_W, p)


@inline
def weight(system, work):
    """(torque about the world origin, force) of the weight: first moments of mass are handed inward, in ACC of the links."""
    n, mass, moment = int(system[LINKS]), 0.0, (0.0, 0.0, 0.0)
    for i in range(n):
        at = record(HEADER, i, LINK_SIZE)
        store3(work, record(0, i, SCRATCH) + ACC, load3(system, at + MOMENT))
        work[record(0, i, SCRATCH) + ACC + 3] = system[at + MASS]
    for j in range(n):
        i = n - 1 - j
        out, parent = record(0, i, SCRATCH), int(system[record(HEADER, i, LINK_SIZE) + PARENT])
        m = work[out + ACC + 3]
        c = axpy(m, load3(work, out + P), mat_vec(load9(work, out + R), load3(work, out + ACC)))
        if parent < 0:
            mass, moment = mass + m, add(moment, c)
        else:
            store3(work, record(0, parent, SCRATCH) + ACC, add(load3(work, record(0, parent, SCRATCH) + ACC), c))
            work[record(0, parent, SCRATCH) + ACC + 3] += m
    g = load3(system, GRAVITY)
    return cross(moment, g), scale(mass, g)


@inline
def flow(system, work):
    """sum FORCE . twist over the links: minus the power of the loads that have been applied."""
    total = 0.0
    for i in range(int(system[LINKS])):
        at = record(0, i, SCRATCH)
        total += dot(load3(work, at + FORCE), load3(work, at + VEL)) + dot(load3(work, at + FORCE + 3), load3(work, at + VEL + 3))
    return total


@inline
def apply_group(system, work, at, last):
    """Apply a group of loads; returns the power of what has no potential."""
    first = at + GROUP_SIZE
    whole = system[at + POWER] == 0.0 and system[at + ENERGY] == 0.0
    before = flow(system, work) if whole else 0.0
    call_apply(int(system[at + APPLY]), system, work, first, last)
    if whole:
        return before - flow(system, work)
    return call_power(int(system[at + POWER]), system, work, first, last) if system[at + POWER] != 0.0 else 0.0


@far(VOID(REAL, ARRAY, ARRAY, ARRAY))
def add_loads(w, system, work, state):
    """Work and impulse of the loads on links; twists are known."""
    columns, at = state.shape[0] - SIZE, int(system[AT_LOADS])
    world(system, work)
    for i in range(int(system[LINKS])):
        for k in range(6):
            work[record(0, i, SCRATCH) + FORCE + k] = 0.0
    for _ in range(int(system[LOADS])):
        last = at + int(system[at + LENGTH])
        state[columns + int(system[at + COLUMN])] += w * apply_group(system, work, at, last)
        at = last
    for i in range(int(system[LINKS])):
        out = record(0, i, SCRATCH)
        rot = load9(work, out + R_W)
        n, f = mat_vec(rot, load3(work, out + FORCE)), mat_vec(rot, load3(work, out + FORCE + 3))
        enter(state, -w, add(n, cross(load3(work, out + P_W), f)), f)


@inline
def enter(state, w, torque, force):
    """Add w times a wrench about the world origin to the impulse."""
    at = state.shape[0] - SIZE + IMPULSE
    store3(state, at, axpy(w, torque, load3(state, at)))
    store3(state, at + 3, axpy(w, force, load3(state, at + 3)))


@kernel
def add_account(w, system, work, q, v, half, state):
    """Add w times the powers and the wrench from outside at work[q:], work[v:] to the account at the end of the state.

    half: of the time over which forces of limits are a mean, or 0.
    """
    nv, at = int(system[NV]), state.shape[0] - SIZE
    tau, held = int(system[AT_TAU]), int(system[AT_HELD])
    sweep(system, work, q, v)
    if system[LOADS] != 0.0:
        add_loads(w, system, work, state)
    for i in range(nv):
        work[tau + i] = state[held + i]
        state[at + CONTROL] += w * state[held + i] * work[v + i]
        state[at + PUSH] += abs(w * state[held + i])
    if system[PASSIVE] != 0.0:
        passive(system, work, q, v, tau)
    if system[ADDRESS] != 0.0:
        found = int(system[AT_CALL]) + 2 + int(system[NQ]) + nv
        for i in range(nv):
            state[at + FUNCTION] += w * work[found + i] * work[v + i]
    torque, force = weight(system, work)
    enter(state, w, torque, force)
    root_poses(system, work)
    for i in range(int(system[LINKS])):
        link = record(HEADER, i, LINK_SIZE)
        vi, kind, d = int(system[link + V_AT]), int(system[link + KIND]), system[link + JOINT_DAMPING]
        for k in range(degrees(kind)):
            state[at + DAMPING] -= w * d * work[v + vi + k] ** 2
        if system[link + LIMIT_STIFFNESS] != 0.0:
            stop, _ = limit_force(system, link, work[q + int(system[link + Q_AT])], half * work[v + vi])
            state[at + LIMITS] += w * stop * work[v + vi]
            work[tau + vi] += stop
        if system[link + CARRIED] >= 0.0:
            torque, force, place = joint_wrench(system, work, i, tau)
            enter(state, w, add(torque, cross(place, force)), force)
