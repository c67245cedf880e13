"""A slider that is pushed from rest to rest over d = 2 m: with the least effort in T = 1.5 s, and in the least time with |u| <= 3 N.

x'' = u/m. Inputs are held over the steps, and the midpoint rule solves this equation exactly, so the discrete optima are known too:

    effort   u falls linearly, u_k = c (T/2 - t_k - h/2):   cost 12 (m d)^2 / (T^3 (1 - 1/N^2))     (continuous: N without end)
    time     all forwards, then all backwards:              T = 2 sqrt(m d / u_max), of an even number of steps exactly
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Box, Model

MASS, FAR, T, MOST = 1.3, 2.0, 1.5, 3.0  # kg, m, s, N


def model(limit: float | None = None) -> Model:
    """A block on a rail."""
    m = Model("slider", gravity=(0, 0, 0))
    m.add_body("block", MASS, (0.01, 0.01, 0.01), shapes=(Box((0.2, 0.15, 0.1), collide=False),))
    m.add_joint("rail", "prismatic", "world", "block", axis=(1, 0, 0))
    m.add_motor("drive", "rail", limit=limit)
    return m


def build(N: int = 40, **more: Any) -> Any:
    """Least effort in a given time."""
    return dmoc(model(), N, [0.0], [FAR], h=T / N, **more)


def check(solution: Any) -> list[Finding]:
    """The closed forms of the cost and of the inputs."""
    N = len(solution.h)
    cost = 12.0 * (MASS * FAR) ** 2 / (T**3 * (1.0 - 1.0 / N**2))
    middle = 0.5 * T - 0.5 * (solution.t[1:] + solution.t[:-1])
    inputs = 12.0 * MASS * FAR / (T**3 * (1.0 - 1.0 / N**2)) * middle
    off = float(np.abs(solution.inputs[:, 0] - inputs).max())
    return [
        Finding("cost", solution.cost, f"{cost:.8g} to 1e-7", abs(solution.cost / cost - 1.0) < 1e-7),
        Finding("inputs beside a line, N", off, "<= 1e-5", off <= 1e-5),
    ]


def build_fastest(N: int = 40, **more: Any) -> Any:
    """Least time with a bounded push."""
    return dmoc(model(MOST), N, [0.0], [FAR], free_time=(0.5, 10.0), **{"cost": "time", **more})


def check_fastest(solution: Any) -> list[Finding]:
    """The closed form of the time, and one switch in the middle."""
    least = 2.0 * np.sqrt(MASS * FAR / MOST)
    push = np.concatenate([np.full(len(solution.h) // 2, MOST), np.full(len(solution.h) - len(solution.h) // 2, -MOST)])
    off = float(np.abs(solution.inputs[:, 0] - push).max())
    return [
        Finding("time, s", solution.t[-1], f"{least:.8g} to 1e-6", abs(solution.t[-1] / least - 1.0) < 1e-6),
        Finding("inputs beside forwards then backwards, N", off, "<= 1e-3", off <= 1e-3),
    ]


register(PlanScene("rest-to-rest", "a slider from rest to rest with the least effort: a closed form", build, check))
register(
    PlanScene(
        "rest-to-rest-fastest", "a slider from rest to rest in the least time: forwards, then backwards", build_fastest, check_fastest
    )
)
