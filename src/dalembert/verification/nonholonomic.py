"""Rolling and skating in the plane: vertical disk, knife edge on an incline, particle with z' = y x', Chaplygin's sleigh.

Rolling disk of radius R, heading phi, roll theta: x' = R cos(phi) theta', y' = R sin(phi) theta'. Free: both rates constant, a circle of
radius R |theta' / phi'|. The d'Alembert-Pontryagin scheme (caltech2008slides; I the inertia of roll, print swaps it with that of
steering) keeps phi' = W and gives, started from the momentum at t = 0,

    v_0 = (I + m R^2) theta'(0) / (I + m R^2 cos(alpha h W))
    v_{k+1} = q v_k,   q = (I + m R^2 cos((1 - alpha) h W)) / (I + m R^2 cos(alpha h W))
    (x + i y)_k = (x + i y)_0 + h R v_0 e^{i (phi_0 + alpha h W)} (w^k - 1) / (w - 1),   w = q e^{i h W}

so that the energy is exact for alpha = 1/2 only, and the points then lie on a circle of radius (h R v / 2) / sin(h W / 2).

Chaplygin's sleigh: blade at the origin of the body, centre of mass a ahead of it, u the blade's speed, omega the turning rate:

    u' = a omega^2,  (I + m a^2) omega' = -m a u omega;     b^2 = (I + m a^2) / m,   c^2 = u0^2 + b^2 omega0^2,   kappa = a c / b^2
    u = c tanh(X),   omega = +-(c / b) sech(X),   X = kappa t + arsinh(u0 / (b |omega0|)),   heading = +-(b / a) [gd X - gd X(0)]

with gd X = 2 atan tanh(X / 2); pi b / |a| is turned over all time. The path has no elementary form and is a quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array


def rolling_disk(t: Any, radius: float, roll: float, turn: float, phi0: float = 0.0) -> tuple[Array, Array]:
    """Contact point (..., 2) and heading of the free disk that starts at the origin. roll = theta', turn = phi' (rad/s)."""
    t = np.asarray(t, dtype=float)
    chord = radius * roll * t * np.sinc(turn * t / (2.0 * np.pi))
    middle = phi0 + 0.5 * turn * t
    return np.stack([chord * np.cos(middle), chord * np.sin(middle)], axis=-1), phi0 + turn * t


@dataclass(frozen=True)
class DiscreteDisk:
    """Free vertical disk under the d'Alembert-Pontryagin scheme with the step h. inertia: of roll; roll, turn: rates at t = 0."""

    h: float
    alpha: float
    mass: float
    inertia: float
    radius: float
    roll: float
    turn: float
    phi0: float = 0.0

    @property
    def factor(self) -> float:
        """q: the roll rate is multiplied by it in each step."""
        m, angle = self.mass * self.radius**2, self.h * self.turn
        return float((self.inertia + m * np.cos((1.0 - self.alpha) * angle)) / (self.inertia + m * np.cos(self.alpha * angle)))

    @property
    def circle(self) -> float:
        """Radius (h R v / 2) / sin(h W / 2) of the circle through all points, alpha = 1/2."""
        if self.alpha != 0.5:
            raise OptionError(f"discrete disk: alpha = {self.alpha}; only alpha = 1/2 stays on a circle.")
        return float(abs(0.5 * self.h * self.radius * self.roll_rate(0) / np.sin(0.5 * self.h * self.turn)))

    def roll_rate(self, k: Any) -> Array:
        """v_k on [t_k, t_{k+1}]."""
        m = self.mass * self.radius**2
        start = self.roll * (self.inertia + m) / (self.inertia + m * np.cos(self.alpha * self.h * self.turn))
        return start * self.factor ** np.asarray(k, dtype=float)

    def position(self, k: Any) -> Array:
        """Contact point after k steps from the origin, shape k.shape + (2,)."""
        k, angle = np.asarray(k, dtype=float), self.h * self.turn
        log = complex(np.log(self.factor), angle)
        total = np.expm1(k * log) / np.expm1(log) if log != 0.0 else k
        z = self.h * self.radius * self.roll_rate(0) * np.exp(1j * (self.phi0 + self.alpha * angle)) * total
        return np.stack([z.real, z.imag], axis=-1)


def knife_edge(t: Any, slope: float, turn: float, phi0: float = 0.0, speed0: float = 0.0) -> tuple[Array, Array, Array]:
    """Contact point (..., 2), heading and speed along the blade on an incline of acceleration slope = g sin(inclination) down x.

    phi = phi0 + W t, speed = c + (slope / W) sin phi, c = speed0 - (slope / W) sin phi0; with differences between t and 0
        x = (c / W) D[sin phi] + slope / (2 W^2) D[sin^2 phi],   y = -(c / W) D[cos phi] + slope / (2 W^2) D[phi - sin(2 phi) / 2].
    From rest and phi0 = 0: x = slope / (2 W^2) sin^2 W t, y = slope / (2 W^2) (W t - sin(2 W t) / 2): it drifts across, not down.
    Errors are round-off times slope / W^2.
    """
    t = np.asarray(t, dtype=float)
    phi = phi0 + turn * t
    if turn == 0.0:
        run = speed0 * t + 0.5 * slope * np.cos(phi0) * t * t
        return np.stack([run * np.cos(phi0), run * np.sin(phi0)], axis=-1), phi, speed0 + slope * np.cos(phi0) * t
    reach, c = 0.5 * slope / turn**2, speed0 / turn - slope / turn**2 * np.sin(phi0)
    x = c * (np.sin(phi) - np.sin(phi0)) + reach * (np.sin(phi) ** 2 - np.sin(phi0) ** 2)
    y = -c * (np.cos(phi) - np.cos(phi0)) + reach * (turn * t - 0.5 * (np.sin(2.0 * phi) - np.sin(2.0 * phi0)))
    return np.stack([x, y], axis=-1), phi, turn * c + slope / turn * np.sin(phi)


def nonholonomic_particle(t: Any, y0: float, vx0: float, vy: float) -> tuple[Array, Array]:
    """Position (..., 3) and velocity (..., 3) of a free particle with z' = y x' from (0, y0, 0): x' sqrt(1 + y^2) and y' are constant."""
    if vy == 0.0:
        raise OptionError("nonholonomic particle: vy = 0; expected another number (with vy = 0 the motion is a straight line).")
    t = np.asarray(t, dtype=float)
    y, c = y0 + vy * t, vx0 * np.hypot(1.0, y0)
    root = np.hypot(1.0, y)
    x, z = c / vy * (np.arcsinh(y) - np.arcsinh(y0)), c / vy * (root - np.hypot(1.0, y0))
    return np.stack([x, y, z], axis=-1), np.stack([c / root, np.full_like(t, vy), c * y / root], axis=-1)


@dataclass(frozen=True)
class ChaplyginSleigh:
    """Sleigh that starts with the blade at the origin, heading 0. inertia: about the centre of mass; offset: a, u0: blade speed."""

    mass: float
    inertia: float
    offset: float
    u0: float
    omega0: float

    def __post_init__(self) -> None:
        if not (self.mass > 0.0 and self.inertia > 0.0):
            raise OptionError(f"Chaplygin sleigh: mass, inertia = {self.mass}, {self.inertia}; expected positive numbers.")

    @property
    def b(self) -> float:
        """Radius of gyration about the blade."""
        return float(np.hypot(np.sqrt(self.inertia / self.mass), self.offset))

    @property
    def limit_speed(self) -> float:
        """c = sqrt(2 energy / m), reached straight ahead with the centre of mass in front."""
        return float(np.hypot(self.u0, self.b * self.omega0))

    @property
    def energy(self) -> float:
        return 0.5 * self.mass * self.limit_speed**2

    @property
    def total_turn(self) -> float:
        """Angle turned between t = -inf and inf, pi b / |a|; 0 if it does not turn, inf if a = 0."""
        if self.omega0 == 0.0:
            return 0.0
        return float(np.pi * self.b / abs(self.offset)) if self.offset != 0.0 else float("inf")

    def speeds(self, t: Any) -> tuple[Array, Array]:
        """u and omega."""
        t = np.asarray(t, dtype=float)
        if self.omega0 == 0.0:
            return np.full_like(t, self.u0), np.zeros_like(t)
        X = self._argument(t)
        e = np.exp(-np.abs(X))
        return self.limit_speed * np.tanh(X), np.copysign(self.limit_speed / self.b, self.omega0) * 2.0 * e / (1.0 + e * e)

    def heading(self, t: Any) -> Array:
        t = np.asarray(t, dtype=float)
        if self.omega0 == 0.0 or self.offset == 0.0:
            return self.omega0 * t
        gd = 2.0 * np.arctan(np.tanh(0.5 * self._argument(t))) - 2.0 * np.arctan(np.tanh(0.5 * self._argument(0.0)))
        return np.copysign(self.b / self.offset, self.omega0 * self.offset) * gd

    def position(self, t: Any) -> Array:
        """Blade point int u (cos, sin)(heading) dt, shape t.shape + (2,): Gauss-Legendre, exact to round-off."""
        t = np.asarray(t, dtype=float)
        ends, back = np.unique(np.append(t.ravel(), 0.0), return_inverse=True)
        rate = self.limit_speed / self.b * max(1.0, abs(self.offset) / self.b)
        panels = 1 + int(2.0 * rate * np.max(np.diff(ends), initial=0.0))
        nodes, weights = np.polynomial.legendre.leggauss(10)
        width = np.diff(ends)[:, None] / panels
        left = ends[:-1, None] + width * np.arange(panels)
        s = left[:, :, None] + 0.5 * width[:, :, None] * (1.0 + nodes)
        u, heading = self.speeds(s)[0], self.heading(s)
        parts = np.stack([u * np.cos(heading), u * np.sin(heading)]) @ weights
        path = np.concatenate([np.zeros((2, 1)), np.cumsum(np.sum(0.5 * width * parts, axis=2), axis=1)], axis=1).T
        path = path[back.ravel()]
        return (path[:-1] - path[-1]).reshape(*t.shape, 2)

    def _argument(self, t: Any) -> Any:
        return self.offset * self.limit_speed / self.b**2 * t + np.arcsinh(self.u0 / (self.b * abs(self.omega0)))
