"""A satellite turns from rest to rest on SO(3): with the least effort, and in the least time.

least effort    moments of inertia 1, 2, 3 kg m^2, 1.5 rad about (1, 1, 1) in 2 s. The optimum of the differential equations is
                that of Pontryagin's equations as a boundary value problem (tests/control/test_published.py solves it by SciPy)
least time      moments of inertia 5621, 4547, 2364 kg m^2, 150 degrees about x with torques of at most 50 N m about each axis: 28.6304077 s
                (Fleming, Sekhavat and Ross 2008; test problem asyq01 of Betts 2020), less than the 34.3 s of a turn about x alone. The
                straight guess is symmetric and stays one: it is disturbed
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Box, Model
from dalembert.model.rotation import matrix

T, TURN = 2.0, 1.5  # s, rad
LEAST_EFFORT = 13.928064  # (N m)^2 s
FASTEST, MOST, WIDE = 28.6304077, 50.0, np.radians(150.0)  # s, N m, rad


def model(inertia: tuple[float, float, float]) -> Model:
    """A body that turns about its centre of mass, without gravity."""
    m = Model("satellite", gravity=(0, 0, 0))
    m.add_body("body", 1.0, inertia, shapes=(Box((1.0, 0.7, 0.4), collide=False),))
    m.add_joint("attitude", "spherical", "world", "body")
    return m


def about(axis: Any, angle: float) -> Any:
    """Quaternion."""
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * np.asarray(axis) / np.linalg.norm(axis)])


def build(N: int = 60, **more: Any) -> Any:
    """Least effort."""
    return dmoc(model((1.0, 2.0, 3.0)), N, about((1, 1, 1), 0.0), about((1, 1, 1), TURN), h=T / N, **more)


def check(solution: Any) -> list[Finding]:
    """The optimum to the order of the method; what angular momentum gains is what torques give."""
    return [
        Finding("cost", solution.cost, f"{LEAST_EFFORT:.6g} within 0.5 %", abs(solution.cost / LEAST_EFFORT - 1.0) < 5e-3),
        impulse(solution),
    ]


def impulse(solution: Any) -> Finding:
    """Angular momentum in space, R p, changes in a step by h/2 (R_k + R_k+1) u to second order: the largest miss of the sum."""
    R = np.array([matrix(q / np.linalg.norm(q)) for q in solution.q])
    gained = np.einsum("kij,kj->ki", R, solution.p)
    torque = np.einsum("kij,kj->ki", 0.5 * (R[1:] + R[:-1]), solution.control) * solution.h[:, None]
    size = np.abs(gained).max()
    miss = float(np.abs(gained[1:] - gained[0] - np.cumsum(torque, axis=0)).max() / size)
    return Finding("angular momentum less impulse, of the largest", miss, "<= 0.01", miss <= 0.01)


def build_fastest(N: int = 100, **more: Any) -> Any:
    """Least time."""
    given = {"free_time": (20.0, 60.0), "h": 35.0 / N, "cost": "time", "guess": "random", "starts": 6, "bounds": {"u": MOST}}
    return dmoc(model((5621.0, 4547.0, 2364.0)), N, about((1, 0, 0), 0.0), about((1, 0, 0), WIDE), **{**given, **more})


def check_fastest(solution: Any) -> list[Finding]:
    """The published time."""
    off = abs(solution.t[-1] / FASTEST - 1.0)
    return [Finding("time, s", solution.t[-1], f"{FASTEST} within 0.1 %", off < 1e-3), impulse(solution)]


register(PlanScene("satellite", "a satellite turns with the least effort, on SO(3)", build, check))
register(
    PlanScene(
        "satellite-fastest",
        "a satellite turns in the least time, torques at their limits",
        build_fastest,
        check_fastest,
        ("fleming2008", "betts2020"),
    )
)
