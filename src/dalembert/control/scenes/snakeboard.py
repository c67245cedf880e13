"""A snakeboard moves half a metre from rest to rest by swinging its rotor and steering its wheels: a gait on nonholonomic constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.scenes import find

FAR = 0.5  # m


def build(N: int = 100, **more: Any) -> Any:
    """Rotor and both axles are driven, the board is not; all shapes end as they began. A straight guess knows no side to steer to."""
    model = find("snakeboard").build()
    given = {"inputs": ["twist", "steer front", "steer back"], "guess": "random", "seed": 1}
    given |= {"bounds": {"q": {"steer front": 1.2, "steer back": 1.2, "twist": 2.5}}}
    goal = {"q": {"plane": (FAR, 0.0, 0.0), "twist": 0.0, "steer front": 0.0, "steer back": 0.0}}
    return dmoc(model, N, np.zeros(model.nq), goal, h=4.0 / N, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """The board is where it should be, at rest, and its wheels did not slip."""
    rows = solution.problem.machine.rows
    middle = [
        solution.problem.machine.system.integrate(q, 0.5 * h * v)
        for q, h, v in zip(solution.q, solution.h, solution.v_interval, strict=False)
    ]
    slip = max(float(np.abs(rows.matrix(q) @ v).max()) for q, v in zip(middle, solution.v_interval, strict=True))
    return [
        Finding("way, m", float(solution.q[-1, 0]), f"{FAR}", abs(solution.q[-1, 0] - FAR) < 1e-8),
        Finding("largest slip, m/s", slip, "<= 1e-8", slip <= 1e-8),
    ]


register(PlanScene("snakeboard", "a gait of the snakeboard, on its rolling constraints", build, check))
