"""Momentum of a plan: its change from node to node is the impulse of inputs, weight and walls."""

from __future__ import annotations

from typing import Any

import numpy as np


def tied(machine: Any) -> bool:
    """Joints to the world push the machine."""
    return any(link.parent < 0 and link.joint.kind not in ("free", "translation") for link in machine.formulas.tree.links)


def imbalance(solution: Any) -> float:
    """Largest change of momentum (angular about the origin, linear) from node to node, less the impulse in the account of the simulator.

    NaN where joints tie the machine to the world: their reactions are in no account.
    """
    machine = solution.problem.machine
    if not hasattr(machine.formulas, "tree"):
        return float("nan")
    if tied(machine) or machine.rows is not None:
        return float("nan")
    traj = solution.traj
    return float(np.abs(np.diff(traj.momentum, axis=0) - np.diff(traj.impulse, axis=0)).max(initial=0.0))
