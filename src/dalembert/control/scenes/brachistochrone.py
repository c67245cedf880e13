"""The curve of quickest descent: a skate on a wall, whose blade does not slip sideways, is steered from rest at the origin to (10, -5) m.

The blade pushes at right angles to the motion and does no work, as a wire does without friction: the quickest way is a cycloid (Johann
Bernoulli 1696),

    x = r (s - sin s),   z = -r (1 - cos s),   t = s sqrt(r/g),

which with g = 9.80665 m/s^2 takes 1.8016 s; others use the same ends (Falck et al. 2021). Its heading turns at the constant rate
sqrt(g/r)/2, so the best plan spins the skate at the start and leaves it alone: effort is added to the time, and is 0 at the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Box, Model

G, END = 9.80665, (10.0, -5.0)


def cycloid() -> tuple[float, float]:
    """(radius of the wheel, its turn at the end) of the cycloid from the origin to the end."""
    turn = float(brentq(lambda s: (s - np.sin(s)) / (1.0 - np.cos(s)) + END[0] / END[1], 0.1, 2.0 * np.pi - 0.1, xtol=1e-14))
    return END[0] / (turn - np.sin(turn)), turn


def least_time() -> float:
    """Of the descent, s."""
    radius, turn = cycloid()
    return turn * float(np.sqrt(radius / G))


def model() -> Model:
    """A skate of 1 kg that slides along x and z and turns about y; heading: of its blade, above the x axis."""
    m = Model("skate", gravity=(0, 0, -G))
    for name in ("rail", "slide"):
        m.add_body(name, 0.0, (0, 0, 0), physical=False)
    m.add_body("skate", 1.0, (0.1, 0.1, 0.1), shapes=(Box((0.8, 0.1, 0.15), collide=False),))
    m.add_joint("x", "prismatic", "world", "rail", axis=(1, 0, 0))
    m.add_joint("z", "prismatic", "rail", "slide", axis=(0, 0, 1))
    m.add_joint("heading", "revolute", "slide", "skate", axis=(0, -1, 0))
    m.add_joint("blade", "knife-edge", "world", "skate", axis=(0, 0, 1))
    return m


def build(N: int = 60, **more: Any) -> Any:
    """From rest, heading downwards, spinning as it likes; it arrives as it likes. The guess is straight, and ends level."""
    start = {"q": {"heading": -0.5 * np.pi}, "v": {"x": 0.0, "z": 0.0}}
    given = {"free_time": (1.0, 5.0), "h": 2.5 / N, "inputs": ["heading"], "cost": {"time": 1.0, "effort": 1.0}}
    given |= {"guess": np.linspace([0.0, 0.0, -0.5 * np.pi], [*END, 0.0], N + 1)}
    return dmoc(model(), N, start, {"q": {"x": END[0], "z": END[1]}, "v": None}, **{**given, **more})


def check(solution: Any) -> list[Finding]:
    """Time and shape of the cycloid to the order of the method."""
    least, (radius, turn) = least_time(), cycloid()
    s = solution.t / solution.t[-1] * turn
    exact = radius * np.stack([s - np.sin(s), np.cos(s) - 1.0], axis=1)
    off = float(np.abs(solution.q[:, :2] - exact).max())
    energy = float(np.abs(0.5 * (solution.v[:, :2] ** 2).sum(axis=1) + G * solution.q[:, 1]).max() / (G * -END[1]))
    return [
        Finding("time, s", solution.t[-1], f"{least:.6f} within 0.1 %", abs(solution.t[-1] / least - 1.0) < 1e-3),
        Finding("beside the cycloid, m", off, "<= 0.02", off <= 0.02),
        Finding("energy gained, of what was fallen", energy, "<= 2e-3", energy <= 2e-3),
    ]


register(PlanScene("brachistochrone", "a skate finds the curve of quickest descent, the cycloid", build, check, ("falck2021",)))
