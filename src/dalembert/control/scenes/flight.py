"""A humanoid in the air turns its trunk by 0.2 rad in 0.7 s, all joints ending as they began: 22 degrees of freedom, no push from outside.

Limits of joints are those of the file; joints turn at 15 rad/s at most. Check: gravity leaves the momenta along x and y and about the
vertical as they are, to round-off; the centre of mass falls, and the angular momentum about it stays 0, to the order of the method.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dalembert.scenes
from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.control.scenes.falling_cat import afloat
from dalembert.importers import load_model

T, TURN, FAST = 0.7, 0.2, 15.0  # s, rad, rad/s


def build(N: int = 40, **more: Any) -> Any:
    """About the axis from side to side."""
    m = load_model(Path(dalembert.scenes.__file__).parent / "humanoid.xml")
    q0, root, slices = m.neutral(), m.joints[0], m.q_slices()
    others = [joint for joint in m.joints if joint.name != root.name and joint.coordinates.nv]
    goal = {
        "q": {joint.name: q0[slices[joint.name]] for joint in others},
        "v": {joint.name: np.zeros(joint.coordinates.nv) for joint in others},
        "poses": {root.child: (None, (np.cos(0.5 * TURN), 0.0, np.sin(0.5 * TURN), 0.0))},
    }
    names = [joint.name for joint in others]
    given = {"inputs": names, "ignore": ("joint friction",), "bounds": {"v": dict.fromkeys(names, FAST)}}
    return dmoc(m, N, q0, goal, h=T / N, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """Conservation; the joints are where they were."""
    machine = solution.problem.machine
    off = float(np.abs(solution.q[-1, 7:] - solution.q[0, 7:]).max())
    R = machine.system.poses(solution.q[-1])[0][:3, :3]
    angle = float(np.arccos(np.clip(0.5 * (np.trace(R) - 1.0), -1.0, 1.0)))
    momenta = np.array([machine.system.momentum(q, v)[2:5] for q, v in zip(solution.q, solution.v, strict=True)])
    kept = float(np.abs(momenta).max() / np.abs(solution.p).max())
    return [
        *afloat(solution, 1e-3),
        Finding("momenta along x, y and about z, of the largest", kept, "<= 1e-9", kept <= 1e-9),
        Finding("joints beside their start, rad", off, "<= 1e-8", off <= 1e-8),
        Finding("turn of the trunk, rad", angle, f"{TURN} to 1e-6", abs(angle - TURN) < 1e-6),
    ]


register(PlanScene("humanoid-in-flight", "a humanoid turns in the air by moving its limbs", build, check))
