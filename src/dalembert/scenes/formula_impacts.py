"""Systems given by a Lagrangian that meet walls: a bouncing point, a point that slides off a dome, a double pendulum beside a wall."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.lagrangian import Lagrangian
from dalembert.scenes._base import Finding, Scene, register

GRAVITY, HEIGHT = 9.81, 1.0
PUSH = 0.5  # speed at the top of the dome


@cache
def bouncing_point() -> Lagrangian:
    """L = m z'^2 / 2 - m g z above a floor, z >= 0."""
    return Lagrangian(
        1,
        lambda q, v, p: 0.5 * p.mass * v[0] ** 2 - p.mass * p.gravity * q[0],
        unilateral=lambda q: [q[0]],
        params={"mass": 1.0, "gravity": GRAVITY},
        name="bouncing-point",
        names=["z"],
    )


def bouncing_point_check(traj: Any) -> list[Finding]:
    """Impacts at their times, heights as they are in closed form: a step is exact on a parabola."""
    from dalembert.verification import BouncingBall

    exact, t = BouncingBall(HEIGHT, GRAVITY), traj.events["t"]
    return [
        Finding("error of the times of impact, s", float(np.abs(t - exact.impact_times(len(t))).max()), 1e-10),
        Finding("error of the heights, m", float(np.abs(traj.q[:, 0] - exact.state(traj.t)[0]).max()), 1e-10),
        Finding("change of the energy, of its size", float(np.ptp(traj.energy)) / (GRAVITY * HEIGHT), 1e-12),
    ]


@cache
def dome() -> Lagrangian:
    """A point in the plane, y up, outside of a circle of radius r."""
    return Lagrangian(
        2,
        lambda q, v, p: 0.5 * (v @ v) - p.gravity * q[1],
        unilateral=lambda q, p: [0.5 * (q @ q - p.radius**2)],
        restitution=0.0,
        params={"radius": 1.0, "gravity": GRAVITY},
        name="point-off-dome",
        names=["x", "y"],
    )


def dome_check(traj: Any) -> list[Finding]:
    """It leaves where gravity no longer keeps it on the circle, at the height (2 + v0^2 / (g r)) r / 3."""
    gone = traj.events["t"][traj.events["kind"] == 2]
    height = np.interp(gone[0], traj.t, traj.q[:, 1]) if len(gone) == 1 else np.inf
    return [Finding("error of the height at which it leaves, m", abs(float(height) - (2.0 + PUSH**2 / GRAVITY) / 3.0), 5.0 * traj.h**2)]


@cache
def walled_pendulum() -> Lagrangian:
    """Two unit masses on unit rods, both angles from the downward vertical; masses stay right of the wall x = -0.5."""

    def L(q: Any, v: Any, p: Any) -> Any:
        swing = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1])
        return swing + p.gravity * (2.0 * np.cos(q[0]) + np.cos(q[1]))

    return Lagrangian(
        2,
        L,
        unilateral=lambda q, p: [np.sin(q[0]) + p.wall, np.sin(q[0]) + np.sin(q[1]) + p.wall],
        restitution=0.8,
        params={"gravity": GRAVITY, "wall": 0.5},
        name="double-pendulum-wall",
        names=["upper", "lower"],
    )


register(
    Scene(
        name="bouncing-point",
        summary="a point falls on a floor and bounces without loss: impacts within the steps, at their exact times",
        build=bouncing_point,
        q0=[HEIGHT],
        h=0.01,
        t_end=10.0,
        stepper="collision",
        references=("leyendecker", "fetecau2003"),
        check=bouncing_point_check,
    )
)
register(
    Scene(
        name="point-off-dome",
        summary="a point slides down a round dome without friction, and leaves it at two thirds of its height",
        build=dome,
        q0=[0.0, 1.0],
        v0=[PUSH, 0.0],
        h=0.01,
        t_end=1.5,
        stepper="collision",
        references=("leyendecker",),
        check=dome_check,
    )
)
register(
    Scene(
        name="double-pendulum-wall",
        summary="a double pendulum whose masses hit a wall beside its pivot",
        build=walled_pendulum,
        q0=[0.9, 1.2],
        h=0.01,
        t_end=5.0,
        stepper="collision",
        references=("fetecau2003", "leyendecker"),
    )
)
