"""Plane pendulum phi'' + w^2 sin(phi) = 0, w^2 = gravity / length, from any phi0, omega0, in Jacobi's functions.

phi is measured from the downward vertical, q = length (sin phi, -cos phi). With a = |omega0| / (2 w), s = sin(phi0 / 2), c = cos(phi0 / 2):

    k^2 = s^2 + a^2,   1 - k^2 = (c - a)(c + a)                            energy, and its distance from the separatrix
    libration k < 1:   sin(phi / 2) = k sn u,  cos(phi / 2) = dn u,  phi' = 2 w k cn u,   u = u0 + w t,    m = k^2,    period 4 K / w
    rotation  k > 1:   phi / 2 = am u,                               phi' = 2 w k dn u,   u = u0 + k w t,  m = 1/k^2,  a turn in 2 K / (k w)

for omega0 >= 0; the mirror image otherwise. k = 1 is the separatrix: sn = tanh, cn = dn = sech. (lacoursiere2007 (6.8) lacks the
factor k; its period 2.3445 for w^2 = 10 from the horizontal is 2.345240, its top speed sqrt(10) is sqrt(20).)

The rod pulls with T = mass (length phi'^2 + gravity cos phi). With the constraint force G^T lambda, lambda = -T for g = |q| - length
and lambda = -T / length for g = (|q|^2 - length^2) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array, incomplete_first, jacobi, quarter_period


class _Orbit(NamedTuple):
    """Direction of the first motion, whole turns of phi0, k, 1 - k^2, and the phase at t = 0."""

    sign: float
    turns: float
    k: float
    k1: float
    u0: float


@dataclass(frozen=True)
class Pendulum:
    """The pendulum that starts at phi0 (rad) with the rate omega0 (rad/s)."""

    length: float
    gravity: float
    phi0: float
    omega0: float = 0.0
    mass: float = 1.0

    def __post_init__(self) -> None:
        for name in ("length", "gravity", "mass"):
            if not getattr(self, name) > 0.0:
                raise OptionError(f"pendulum: {name} = {getattr(self, name)}; expected a positive number.")
        if not np.isfinite(self.phi0) or not np.isfinite(self.omega0):
            raise OptionError(f"pendulum: phi0, omega0 = {self.phi0}, {self.omega0}; expected finite numbers.")

    @property
    def frequency(self) -> float:
        """w = sqrt(gravity / length), of small oscillations (rad/s)."""
        return float(np.sqrt(self.gravity / self.length))

    @property
    def rotates(self) -> bool:
        """Whether it goes over the top again and again."""
        return self._orbit.k1 < 0.0

    @property
    def energy(self) -> float:
        """m l^2 phi'^2 / 2 - m g l cos phi, zero at rest in the horizontal."""
        return float(self.mass * self.length * (0.5 * self.length * self.omega0**2 - self.gravity * np.cos(self.phi0)))

    @property
    def period(self) -> float:
        """Of the swing, or of one turn when it rotates; inf on the separatrix."""
        orbit = self._orbit
        if orbit.k1 < 0.0:
            return 2.0 * quarter_period(-orbit.k1 / orbit.k**2) / (orbit.k * self.frequency)
        return 4.0 * quarter_period(orbit.k1) / self.frequency

    @property
    def turning_point(self) -> float:
        """Largest |phi| of the swing; pi when it rotates or on the separatrix."""
        orbit = self._orbit
        return 2.0 * float(np.arctan2(orbit.k, np.sqrt(max(orbit.k1, 0.0)))) if orbit.k1 > 0.0 else float(np.pi)

    def state(self, t: Any) -> tuple[Array, Array]:
        """phi (continuous, from phi0) and phi' at the times t, each of the shape of t."""
        t, orbit, w = np.asarray(t, dtype=float), self._orbit, self.frequency
        if np.isinf(orbit.u0):  # upright, at rest
            return np.full_like(t, self.phi0), np.zeros_like(t)
        if orbit.k1 >= 0.0:
            f = jacobi(orbit.u0 + w * t, orbit.k**2, orbit.k1)
            half, rate = np.arctan2(orbit.k * f.sn, f.dn), 2.0 * w * orbit.k * f.cn
        else:
            f = jacobi(orbit.u0 + orbit.k * w * t, 1.0 / orbit.k**2, -orbit.k1 / orbit.k**2)
            flip = 1.0 - 2.0 * np.mod(f.j, 2.0)
            half, rate = np.pi * f.j + np.arctan2(flip * f.sn, flip * f.cn), 2.0 * w * orbit.k * f.dn
        return 2.0 * (orbit.sign * half + np.pi * orbit.turns), orbit.sign * rate

    def position(self, t: Any) -> Array:
        """q = length (sin phi, -cos phi), shape t.shape + (2,)."""
        phi, _ = self.state(t)
        return self.length * np.stack([np.sin(phi), -np.cos(phi)], axis=-1)

    def velocity(self, t: Any) -> Array:
        """length phi' (cos phi, sin phi), shape t.shape + (2,)."""
        phi, rate = self.state(t)
        return self.length * rate[..., None] * np.stack([np.cos(phi), np.sin(phi)], axis=-1)

    def tension(self, t: Any) -> Array:
        """Pull of the rod, positive towards the pivot (N)."""
        phi, rate = self.state(t)
        return self.mass * (self.length * rate**2 + self.gravity * np.cos(phi))

    def multiplier(self, t: Any, squared: bool = False) -> Array:
        """lambda of g = |q| - length, or of g = (|q|^2 - length^2) / 2 when squared."""
        return -self.tension(t) / (self.length if squared else 1.0)

    @property
    def _orbit(self) -> _Orbit:
        sign = -1.0 if self.omega0 < 0.0 else 1.0
        turns = float(np.rint(self.phi0 / (2.0 * np.pi)))
        half = 0.5 * sign * (self.phi0 - 2.0 * np.pi * turns)
        a, s, c = 0.5 * abs(self.omega0) / self.frequency, float(np.sin(half)), float(np.cos(half))
        k, k1 = float(np.hypot(s, a)), (c - a) * (c + a)
        if k == 0.0:
            u0 = 0.0
        elif k1 >= 0.0:
            u0 = incomplete_first(s / k, a / k, k1) if a > 0.0 or k1 > 0.0 else float("inf")
        else:
            u0 = incomplete_first(s, c, -k1 / k**2)
        return _Orbit(sign, turns, k, k1, u0)
