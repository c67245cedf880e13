"""Given by a Lagrangian: a slider crank with its joints as constraints, and a heavy top by Euler's angles."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.scenes._base import Scene, register

CRANK = {"mass": 1.0, "length": 1.0, "gravity": 9.8, "inertia": 1.0 / 12.0}
CRANK_START = 0.25 * np.pi


@cache
def slider_crank() -> Lagrangian:
    """Two equal bars (x1, y1, phi1, x2, y2, phi2): crank pinned at the origin, pinned to the rod, whose far end slides on y = 0.

    lacoursiere2007, chapter 7 (7.16-7.20; the last row of (7.19) corrected). The five rows lose one rank at phi1 = +-pi/2.
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        kinetic = 0.5 * p.mass * (v[0] ** 2 + v[1] ** 2 + v[3] ** 2 + v[4] ** 2) + 0.5 * p.inertia * (v[2] ** 2 + v[5] ** 2)
        return kinetic - p.mass * p.gravity * (q[1] + q[4])

    def joints(q: Any, p: Any) -> Any:
        x1, y1, a1, x2, y2, a2 = q
        c1, s1 = 0.5 * p.length * np.cos(a1), 0.5 * p.length * np.sin(a1)
        c2, s2 = 0.5 * p.length * np.cos(a2), 0.5 * p.length * np.sin(a2)
        return [x1 - c1, y1 - s1, x1 + c1 - x2 + c2, y1 + s1 - y2 + s2, y2 + s2]

    names = ["x1", "y1", "phi1", "x2", "y2", "phi2"]
    return Lagrangian(6, L, holonomic=joints, params=CRANK, name="slider-crank", names=names)


def slider_crank_start() -> Array:
    """Both bars at CRANK_START from the ground, on the branch phi2 = -phi1."""
    c, s = 0.5 * CRANK["length"] * np.cos(CRANK_START), 0.5 * CRANK["length"] * np.sin(CRANK_START)
    return np.array([c, s, CRANK_START, 3 * c, s, -CRANK_START])


def slider_crank_motion(t: Any) -> Array:
    """Quadrature, see `verification.SliderCrank`."""
    from dalembert.verification import SliderCrank

    return SliderCrank(CRANK_START, CRANK["mass"], CRANK["length"], CRANK["gravity"], CRANK["inertia"]).configuration(t)


TOP = {"I1": 0.05, "I3": 0.015, "mgl": 0.2 * 9.81}
TOP_TILT, TOP_SPIN = 0.5, 60.0


@cache
def euler_top() -> Lagrangian:
    """Azimuth, tilt and spin of a symmetric top on its tip; inertias about the tip, mgl = mass x gravity x height of the centre of mass.

    L = [I1 (tilt'^2 + azimuth'^2 sin^2 tilt) + I3 (spin' + azimuth' cos tilt)^2] / 2 - mgl cos(tilt)
    """

    def L(q: Any, v: Any, p: Any) -> Any:
        across = v[1] ** 2 + (v[0] * np.sin(q[1])) ** 2
        return 0.5 * p.I1 * across + 0.5 * p.I3 * (v[2] + v[0] * np.cos(q[1])) ** 2 - p.mgl * np.cos(q[1])

    symmetries = {"about the vertical": [1, 0, 0], "about the figure axis": [0, 0, 1]}
    return Lagrangian(3, L, symmetries=symmetries, params=TOP, name="euler-top", names=["azimuth", "tilt", "spin"])


def euler_top_motion(t: Any) -> Array:
    """Elliptic functions, see `verification.LagrangeTop`."""
    from dalembert.verification import LagrangeTop

    top = LagrangeTop(**TOP, theta0=TOP_TILT, omega3=TOP_SPIN)
    return np.stack([top.phi(t), top.theta(t), top.psi(t)], axis=-1)


register(
    Scene(
        name="slider-crank",
        summary="slider crank that swings through the position where its constraints lose rank",
        build=slider_crank,
        q0=slider_crank_start(),
        h=0.005,
        t_end=20.0,
        stepper="rattle",
        references=("lacoursiere2007",),
        exact=slider_crank_motion,
    )
)
register(
    Scene(
        name="euler-top",
        summary="heavy top by Euler's angles, released with a spin of 60 rad/s: two symmetries, two momenta",
        build=euler_top,
        q0=[0.0, TOP_TILT, 0.0],
        v0=[0.0, 0.0, TOP_SPIN],
        h=0.001,
        t_end=5.0,
        stepper="midpoint",
        exact=euler_top_motion,
    )
)
