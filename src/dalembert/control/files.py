"""Plans in files: the trajectory with what else a plan holds; any reader of runs reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import ArchiveError


class SavedPlan:
    """A plan from a file: traj, t, q, v, inputs, control, cost, status, stepper, compose. It may be the guess of a problem."""

    def __init__(self, traj: Any):
        plan = traj.meta.get("plan")
        if plan is None:
            raise ArchiveError("the file holds a run, but no plan.")
        self.traj, self.t, self.q, self.v, self.control = traj, traj.t, traj.q, traj.v, traj.control
        self.inputs = np.asarray(plan["inputs"], dtype=float)
        self.cost, self.status, self.stepper, self.compose = plan["cost"], plan["status"], plan["stepper"], plan["compose"]

    def __repr__(self) -> str:
        return f"SavedPlan({self.traj.model!r}, {len(self.t) - 1} steps of {self.stepper}, cost {self.cost:.6g}: {self.status})"


def save(solution: Any, path: Any, overwrite: bool) -> None:
    """Write the trajectory of a plan, with its inputs, cost and status."""
    solution.traj.save(path, overwrite=overwrite)


def load(path: Any) -> SavedPlan:
    """Read a plan that `Solution.save` wrote."""
    from dalembert.runs.recording import load as load_run

    return SavedPlan(load_run(path))
