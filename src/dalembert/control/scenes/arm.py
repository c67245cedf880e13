"""An arm of six hinges moves its tool from one side of a post to the other, point to point in 1.2 s, within its limits.

Lengths, masses, limits of torque and speed are those of a UR5; its links are capsules. Post and table are kept away from forearm, wrist and
tool; the straight way leads through the post.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.dmoc import dmoc
from dalembert.control.obstacles import Obstacle
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Model
from dalembert.model.rotation import matrix, quat_about
from dalembert.model.shapes import Box, Capsule, Plane, Sphere

UP, SIDE = (0, 0, 1), (0, 1, 0)
#: link: (mass, joint at, axis, capsule from, to, radius, torque); at the reference configuration the arm is stretched along x
LINKS = {
    "shoulder": (3.7, (0, 0, 0.089), UP, (0, 0, 0.089), (0, 0.09, 0.089), 0.06, 150.0),
    "upper arm": (8.393, (0, 0.136, 0.089), SIDE, (0, 0.136, 0.089), (0.425, 0.136, 0.089), 0.06, 150.0),
    "forearm": (2.275, (0.425, 0.016, 0.089), SIDE, (0.425, 0.016, 0.089), (0.817, 0.016, 0.089), 0.045, 150.0),
    "wrist 1": (1.219, (0.817, 0.016, 0.089), SIDE, (0.817, 0.04, 0.089), (0.817, 0.109, 0.089), 0.04, 28.0),
    "wrist 2": (1.219, (0.817, 0.109, 0.089), UP, (0.817, 0.109, 0.06), (0.817, 0.109, 0.0), 0.04, 28.0),
    "tool": (0.5, (0.817, 0.109, -0.006), SIDE, (0.817, 0.13, -0.006), (0.817, 0.25, -0.006), 0.03, 28.0),
}
SPEED = 3.15  # rad/s
MOVING = ("forearm", "wrist 1", "wrist 2", "tool")
POST = Obstacle(Box((0.1, 0.1, 0.7)), (0.55, 0.1, 0.35), "post")
TABLE = Obstacle(Plane(), name="table")
START = np.array([-0.9, -1.0, 1.2, -0.6, -1.57, 0.0])
GOAL = np.array([0.9, -0.8, 1.0, -0.6, -1.57, 0.5])


def model() -> Model:
    """The arm on its base; frames of the links are at their joints."""
    m, parent = Model("arm of six hinges", gravity=(0, 0, -9.81)), "world"
    for name, (mass, at, axis, a, b, radius, torque) in LINKS.items():
        first, second, origin = (np.array(x, dtype=float) for x in (a, b, at))
        length = float(np.linalg.norm(second - first))
        shape = Capsule(radius, length, position=tuple(0.5 * (first + second) - origin), quaternion=_towards(second - first))
        R = matrix(np.array(shape.quaternion))
        inertia = R @ np.diag(shape.inertia(mass)) @ R.T
        m.add_body(name, mass, inertia, com=tuple(0.5 * (first + second) - origin), pose=(at, (1, 0, 0, 0)), shapes=[shape])
        m.add_joint(f"{name} joint", "revolute", parent, name, at, axis, limits=(-2 * np.pi, 2 * np.pi), max_velocity=SPEED)
        m.add_motor(f"{name} motor", f"{name} joint", limit=torque)
        parent = name
    m.add_shape("tool", Sphere(0.05, position=(0, 0.17, 0)))
    return m


def _towards(d: Array) -> Array:
    """Quaternion that turns z to a direction."""
    u = d / np.linalg.norm(d)
    axis = np.cross((0, 0, 1), u)
    size = float(np.linalg.norm(axis))
    about = axis / size if size > 1e-12 else np.array([1.0, 0.0, 0.0])
    return quat_about(about, np.array([np.arctan2(size, u[2])]))


def build(N: int = 50, **more: Any) -> Any:
    """Rest to rest."""
    avoid = [(link, thing) for link in MOVING for thing in (POST, TABLE)]
    return dmoc(model(), N, START, GOAL, h=1.2 / N, **{"avoid": avoid, **more})


def check(solution: Any) -> list[Finding]:
    """Nothing overlaps at or between nodes; without the obstacle the plan is cheaper, and goes through the post."""
    apart = solution.verify(true_motion=False).clearance
    found = [
        Finding("apart at nodes, m", apart.at_nodes, ">= 1e-4", apart.at_nodes >= 1e-4 - 1e-8),
        Finding("apart between nodes, m", apart.between, ">= 0", apart.between >= 0.0),
    ]
    for what, at, most in (("torque", solution.inputs, [x[-1] for x in LINKS.values()]), ("speed", solution.v_interval, SPEED)):
        part = float((np.abs(at) / np.array(most)).max())
        found.append(Finding(f"largest {what} as a part of its limit", part, "<= 1", part <= 1.0 + 1e-8))
    return found


register(PlanScene("arm", "an arm of six hinges moves around a post, within limits of torque and speed", build, check))
