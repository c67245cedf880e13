"""Bodies that turn about a fixed point under gravity.

A symmetric top has the exact motion of `verification.LagrangeTop`, whose attitude starts at R1(theta0) and ours at q0. Both differ by a
constant turn about the vertical before and a constant change of body axes after: q(t) = z * attitude(t) * attitude(0)^-1 * z^-1 * q0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Cylinder, Model
from dalembert.model.rotation import quat_conj, quat_mul
from dalembert.scenes._base import Scene, register


def _top(name: str, mass: float, inertia: Any, com: Any, gravity: float, shapes: Any) -> Model:
    m = Model(name, gravity=(0.0, 0.0, -gravity))
    m.add_body("rotor", mass, inertia, com=com, shapes=shapes)
    m.add_joint("tip", "spherical", "world", "rotor")
    return m


def _attitude(q0: Any, turn: float = 0.0, **top: float) -> Callable[[Any], Array]:
    """Exact q(t); turn: angle about the vertical from the axis of `LagrangeTop` at t = 0 to ours."""

    def q(t: Any) -> Array:
        from dalembert.verification import LagrangeTop

        exact = LagrangeTop(**top)
        z = np.array([np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)])
        after = quat_mul(quat_conj(quat_mul(z, exact.attitude(0.0)[0])), np.asarray(q0, dtype=float))
        return quat_mul(np.broadcast_to(z, (np.size(t), 4)), quat_mul(exact.attitude(t), np.broadcast_to(after, (np.size(t), 4))))

    return q


def _turn_x(angle: float) -> tuple[float, float, float, float]:
    return float(np.cos(0.5 * angle)), float(np.sin(0.5 * angle)), 0.0, 0.0


# tops of Lacoursiere (2007), 15.8: inertia (1, 1, 2) about the centre of mass, 4 m above the tip. Print gives no mass; with 1/6 kg the
# top stays up for spins above 4.94 rad/s, where the text says 5. A thin disc of radius sqrt(24) m has exactly these inertias.

_MASS, _ARM, _G = 1 / 6, 4.0, 10.0
_SHAPES = (Cylinder(np.sqrt(24.0), 0.3, position=(0, 0, _ARM)), Cylinder(0.12, _ARM + 1.5, position=(0, 0, 0.5 * _ARM + 0.75)))
_BUILD = partial(_top, mass=_MASS, inertia=(1.0, 1.0, 2.0), com=(0, 0, _ARM), gravity=_G, shapes=_SHAPES)
_ABOUT_TIP = {"I1": 1.0 + _MASS * _ARM**2, "I3": 2.0, "mgl": _MASS * _G * _ARM}
_TILT = float(np.radians(10.0))


def _register_disc(name: str, summary: str, tilt: float, spin: float) -> None:
    q0 = _turn_x(tilt)
    register(
        Scene(
            name=name,
            summary=summary,
            build=partial(_BUILD, name),
            q0={"tip": q0},
            v0={"tip": (0.0, 0.0, spin)},
            h=0.01,
            t_end=20.0,
            references=("lacoursiere2007",),
            exact=_attitude(q0, theta0=tilt, omega3=spin, **_ABOUT_TIP),
        )
    )


_register_disc(
    "lagrange-top-slow", "symmetric top released 10 degrees from upright, spin 0.1 rad/s: it falls over like a pendulum", _TILT, 0.1
)
_register_disc(
    "lagrange-top-medium", "symmetric top released 10 degrees from upright, spin 2 rad/s: wide nutation, 133 degrees deep", _TILT, 2.0
)
_register_disc(
    "lagrange-top-fast", "symmetric top released 10 degrees from upright, spin 20 rad/s: it stays up and nods by 0.3 degrees", _TILT, 20.0
)
_register_disc(
    "lagrange-top-sleeping",
    "top released half a degree from upright, spin 6 rad/s, above the threshold of 4.94 rad/s: it stays near upright",
    float(np.radians(0.5)),
    6.0,
)

# heavy top of the literature on Lie-group integrators: 15 kg, a disc of radius 0.25 m at 1 m, spin 150 rad/s; its axis y starts level

_HEAVY = {"I1": 15.234375, "I3": 0.46875, "mgl": 15.0 * 9.81, "theta0": 0.5 * np.pi, "omega3": 150.0, "phi_dot0": -4.61538}
_LEVEL = (
    Cylinder(0.25, 0.02, position=(0, 1, 0), quaternion=_turn_x(0.5 * np.pi)),
    Cylinder(0.012, 1.1, position=(0, 0.55, 0), quaternion=_turn_x(0.5 * np.pi)),
)

register(
    Scene(
        name="heavy-top",
        summary="heavy top, 15 kg at 1 m, spin 150 rad/s, released level: the benchmark of Lie-group integrators",
        build=partial(_top, "heavy-top", 15.0, (0.234375, 0.46875, 0.234375), (0, 1, 0), 9.81, _LEVEL),
        v0={"tip": (0.0, 150.0, -4.61538)},
        h=0.001,
        t_end=2.0,
        exact=_attitude((1.0, 0.0, 0.0, 0.0), turn=np.pi, **_HEAVY),
    )
)

register(
    Scene(
        name="asymmetric-top",
        summary="heavy body with three different inertias, centre of mass off every axis: no further integral, chaotic",
        build=partial(_top, "asymmetric-top", 1.0, (0.2, 0.35, 0.5), (0.3, 0.1, 0.5), 9.81, ()),
        q0={"tip": _turn_x(1.2)},
        v0={"tip": (0.5, 1.0, 3.0)},
        h=0.005,
        t_end=30.0,
        chaotic=True,
    )
)
