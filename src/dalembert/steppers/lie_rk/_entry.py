"""What all entries of this family have in common."""

from __future__ import annotations

from typing import Any

from dalembert.arrays import Array
from dalembert.kernels.lie_rk import fixed_step
from dalembert.registry import register
from dalembert.steppers.lie_rk._tableau import Tableau

COMMON: dict[str, Any] = {
    "system": "tree",
    "conserves": ("attitude: exactly",),
    "handles": (
        *("free", "pivot", "tree", "gravity", "wrench", "damping", "control", "spring", "stiffness", "armature", "function"),
        "forces",
    ),
}


def enter(tableau: Tableau, **description: Any) -> None:
    """Register a method with a fixed step."""

    def prepare(system: Array, options: dict[str, Any]) -> Array:
        return tableau.pack(system)

    register(
        name=tableau.name,
        order=tableau.order,
        prepare=prepare,
        limitations="explicit: energy and momentum drift like h^order, stiff springs and dampers need small steps",
        **COMMON,
        **description,
    )(fixed_step)
