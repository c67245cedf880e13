"""Swinging systems given by a Lagrangian: oscillator, pendulums, Foucault's pendulum.

Every number of a formula is a parameter, so `scene.model().with_params(length=2.0)` is another machine at no cost.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.scenes._base import Scene, register


@cache
def oscillator() -> Lagrangian:
    """L = (m v^2 - k x^2) / 2."""
    return Lagrangian(
        1,
        lambda q, v, p: 0.5 * p.mass * v[0] ** 2 - 0.5 * p.stiffness * q[0] ** 2,
        params={"mass": 1.0, "stiffness": 1.0},
        name="oscillator",
        names=["x"],
    )


def oscillator_motion(t: Any) -> Array:
    """x = cos t."""
    return np.cos(np.asarray(t, dtype=float))[:, None]


PENDULUM = {"mass": 1.0, "length": 1.0, "gravity": 10.0}  # of lacoursiere2007, chapter 6: swings up to the level of its pivot
SPEED = float(np.sqrt(2 * PENDULUM["gravity"] * PENDULUM["length"]))  # at the lowest point


@cache
def pendulum() -> Lagrangian:
    """One angle from the downward vertical: L = m l^2 phi'^2 / 2 + m g l cos(phi)."""

    def L(q: Any, v: Any, p: Any) -> Any:
        return 0.5 * p.mass * p.length**2 * v[0] ** 2 + p.mass * p.gravity * p.length * np.cos(q[0])

    return Lagrangian(1, L, params=PENDULUM, name="pendulum", names=["phi"])


@cache
def pendulum_on_rod() -> Lagrangian:
    """The same pendulum in the plane, q = (x, y), y up, held by g = (|q|^2 - l^2) / 2."""
    return Lagrangian(
        2,
        lambda q, v, p: 0.5 * p.mass * (v @ v) - p.mass * p.gravity * q[1],
        holonomic=lambda q, p: [0.5 * (q @ q - p.length**2)],
        params=PENDULUM,
        name="pendulum-on-rod",
        names=["x", "y"],
    )


def pendulum_motion(t: Any) -> Array:
    """Jacobi's functions."""
    from dalembert.verification import Pendulum

    return Pendulum(PENDULUM["length"], PENDULUM["gravity"], 0.5 * np.pi).state(t)[0][:, None]


def pendulum_on_rod_motion(t: Any) -> Array:
    """l (sin phi, -cos phi)."""
    from dalembert.verification import Pendulum

    return Pendulum(PENDULUM["length"], PENDULUM["gravity"], 0.0, SPEED / PENDULUM["length"]).position(t)


@cache
def double_pendulum() -> Lagrangian:
    """Two point masses on massless rods, both angles from the downward vertical."""

    def L(q: Any, v: Any, p: Any) -> Any:
        swing = 0.5 * (p.m1 + p.m2) * p.l1**2 * v[0] ** 2 + 0.5 * p.m2 * p.l2**2 * v[1] ** 2
        coupling = p.m2 * p.l1 * p.l2 * v[0] * v[1] * np.cos(q[0] - q[1])
        height = -(p.m1 + p.m2) * p.l1 * np.cos(q[0]) - p.m2 * p.l2 * np.cos(q[1])
        return swing + coupling - p.gravity * height

    params = {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "gravity": 9.81}
    return Lagrangian(2, L, params=params, name="double-pendulum", names=["upper", "lower"])


# 67 m of wire under the dome of the Pantheon, 48.85 degrees north; the sidereal rate of the Earth
FOUCAULT = {"length": 67.0, "gravity": 9.81, "rate": 7.292116e-5 * float(np.sin(np.radians(48.85)))}
FOUCAULT_REACH = 3.0


@cache
def foucault_pendulum() -> Lagrangian:
    """Small swings (x east, y north) on the turning Earth, rate = the part of its rotation about the local vertical:

    L = |v|^2 / 2 + rate (x y' - y x') - (g/l) |q|^2 / 2, per unit mass; the term linear in v is Coriolis' force.
    """
    return Lagrangian(
        2,
        lambda q, v, p: 0.5 * (v @ v) + p.rate * (q[0] * v[1] - q[1] * v[0]) - 0.5 * p.gravity / p.length * (q @ q),
        symmetries={"turn": [[0.0, -1.0], [1.0, 0.0]]},
        params=FOUCAULT,
        name="foucault-pendulum",
        names=["x", "y"],
    )


def foucault_motion(t: Any) -> Array:
    """x + i y = sum of two circular motions exp(i n t), n = -rate +- sqrt(rate^2 + g/l), from rest: the swing turns clockwise."""
    t = np.asarray(t, dtype=float)
    rate, root = FOUCAULT["rate"], float(np.hypot(FOUCAULT["rate"], np.sqrt(FOUCAULT["gravity"] / FOUCAULT["length"])))
    z = FOUCAULT_REACH * np.exp(-1j * rate * t) * (np.cos(root * t) + 1j * rate / root * np.sin(root * t))
    return np.stack([z.real, z.imag], axis=-1)


register(
    Scene(
        name="oscillator",
        summary="mass on a spring, 1 rad/s: the formula in which every method can be solved by hand",
        build=oscillator,
        q0=[1.0],
        h=0.1,
        t_end=100.0,
        stepper="midpoint",
        references=("lacoursiere2007",),
        exact=oscillator_motion,
    )
)
register(
    Scene(
        name="pendulum",
        summary="pendulum by its angle, released level",
        build=pendulum,
        q0=[0.5 * np.pi],
        h=0.01,
        t_end=20.0,
        stepper="midpoint",
        references=("lacoursiere2007",),
        exact=pendulum_motion,
    )
)
register(
    Scene(
        name="pendulum-on-rod",
        summary="pendulum as a point in the plane on a rigid rod, pushed at its lowest point: the test of methods for constraints",
        build=pendulum_on_rod,
        q0=[0.0, -PENDULUM["length"]],
        v0=[SPEED, 0.0],
        h=0.01,
        t_end=20.0,
        stepper="rattle",
        references=("lacoursiere2007",),
        exact=pendulum_on_rod_motion,
    )
)
register(
    Scene(
        name="double-pendulum",
        summary="two masses on rods, released high enough to go over the top: chaotic",
        build=double_pendulum,
        q0=[2.4, 2.0],
        h=0.005,
        t_end=10.0,
        stepper="midpoint",
        chaotic=True,
    )
)
register(
    Scene(
        name="foucault-pendulum",
        summary="Foucault's pendulum in Paris: its plane of swing turns by 11.3 degrees in an hour",
        build=foucault_pendulum,
        q0=[FOUCAULT_REACH, 0.0],
        h=0.1,
        t_end=3600.0,
        stepper="midpoint",
        exact=foucault_motion,
    )
)
