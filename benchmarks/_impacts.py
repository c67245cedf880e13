"""Two machines that strike a wall, for the event-driven runs of SciPy and for plain bisection: gap, bounce, equations of motion.

    ball           z falls, the wall is the floor; impacts at sqrt(2 H/g) (1 + 2 k)
    pendulum       two rods in a plane, absolute angles a, b from hanging; the end of the second strikes a wall beside

SciPy gets scalar arithmetic (faster there than arrays) and a terminal event; after each impact it starts again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import dalembert as dal

Array = np.ndarray
G, R = 9.81, 0.05
WALL, ROD, J = 0.3, 1.0, 0.01  # place of the wall beside the pivot, length, inertia of a rod about its centre
A, B, C = J + 1.25 * ROD**2, 0.5 * ROD**2, J + 0.25 * ROD**2


class Striker(NamedTuple):
    """A machine, its start, and what SciPy needs of it; y = (coordinates, velocities)."""

    model: dal.Model
    q0: list[float]
    y0: list[float]
    t_end: float
    rate: Callable[[float, Array], tuple[float, ...]]
    gap: Callable[[float, Array], float]
    bounce: Callable[[Array], list[float]]
    to_y: Callable[[Array, Array], Array]  # from q and v of the model
    of_y: Callable[[Array], tuple[Array, Array]]


def ball() -> Striker:
    """A ball that falls 1 m."""
    m = dal.Model("ball")
    m.add_shape("world", dal.Plane(friction=0, restitution=1.0))
    m.add_particle("ball", 1.0, position=(0, 0, 1 + R), shapes=[dal.Sphere(R, friction=0, restitution=1.0)])
    return Striker(
        m, list(m.neutral()), [1.0, 0.0], 10.0, lambda t, y: (y[1], -G), lambda t, y: y[0], lambda y: [0.0, -y[1]],
        lambda q, v: np.array([q[2] - R, v[2]]), lambda y: (np.array([0, 0, y[0] + R]), np.array([0, 0, y[1]])),
    )  # fmt: skip


def pendulum_rate(t: float, y: Array) -> tuple[float, ...]:
    """A a'' + B cos b'' + B sin b'^2 = -3/2 g l sin a;  B cos a'' + C b'' - B sin a'^2 = -g l/2 sin b;  cos, sin of a - b."""
    a, b, u, w = y.tolist()
    c, s = B * math.cos(a - b), B * math.sin(a - b)
    f = -1.5 * G * ROD * math.sin(a) - s * w * w
    e = -0.5 * G * ROD * math.sin(b) + s * u * u
    d = A * C - c * c
    return u, w, (C * f - c * e) / d, (A * e - c * f) / d


def pendulum_gap(t: float, y: Array) -> float:
    """From the end of the second rod to the wall."""
    return WALL - R + ROD * (math.sin(y[0]) + math.sin(y[1]))


def pendulum_bounce(y: Array) -> list[float]:
    """v+ = v - 2 (n.v)/(n.M^-1 n) M^-1 n"""
    a, b, u, w = (float(x) for x in y)
    c, n, m = B * math.cos(a - b), math.cos(a), math.cos(b)
    d = A * C - c * c
    x, z = (C * n - c * m) / d, (A * m - c * n) / d
    f = 2 * (n * u + m * w) / (n * x + m * z)
    return [a, b, u - f * x, w - f * z]


def pendulum() -> Striker:
    """Two rods let go beside a wall."""
    m = dal.Model("double pendulum")
    turn = (math.sqrt(0.5), 0, -math.sqrt(0.5), 0)
    m.add_shape("world", dal.Plane(position=(WALL, 0, 0), quaternion=turn, friction=0, restitution=1.0))
    end = dal.Sphere(R, position=(0, 0, -ROD), friction=0, restitution=1.0)
    for k in range(2):
        m.add_body(f"rod{k}", 1.0, (J, J, J), com=(0, 0, -ROD / 2), pose=((0, 0, -ROD * k), (1, 0, 0, 0)), shapes=[end] if k else [])
    m.add_joint("pivot", "revolute", "world", "rod0", axis=(0, 1, 0))
    m.add_joint("elbow", "revolute", "rod0", "rod1", anchor=(0, 0, -ROD), axis=(0, 1, 0))
    return Striker(
        m, [0.5, -0.2], [0.5, 0.3, 0.0, 0.0], 3.0, pendulum_rate, pendulum_gap, pendulum_bounce,
        lambda q, v: np.array([q[0], q[0] + q[1], v[0], v[0] + v[1]]),
        lambda y: (np.array([y[0], y[1] - y[0]]), np.array([y[2], y[3] - y[2]])),
    )  # fmt: skip


def by_scipy(m: Striker, rtol: float) -> Array:
    """Instants of impacts."""

    def struck(t: float, y: Array) -> float:
        return m.gap(t, y)

    struck.terminal, struck.direction = True, -1  # type: ignore[attr-defined]
    t, y, found = 0.0, list(m.y0), []
    while True:
        part = solve_ivp(m.rate, (t, m.t_end), y, method="DOP853", rtol=rtol, atol=rtol, events=struck)
        if part.status != 1:
            return np.array(found)
        t, y = float(part.t[-1]), m.bounce(part.y[:, -1])
        found.append(t)


def by_collision(m: Striker, h: float, compose: str | None = None) -> Array:
    """Instants of impacts."""
    n = round(m.t_end / h)
    run = dal.simulate(m.model, "collision", h=h, t_end=n * h, q0=m.q0, every=n, compose=compose, progress=False)
    return np.asarray(run.events["t"])
