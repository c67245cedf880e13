"""A four-bar linkage driven by one of its feet, from upright to tilted, rest to rest: a plan with a closed loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.scenes import find

TILT = 0.8  # rad


def build(N: int = 60, **more: Any) -> Any:
    """The first foot is driven."""
    model = find("four-bar").build()
    start, _ = model.assemble(model.neutral())
    wanted = np.array(start)
    wanted[0] += TILT
    goal, _ = model.assemble(wanted, fixed=("foot0",))
    return dmoc(model, N, start, goal, h=1.2 / N, **{"inputs": ["foot0"], **more})


def check(solution: Any) -> list[Finding]:
    """The loop is closed at every node; the parallelogram stays one."""
    machine = solution.problem.machine
    gap = max(float(np.abs(np.array(machine.rows.residual(q))).max()) for q in solution.q)
    side = float(np.abs(solution.q[:, 0] - solution.q[:, 1]).max())
    return [Finding("loop open by, m", gap, "<= 1e-9", gap <= 1e-9), Finding("parallel to, rad", side, "<= 1e-8", side <= 1e-8)]


register(PlanScene("four-bar", "a driven linkage from upright to tilted, with its loop closed", build, check))
