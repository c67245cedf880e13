"""Forces that depend on the configuration only, as joint forces: constant wrenches, springs without damping.

The trapezoidal step takes them at its nodes, where the configuration is known before the step is solved: its equation sees constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.model.kinematics import frames, jacobian, point
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, rotate
from dalembert.solvability.tree_step import Array

if TYPE_CHECKING:
    from dalembert.model import Model
    from dalembert.model.kinematics import Frame


def is_held(force: Any) -> bool:
    """Does it depend on the configuration only?"""
    return force.kind == "wrench" or (force.kind == "spring" and force.damping == 0.0)


def held_forces(model: Model, q: Array) -> Array:
    """Joint forces (..., nv) of all such forces of a model at q (..., nq); others are left out."""
    total = np.zeros((*q.shape[:-1], model.nv))
    held = [force for force in model.forces if is_held(force)]
    if not held:
        return total
    found = frames(model, q)
    for force in held:
        for body, where, F, torque in _body_loads(force, found):
            J = jacobian(model, body, q, found)
            wrench = np.concatenate([torque + np.cross(where, F), F], axis=-1)
            total = total + np.einsum("...cj,...c->...j", J, wrench)
    return total


def _body_loads(force: Any, found: dict[str, Frame]) -> list[tuple[str, Array, Array, Array]]:
    """(body, point, force, torque) in body axes."""
    if force.kind == "wrench":
        F, torque = np.array(force.force), np.array(force.torque)
        if force.frame == "world":
            back = quat_conj(found[force.body].quaternion)
            F, torque = rotate(back, F), rotate(back, torque)
        shape = found[force.body].position.shape
        return [(force.body, np.array(force.point), np.broadcast_to(F, shape), np.broadcast_to(torque, shape))]
    x_a, x_b = point(found, force.body_a, force.point_a), point(found, force.body_b, force.point_b)
    pull = force.force(x_a, x_b, np.zeros(3), np.zeros(3))
    ends = ((force.body_a, force.point_a, pull), (force.body_b, force.point_b, -pull))
    return [(body, np.array(where), rotate(quat_conj(found[body].quaternion), F), np.zeros(3)) for body, where, F in ends if body != WORLD]
