"""Forces on bodies as joint forces, as the forces tell them (`Force.pushes`, `Force.slides`).

The trapezoidal step takes them at its nodes, where the configuration is known before the step is solved: its equation sees a constant, and
a constant matrix K >= 0 of what is linear in the velocity, f = constant - K v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.model.kinematics import frames, jacobian
from dalembert.solvability.tree_step import Array, Terms, hat

if TYPE_CHECKING:
    from dalembert.model import Model
    from dalembert.model.forces import Slide
    from dalembert.model.kinematics import Frame


def held_forces(model: Model, q: Array) -> Array:
    """Joint forces (..., nv) of all forces at rest at q (..., nq)."""
    total = np.zeros((*q.shape[:-1], model.nv))
    found = frames(model, q) if model.forces else {}
    for force in model.forces:
        for body, where, F, torque in force.pushes(model, found):
            J = jacobian(model, body, q, found)
            wrench = np.concatenate([torque + np.cross(where, F), F], axis=-1)
            total = total + np.einsum("...cj,...c->...j", J, wrench)
    return total


def with_drag(model: Model, here: Terms, q: Array) -> Terms:
    """Terms at q with the drag of all forces: K = sum c J^T J, J v the velocity that it opposes."""
    total = here.drag
    found = frames(model, q) if model.forces else {}
    for force in model.forces:
        for c, parts in force.slides(model, found):
            J = sum(_velocity(model, part, q, found) for part in parts)
            total = total + c * np.einsum("...ci,...cj->...ij", J, J)
    return here._replace(drag=total)


def _velocity(model: Model, part: Slide, q: Array, found: dict[str, Frame]) -> Array:
    """A part of a velocity per joint rate, (..., m, nv)."""
    J = jacobian(model, part.body, q, found)
    omega, v = J[..., :3, :], J[..., 3:, :] - hat(np.asarray(part.point, dtype=float)) @ J[..., :3, :]
    return np.asarray(part.turn @ omega + part.move @ v)
