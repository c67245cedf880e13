"""A spring with a damper between a point of a body and a place in space, by which a mouse pulls.

With W = 1/m - [r] R J^-1 R^T [r], what a unit force at the point accelerates it by if the body were alone (r from the centre of mass,
world axes), d the way to the place and u the velocity of the point

    F = W^-1 (w^2 d - 2 w u),     |w^2 d - 2 w u| <= MOST,     w = min(PULL, STABLE / h)

brings a free body there like a critically damped oscillator of frequency w. Joints make the point heavier, so the pull stays stable. What
hangs free is also held against gravity, and its turning is damped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Body, kinematics
from dalembert.model.rotation import matrix, rotate

PULL, STABLE = 12.0, 0.25
MOST = 600.0  # m/s^2
CALM = 3.0  # 1/s


class Drag(NamedTuple):
    """A point (3,) of a body, in its frame, and the place (3,) that it is pulled to."""

    body: str
    local: Array
    target: Array


def pull(sim: Any, model: Any, drag: Drag) -> None:
    """Let a drag act during the next step."""
    body: Body = model.body(drag.body)
    if not body.mass > 0.0:
        return
    frame = kinematics.frames(model, sim.state.q, sim.state.v)[drag.body]
    R = matrix(frame.quaternion)
    point = frame.position + R @ drag.local
    velocity = R @ (frame.velocity + np.cross(frame.omega, drag.local))
    wish = wanted(drag.target - point, velocity, sim.h)
    force = np.linalg.solve(mobility(body, R, drag.local), wish)
    torque = np.zeros(3)
    if any(j.child == drag.body and j.kind == "free" for j in model.joints):
        force = force - body.mass * np.asarray(model.gravity)
        torque = -CALM * R @ (body.inertia @ frame.omega)
    sim.apply_force(drag.body, force=force, torque=torque, point=point)


def wanted(way: Array, velocity: Array, h: float) -> Array:
    """The acceleration that is wished for."""
    w = min(PULL, STABLE / h)
    wish = w**2 * way - 2.0 * w * velocity
    size = float(np.linalg.norm(wish))
    return wish if size <= MOST else wish * (MOST / size)


def mobility(body: Body, R: Array, local: Array) -> Array:
    """W (3, 3), 1/kg."""
    r = R @ (local - body.com)
    W = np.eye(3) / body.mass
    if np.linalg.eigvalsh(body.inertia)[0] > 0.0:
        cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        W = W - cross @ R @ np.linalg.inv(body.inertia) @ R.T @ cross
    return W


def grabbed(frame_position: Array, frame_quaternion: Array, point: Array) -> Array:
    """A world point in the frame of a body."""
    q = np.asarray(frame_quaternion) * [1.0, -1.0, -1.0, -1.0]
    return np.asarray(rotate(q, np.asarray(point) - frame_position))
