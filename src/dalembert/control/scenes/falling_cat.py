"""A falling cat turns over without a push: two halves on a ball joint, no angular momentum, half a turn about the long axis in 0.6 s.

Seen from a frame that falls with the cat nothing acts from outside: angular momentum stays 0, and the cat turns by the order in which it
bends and twists (Kane and Scher 1969; Montgomery 1993). The straight guess, a turn as one piece, fails: it bends nothing, and no
direction of the search leads away from that. Smooth random waves do.

Check: no angular momentum at any node, to round-off; the centre of mass stays, to the order of the method (5 mm of 0.4 m); both halves end
turned, with a straight spine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.conserved import about_centre
from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Capsule, Model

T, BEND = 0.6, np.radians(120.0)  # s, rad
OVER = np.diag([1.0, -1.0, -1.0])


def model() -> Model:
    """Two halves of 2 kg along x."""
    m = Model("cat", gravity=(0, 0, 0))
    long = (Capsule(0.07, 0.16, quaternion=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), collide=False),)
    for name, x in (("front", 0.14), ("rear", -0.14)):
        m.add_body(name, 2.0, (0.005, 0.013, 0.013), pose=((x, 0, 0), (1, 0, 0, 0)), shapes=long)
    m.add_joint("spine", "spherical", "front", "rear", (0, 0, 0))
    return m


def build(N: int = 100, **more: Any) -> Any:
    """The spine is driven, and bends by 120 degrees at most."""

    def bend(q: Any, v: Any, u: Any) -> Any:
        return np.cos(BEND) - (1.0 - 2.0 * (q[9] ** 2 + q[10] ** 2))

    m = model()
    goal = {"q": {"spine": (1, 0, 0, 0)}, "v": {"spine": (0, 0, 0)}, "poses": {"front": (None, (0, 1, 0, 0))}}
    return dmoc(m, N, m.neutral(), goal, h=T / N, **{"guess": "random", "seed": 1, "path": {"bend of the spine": bend}, **more})


def check(solution: Any) -> list[Finding]:
    """Conservation, and the turn."""
    return [*afloat(solution, 1e-9), Finding("halves off the turn", _off(solution), "<= 1e-7", _off(solution) <= 1e-7)]


def afloat(solution: Any, tolerance: float) -> list[Finding]:
    """Angular momentum about the centre of mass, and its fall, of a machine that nothing outside drives and that starts at rest."""
    machine = solution.problem.machine
    found = [about_centre(machine, q, v) for q, v in zip(solution.q, solution.v, strict=True)]
    c, L = np.array([x for x, _, _ in found]), np.array([x for _, _, x in found])
    most = float(np.abs(L).max() / np.abs(solution.p).max())
    fall = c[0] + 0.5 * np.outer(solution.t**2, machine.reduced.gravity)
    beside = float(np.abs(c - fall).max())
    return [
        Finding("angular momentum, of the largest of a joint", most, f"<= {tolerance:g}", most <= tolerance),
        Finding("centre of mass beside its fall, m", beside, "<= 5e-3", beside <= 5e-3),
    ]


def _off(solution: Any) -> float:
    """Largest entry of R - R_wanted at the end."""
    poses = solution.problem.machine.system.poses(solution.q[-1])
    return max(float(np.abs(T_[:3, :3] - OVER).max()) for T_ in poses)


register(PlanScene("falling-cat", "a cat turns over in the air without angular momentum", build, check, ("kane1969", "montgomery1993")))
