"""A hopper with one leg jumps half a metre: it stands, flies, lands and stands again, with its foot on the ground by friction.

Torso of 5 kg in the vertical plane, a hip that turns, a leg that slides. The contacts of the foot are planned: held from the start, left,
met again at a node, held to the end. How long it stands and flies is found; it flies for 0.48 s at least.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.control.contacts import Touch
from dalembert.control.dmocc import dmocc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Box, Capsule, Model, Plane

LEG, FAR, T = 0.5, 0.5, 1.6
BENT = 0.1  # m, by which the leg is shorter at both ends
FOOT = (0, 0, -LEG)
FRICTION = 0.8


def model() -> Model:
    """x and z of the hip, angle of the torso, hip, length of the leg beyond 0.5 m."""
    m = Model("hopper", gravity=(0, 0, -9.81))
    m.add_shape("world", Plane())
    m.add_body("torso", 5.0, (0.05, 0.1, 0.08), com=(0, 0, 0.1), shapes=[Box((0.3, 0.2, 0.15), position=(0, 0, 0.1), collide=False)])
    m.add_body("thigh", 0.5, (0.003, 0.003, 0.0005), com=(0, 0, -0.12), shapes=[Capsule(0.03, 0.2, position=(0, 0, -0.12), collide=False)])
    m.add_body("foot", 0.3, (0.003, 0.003, 0.0003), com=(0, 0, -0.35), shapes=[Capsule(0.02, 0.28, position=(0, 0, -0.34), collide=False)])
    m.add_joint("plane", "planar", "world", "torso", axis=(0, -1, 0), axis2=(1, 0, 0))
    m.add_joint("hip", "revolute", "torso", "thigh", axis=(0, -1, 0), limits=(-1.2, 1.2), max_velocity=8.0)
    m.add_joint("leg", "prismatic", "thigh", "foot", axis=(0, 0, -1), limits=(-0.25, 0.1), max_velocity=3.0)
    m.add_motor("hip motor", "hip", limit=40.0)
    m.add_motor("leg motor", "leg", limit=400.0)
    return m


def build(N: int = 40, **more: Any) -> Any:
    """Stands for a third of the steps, flies, stands again; a force of 1 kN for 1 s costs 1000."""
    leave, land = round(0.35 * N), round(0.65 * N)
    contacts = [Touch("foot", k, point=FOOT, hold=n, friction=FRICTION) for k, n in ((0, leave), (land, N - land))]
    start, goal = ([x, LEG - BENT, 0.0, 0.0, -BENT] for x in (0.0, FAR))
    given = {
        "contacts": contacts,
        "h": T / N,
        "free_time": (0.8, 2.0),
        "sigma": [(0.3, 3.0), (1.0, 3.0), (0.3, 3.0)],
        "cost": {"effort": 1e-3},
    }
    return dmocc(model(), N, start, goal, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """It flies on a parabola, and its foot pushes within the cone."""
    held = solution.problem.contacts
    fly = slice(held[0].last, held[1].first + 1)
    model = solution.problem.machine.reduced
    poses = model.poses(solution.q[fly])
    centre = sum(b.mass * (poses[:, i, :3, :3] @ b.com + poses[:, i, :3, 3]) for i, b in enumerate(model.bodies)) / model.total_mass
    t = solution.t[fly] - solution.t[fly][0]
    fall = np.asarray(centre)[:, 2] + 0.5 * 9.81 * t**2
    bent = float(np.abs(fall - np.polyval(np.polyfit(t, fall, 1), t)).max())
    evidence = solution.verify(true_motion=False).contacts
    return [
        Finding("way, m", float(solution.q[-1, 0]), f"{FAR}", abs(solution.q[-1, 0] - FAR) < 1e-8),
        Finding("centre of mass in flight beside a parabola, m", bent, "<= 1e-3", bent <= 1e-3),
        Finding("slip of the foot, m", evidence.slip, "<= 1e-8", evidence.slip <= 1e-8),
        Finding("beyond the cone of friction, N s", evidence.cone, "<= 1e-8", evidence.cone <= 1e-8),
    ]


register(PlanScene("hopper", "a hopper with one leg jumps half a metre, with planned stances", build, check))
