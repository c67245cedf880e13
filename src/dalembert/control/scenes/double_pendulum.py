"""Swing-up of a double pendulum with weak motors: a Lagrangian, planned with the polynomials of `galerkin4`.

Two points of 1 kg on rods of 1 m; q: angle of the first rod from hanging, angle of the second to the first. The motors of 10 and 6 N m are
too weak to hold the rods level (29.4 and 9.8 N m): the plan swings. Check: the work of the motors is the energy of standing, 6 m g l, to
order 4.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.control.scenes.acrobot import worked
from dalembert.lagrangian import Lagrangian

T, G, MOST = 3.0, 9.81, ((-10.0, -6.0), (10.0, 6.0))


def formula(q: Any, v: Any) -> Any:
    """Kinetic less potential energy."""
    both, rate = q[0] + q[1], v[0] + v[1]
    kinetic = v[0] ** 2 + 0.5 * rate**2 + v[0] * rate * ca.cos(q[1])
    return kinetic + G * (2.0 * ca.cos(q[0]) + ca.cos(both))


def build(N: int = 80, **more: Any) -> Any:
    """From hanging to standing."""
    pendulum = Lagrangian(2, formula, name="double pendulum", names=("shoulder", "elbow"))
    given = {"bounds": {"u": MOST}, "stepper": "galerkin4"}
    return dmoc(pendulum, N, [0.0, 0.0], [np.pi, 0.0], h=T / N, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """Work beside energy; motors within their limits."""
    work, gained = worked(solution), 6.0 * G
    least, most = np.array(MOST)
    over = float(np.maximum(least - solution.inputs, solution.inputs - most).max())
    return [
        Finding("work of the motors, J", work, f"{gained:.2f} within 0.1 %", abs(work - gained) < 1e-3 * gained),
        Finding("torque over its limit, N m", over, "<= 1e-6", over <= 1e-6),
    ]


register(PlanScene("double-pendulum", "swing-up of a double pendulum with weak motors, by polynomials of order 4", build, check))
