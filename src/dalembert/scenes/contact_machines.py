"""Machines with joints and contacts: a bridge, a car, a crane, a gripper, a belt, a ragdoll. h = 1/60 s.

A taut chain holds its links by a force T whose direction a step takes from its beginning: light links between heavy bodies need hinges with
damping of the order T l h (l the length of a link), or steps that resolve how they swing. Bridge and rope have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.model import Box, Capsule, Cylinder, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_piles import GRAVITY, STEPPER, UPRIGHT, H, about, add_box, ground, last_motion, penetration, unsolved


def gaps(traj: Any, most: float = 1.0) -> Finding:
    """How far joints are open."""
    return Finding("joints open by, mm", float(1e3 * np.abs(traj.constraint).max()), most)


def body(traj: Any, name: str) -> Any:
    """Positions (N + 1, 3) of the frame of a body."""
    return traj.poses[:, [b.name for b in traj.model.bodies].index(name), :3, 3]


# bridge ------------------------------------------------------------------------------------------------------------------------------


def chain_bridge(links: int = 100, load: float = 1000.0, name: str = "chain-bridge") -> Model:
    """Planks of 1 kg and about 0.2 m, hinged to each other and at both ends to the world; a load lies on them."""
    m = Model(name)
    x = np.linspace(-10.0, 10.0, links + 1)
    z = 3.0 * (x / 10.0) ** 2 - 3.0
    for k in range(links):
        along = np.array([x[k + 1] - x[k], 0.0, z[k + 1] - z[k]])
        length = float(np.linalg.norm(along))
        size, middle = (length - 0.01, 1.0, 0.04), (0.5 * (x[k] + x[k + 1]), 0.0, 0.5 * (z[k] + z[k + 1]))
        add_box(m, f"plank{k + 1}", size, 1.0, middle, about(1, -float(np.arctan2(along[2], along[0]))), 0.6)
        m.add_joint(f"hinge{k + 1}", "revolute", f"plank{k}" if k else "world", f"plank{k + 1}", (x[k], 0, z[k]), (0, 1, 0), damping=250.0)
    m.add_joint(f"hinge{links + 1}", "revolute", "world", f"plank{links}", (x[-1], 0, z[-1]), (0, 1, 0))
    add_box(m, "load", (0.6, 0.8, 0.6), load, (0, 0, z[links // 2] + 0.02 + 0.3 + 0.01), friction=0.6)
    return m


def _carries(traj: Any) -> list[Finding]:
    fell = body(traj, "load")[:, 2]
    return [gaps(traj, 2.0), Finding("way of the load downwards, m", float(fell[0] - fell[-1]), 1.5), unsolved(traj)]


register(
    Scene(
        name="chain-bridge",
        summary="a bridge of a hundred hinged planks of 1 kg carries 1000 kg",
        build=chain_bridge,
        h=H,
        t_end=5.0,
        stepper=STEPPER,
        check=_carries,
    )
)

# car ---------------------------------------------------------------------------------------------------------------------------------

CAR = {"chassis": 1000.0, "hub": 10.0, "wheel": 20.0, "radius": 0.32, "stiffness": 4e4, "damping": 4e3, "brake": 200.0, "speed": 10.0}


def vehicle(name: str = "vehicle") -> Model:
    """A car: four wheels on hinges, each hub on a vertical slide with spring and damper. Brakes: motors of up to 200 N m."""
    m, c = ground(name, 0.9), CAR
    r = c["radius"]
    add_box(m, "chassis", (3.6, 1.5, 0.5), c["chassis"], (0, 0, 0.65))
    tyre = Cylinder(r, 0.2, quaternion=about(0, 0.5 * np.pi), friction=0.9)
    wheel = np.array(Cylinder(r, 0.2).inertia(c["wheel"]))[[0, 2, 1]]
    for end, x in (("front", 1.3), ("rear", -1.3)):
        for side, y in (("left", 0.85), ("right", -0.85)):
            at = f"{end} {side}"
            place = (x, y, r)
            m.add_body(f"{at} hub", c["hub"], (0.1, 0.1, 0.1), pose=(place, UPRIGHT))
            m.add_joint(
                f"{at} strut", "prismatic", "chassis", f"{at} hub", place, (0, 0, 1), stiffness=c["stiffness"], damping=c["damping"]
            )
            m.add_body(f"{at} wheel", c["wheel"], wheel, pose=(place, UPRIGHT), shapes=(tyre,))
            m.add_joint(f"{at} axle", "revolute", f"{at} hub", f"{at} wheel", place, (0, 1, 0))
            m.add_motor(f"{at} brake", f"{at} axle", "velocity", limit=c["brake"], kv=1e4)
            m.exclude("chassis", f"{at} wheel")
    return m


def brake(t: float, q: Any, v: Any) -> dict[str, float]:
    """Control: all wheels shall stand."""
    return {f"{end} {side} brake": 0.0 for end in ("front", "rear") for side in ("left", "right")}


def _brakes(traj: Any) -> list[Finding]:
    """Deceleration 4 T/r / (m + 4 I/r^2) and sag m g/(4 k)."""
    c = CAR
    mass = c["chassis"] + 4.0 * (c["hub"] + c["wheel"])
    a = 4.0 * c["brake"] / c["radius"] / (mass + 4.0 * 0.5 * c["wheel"])
    x = body(traj, "chassis")
    speed = np.gradient(x[:, 0], traj.t)
    some = (traj.t > 0.5) & (traj.t < 2.5)
    found = -np.polyfit(traj.t[some], speed[some], 1)[0]
    sag = c["chassis"] * GRAVITY / (4.0 * c["stiffness"])
    return [
        Finding("error of the deceleration, %", 100.0 * abs(found / a - 1.0), 2.0),
        Finding("error of the sag of the springs at rest, mm", 1e3 * abs(x[0, 2] - x[-1, 2] - sag), 1.0),
        Finding("speed at the end, mm/s", 1e3 * float(abs(speed[-1])), 1.0),
        Finding("drift to the side, mm", 1e3 * float(np.abs(x[:, 1]).max()), 1.0),
        gaps(traj),
        unsolved(traj),
    ]


_ROLL = {f"{end} {side} axle": CAR["speed"] / CAR["radius"] for end in ("front", "rear") for side in ("left", "right")}
register(
    Scene(
        name="vehicle",
        summary="a car on springs brakes from 10 m/s to a halt",
        build=vehicle,
        v0={"chassis": (0, 0, 0, CAR["speed"], 0, 0), **_ROLL},
        control=brake,
        h=H,
        t_end=8.0,
        stepper=STEPPER,
        check=_brakes,
    )
)

# crane -------------------------------------------------------------------------------------------------------------------------------


def _slew(t: Any) -> Any:
    """A quarter turn within 6 s, smooth at both ends (a cosine in the middle of a symbol or a number)."""
    s = 0.5 * (1.0 - np.cos(np.pi * np.fmin(t / 6.0, 1.0)))
    return 0.5 * np.pi * s


def crane(links: int = 10, load: float = 500.0, name: str = "crane") -> Model:
    """A jib that turns by a drive, a rope of links of 1 kg on ball joints, and a load above the floor."""
    m = ground(name, 0.6)
    m.add_shape("world", Box((0.4, 0.4, 6.0), position=(0, 0, 3.0)))
    add_box(m, "jib", (6.0, 0.3, 0.3), 400.0, (2.5, 0, 6.2))
    m.add_joint("slew", "revolute", "world", "jib", (0, 0, 6.0), (0, 0, 1), drive=_slew)
    length, top = 0.4, 6.05
    rope = Capsule(0.02, length - 0.05, collide=False)
    for k in range(links):
        z = top - length * k
        m.add_body(f"link{k + 1}", 1.0, (0.015, 0.015, 0.001), pose=((5.0, 0, z - 0.5 * length), UPRIGHT), shapes=(rope,))
        m.add_joint(f"joint{k + 1}", "spherical", f"link{k}" if k else "jib", f"link{k + 1}", (5.0, 0, z), damping=30.0)
    bottom = top - length * links
    add_box(m, "load", (0.8, 0.8, 0.8), load, (5.0, 0, bottom - 0.4), friction=0.6)
    m.add_joint("hook", "spherical", f"link{links}", "load", (5.0, 0, bottom), damping=30.0)
    return m


def _slews(traj: Any) -> list[Finding]:
    x = body(traj, "load")
    return [
        Finding("swing of the load about its place at the end, m", float(np.hypot(x[-1, 0], x[-1, 1] - 5.0)), 1.5),
        Finding("stretch of the rope, mm", 1e3 * float(np.abs(traj.constraint).max()), 1.0),
        unsolved(traj),
    ]


register(
    Scene(
        name="crane",
        summary="a crane turns by a quarter with 500 kg on a rope of 1 kg links",
        build=crane,
        h=H,
        t_end=10.0,
        stepper=STEPPER,
        check=_slews,
    )
)

# gripper -----------------------------------------------------------------------------------------------------------------------------


def gripper(force: float = 20.0, name: str = "gripper") -> Model:
    """Two fingers on slides press a box of 1 kg (friction 0.5) and lift it by 0.3 m. It holds where 2 mu F > m (g + a)."""
    m = ground(name, 0.5)

    def lift(t: Any) -> Any:
        s = np.fmin(np.fmax(t - 0.5, 0.0), 1.0)
        return 0.3 * s * s * (3.0 - 2.0 * s)

    add_box(m, "hand", (0.5, 0.1, 0.06), 2.0, (0, 0, 0.5))
    m.add_joint("lift", "prismatic", "world", "hand", (0, 0, 0.5), (0, 0, 1), drive=lift)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        add_box(m, side, (0.03, 0.1, 0.3), 0.5, (sign * 0.1, 0, 0.32), friction=0.5)
        m.add_joint(f"{side} slide", "prismatic", "hand", side, (sign * 0.1, 0, 0.4), (-sign, 0, 0))
        m.add_motor(f"{side} grip", f"{side} slide", "position", limit=force, kp=1e4, kv=1e2)
    add_box(m, "box", (0.3, 0.2, 0.3), 1.0, (0, 0, 0.15))
    return m


_OPEN = {"left slide": -0.1, "right slide": -0.1}


def grip(t: float, q: Any, v: Any) -> dict[str, float]:
    """Control: close the fingers, towards places within the box."""
    return {"left grip": 0.0, "right grip": 0.0}


def _holds(traj: Any) -> list[Finding]:
    box, hand = body(traj, "box"), body(traj, "hand")
    held = traj.t > 0.5
    slip = 1e3 * np.ptp((box - hand)[held, 2])
    return [
        Finding("box slips in the hand, mm", float(slip), 0.1),
        Finding("box is not where it should be, mm", 1e3 * abs(float(box[-1, 2] - box[0, 2]) - 0.3), 1.0),
        unsolved(traj),
    ]


register(
    Scene(
        name="gripper",
        summary="two fingers hold a box by friction and lift it",
        build=gripper,
        q0=_OPEN,
        control=grip,
        h=H,
        t_end=5.0,
        stepper=STEPPER,
        check=_holds,
    )
)

# belt --------------------------------------------------------------------------------------------------------------------------------


def belt(speed: float = 1.0, friction: float = 0.3, name: str = "belt") -> Model:
    """A belt of the world whose surface moves along x, and a box that is put on it at rest."""
    m = Model(name)
    m.add_shape("world", Box((4.0, 0.5, 0.1), position=(1.5, 0, -0.05), friction=friction))
    add_box(m, "box", (0.2, 0.2, 0.1), 1.0, (0, 0, 0.05), friction=friction)
    m.add_contact("world", "box", friction=friction, surface_velocity=(speed, 0, 0))
    return m


def _is_carried(traj: Any) -> list[Finding]:
    """Accelerated with mu g to the speed v of the belt, the box comes v^2/(2 mu g) less far than the belt."""
    x = body(traj, "box")[:, 0]
    way = 1.0 / (2.0 * 0.3 * GRAVITY)
    return [
        Finding(
            "error of the way that the box slides, m: v h/2 is lost to the step", abs(float(traj.t[-1] - x[-1] + x[0]) - way), 1.0 * traj.h
        ),
        Finding("creep of the box that rides, mm in 1 s", 1e3 * abs(float(x[-1] - x[-61]) - 1.0), 1e-3),
        unsolved(traj),
    ]


register(
    Scene(
        name="belt",
        summary="a box is put on a belt of 1 m/s, friction 0.3: it slides until it rides",
        build=belt,
        h=H,
        t_end=3.0,
        stepper=STEPPER,
        check=_is_carried,
    )
)

# ragdoll -----------------------------------------------------------------------------------------------------------------------------


def ragdoll(height: float = 0.6, name: str = "ragdoll") -> Model:
    """A doll of 14 capsules, a box and a ball; hinges at elbows and knees, ball joints elsewhere, with limits. Feet at `height`."""
    m, z = ground(name, 0.6), height + 0.95

    def limb(part: str, mass: float, top: Any, bottom: Any, radius: float) -> None:
        a, b = np.array(top, dtype=float), np.array(bottom, dtype=float)
        length = float(np.linalg.norm(b - a))
        along = (b - a) / length
        turn = np.cross((0.0, 0.0, 1.0), along)
        angle = float(np.arctan2(np.linalg.norm(turn), along[2]))
        axis = turn / np.linalg.norm(turn) if np.linalg.norm(turn) > 1e-9 else np.array([1.0, 0.0, 0.0])
        shape = Capsule(radius, length - 1.2 * radius, friction=0.6)
        q = (float(np.cos(0.5 * angle)), *(np.sin(0.5 * angle) * axis).tolist())
        m.add_body(part, mass, shape.inertia(mass), pose=(0.5 * (a + b), q), shapes=(shape,))

    add_box(m, "pelvis", (0.18, 0.3, 0.16), 10.0, (0, 0, z), friction=0.6)
    add_box(m, "chest", (0.2, 0.34, 0.36), 20.0, (0, 0, z + 0.32), friction=0.6)
    m.add_joint("spine", "spherical", "pelvis", "chest", (0, 0, z + 0.1), damping=5.0, limits=(0, 0.6))
    skull = Sphere(0.11, friction=0.6)
    m.add_body("head", 4.5, skull.inertia(4.5), pose=((0, 0, z + 0.66), UPRIGHT), shapes=(skull,))
    m.add_joint("neck", "spherical", "chest", "head", (0, 0, z + 0.52), damping=1.0, limits=(0, 0.8))
    for side, y in (("left", 1.0), ("right", -1.0)):
        shoulder, elbow, wrist = (0, 0.2 * y, z + 0.44), (0, 0.46 * y, z + 0.36), (0.1, 0.66 * y, z + 0.24)
        hip, knee, ankle = (0, 0.1 * y, z - 0.08), (0.03, 0.11 * y, z - 0.5), (0, 0.12 * y, z - 0.9)
        limb(f"{side} upper arm", 2.0, shoulder, elbow, 0.05)
        limb(f"{side} forearm", 1.5, elbow, wrist, 0.04)
        limb(f"{side} thigh", 7.0, hip, knee, 0.07)
        limb(f"{side} shin", 4.0, knee, ankle, 0.055)
        m.add_joint(f"{side} shoulder", "spherical", "chest", f"{side} upper arm", shoulder, damping=1.0, limits=(0, 1.6))
        m.add_joint(f"{side} elbow", "revolute", f"{side} upper arm", f"{side} forearm", elbow, (0, 0, -y), damping=0.5, limits=(-0.3, 2.0))
        m.add_joint(f"{side} hip", "spherical", "pelvis", f"{side} thigh", hip, damping=2.0, limits=(0, 1.3))
        m.add_joint(f"{side} knee", "revolute", f"{side} thigh", f"{side} shin", knee, (0, 1, 0), damping=1.0, limits=(-0.05, 2.2))
        m.exclude("chest", f"{side} thigh")
    m.exclude("left thigh", "right thigh")
    return m


def _lies(traj: Any) -> list[Finding]:
    shifts = [label.endswith("shift") for _, label in traj.model.constraint_labels]
    return [
        Finding("joints open by, mm", float(1e3 * np.abs(traj.constraint[:, shifts]).max()), 20.0),
        Finding("kinetic energy at the end, J per body", last_motion(traj), 1e-3),
        Finding("penetration after 3 s, mm", penetration(traj, 3.0), 1.0),
        Finding("height of the head at the end, m", float(body(traj, "head")[-1, 2]), 0.6),
        unsolved(traj, most=0.01 * traj.solver["unsolved"].size),
    ]


register(
    Scene(
        name="ragdoll",
        summary="a doll of eleven bodies with limits at its joints falls, and lies still",
        build=ragdoll,
        v0={"pelvis": (0.4, 1.2, 0.2, 0.8, 0.1, 0)},
        h=H,
        t_end=8.0,
        stepper=STEPPER,
        chaotic=True,
        check=_lies,
    )
)
