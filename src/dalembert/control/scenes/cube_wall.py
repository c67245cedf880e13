"""A cube of 0.1 m and 1 kg flies to a wall, strikes it with a corner and flies back, on weak jets (Leyendecker et al. 5.3, Table 1).

Without the wall the jets could not turn it round: 0.8 N over 0.75 s are less than the change of its momentum. Numbers of a second program,
on directors: the contact is at 0.21760 s whichever node it is planned at, the cost 0.0145; with restitution 0.5 at 0.18997 s, 0.24584.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.contacts import Touch
from dalembert.control.dmocc import dmocc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.lagrangian.charts import rotate
from dalembert.model import Box, Model, Plane
from dalembert.model.rotation import from_matrix, matrix, quat_exp, quat_mul

EDGE, T = 0.1, 0.75
CORNER = (-EDGE / 2,) * 3
#: {restitution: (time of the contact, s, cost)}
FOUND = {1.0: (0.217596, 0.01449), 0.5: (0.18997, 0.24584)}


def model(restitution: float = 1.0) -> Model:
    """A cube beside the wall x = 0."""
    m = Model("cube-wall", gravity=(0, 0, 0))
    m.add_shape(
        "world", Plane(quaternion=from_matrix(np.array([[0, 0, 1.0], [0, 1.0, 0], [-1.0, 0, 0]])), friction=0, restitution=restitution)
    )
    shape = Box((EDGE,) * 3, friction=0, restitution=restitution)
    m.add_body("cube", 1.0, shape.inertia(1.0), shapes=[shape])
    return m


def turning(a: Any, b: Any) -> Array:
    """The quaternion of the least rotation from a direction to another."""
    a, b = (np.asarray(x, dtype=float) / np.linalg.norm(x) for x in (a, b))
    q = np.concatenate([[1.0 + a @ b], np.cross(a, b)])
    return np.asarray(q / np.linalg.norm(q))


def state(place: Any, turn: Any, velocity: Any, spin: Any = (0, 0, 0)) -> tuple[Array, Array]:
    """q and v of a free body, of velocity and spin in world axes."""
    R = matrix(np.asarray(turn))
    return np.concatenate([place, turn]), np.concatenate([R.T @ np.asarray(spin, dtype=float), R.T @ np.asarray(velocity, dtype=float)])


def jets(torque: float, force: float, at: int = 0) -> dict[str, Any]:
    """Bounds of the inputs (torque, force) of a free body along axes of the world; `at`: its place in q."""

    def along_world(q: Any, v: Any, u: Any) -> Any:
        turn = q[at + 3 : at + 7]
        return ca.vertcat(rotate(turn, u[:3]), rotate(turn, u[3:]))

    most = np.repeat([torque, force], 3)
    return {"jets": (along_world, -most, most)}


def build(N: int = 30, node: int | None = None, restitution: float = 1.0, **more: Any) -> Any:
    """The corner towards the wall touches it at a node, after three tenths of the steps unless it is given."""
    diagonal = turning((-1, -1, -1), (-1, 0, 0))
    start = state((0.195, 0, 0), quat_mul(quat_exp(np.array([0, 0.10, 0.05])), diagonal), (-0.5, 0, 0))
    goal = state((0.35, 0.01, 0.02), quat_mul(quat_exp(np.array([0.1, -0.05, 0.10])), diagonal), (0.5, 0, 0))
    given = {
        "contacts": [Touch("cube", round(0.3 * N) if node is None else node, point=CORNER)],
        "h": T / N,
        "restitution": restitution,
        "path": jets(0.02, 0.8),
    }
    return dmocc(model(restitution), N, start, goal, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """When and at what cost; the wall pushes."""
    if not solution.impacts:
        return []
    hit = solution.impacts[0]
    t, cost = FOUND.get(hit.restitution, (np.nan, np.nan))
    return [
        Finding("time of the contact, s", hit.t, f"{t} within 1e-4", abs(hit.t - t) < 1e-4),
        Finding("cost", solution.cost, f"{cost} within 1 %", abs(solution.cost - cost) < 0.01 * cost),
        Finding("approach, m/s", hit.before, "< 0", hit.before < 0.0),
    ]


register(PlanScene("cube-wall", "a cube turned round by a wall that it strikes", build, check, ("leyendecker",)))
