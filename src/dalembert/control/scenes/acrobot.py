"""Swing-up of the acrobot: two rods on a bar, driven at the hip alone, from hanging to standing at rest with the least effort.

Rods of 1 kg and 1 m (Spong 1995), T = 3 s. Check: what the hip has worked is what standing has gained, 2 (m1 l/2 + m2 3 l/2) g = 39.24 J,
to the order of the method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Capsule, Model

T, G = 3.0, 9.81


def model() -> Model:
    """Two hanging rods."""
    m = Model("acrobot", gravity=(0, 0, -G))
    rod = (Capsule(0.04, 0.92, position=(0, 0, -0.5), collide=False),)
    m.add_body("arms", 1.0, (1 / 12, 1 / 12, 1e-3), com=(0, 0, -0.5), shapes=rod)
    m.add_body("legs", 1.0, (1 / 12, 1 / 12, 1e-3), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)), shapes=rod)
    m.add_joint("hands", "revolute", "world", "arms", (0, 0, 0), (0, 1, 0))
    m.add_joint("hip", "revolute", "arms", "legs", (0, 0, -1), (0, 1, 0))
    m.add_motor("hip drive", "hip")
    return m


def build(N: int = 200, **more: Any) -> Any:
    """The hands turn freely about the bar."""
    return dmoc(model(), N, [0.0, 0.0], [np.pi, 0.0], h=T / N, **more)


def check(solution: Any) -> list[Finding]:
    """Work of the hip beside the energy of standing."""
    work, gained = worked(solution), 2.0 * (0.5 + 1.5) * G
    return [Finding("work of the hip, J", work, f"{gained:.2f} within 1 %", abs(work - gained) < 0.01 * gained)]


def worked(solution: Any) -> float:
    """Sum of force times way over the steps."""
    return float((solution.control * solution.v_interval * solution.h[:, None]).sum())


register(PlanScene("acrobot", "swing-up of two rods, driven between them alone", build, check, ("spong1995",)))
