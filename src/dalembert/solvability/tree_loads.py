"""Forces on bodies as joint forces: wrenches, springs, dampers.

The trapezoidal step takes them at its nodes, where the configuration is known before the step is solved: its equation sees a constant, and
a constant matrix K >= 0 of what is linear in the velocity, f = constant - K v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.model.kinematics import frames, jacobian, point
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, rotate
from dalembert.solvability.tree_step import Array, Terms, hat

if TYPE_CHECKING:
    from dalembert.model import Model
    from dalembert.model.kinematics import Frame


def held_forces(model: Model, q: Array) -> Array:
    """Joint forces (..., nv) of wrenches and springs at rest at q (..., nq)."""
    total = np.zeros((*q.shape[:-1], model.nv))
    acting = [force for force in model.forces if force.kind in ("wrench", "spring")]
    found = frames(model, q) if acting else {}
    for force in acting:
        for body, where, F, torque in _body_loads(force, found):
            J = jacobian(model, body, q, found)
            wrench = np.concatenate([torque + np.cross(where, F), F], axis=-1)
            total = total + np.einsum("...cj,...c->...j", J, wrench)
    return total


def with_drag(model: Model, here: Terms, q: Array) -> Terms:
    """Terms at q with the drag of dampers and damped springs: K = sum c J^T J, J v the velocity that it opposes."""
    total = here.drag
    acting = [force for force in model.forces if force.kind == "damper" or (force.kind == "spring" and force.damping > 0.0)]
    found = frames(model, q) if acting else {}
    for force in acting:
        for c, J in _drags(model, force, q, found):
            total = total + c * np.einsum("...ci,...cj->...ij", J, J)
    return here._replace(drag=total)


def _drags(model: Model, force: Any, q: Array, found: dict[str, Frame]) -> list[tuple[float, Array]]:
    """(coefficient, velocity matrix (..., m, nv)) of a damper or spring."""
    if force.kind == "damper":
        turn, move = _point_velocity(model, force.body, model.body(force.body).com, q, found)
        return [(force.angular, turn), (force.linear, move)]
    x_a, x_b = point(found, force.body_a, force.point_a), point(found, force.body_b, force.point_b)
    line = x_b - x_a
    d = np.linalg.norm(line, axis=-1, keepdims=True)
    n = line / np.where(d > 0.0, d, 1.0)
    rate = np.zeros((*q.shape[:-1], 1, model.nv))
    for body, where, sign in ((force.body_a, force.point_a, -1.0), (force.body_b, force.point_b, 1.0)):
        if body != WORLD:
            move = _point_velocity(model, body, where, q, found)[1]
            rate = rate + sign * rotate(quat_conj(found[body].quaternion), n)[..., None, :] @ move
    return [(force.damping, rate)]


def _point_velocity(model: Model, body: str, where: Any, q: Array, found: dict[str, Frame]) -> tuple[Array, Array]:
    """Rotation and velocity of a point of a body, body axes, per joint rate: (..., 3, nv) each."""
    J = jacobian(model, body, q, found)
    return J[..., :3, :], J[..., 3:, :] - hat(np.asarray(where, dtype=float)) @ J[..., :3, :]


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
