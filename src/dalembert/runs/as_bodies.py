"""A run in the coordinates of the joints of its machine, for reports and pictures, which know machines.

Energies, momenta, work and impulse stay those of the run itself.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from dalembert.directors import Directors
from dalembert.runs.trajectory import Trajectory


def as_bodies(traj: Any) -> Any:
    """The run itself, or, of a system with other coordinates of a machine, the run of the machine."""
    return seen(traj.model, traj)


@singledispatch
def seen(system: Any, traj: Any) -> Any:
    """`as_bodies` by the kind of system."""
    return traj


@seen.register
def _(system: Directors, traj: Any) -> Any:
    known = traj.__dict__.get("_as_bodies")
    if known is None:
        q, v = system.joint_state(traj.q, traj.v)
        unpacked = {"q": q, "v": v, "v_interval": v, "work": traj.work, "impulse": traj.impulse, "control": traj._held}
        known = Trajectory(system.model, traj.stepper, traj.meta, traj.t, traj.states, traj._log, unpacked)
        known.__dict__.update(kinetic=traj.kinetic, potential=traj.potential, momentum=traj.momentum)
        traj.__dict__["_as_bodies"] = known
    return known
