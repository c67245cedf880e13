"""Joints and paradoxes of Lacoursiere 2007 in body coordinates: shafts that are joined at an angle, a slider crank, Painleve's rod.

Shafts turn at a driven rate; angles of the second follow from the joint alone (14.30, Thm 14.4). The slider crank passes -90 degrees, where
its rows lose a rank (7.20). The rod slides with so much friction that accelerations need not exist (11.32); steps do.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Capsule, Cylinder, Damper, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_piles import STEPPER, H, about, ground, unsolved

# shafts ------------------------------------------------------------------------------------------------------------------------------

BEND, RATE = np.radians(35.0), 2.0


def shafts(kind: str, bend: float = BEND, rate: float = RATE, name: str = "shafts") -> Model:
    """A shaft along z that is turned at a given rate, and one that is bent from it about y, in bearings, joined at the origin.

    kind: "universal", with its first pin along y, normal to the plane of the shafts, or "homokinetic".
    """
    m = Model(name, gravity=(0, 0, 0))
    second = np.array([np.sin(bend), 0.0, np.cos(bend)])
    rod = Cylinder(0.03, 0.6, position=(0, 0, -0.3), collide=False)
    m.add_body("in", 1.0, (0.05, 0.05, 0.01), com=(0, 0, -0.3), shapes=(rod,))
    m.add_joint("driven", "revolute", "world", "in", (0, 0, 0), (0, 0, 1), velocity=rate)
    tilt = about(1, bend)
    rod = Cylinder(0.03, 0.6, position=(0, 0, 0.3), collide=False)
    m.add_body("out", 1.0, (0.05, 0.05, 0.01), com=(0, 0, 0.3), pose=((0, 0, 0), tilt), shapes=(rod,))
    m.add_joint("follower", "revolute", "world", "out", (0, 0, 0), second)
    if kind == "universal":
        m.add_loop("cross", kind, "in", "out", (0, 0, 0), (0, 1, 0), axis2=(-np.cos(bend), 0, np.sin(bend)))
    else:
        m.add_loop("ball", kind, "in", "out", (0, 0, 0), (0, 0, 1), turn=(tilt[0], 0.0, -tilt[2], 0.0))
    return m


def follows(angle: Array, bend: float = BEND) -> Array:
    """tan(b) = cos(bend) tan(a), continued over whole turns: angle of the second shaft behind a Hooke joint."""
    return np.unwrap(np.arctan2(np.cos(bend) * np.sin(angle), np.cos(angle)))


def _turns(traj: Any, kind: str) -> list[Finding]:
    """Errors of a step are of the size (h rate)^2: 1.1e-3 rad. The homokinetic row is linear in the angles: 600 times the tolerance."""
    a, b = traj.joint("driven").q[:, 0], traj.joint("follower").q[:, 0]
    ratio = traj.joint("follower").v[1:, 0] / traj.joint("driven").v[1:, 0]
    hooke, limit = kind == "universal", (RATE * H) ** 2 if kind == "universal" else 1e-6
    wanted, most, least = (follows(a), 1.0 / np.cos(BEND), np.cos(BEND)) if hooke else (a, 1.0, 1.0)
    return [
        Finding("error of the second angle, rad", float(np.abs(b - wanted).max()), limit),
        Finding("error of the largest ratio of rates", float(abs(ratio.max() - most)), 4.0 * limit),
        Finding("error of the smallest ratio of rates", float(abs(ratio.min() - least)), 4.0 * limit),
        Finding("turns less than three", 3.0 - float(a[-1] - a[0]) / (2.0 * np.pi), 0.0),
        unsolved(traj),
    ]


for _kind, _name, _words in (
    ("universal", "hooke-joint", "two shafts at 35 degrees behind a Hooke joint: the second turns unevenly, tan b = cos(35) tan a"),
    ("homokinetic", "homokinetic-joint", "two shafts at 35 degrees behind a homokinetic joint turn at one rate"),
):
    register(
        Scene(
            name=_name,
            summary=_words,
            build=partial(shafts, _kind, name=_name),
            v0={"driven": RATE, "follower": RATE * (np.cos(BEND) if _kind == "universal" else 1.0)},
            h=H,
            t_end=10.0,
            stepper=STEPPER,
            references=("lacoursiere2007",),
            check=partial(_turns, kind=_kind),
        )
    )

# slider crank ------------------------------------------------------------------------------------------------------------------------


def slider_crank(damping: float = 0.0, name: str = "slider-crank-of-bodies") -> Model:
    """Two bars of 1 m and 1 kg at 45 degrees, J = m l^2/12, g = 9.8 along -y; the end of the second slides along x.

    damping: drag of the plane motion of both bars, N s/m and N m s.
    """
    c = np.sqrt(0.5)
    m = Model(name, gravity=(0, -9.8, 0))
    bar = Capsule(0.02, 0.96, quaternion=about(1, 0.5 * np.pi), collide=False)
    m.add_body("one", 1.0, (0.05, 1 / 12, 1 / 12), pose=((c / 2, c / 2, 0), about(2, np.pi / 4)), shapes=(bar,))
    m.add_body("two", 1.0, (0.05, 1 / 12, 1 / 12), pose=((1.5 * c, c / 2, 0), about(2, -np.pi / 4)), shapes=(bar,))
    m.add_joint("ground", "revolute", "world", "one", axis=(0, 0, 1))
    m.add_joint("knee", "revolute", "one", "two", anchor=(c, c, 0), axis=(0, 0, 1))
    m.add_joint("slide", "slot", "world", "two", anchor=(2 * c, 0, 0), axis=(1, 0, 0))
    if damping > 0.0:
        for body in ("one", "two"):
            m.add_force(Damper(body, angular=damping, linear=damping))
    return m


def bars(traj: Any) -> Array:
    """Angles (N + 1, 2) of both bars from the x axis, continued."""
    R = traj.poses[:, :, :3, 0]
    return np.unwrap(np.arctan2(R[..., 1], R[..., 0]), axis=0)


def _passes(traj: Any) -> list[Finding]:
    """-90 degrees first at 0.88303 s, then every half period of 3.53211 s (energy integral); gaps are of the size (1 + 2 d) h^2 v^2/4."""
    f = bars(traj)
    k = np.flatnonzero(np.diff(np.sign(f[:, 0] + np.pi / 2)))
    exact = 0.88303 + 0.5 * 3.53211 * np.arange(len(k))
    return [
        Finding(
            "error of the times at -90 degrees, steps per passage",
            float((np.abs(traj.t[k] - exact) / traj.h / (1 + np.arange(len(k)))).max()),
            2.0,
        ),
        Finding("passages less than five", 5.0 - len(k), 0.0),
        Finding("sum of the angles, which is 0 on its branch, rad", float(np.abs(f.sum(axis=1)).max()), 2e-3),
        Finding("joints open by, mm", float(1e3 * np.abs(traj.constraint).max()), 9.0),
        unsolved(traj),
    ]


register(
    Scene(
        name="slider-crank-of-bodies",
        summary="a slider crank of equal bars swings through the positions where its joints lose a rank",
        build=slider_crank,
        h=1.0 / 120.0,
        t_end=9.0,
        stepper=STEPPER,
        references=("lacoursiere2007",),
        check=_passes,
    )
)

# Painleve ----------------------------------------------------------------------------------------------------------------------------

TIP = 0.01


class Rod(NamedTuple):
    """inertia over m l^2; start: speed of the centre along x (m/s), angle from the floor (rad), its rate."""

    inertia: float
    friction: float
    speed: float
    lean: float
    rate: float


RODS = {
    "painleve-rod": Rod(1.0 / 3.0, 5.0 / 3.0, 1.7, 5.0 * np.pi / 6.0, -2.0),
    "painleve-rod-light": Rod(1.0 / 32.0, 1.0, 2.0, 2.0 * np.pi / 3.0, 0.0),
}


def rod(case: Rod = RODS["painleve-rod"], name: str = "painleve-rod") -> Model:
    """A rod of half length 1 and 1 kg with balls of 1 cm at its tips, one of which is on the floor; g = 9.8."""
    inertia, friction = case.inertia, case.friction
    m = ground(name, friction)
    m.gravity = (0, 0, -9.8)
    tips = [Sphere(TIP, position=(x, 0, 0), friction=friction) for x in (1.0, -1.0)]
    line = Capsule(0.5 * TIP, 2.0, quaternion=about(1, 0.5 * np.pi), collide=False)
    m.add_body(
        "rod", 1.0, (0.1 * inertia, inertia, inertia), pose=((0, 0, np.sin(case.lean) + TIP), about(1, -case.lean)), shapes=(*tips, line)
    )
    return m


def thrown(case: Rod) -> tuple[float, ...]:
    """Rates of the rod, body axes: its centre moves with its speed along x, the tip below along the floor."""
    s, c = np.sin(case.lean), np.cos(case.lean)
    up = case.rate * c
    return 0.0, -case.rate, 0.0, float(case.speed * c + up * s), 0.0, float(up * c - case.speed * s)


def leaning(traj: Any) -> Array:
    """Angle of the rod from the floor, in [0, 2 pi)."""
    along = traj.poses[:, 0, :3, 0]
    return np.arctan2(along[:, 2], along[:, 0]) % (2.0 * np.pi)


def paradoxical(angle: Array, slip: Array, friction: float, a: float) -> Any:
    """Where S < 0 (11.32): sliding with speed `slip` of the tip that is down, no acceleration, or two, satisfy Coulomb's law."""
    return 1.0 + a * np.cos(angle) ** 2 + a * friction * np.sign(slip) * np.sin(angle) * np.cos(angle) < 0.0


def _is_solved(traj: Any, name: str) -> list[Finding]:
    angle, lowest = leaning(traj), traj.poses[:, 0, 2, 3] - TIP - np.abs(np.sin(leaning(traj)))
    case = RODS[name]
    steep = paradoxical(angle, np.ones(len(angle)), case.friction, 1.0 / case.inertia)
    across = np.abs(traj.poses[:, 0, 1, 3]).max()
    return [
        Finding("penetration of a tip, mm", float(-1e3 * lowest.min()), 0.1),
        Finding("leaves its plane by, mm", float(1e3 * across), 1e-3),
        Finding("lies at the end, rad", float(min(angle[-1] % np.pi, np.pi - angle[-1] % np.pi)), 1e-3),
        Finding("steps in the paradoxical range less than ten", 10.0 - int(steep.sum()), 0.0),
        Finding("energy that it gains, J", float((traj.energy - traj.energy[0]).max()), 1e-6),
        unsolved(traj),
    ]


for _name, _case in RODS.items():
    register(
        Scene(
            name=_name,
            summary=f"Painleve's rod, J = {_case.inertia:.3g} m l^2, friction {_case.friction:.3g}: steps exist where accelerations do not",
            build=partial(rod, _case, _name),
            v0={"rod": thrown(_case)},
            h=H,
            t_end=3.0,
            stepper=STEPPER,
            references=("lacoursiere2007",),
            check=partial(_is_solved, name=_name),
        )
    )
