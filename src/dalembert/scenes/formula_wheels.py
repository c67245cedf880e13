"""Wheels and blades given by a Lagrangian with Pfaffian constraints A(q) v = 0."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.scenes._base import Scene, register

DISK = {"mass": 2.0, "radius": 0.7, "roll_inertia": 0.5, "turn_inertia": 0.3}
TURN, ROLL = 1.0, 2.0


@cache
def vertical_disk() -> Lagrangian:
    """A disk that stands upright: contact point (x, y), heading, angle of roll; x' = R cos(heading) roll', y' = R sin(heading) roll'.

    The constraints do not push along the heading: its momentum stays.
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        return 0.5 * p.mass * (v[0] ** 2 + v[1] ** 2) + 0.5 * p.turn_inertia * v[2] ** 2 + 0.5 * p.roll_inertia * v[3] ** 2

    def rolling(q: Any, p: Any) -> Any:
        return [[1, 0, 0, -p.radius * np.cos(q[2])], [0, 1, 0, -p.radius * np.sin(q[2])]]

    names = ["x", "y", "heading", "roll"]
    return Lagrangian(4, L, pfaffian=rolling, symmetries={"heading": [0, 0, 1, 0]}, params=DISK, name="vertical-disk", names=names)


def vertical_disk_motion(t: Any) -> Array:
    """A circle, both rates constant (caltech2008slides, p. 13)."""
    from dalembert.verification import rolling_disk

    t = np.asarray(t, dtype=float)
    place, heading = rolling_disk(t, DISK["radius"], ROLL, TURN)
    return np.column_stack([place, heading, ROLL * t])


SLEIGH = {"mass": 1.0, "inertia": 0.5, "offset": 0.3}
SLEIGH_SPEED, SLEIGH_TURN = -0.8, 1.1


@cache
def sleigh() -> Lagrangian:
    """Chaplygin's sleigh: blade point (x, y), heading; the centre of mass is `offset` ahead of the blade, which does not move sideways."""

    def L(q: Any, v: Any, p: Any) -> Any:
        vx = v[0] - p.offset * v[2] * np.sin(q[2])
        vy = v[1] + p.offset * v[2] * np.cos(q[2])
        return 0.5 * p.mass * (vx**2 + vy**2) + 0.5 * p.inertia * v[2] ** 2

    return Lagrangian(
        3, L, pfaffian=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0]], params=SLEIGH, name="sleigh", names=["x", "y", "heading"]
    )


def sleigh_motion(t: Any) -> Array:
    """Hyperbolic functions, the path by quadrature: see `verification.ChaplyginSleigh`."""
    from dalembert.verification import ChaplyginSleigh

    exact = ChaplyginSleigh(SLEIGH["mass"], SLEIGH["inertia"], SLEIGH["offset"], SLEIGH_SPEED, SLEIGH_TURN)
    return np.column_stack([exact.position(t), exact.heading(t)])


BOARD = {"mass": 6.0, "half_length": 0.2, "board": 0.148, "rotor": 0.072, "wheels": 0.01, "steer": 0.5, "twist": 1.2, "rate": 3.0}


@cache
def driven_snakeboard() -> Lagrangian:
    """A board (x, y, heading) with a rotor and steered wheel pairs, whose angles are prescribed: nobody pushes, and it drives off.

    Time-dependent holonomic rows: rotor = twist sin(rate t), front = -back = steer sin(rate t). Pfaffian rows: no wheel pair, at
    +- half_length, moves along its axle. Angles of rotor and wheels are relative to the board; inertias about the vertical.
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        turning = p.board * v[2] ** 2 + p.rotor * (v[2] + v[3]) ** 2 + p.wheels * ((v[2] + v[4]) ** 2 + (v[2] + v[5]) ** 2)
        return 0.5 * p.mass * (v[0] ** 2 + v[1] ** 2) + 0.5 * turning

    def motors(q: Any, t: Any, p: Any) -> Any:
        wave = np.sin(p.rate * t)
        return [q[3] - p.twist * wave, q[4] - p.steer * wave, q[5] + p.steer * wave]

    def wheels(q: Any, p: Any) -> Any:
        return [
            [-np.sin(q[2] + q[4]), np.cos(q[2] + q[4]), p.half_length * np.cos(q[4]), 0, 0, 0],
            [-np.sin(q[2] + q[5]), np.cos(q[2] + q[5]), -p.half_length * np.cos(q[5]), 0, 0, 0],
        ]

    names = ["x", "y", "heading", "rotor", "front", "back"]
    return Lagrangian(6, L, holonomic=motors, pfaffian=wheels, params=BOARD, name="driven-snakeboard", names=names)


register(
    Scene(
        name="vertical-disk",
        summary="disk that rolls upright and turns, by its formula: its contact runs round a circle",
        build=vertical_disk,
        v0=[DISK["radius"] * ROLL, 0.0, TURN, ROLL],
        h=0.05,
        t_end=50.0,
        stepper="alpha",
        references=("caltech2008slides",),
        exact=vertical_disk_motion,
    )
)
register(
    Scene(
        name="sleigh",
        summary="Chaplygin's sleigh by its formula, pushed blade first: it turns round and runs straight",
        build=sleigh,
        v0=[SLEIGH_SPEED, 0.0, SLEIGH_TURN],
        h=0.01,
        t_end=10.0,
        stepper="alpha",
        exact=sleigh_motion,
    )
)
register(
    Scene(
        name="driven-snakeboard",
        summary="snakeboard that swings its rotor and steers in time with it, and so drives off without a push",
        build=driven_snakeboard,
        v0=[0.0, 0.0, 0.0, BOARD["twist"] * BOARD["rate"], BOARD["steer"] * BOARD["rate"], -BOARD["steer"] * BOARD["rate"]],
        h=0.01,
        t_end=10.0,
        stepper="alpha",
    )
)
