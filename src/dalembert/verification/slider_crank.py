"""Slider crank with equal arms under gravity: its one-dimensional motion by quadrature, its constraints and their singular position.

Two bars of length l, mass m, inertia J, q = (x1, y1, phi1, x2, y2, phi2), crank pinned at the origin, far end of the rod on y = 0
(lacoursiere2007, ch. 7; the last row of (7.19) corrected). On the branch phi2 = -phi1 = -phi

    E = (m l^2 (1/2 + 2 sin^2 phi) + 2 J) phi'^2 / 2 + m g l sin phi

Released at rest at phi0 it swings about -pi/2. With chi = phi + pi/2, chi0 = phi0 + pi/2, k = sin(chi0 / 2), sin(chi / 2) = k sin(beta)

    dt / d beta = sqrt((m l^2 (1/2 + 2 cos^2 chi) + 2 J) / (m g l (1 - k^2 sin^2 beta)))

which is smooth and has the period pi in beta: the trapezoidal rule gives its Fourier coefficients to round-off. The constraint
Jacobian has rank 5, but 4 at phi = +-pi/2 (row 4 + row 5 - row 2 = l (0, 0, cos phi1, 0, 0, cos phi2)): in the middle of each swing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array


def slider_crank_constraint(q: Any, length: float = 1.0) -> Array:
    """g(q), five rows: pin at the ground (2), pin between the bars (2), slider."""
    x1, y1, p1, x2, y2, p2 = np.asarray(q, dtype=float)
    c1, s1, c2, s2 = 0.5 * length * np.array([np.cos(p1), np.sin(p1), np.cos(p2), np.sin(p2)])
    return np.array([x1 - c1, y1 - s1, x1 + c1 - x2 + c2, y1 + s1 - y2 + s2, y2 + s2])


def slider_crank_jacobian(q: Any, length: float = 1.0) -> Array:
    """G = dg/dq, (5, 6), (7.20)."""
    _, _, p1, _, _, p2 = np.asarray(q, dtype=float)
    c1, s1, c2, s2 = 0.5 * length * np.array([np.cos(p1), np.sin(p1), np.cos(p2), np.sin(p2)])
    rows = [[1, 0, s1, 0, 0, 0], [0, 1, -c1, 0, 0, 0], [1, 0, -s1, -1, 0, -s2], [0, 1, c1, 0, -1, c2], [0, 0, 0, 0, 1, c2]]
    return np.array(rows, dtype=float)


def slider_crank_configuration(phi: Any, length: float = 1.0) -> Array:
    """q on the branch phi2 = -phi1, shape phi.shape + (6,)."""
    phi = np.asarray(phi, dtype=float)
    c, s = 0.5 * length * np.cos(phi), 0.5 * length * np.sin(phi)
    return np.stack([c, s, phi, 3.0 * c, s, -phi], axis=-1)


@dataclass(frozen=True)
class SliderCrank:
    """Released at rest at phi0 in (-pi/2, pi/2). inertia: of a bar about its centre, None for a thin rod (m l^2 / 12)."""

    phi0: float
    mass: float = 1.0
    length: float = 1.0
    gravity: float = 9.8
    inertia: float | None = None

    def __post_init__(self) -> None:
        if not -0.5 * np.pi < self.phi0 < 0.5 * np.pi:
            raise OptionError(f"slider crank: phi0 = {self.phi0}; expected an angle between -pi/2 (rest) and pi/2 (unstable rest).")

    @property
    def quarter_time(self) -> float:
        """From release to the singular position phi = -pi/2."""
        return 0.5 * np.pi * float(self._series[0])

    @property
    def period(self) -> float:
        return 4.0 * self.quarter_time

    @property
    def energy(self) -> float:
        return float(self.mass * self.gravity * self.length * np.sin(self.phi0))

    def state(self, t: Any) -> tuple[Array, Array]:
        """phi (between phi0 and -pi - phi0) and phi' at the times t."""
        beta = self._phase(np.asarray(t, dtype=float) + self.quarter_time)  # chi = chi0 at t = 0: a quarter after beta = 0
        k = np.sin(0.5 * (self.phi0 + 0.5 * np.pi))
        half = np.arcsin(k * np.sin(beta))
        return 2.0 * half - 0.5 * np.pi, 2.0 * k * np.cos(beta) / (np.cos(half) * self._rate(beta))

    def configuration(self, t: Any) -> Array:
        """q of both bars, shape t.shape + (6,)."""
        return slider_crank_configuration(self.state(t)[0], self.length)

    def _rate(self, beta: Array) -> Array:
        """dt / d beta."""
        k, ml2 = np.sin(0.5 * (self.phi0 + 0.5 * np.pi)), self.mass * self.length**2
        J = ml2 / 12.0 if self.inertia is None else self.inertia
        sine2 = (k * np.sin(beta)) ** 2  # of chi / 2
        return np.sqrt((ml2 * (0.5 + 2.0 * (1.0 - 2.0 * sine2) ** 2) + 2.0 * J) / (self.mass * self.gravity * self.length * (1.0 - sine2)))

    @cached_property
    def _series(self) -> Array:
        """a_n of dt / d beta = a_0 + sum a_n cos(2 n beta), down to round-off."""
        n = 64
        while True:
            a = np.fft.rfft(self._rate(np.pi * np.arange(n) / n)).real * 2.0 / n
            if np.max(np.abs(a[n // 4 :])) < 1e-15 * a[0]:
                return np.concatenate([[0.5 * a[0]], a[1 : n // 4]])
            if n >= 2**16:
                raise OptionError(f"slider crank: phi0 = {self.phi0} is too near the unstable rest pi/2; expected 0.01 rad less or lower.")
            n *= 2

    def _phase(self, t: Array) -> Array:
        """beta(t) by Newton's method kept inside a bracket; t(beta) = a_0 beta + sum a_n sin(2 n beta) / (2 n)."""
        a, n = self._series, np.arange(1, len(self._series))
        beta = t / a[0]
        slack = np.sum(np.abs(a[1:]) / (2.0 * n)) / a[0]
        low, high = beta - slack, beta + slack
        for _ in range(60):
            excess = a[0] * beta + np.sin(2.0 * beta[..., None] * n) @ (a[1:] / (2.0 * n)) - t
            low, high = np.where(excess > 0.0, low, beta), np.where(excess > 0.0, beta, high)
            step = beta - excess / self._rate(beta)
            following = np.where((low <= step) & (step <= high), step, 0.5 * (low + high))
            if np.max(np.abs(following - beta), initial=0.0) <= 4e-16 * np.max(np.abs(beta), initial=1.0):
                break
            beta = following
        return beta
