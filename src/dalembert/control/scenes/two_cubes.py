"""Two collisions of two cubes, one driven, the other not: the driven one pushes the other away and comes to rest (Leyendecker et al. 5.4).

A corner of the first cube (0.1 m, 1 kg) strikes a face of the second twice, without loss. They end 0.05 m apart: without that the
second hit alone would stop the first cube, at the end. Numbers of a second program: 0.74993 of cost, contacts at 0.149743 and 0.439301 s.
Which minimum is found depends on the nodes of the contacts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.avoidance import pairs
from dalembert.control.contacts import Touch
from dalembert.control.dmocc import dmocc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.control.scenes.cube_wall import EDGE, jets, state, turning
from dalembert.control.separation import separate
from dalembert.model import Box, Model
from dalembert.model.rotation import quat_exp, quat_mul

CORNER = (EDGE / 2,) * 3
T, APART = 0.5, 0.05
COST, TIMES = 0.74993354, (0.149743, 0.439301)


def model(restitution: float = 1.0) -> Model:
    """Blue is driven, green is not."""
    m = Model("two-cubes-planned", gravity=(0, 0, 0))
    shape = Box((EDGE,) * 3, friction=0, restitution=restitution)
    for name in ("blue", "green"):
        m.add_body(name, 1.0, shape.inertia(1.0), shapes=[shape])
    return m


def build(N: int = 50, nodes: tuple[int, int] | None = None, apart: float = APART, **more: Any) -> Any:
    """The corner of blue strikes the face -x of green at two nodes, 20 and 39 of 50 unless they are given."""
    nodes = (round(0.4 * N), round(0.78 * N)) if nodes is None else nodes
    diagonal = turning((1, 1, 1), (1, 0, 0))
    (q0, v0), (q1, v1) = (
        state((-0.215, 0, 0), quat_mul(quat_exp(np.array([0, 0.05, 0.03])), diagonal), (0.4, 0, 0)),
        state((0, 0.005, -0.005), (1, 0, 0, 0), (0, 0, 0)),
    )
    end, _ = state((-0.02, 0, 0), quat_mul(quat_exp(np.array([0.1, 0, 0])), diagonal), (0, 0, 0))

    def clear(made: Any) -> None:
        separate(made, pairs(made.machine, [("blue", "green")]), apart, False, [N])

    m = model()
    given: dict[str, Any] = {
        "contacts": [Touch("blue", k, on="green", point=CORNER, face="-x") for k in nodes], "h": T / N, "inputs": ["blue"],
        "path": jets(0.5, 15.0), "extras": [clear],
    }  # fmt: skip
    goal = {"q": {"blue": end}, "v": {"blue": np.zeros(6)}}
    return dmocc(m, N, (np.concatenate([q0, q1]), np.concatenate([v0, v1])), goal, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """Both impacts push; what they change of all momentum is nothing."""
    first, second = solution.impacts
    return [
        Finding("approach, m/s", max(first.before, second.before), "< 0", max(first.before, second.before) < 0.0),
        Finding("cost", solution.cost, "<= 2", solution.cost <= 2.0),
    ]


register(PlanScene("two-cubes", "a cube pushes another away by two collisions and comes to rest", build, check, ("leyendecker",)))
