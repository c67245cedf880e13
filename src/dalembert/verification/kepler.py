"""Kepler's problem q'' = -mu q / |q|^3 at any time, for ellipse, parabola and hyperbola alike.

In units of length |q0| and time sqrt(|q0|^3 / mu), with a = 2 - |v0|^2 (minus twice the energy) and s = q0 . v0, the universal anomaly chi
(d chi / d t = 1 / r) solves

    t = U1 + s U2 + U3,     r = U0 + s U1 + U2 > 0,     q = (1 - U2) q0 + (U1 + s U2) v0,     v = -U1 / r q0 + (1 - U2 / r) v0
    a > 0:  U0 = cos x, U1 = sin x / w, U2 = (1 - cos x) / a, U3 = (x - sin x) / w^3,   w = sqrt(a), x = w chi     (cosh, sinh for a < 0)

t rises with chi, so that Newton's method kept inside a shrinking bracket always arrives. Whole periods are taken off first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, cosh, factorial, sin, sinh, sqrt
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array


class KeplerInvariants(NamedTuple):
    """Per unit mass: energy v^2/2 - mu/r; angular momentum q x v; Laplace vector v x L - mu q/r, of length mu * eccentricity."""

    energy: Array
    angular_momentum: Array
    laplace: Array


def kepler_invariants(mu: float, q: Any, v: Any) -> KeplerInvariants:
    """Of states (..., 2) or (..., 3); both vectors have three components."""
    q, v = _spatial(q), _spatial(v)
    r = np.linalg.norm(q, axis=-1, keepdims=True)
    L = np.cross(q, v)
    return KeplerInvariants(0.5 * np.sum(v * v, axis=-1) - mu / r[..., 0], L, np.cross(v, L) - mu * q / r)


@dataclass(frozen=True)
class Kepler:
    """The orbit through q0 with the velocity v0 at t = 0, both of two or three components."""

    mu: float
    q0: tuple[float, ...]
    v0: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.mu > 0.0:
            raise OptionError(f"Kepler orbit: mu = {self.mu}; expected a positive number (m^3/s^2).")
        if len(self.q0) != len(self.v0) or len(self.q0) not in (2, 3):
            raise OptionError(f"Kepler orbit: q0 has {len(self.q0)}, v0 {len(self.v0)} components; expected two or three each.")
        if not np.any(self.invariants.angular_momentum):
            raise OptionError(f"Kepler orbit: q0 = {self.q0} and v0 = {self.v0} are parallel; expected an orbit without collision.")

    @property
    def invariants(self) -> KeplerInvariants:
        return kepler_invariants(self.mu, self.q0, self.v0)

    @property
    def eccentricity(self) -> float:
        return float(np.linalg.norm(self.invariants.laplace)) / self.mu

    @property
    def period(self) -> float:
        """2 pi mu / (-2 E)^(3/2), inf for an open orbit."""
        a = self._scaled[2]
        return float(2.0 * np.pi / a**1.5) * self._unit_time if a > 0.0 else float("inf")

    def state(self, t: Any) -> tuple[Array, Array]:
        """Positions and velocities, each of shape t.shape + (dimension,)."""
        t = np.asarray(t, dtype=float)
        q0, v0 = np.asarray(self.q0, dtype=float), np.asarray(self.v0, dtype=float)
        rows = np.array([self._coefficients(x) for x in t.ravel()]).reshape(*t.shape, 4)
        f, g, f_dot, g_dot = np.moveaxis(rows, -1, 0)[..., None]
        return f * q0 + g * self._unit_time * v0, f_dot / self._unit_time * q0 + g_dot * v0

    def _coefficients(self, t: float) -> tuple[float, float, float, float]:
        """f, g, f', g' of q = f q0 + g v0 in the units of the head of this file."""
        _, s, a = self._scaled
        if np.isfinite(self.period):
            t = t - self.period * round(t / self.period)
        _, U1, U2, _, r = _universal(_anomaly(t / self._unit_time, s, a), s, a)
        return 1.0 - U2, U1 + s * U2, -U1 / r, 1.0 - U2 / r

    @property
    def _unit_time(self) -> float:
        return sqrt(float(np.linalg.norm(self.q0)) ** 3 / self.mu)

    @property
    def _scaled(self) -> tuple[float, float, float]:
        """|q0|, s, a."""
        r0, q0, v0 = float(np.linalg.norm(self.q0)), np.asarray(self.q0, dtype=float), np.asarray(self.v0, dtype=float)
        return r0, float(q0 @ v0) / sqrt(r0 * self.mu), 2.0 - r0 * float(v0 @ v0) / self.mu


def _anomaly(t: float, s: float, a: float) -> float:
    """chi(t): Newton's method inside a bracket, bisection where it would leave it."""
    direction = -1.0 if t < 0.0 else 1.0
    t, s = abs(t), direction * s
    low, high = 0.0, 1.0
    while _time(high, s, a) < t:
        low, high = high, 2.0 * high
    chi = 0.5 * (low + high)
    for _ in range(200):
        excess = _time(chi, s, a) - t
        low, high = (low, chi) if excess > 0.0 else (chi, high)
        step = chi - excess / _universal(chi, s, a)[4]
        following = step if low <= step <= high else 0.5 * (low + high)
        if abs(following - chi) <= 2e-16 * abs(chi):
            break
        chi = following
    return direction * chi


def _time(chi: float, s: float, a: float) -> float:
    _, U1, U2, U3, _ = _universal(chi, s, a)
    return U1 + s * U2 + U3


def _universal(chi: float, s: float, a: float) -> tuple[float, float, float, float, float]:
    """U0, U1, U2, U3 and r."""
    square = a * chi * chi
    if abs(square) < 1.0:  # x - sin x would cancel; the tenth term is below round-off
        U2 = chi**2 * sum((-square) ** j / factorial(2 * j + 2) for j in range(10))
        U3 = chi**3 * sum((-square) ** j / factorial(2 * j + 3) for j in range(10))
        U1 = chi - a * U3
    else:
        w = sqrt(abs(a))
        x, sine, half = w * chi, sin(w * chi) if a > 0.0 else sinh(w * chi), sin(0.5 * w * chi) if a > 0.0 else sinh(0.5 * w * chi)
        U1, U2, U3 = sine / w, 2.0 * half * half / abs(a), (x - sine) / (w * a)
    U0 = 1.0 - a * U2 if abs(square) < 1.0 else (cos(x) if a > 0.0 else cosh(x))
    return U0, U1, U2, U3, U0 + s * U1 + U2


def _spatial(x: Any) -> Array:
    x = np.asarray(x, dtype=float)
    return x if x.shape[-1] == 3 else np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)
