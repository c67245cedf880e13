"""Tops and stones on their real surfaces: a top on a rounded tip, a rattleback, a tippe top. They roll, slide and turn by friction alone.

These motions live on what a step of order 1 loses, so h is small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.model import Cylinder, Ellipsoid, Model, Sphere
from dalembert.scenes._base import Finding, Scene, register
from dalembert.scenes.contact_piles import GRAVITY, STEPPER, about, ground, unsolved


def leaning(traj: Any) -> Any:
    """Angle of the body's z axis from the vertical at the nodes, degrees."""
    return np.degrees(np.arccos(np.clip(traj.poses[:, 0, 2, 2], -1.0, 1.0)))


# top on its point --------------------------------------------------------------------------------------------------------------------

TOP = {"mass": 0.3, "height": 0.06, "across": 4e-4, "along": 5e-4, "tip": 5e-4, "spin": 150.0, "lean": 0.3}


def precession() -> float:
    """Slow rate at which a heavy top precesses with constant lean about a fixed point: A W^2 cos(lean) - C spin W + m g l = 0."""
    c = TOP
    a = (c["across"] + c["mass"] * c["height"] ** 2) * np.cos(c["lean"])
    b = c["along"] * c["spin"]
    return float((b - np.sqrt(b * b - 4.0 * a * c["mass"] * GRAVITY * c["height"])) / (2.0 * a))


def top(name: str = "top-on-its-point") -> Model:
    """A top whose tip is a ball of half a millimetre, on a floor with friction 1; nothing holds it."""
    m, c = ground(name, 1.0), TOP
    tip = Sphere(c["tip"], position=(0, 0, -c["height"]), friction=1.0)
    disc = Cylinder(0.05, 0.01, collide=False)
    stem = Cylinder(0.004, 0.085, position=(0, 0, -0.0145), collide=False)
    place = (0.0, -c["height"] * np.sin(c["lean"]), c["height"] * np.cos(c["lean"]) + c["tip"])
    m.add_body("top", c["mass"], (c["across"], c["across"], c["along"]), pose=(place, about(0, c["lean"])), shapes=(tip, disc, stem))
    return m


def _precesses(traj: Any) -> list[Finding]:
    """As a top about a fixed point: the tip is small."""
    axis = traj.poses[:, 0, :3, 2]
    rate = np.polyfit(traj.t, np.unwrap(np.arctan2(axis[:, 1], axis[:, 0])), 1)[0]
    return [
        Finding("change of the lean, degrees", float(np.ptp(leaning(traj))), 4.0),
        Finding("error of the precession, %", 100.0 * abs(rate / precession() - 1.0), 3.0),
        unsolved(traj),
    ]


_TURN = precession() * np.sin(TOP["lean"])
register(
    Scene(
        name="top-on-its-point",
        summary="a top on a small round tip, held by its spin, contact and friction alone, precesses",
        build=top,
        v0={"top": (0, _TURN, TOP["spin"], _TURN * TOP["height"], 0, 0)},
        h=1.0 / 1000.0,
        t_end=3.0,
        stepper=STEPPER,
        references=("lacoursiere2007",),
        check=_precesses,
    )
)

# rattleback ----------------------------------------------------------------------------------------------------------------------------


def rattleback(skew: float = 0.15, name: str = "rattleback") -> Model:
    """A stone with the surface of an ellipsoid (radii 10, 2.5, 2 cm), whose inertia is turned by an angle (rad) against its axes."""
    m = ground(name, 1.0)
    a, b, c = 0.1, 0.025, 0.02
    shape = Ellipsoid((a, b, c), friction=1.0)
    mass, low = 0.2, 0.008  # the centre of mass lies below that of the ellipsoid
    own = np.diag([1.0e-5, 4.2e-4, 4.2e-4])
    s, k = np.sin(skew), np.cos(skew)
    R = np.array([[k, -s, 0.0], [s, k, 0.0], [0.0, 0.0, 1.0]])
    m.add_body("stone", mass, R @ own @ R.T, com=(0, 0, -low), pose=((0, 0, c), (1, 0, 0, 0)), shapes=(shape,))
    return m


def _turns_round(traj: Any) -> list[Finding]:
    spin = traj.v[:, 2]
    return [Finding("1 rad/s less the largest spin the other way", 1.0 - float(spin.max()), 0.0), unsolved(traj)]


register(
    Scene(
        name="rattleback",
        summary="a stone that is spun the wrong way begins to rattle, and turns round",
        build=rattleback,
        v0={"stone": (0.05, 0.0, -5.0, 0, 0, 0)},
        h=1.0 / 2000.0,
        t_end=6.0,
        stepper=STEPPER,
        chaotic=True,
        check=_turns_round,
    )
)

# tippe top ---------------------------------------------------------------------------------------------------------------------------

TIPPE = {"radius": 0.02, "mass": 0.02, "low": 0.004, "spin": 150.0, "friction": 0.3}


def tippe_top(name: str = "tippe-top") -> Model:
    """A ball of 2 cm whose centre of mass lies 4 mm below its middle, with a cap on top for the picture."""
    c = TIPPE
    m = ground(name, c["friction"])
    shape = Sphere(c["radius"], friction=c["friction"])
    stem = Cylinder(0.006, 0.004, position=(0, 0, 0.0175), collide=False)
    I = 0.4 * c["mass"] * c["radius"] ** 2
    lean = about(0, 0.1)
    m.add_body("top", c["mass"], (I, I, I), com=(0, 0, -c["low"]), pose=((0, 0, c["radius"]), lean), shapes=(shape, stem))
    return m


def _stands_on_its_head(traj: Any) -> list[Finding]:
    rise = traj.poses[:, 0, 2, 3] - TIPPE["low"] * traj.poses[:, 0, 2, 2]
    return [
        Finding("180 degrees less the largest lean", 180.0 - float(leaning(traj).max()), 40.0),
        Finding(
            "less than twice the offset that its centre of mass rose, mm", 1e3 * (2.0 * TIPPE["low"] - float(rise.max() - rise[0])), 1.5
        ),
        unsolved(traj),
    ]


register(
    Scene(
        name="tippe-top",
        summary="a tippe top slides, rises and turns over onto its head",
        build=tippe_top,
        v0={"top": (0, 0, TIPPE["spin"], 0, 0, 0)},
        h=1.0 / 2000.0,
        t_end=5.0,
        stepper=STEPPER,
        check=_stands_on_its_head,
    )
)
