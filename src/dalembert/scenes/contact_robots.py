"""Robots that stand on their feet by position motors, PD control within the step: a quadruped built here, a humanoid from an MJCF file.

Both need nothing beside the package. Robots of other packages (Solo, ANYmal) stand in tests/contact/test_robots.py: load the URDF with a
floating base, add a floor, motors and a start as here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dalembert.importers import load_model
from dalembert.model import Box, Capsule, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_machines import body, gaps
from dalembert.scenes.contact_piles import GRAVITY, STEPPER, UPRIGHT, H, about, ground, last_motion, unsolved

HUMANOID = Path(__file__).with_name("humanoid.xml")


def weight(traj: Any) -> Finding:
    """What the floor carries at the end against the weight."""
    lifted = float(traj.contacts.of(-1)[:, traj.contacts.columns.index("jz")].sum() / traj.h)
    return Finding("error of the force on the floor, % of the weight", 100.0 * abs(lifted / (traj.model.total_mass * GRAVITY) - 1.0), 0.1)


# quadruped ---------------------------------------------------------------------------------------------------------------------------

THIGH, SHANK, FOOT = 0.22, 0.21, 0.028  # m: lengths, radius of the ball below
POSE = {"roll": 0.0, "pitch": 0.6, "knee": -1.2}
LEGS = [(f"{end} {side}", x, y) for end, x in (("front", 0.2), ("hind", -0.2)) for side, y in (("left", 0.12), ("right", -0.12))]


def quadruped(name: str = "quadruped") -> Model:
    """A trunk of 9 kg on four legs of three hinges, straight in the reference configuration; motors kp 100 N m, kv 2 N m s, 40 N m."""
    m, z = ground(name, 0.8), THIGH + SHANK + FOOT
    trunk = Box((0.48, 0.18, 0.1))
    m.add_body("trunk", 9.0, trunk.inertia(9.0), pose=((0, 0, z), UPRIGHT), shapes=(trunk,))
    for leg, x, y in LEGS:
        side = np.sign(y)
        out = y + 0.09 * side
        hip, thigh, shank = (
            Capsule(0.03, 0.06, quaternion=about(0, 0.5 * np.pi)),
            Capsule(0.025, THIGH - 0.05),
            Capsule(0.018, SHANK - 0.03),
        )
        foot = Sphere(FOOT, position=(0, 0, -0.5 * SHANK), friction=0.8)
        m.add_body(f"{leg} hip", 0.6, hip.inertia(0.6)[[0, 2, 1]], pose=((x, 0.5 * (y + out), z), UPRIGHT), shapes=(hip,))
        m.add_body(f"{leg} thigh", 0.8, thigh.inertia(0.8), pose=((x, out, z - 0.5 * THIGH), UPRIGHT), shapes=(thigh,))
        m.add_body(f"{leg} shank", 0.3, shank.inertia(0.3), pose=((x, out, z - THIGH - 0.5 * SHANK), UPRIGHT), shapes=(shank, foot))
        m.add_joint(f"{leg} roll", "revolute", "trunk", f"{leg} hip", (x, y, z), (1, 0, 0), limits=(-0.8, 0.8), damping=0.2)
        m.add_joint(f"{leg} pitch", "revolute", f"{leg} hip", f"{leg} thigh", (x, out, z), (0, 1, 0), limits=(-1.6, 1.6), damping=0.2)
        knee = (x, out, z - THIGH)
        m.add_joint(f"{leg} knee", "revolute", f"{leg} thigh", f"{leg} shank", knee, (0, 1, 0), limits=(-2.6, 0.0), damping=0.2)
        m.exclude("trunk", f"{leg} thigh")
        for joint in POSE:
            m.add_motor(f"{leg} {joint}", f"{leg} {joint}", "position", kp=100.0, kv=2.0, limit=40.0)
    return m


def crouch() -> dict[str, Any]:
    """Knees bent, feet on the floor."""
    height = THIGH * np.cos(POSE["pitch"]) + SHANK * np.cos(POSE["pitch"] + POSE["knee"]) + FOOT
    return {"trunk": (0, 0, height, *UPRIGHT), **hold(0.0, None, None)}


def hold(t: float, q: Any, v: Any) -> dict[str, float]:
    """Control: the angles of the pose."""
    return {f"{leg} {joint}": angle for leg, _, _ in LEGS for joint, angle in POSE.items()}


def _stands_on_four(traj: Any) -> list[Finding]:
    feet = [
        body(traj, f"{leg} shank") - 0.5 * SHANK * traj.poses[:, [b.name for b in traj.model.bodies].index(f"{leg} shank"), :3, 2]
        for leg, _, _ in LEGS
    ]
    late = traj.t >= 0.5 * traj.t[-1]
    trunk = body(traj, "trunk")
    return [
        Finding("feet move in the second half, mm", 1e3 * max(float(np.ptp(x[late], axis=0).max()) for x in feet), 0.2),
        Finding("trunk sinks, mm", 1e3 * float(trunk[0, 2] - trunk[-1, 2]), 20.0),
        Finding("kinetic energy at the end, J per body", last_motion(traj), 1e-7),
        weight(traj),
        gaps(traj, 0.1),
        unsolved(traj),
    ]


register(
    Scene(
        name="quadruped",
        summary="a robot on four legs stands on bent knees by position motors",
        build=quadruped,
        q0=crouch(),
        control=hold,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=_stands_on_four,
    )
)

# humanoid ----------------------------------------------------------------------------------------------------------------------------


def humanoid(name: str = "humanoid") -> Model:
    """Sixteen hinges and 62 kg, read from the MJCF file beside this one, its position motors and their gains with it."""
    m = load_model(HUMANOID)
    m.name = name
    return m


def upright(t: float, q: Any, v: Any) -> dict[str, float]:
    """Control: all joints at their zero."""
    legs = ("hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll", "shoulder", "elbow")
    return {"waist": 0.0, "neck": 0.0, **{f"{side}_{joint}": 0.0 for side in ("left", "right") for joint in legs}}


def _stands_on_two(traj: Any) -> list[Finding]:
    head, foot = body(traj, "head"), np.concatenate([body(traj, f"{side}_foot") for side in ("left", "right")], axis=1)
    late = traj.t >= 0.5 * traj.t[-1]
    return [
        Finding("head sinks, mm", 1e3 * float(head[0, 2] - head[-1, 2]), 5.0),
        Finding("5 mm less the sway of the head", 5.0 - 1e3 * float(np.ptp(head[:, 0])), 0.0),
        Finding("feet move in the second half, mm", 1e3 * float(np.ptp(foot[late], axis=0).max()), 0.5),
        Finding("kinetic energy at the end, J per body", last_motion(traj), 1e-5),
        weight(traj),
        unsolved(traj),
    ]


register(
    Scene(
        name="humanoid",
        summary="a humanoid from an MJCF file is pushed, sways on its flat feet, and stands, by position motors",
        build=humanoid,
        v0={"root": (0, 0, 0, 0.2, 0.1, 0)},
        control=upright,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=_stands_on_two,
    )
)
