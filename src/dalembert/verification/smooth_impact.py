"""Impact on a spring and a damper: m q'' + b q' + k q = 0 while q < 0, q(0) = 0, q'(0) = -v0.

With omega^2 = k / m, zeta = b / (2 sqrt(k m)), xi^2 = |1 - zeta^2|, s = omega t (lacoursiere2007, ch. 9; corrected: zeta in (9.3), (9.11),
the root in (9.8), sign and omega in (9.7)):

    zeta < 1   q = -(v0 / (omega xi)) e^(-zeta s) sin(xi s)      leaves at s = pi / xi with the speed r v0, r = exp(-pi zeta / xi)
    zeta = 1   q = -(v0 / omega) s e^(-s)                        never leaves
    zeta > 1   q = -(v0 / (omega xi)) e^(-zeta s) sinh(xi s)     never leaves

Deepest at s* = acos(zeta) / xi (1 for zeta = 1, acosh(zeta) / xi above): |q| = (v0 / omega) exp(-zeta s*), v0 / (omega e) for zeta = 1.
The force k q + b q' pulls from s = 2 s* on: a contact that lets go there, without adhesion, has the restitution exp(-2 zeta s*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array
from dalembert.verification.oscillator import damped_oscillator


def restitution(zeta: float) -> float:
    """r = exp(-pi zeta / sqrt(1 - zeta^2)), 0 for zeta >= 1: of any speed, mass and stiffness."""
    if not zeta >= 0.0:
        raise OptionError(f"smooth impact: zeta = {zeta}; expected a number that is not negative.")
    return float(np.exp(-np.pi * zeta / np.sqrt((1.0 - zeta) * (1.0 + zeta)))) if zeta < 1.0 else 0.0


def damping_ratio(r: float) -> float:
    """zeta = -ln r / sqrt(pi^2 + ln^2 r), the inverse of `restitution`; r = 0 gives 1."""
    if not 0.0 <= r <= 1.0:
        raise OptionError(f"smooth impact: restitution r = {r}; expected a number in [0, 1].")
    return float(-np.log(r) / np.hypot(np.pi, np.log(r))) if r > 0.0 else 1.0


@dataclass(frozen=True)
class SmoothImpact:
    """A mass that meets the spring (N/m) and damper (N s/m) at t = 0 with the speed v0 > 0, going down."""

    mass: float
    stiffness: float
    damping: float
    speed: float

    def __post_init__(self) -> None:
        if not (self.mass > 0.0 and self.stiffness > 0.0 and self.speed > 0.0 and self.damping >= 0.0):
            given = f"mass, stiffness, damping, speed = {self.mass}, {self.stiffness}, {self.damping}, {self.speed}"
            raise OptionError(f"smooth impact: {given}; expected positive numbers, damping 0 or more.")

    @property
    def omega(self) -> float:
        return float(np.sqrt(self.stiffness / self.mass))

    @property
    def zeta(self) -> float:
        return 0.5 * self.damping / float(np.sqrt(self.stiffness * self.mass))

    @property
    def restitution(self) -> float:
        return restitution(self.zeta)

    @property
    def duration(self) -> float:
        """pi / (omega sqrt(1 - zeta^2)); inf for zeta >= 1."""
        zeta = self.zeta
        return float(np.pi / (self.omega * np.sqrt((1.0 - zeta) * (1.0 + zeta)))) if zeta < 1.0 else float("inf")

    @property
    def deepest_time(self) -> float:
        """s* / omega."""
        zeta = self.zeta
        xi = np.sqrt(abs(1.0 - zeta) * (1.0 + zeta))
        if xi == 0.0:
            return 1.0 / self.omega
        return float((np.arctan2(xi, zeta) if zeta < 1.0 else np.arctanh(xi / zeta)) / (xi * self.omega))

    @property
    def penetration(self) -> float:
        """Largest |q|."""
        return self.speed / self.omega * float(np.exp(-self.zeta * self.omega * self.deepest_time))

    @property
    def pull_time(self) -> float:
        """2 s* / omega: from here on the contact pulls (undamped: never before it ends)."""
        return 2.0 * self.deepest_time

    @property
    def restitution_without_adhesion(self) -> float:
        """exp(-2 zeta s*), when the contact lets go at `pull_time`."""
        return float(np.exp(-self.zeta * self.omega * self.pull_time))

    def state(self, t: Any) -> tuple[Array, Array]:
        """q and q' for t >= 0; after the contact has ended, free flight."""
        t = np.asarray(t, dtype=float)
        u, rate = damped_oscillator(self.omega * np.minimum(t, self.duration), self.zeta, 0.0, -self.speed / self.omega)
        away = self.restitution * self.speed
        free = t > self.duration
        beyond = np.where(free, t, 0.0) - (self.duration if np.isfinite(self.duration) else 0.0)
        return np.where(free, away * beyond, u), np.where(free, away, self.omega * rate)

    def force(self, t: Any) -> Array:
        """-(k q + b q') on the mass during the contact, 0 after it."""
        q, rate = self.state(t)
        return np.where(np.asarray(t) <= self.duration, -(self.stiffness * q + self.damping * rate), 0.0)
