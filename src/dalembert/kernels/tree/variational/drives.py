"""Drives in a variational step: constraints q - f(t) = 0 that depend on time, and so do work.

Their impulses act at the nodes, lambda at the first one and mu, of the projection, at the second one. In the space of (q, t) the momentum
of time, minus the energy, changes by lambda dg/dt at the nodes, so the energy changes by

    lambda_k f'(t_k) + mu_k+1 f'(t_k+1)

up to the band of a symplectic method. A joint to the world pushes the machine from outside by the same impulses, along its axis.
"""

from dalembert.kernels._jit import ARRAY, INT, REAL, VOID, far, inline
from dalembert.kernels.smallmat import add, cross
from dalembert.kernels.tree.account import enter, joint_wrench, root_poses
from dalembert.kernels.tree.constraint_layout import ROW_LINK_B, ROW_SIZE
from dalembert.kernels.tree.constraints import first_drive, prescribed
from dalembert.kernels.tree.kinematics import sweep
from dalembert.kernels.tree.layout import (
    AT_CALL,
    AT_CONSTRAINTS,
    AT_TAU,
    AT_V,
    CARRIED,
    HEADER,
    HOLONOMIC,
    LINK_SIZE,
    V_AT,
)
from dalembert.kernels.tree.variational.layout import notes, places


@inline
def driven(system):
    """True where a coordinate is driven."""
    return first_drive(system) < int(system[HOLONOMIC])


@far(VOID(REAL, ARRAY, ARRAY, ARRAY, INT))
def enter_drives(t, system, state, work, q):
    """Enter work and impulse of the drives at one node, work[q:] at the time t: their impulses are in s.impulses."""
    s, n, tau = places(system), notes(system), int(system[AT_TAU])
    sweep(system, work, q, int(system[AT_V]))
    root_poses(system, work)
    work[int(system[AT_CALL]) + 1] = t
    for i in range(s.nv):
        work[tau + i] = 0.0
    for r in range(first_drive(system), s.holonomic):
        at = int(system[AT_CONSTRAINTS]) + r * ROW_SIZE
        link = HEADER + int(system[at + ROW_LINK_B]) * LINK_SIZE
        work[tau + int(system[link + V_AT])] = work[s.impulses + r]
        state[n.drive] += work[s.impulses + r] * work[prescribed(system, work, at) + 1]
    for i in range(s.links):
        if system[HEADER + i * LINK_SIZE + CARRIED] >= 0.0:
            torque, force, place = joint_wrench(system, work, i, tau)
            enter(state, 1.0, add(torque, cross(place, force)), force)
