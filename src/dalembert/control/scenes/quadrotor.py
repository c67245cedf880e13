"""A quadrotor flips: from hovering over its back to hovering at the same place, in 1 s with the least effort, on SE(3).

Four rotors push along the z axis of the body, 0 <= u <= 6 N each; the input matrix holds their levers and their drag. The attitude of the
goal is that of the start, so the plan is told to turn once on the way, about x; what is found turns about the diagonal between the
arms. Check: a whole turn; the rotors give, in space, the impulse m g T that gravity takes, to the order of the method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Box, Cylinder, Model
from dalembert.model.rotation import matrix

MASS, ARM, DRAG, MOST, T, G = 0.6, 0.17, 0.02, 6.0, 1.0, 9.81  # kg, m, N m per N, N, s, m/s^2
ROTORS = ((ARM, 0.0, 1.0), (0.0, ARM, -1.0), (-ARM, 0.0, 1.0), (0.0, -ARM, -1.0))  # x, y, sense of its drag


def model() -> Model:
    """A free body."""
    m = Model("quadrotor", gravity=(0, 0, -G))
    discs = [Cylinder(0.08, 0.01, position=(x, y, 0.02), collide=False) for x, y, _ in ROTORS]
    arms = [Box((2 * ARM, 0.02, 0.02), collide=False), Box((0.02, 2 * ARM, 0.02), collide=False)]
    m.add_body("frame", MASS, (0.004, 0.004, 0.007), shapes=(*arms, *discs))
    return m


def levers() -> Any:
    """B (6, 4): torque and force on the body of one newton of each rotor."""
    return np.array([[y, -x, DRAG * sense, 0.0, 0.0, 1.0] for x, y, sense in ROTORS]).T


def build(N: int = 100, **more: Any) -> Any:
    """One turn."""
    m = model()
    given = {"inputs": levers(), "bounds": {"u": (0.0, MOST)}}
    return dmoc(m, N, m.neutral(), {"q": m.neutral(), "turns": {"frame": (1.0, 0.0, 0.0)}}, h=T / N, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """The turn, the impulse, the bounds."""
    side = float(solution.q[-1, 3:] @ solution.q[0, 3:])
    R = np.array([matrix(q[3:] / np.linalg.norm(q[3:])) for q in solution.q])
    push = np.einsum("kij,kj->ki", 0.5 * (R[1:] + R[:-1]), solution.control[:, 3:]) * solution.h[:, None]
    miss = float(np.abs(push.sum(axis=0) - [0.0, 0.0, MASS * G * T]).max() / (MASS * G * T))
    over = float(np.maximum(-solution.inputs, solution.inputs - MOST).max())
    return [
        Finding("quaternions of the ends, product", side, "-1: a whole turn", abs(side + 1.0) < 1e-8),
        Finding("impulse of the rotors less that of gravity", miss, "<= 0.01 of it", miss <= 0.01),
        Finding("thrust over its limits, N", over, "<= 1e-6", over <= 1e-6),
    ]


register(PlanScene("quadrotor-flip", "a quadrotor turns over once and hovers again, on SE(3)", build, check))
