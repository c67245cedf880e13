"""Forces of the constraints of a run.

A step holds its multipliers as forces, impulse over h: the push on the coordinates is G^T mu of the holonomic rows and A^T mu of the
Pfaffian ones, so a positive multiplier drives its row towards larger values. They belong to the interval between two nodes, and are those
of its last step where not every node was kept. `shake` and `alpha` push at the nodes: half a push at the start, so their first
multipliers are half as large as the force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.model.rotation import Array

if TYPE_CHECKING:
    from dalembert.trajectory import Trajectory

KINDS = ("holonomic", "pfaffian")


def constraint_forces(traj: Trajectory, kind: str) -> Array:
    """Multipliers (N, rows) of the "holonomic" or the "pfaffian" constraints, one row per recorded interval."""
    if kind not in KINDS:
        raise UnknownNameError("kind of constraint of a Lagrangian", kind, KINDS)
    if traj._multipliers is None:
        raise UnsupportedError(f"stepper {traj.stepper.name!r} keeps no forces of constraints.")
    first = traj.model.formulas.holonomic_rows
    return traj._multipliers[1:, :first] if kind == "holonomic" else traj._multipliers[1:, first:]
