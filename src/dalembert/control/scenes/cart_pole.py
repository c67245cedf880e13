"""Swing-up of a pole on a cart in 2 s with the least effort (Kelly 2017, section 6).

m1 = 1 kg, m2 = 0.3 kg, l = 0.5 m, d = 1 m, |u| <= 20 N.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Model

#: of the continuous problem, by collocation of order 4 with 400 steps (benchmarks/control.py)
OPTIMUM = 58.8


def model() -> Model:
    """A cart on a rail of 4 m, a mass point on a rod."""
    m = Model("cart-pole", gravity=(0, 0, -9.81))
    m.add_body("cart", mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_body("pole", mass=0.3, inertia=(0, 0, 0), com=(0, 0, -0.5), physical=False)
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), limits=(-2, 2))
    m.add_joint("hinge", "revolute", "cart", "pole", axis=(0, -1, 0))
    m.add_motor("drive", "rail", limit=20.0)
    return m


def build(N: int = 100, **more: Any) -> Any:
    """From hanging at rest to standing at rest 1 m further."""
    return dmoc(model(), N, [0.0, 0.0], [1.0, np.pi], h=2.0 / N, **more)


def check(solution: Any) -> list[Finding]:
    """Kelly's optimum."""
    return [Finding("cost", solution.cost, f"{OPTIMUM} within 1 %", abs(solution.cost - OPTIMUM) < 0.01 * OPTIMUM)]


register(PlanScene("cart-pole", "swing-up of a pole on a cart", build, check, ("kelly2017",)))
