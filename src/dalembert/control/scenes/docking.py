"""A free flyer docks: it flies around a tank, turns by a right angle, and puts its probe into a port, 12 s, with the least effort.

Flyer: 30 kg, a box with a probe (a capsule) in front. Port: four boxes around an opening of 0.1 m, the probe of 0.06 m ends 0.1 m deep in
it. Thrusters give 2 N along and 0.5 N m about each of its axes. All that is avoided is kept 5 mm away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.avoidance import Avoid
from dalembert.control.dmoc import dmoc
from dalembert.control.obstacles import Obstacle
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Model
from dalembert.model.shapes import Box, Capsule, Sphere

MARGIN = 5e-3  # m
THRUST, TORQUE = 2.0, 0.5  # N, N m
MASS, BODY = 30.0, (0.4, 0.3, 0.3)
ALONG = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # the axis of a capsule along x
PROBE = Capsule(0.03, 0.2, position=(0.3, 0.0, 0.0), quaternion=ALONG)
#: the opening is at x = 2, the probe comes along x
WALLS = (
    Box((0.2, 0.5, 0.2), position=(2.1, 0.0, 0.15)),
    Box((0.2, 0.5, 0.2), position=(2.1, 0.0, -0.15)),
    Box((0.2, 0.2, 0.1), position=(2.1, 0.15, 0.0)),
    Box((0.2, 0.2, 0.1), position=(2.1, -0.15, 0.0)),
)
PORT = Obstacle(WALLS, name="port")
TANK = Obstacle(Sphere(0.35), (0.95, 0.45, 0.0), "tank")
START = np.array([0.0, 1.2, 0.0, np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5)])  # looks along -y
DOCKED = np.array([2.1 - 0.43, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def model() -> Model:
    """The flyer, without gravity."""
    m, body = Model("docking", gravity=(0, 0, 0)), Box(BODY)
    m.add_body("flyer", MASS, body.inertia(MASS), shapes=[body, PROBE])
    return m


def build(N: int = 40, **more: Any) -> Any:
    """Rest to rest."""
    bounds = {"u": ([-TORQUE] * 3 + [-THRUST] * 3, [TORQUE] * 3 + [THRUST] * 3)}
    given = {"bounds": bounds, "avoid": Avoid([PORT, TANK], margin=MARGIN)}
    return dmoc(model(), N, START, DOCKED, h=12.0 / N, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """Kept away at and between nodes; the probe is in the port."""
    apart = solution.verify(true_motion=False).clearance
    deep = float(solution.q[-1, 0] + 0.43 - 2.0)
    return [
        Finding("apart at nodes, m", apart.at_nodes, f">= {MARGIN}", apart.at_nodes >= MARGIN - 1e-8),
        Finding("apart between nodes, m", apart.between, f">= {MARGIN} but for 2 %", apart.between >= 0.98 * MARGIN),
        Finding("probe in the port, m", deep, "0.1", abs(deep - 0.1) < 1e-9),
    ]


register(PlanScene("docking", "a free flyer turns, flies around a tank and puts its probe into a port", build, check))
