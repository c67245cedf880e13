"""Bodies that nothing holds: free of torque, thrown, or slowed down.

The centre of mass is the origin of the body frame, which starts at the world's axes: so the exact motion is a parabola of the origin
and Jacobi's solution of the attitude (`verification.free_body`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Box, Capsule, Damper, Mesh, Model
from dalembert.scenes._base import Scene, register

_STILL = (0.0, 0.0, 0.0)


def _body(name: str, mass: float, inertia: Any, shapes: Any = (), gravity: Any = _STILL) -> Model:
    m = Model(name, gravity=gravity)
    m.add_body("body", mass, inertia, shapes=shapes)
    return m


def _motion(inertia: Any, omega0: Any, velocity: Any = _STILL, gravity: Any = _STILL) -> Callable[[Any], Array]:
    """Exact q(t) of a body that starts at the origin: x = v t + g t^2/2 and the attitude of the torque-free body."""

    def q(t: Any) -> Array:
        from dalembert.verification import free_body

        t = np.atleast_1d(np.asarray(t, dtype=float))
        x = t[:, None] * np.asarray(velocity) + 0.5 * t[:, None] ** 2 * np.asarray(gravity)
        return np.concatenate([x, free_body(inertia, omega0, t)[1]], axis=1)

    return q


# torque-free bodies ------------------------------------------------------------------------------------------------------------

_J, _OMEGA = (1.0, 2.0, 2.5), (0.3, 1.0, 0.4)

register(
    Scene(
        name="free-body",
        summary="torque-free asymmetric body, J = (1, 2, 2.5) kg m^2: the momentum runs along a closed polhode",
        build=partial(_body, "free-body", 1.0, _J),
        v0={"body": (*_OMEGA, 0, 0, 0)},
        h=0.05,
        t_end=50.0,
        references=("kobilarov2014",),
        exact=_motion(_J, _OMEGA),
    )
)

_J_E1, _OMEGA_E1 = (0.9144, 1.098, 1.66), (0.45549, 0.92625, 0.03476)

register(
    Scene(
        name="thesis-e1",
        summary="torque-free body of a published comparison of quaternion steppers: J = (0.9144, 1.098, 1.66) kg m^2, moderate spin",
        build=partial(_body, "thesis-e1", 1.0, _J_E1),
        v0={"body": (*_OMEGA_E1, 0, 0, 0)},
        h=0.1,
        t_end=100.0,
        stepper="quaternion",
        references=("lacoursiere2007",),
        exact=_motion(_J_E1, _OMEGA_E1),
    )
)


def racket_shapes() -> tuple[Any, ...]:
    """A tennis racket along x in the x-y plane, centre of mass at the origin: hoop, grip, strings, shaft."""
    grip = Capsule(0.016, 0.18, position=(-0.24, 0, 0), quaternion=_TO_X)
    shaft = Capsule(0.011, 0.13, position=(-0.085, 0, 0), quaternion=_TO_X)
    return hoop(), grip, strings(), shaft


def strings() -> Mesh:
    """Crossing ribbons inside the hoop."""
    ribbons = [_ribbon(0.155, 0.115, s, across=False) for s in np.linspace(-0.85, 0.85, 11)]
    ribbons += [_ribbon(0.115, 0.155, s, across=True) for s in np.linspace(-0.88, 0.88, 14)]
    triangles = np.concatenate([[[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]] for k in range(len(ribbons))])
    return Mesh(np.concatenate(ribbons), triangles=triangles)


def _ribbon(along: float, aside: float, s: float, across: bool) -> Array:
    """Corners of a string 2 mm wide: a chord of the ellipse with half axes `along` and `aside`, at the height s * aside."""
    x, y, w = along * np.sqrt(1 - s * s), s * aside, 0.001
    corners = np.array([[-x, y - w], [x, y - w], [x, y + w], [-x, y + w]])
    return np.column_stack([(corners[:, ::-1] if across else corners) + [0.15, 0.0], np.zeros(4)])


def hoop() -> Mesh:
    """Oval ring of the racket's head: a torus of half axes 0.165 m and 0.125 m around (0.15, 0, 0), tube radius 0.011 m."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    around = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    u, w = np.meshgrid(angle, around, indexing="ij")
    tube = 0.011 * np.cos(w)
    points = np.stack([0.15 + (0.165 + tube) * np.cos(u), (0.125 + tube) * np.sin(u), 0.011 * np.sin(w)], axis=-1).reshape(-1, 3)
    n, k = len(angle), len(around)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(k), indexing="ij"))
    a, b, c, d = i * k + j, (i + 1) % n * k + j, (i + 1) % n * k + (j + 1) % k, i * k + (j + 1) % k
    return Mesh(points, triangles=np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]))


_TO_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # z axis of a shape along x
_J_RACKET, _OMEGA_RACKET = (0.0015, 0.0164, 0.0175), (0.01, 6.0, 0.01)

register(
    Scene(
        name="tennis-racket",
        summary="torque-free tennis racket spun about its middle axis: the unstable rotation turns over again and again",
        build=lambda: _body("tennis-racket", 0.33, _J_RACKET, racket_shapes()),
        v0={"body": (*_OMEGA_RACKET, 0, 0, 0)},
        h=0.005,
        t_end=10.0,
        stepper="moser-veselov-cayley",
        exact=_motion(_J_RACKET, _OMEGA_RACKET),
    )
)

# thrown and damped bodies ------------------------------------------------------------------------------------------------------

_BRICK = Box((0.3, 0.2, 0.1))
_J_BRICK, _OMEGA_BRICK = tuple(_BRICK.inertia(2.0).tolist()), (0.5, 8.0, 1.0)
_THROW, _GRAVITY = (2.0, 1.0, 7.0), (0.0, 0.0, -9.81)

register(
    Scene(
        name="falling-body",
        summary="a 2 kg brick thrown up with a spin: a parabola of the centre of mass, a tumbling attitude",
        build=partial(_body, "falling-body", 2.0, _J_BRICK, (_BRICK,), _GRAVITY),
        v0={"body": (*_OMEGA_BRICK, *_THROW)},
        h=0.005,
        t_end=1.5,
        exact=_motion(_J_BRICK, _OMEGA_BRICK, _THROW, _GRAVITY),
    )
)


def satellite() -> Model:
    """A box with two solar wings; inertia of its three parts by the parallel-axis theorem; detumbled by a torque -c omega."""
    bus, wing = Box((0.6, 0.5, 0.8)), Box((1.1, 0.45, 0.02))
    x = 0.85
    shapes = (bus, *(Box(wing.size, position=(side * x, 0, 0)) for side in (-1, 1)))
    inertia = bus.inertia(80.0) + 2 * (wing.inertia(5.0) + 5.0 * x**2 * np.array([0.0, 1.0, 1.0]))
    m = _body("satellite", 90.0, inertia, shapes)
    m.add_force(Damper("body", angular=0.15))
    return m


register(
    Scene(
        name="satellite",
        summary="detumbling of a 90 kg satellite: rate damping, a torque of -0.15 N m s times omega, takes its spin away",
        build=satellite,
        v0={"body": (0.5, 0.05, 0.12, 0, 0, 0)},
        h=0.1,
        t_end=240.0,
    )
)
