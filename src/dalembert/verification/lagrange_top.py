"""Lagrange's top: a symmetric body (I1, I1, I3 about its pivot) under gravity, centre of mass on the symmetry axis.

theta is the tilt of the axis from the upward vertical, phi its azimuth, psi the spin angle: R = R3(phi) R1(theta) R3(psi),
omega3 = psi_dot + phi_dot cos(theta). Conserved: L3 = I3 omega3, Lz = I1 phi_dot sin^2 theta + L3 cos theta, the energy. With
beta = 2 mgl / I1, lambda = L3 / I1, z = cos theta, v = z - z(0), s = sin^2 theta(0), w = theta_dot(0)^2 + phi_dot(0)^2 s:

    z_dot^2 = beta v^3 + (2 z0 beta - w - lambda^2) v^2 + (2 lambda phi_dot0 s - 2 z0 w - beta s) v + s theta_dot0^2

whose roots v1 <= 0 <= v2 <= v3 are the turning points cos(theta_max) = z0 + v1, cos(theta_min) = z0 + v2, and

    z(t) = z1 + (z2 - z1) sn^2(u0 + p t),   p^2 = mgl (z3 - z1) / (2 I1),   m = (z2 - z1) / (z3 - z1),   nutation period 2 K / p
    phi_dot = A + B,   psi_dot = omega3 - L3 / I1 - A + B,   A = (Lz - L3) / (2 I1 (1 - z)),   B = (Lz + L3) / (2 I1 (1 + z))

where A and B integrate to Legendre's third integral. A top released at rest has z2 = z0 and sinks to the smaller root of
beta (1 - z^2) = lambda^2 (z0 - z). Upright spin ("sleeping") is stable iff omega3 > 2 sqrt(mgl I1) / I3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array, Jacobi, incomplete_first, jacobi, quarter_period, third_kind
from dalembert.verification.free_body import _multiply


def turning_points(
    I1: float, I3: float, mgl: float, theta0: float, omega3: float, theta_dot0: float = 0.0, phi_dot0: float = 0.0
) -> tuple[float, float]:
    """(theta_min, theta_max) of the nutation, in radians."""
    return LagrangeTop(I1, I3, mgl, theta0, omega3, theta_dot0, phi_dot0).turning_points


def sleeping_threshold(I1: float, I3: float, mgl: float) -> float:
    """Spin 2 sqrt(mgl I1) / I3 above which the upright top is stable."""
    return 2.0 * float(np.sqrt(mgl * I1)) / I3


@dataclass(frozen=True)
class LagrangeTop:
    """The top that starts at theta0 with phi = psi = 0. I1, I3: about the pivot; mgl: mass * gravity * distance (N m)."""

    I1: float
    I3: float
    mgl: float
    theta0: float
    omega3: float
    theta_dot0: float = 0.0
    phi_dot0: float = 0.0

    def __post_init__(self) -> None:
        for name in ("I1", "I3", "mgl"):
            if not getattr(self, name) > 0.0:
                raise OptionError(f"Lagrange top: {name} = {getattr(self, name)}; expected a positive number.")
        if not 0.0 <= self.theta0 <= np.pi:
            raise OptionError(f"Lagrange top: theta0 = {self.theta0}; expected an angle in [0, pi].")

    @property
    def energy(self) -> float:
        """Kinetic energy about the pivot + mgl cos theta."""
        swing = self.theta_dot0**2 + (self.phi_dot0 * np.sin(self.theta0)) ** 2
        return float(0.5 * self.I1 * swing + 0.5 * self.I3 * self.omega3**2 + self.mgl * np.cos(self.theta0))

    @property
    def L3(self) -> float:
        """Momentum about the body's axis."""
        return self.I3 * self.omega3

    @property
    def Lz(self) -> float:
        """Momentum about the vertical."""
        return float(self.I1 * self.phi_dot0 * np.sin(self.theta0) ** 2 + self.L3 * np.cos(self.theta0))

    @property
    def sleeping_threshold(self) -> float:
        return sleeping_threshold(self.I1, self.I3, self.mgl)

    @property
    def turning_points(self) -> tuple[float, float]:
        """(theta_min, theta_max)."""
        v1, v2, _ = self._roots
        upper, lower = self._gaps
        return _tilt(upper, self._ends[1] + v2), _tilt(self._ends[0] - v1, lower)

    @property
    def nutation_period(self) -> float:
        """2 K / p; steady precession: limit of small nutations; asymptotic motion: inf."""
        return 2.0 * quarter_period(self._modulus[1]) / self._p

    def cos_theta(self, t: Any) -> Array:
        """Height of the axis's tip, z = z1 + (z2 - z1) sn^2 = z2 - (z2 - z1) cn^2, the one with less cancellation."""
        v1, v2, _ = self._roots
        f = self._functions(t)
        return np.cos(self.theta0) + np.where(f.sn**2 < 0.5, v1 + (v2 - v1) * f.sn**2, v2 - (v2 - v1) * f.cn**2)

    def theta(self, t: Any) -> Array:
        """Tilt from 1 - z = (1 - z2) + (z2 - z1) cn^2 and 1 + z = (1 + z1) + (z2 - z1) sn^2: accurate near 0 and pi too."""
        v1, v2, _ = self._roots
        upper, lower = self._gaps
        f = self._functions(t)
        return 2.0 * np.arctan2(np.sqrt(upper + (v2 - v1) * f.cn**2), np.sqrt(lower + (v2 - v1) * f.sn**2))

    def phi(self, t: Any) -> Array:
        """Azimuth of the axis, 0 at t = 0; continuous, but for half turns where the axis passes the vertical."""
        A, B = self._azimuth_parts(t)
        return A + B

    def psi(self, t: Any) -> Array:
        """Spin angle, 0 at t = 0; continuous, but for half turns where the axis passes the vertical."""
        A, B = self._azimuth_parts(t)
        return (self.omega3 - self.L3 / self.I1) * np.asarray(t, dtype=float) - A + B

    def attitude(self, t: Any) -> Array:
        """Quaternion (n, 4) of R3(phi) R1(theta) R3(psi), scalar first, body to world."""
        t = np.atleast_1d(np.asarray(t, dtype=float))
        return _multiply(_multiply(_turn(self.phi(t), 3), _turn(self.theta(t), 1)), _turn(self.psi(t), 3))

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """(1 - z0, 1 + z0) without cancellation."""
        return 2.0 * float(np.sin(0.5 * self.theta0)) ** 2, 2.0 * float(np.cos(0.5 * self.theta0)) ** 2

    @cached_property
    def _roots(self) -> tuple[float, float, float]:
        """v1 <= 0 <= v2 <= v3 of the cubic of the head."""
        s, z0 = self._ends[0] * self._ends[1], float(np.cos(self.theta0))
        beta, lam = 2.0 * self.mgl / self.I1, self.L3 / self.I1
        w = self.theta_dot0**2 + self.phi_dot0**2 * s
        c2 = 2.0 * z0 * beta - w - lam * lam
        c1 = 2.0 * lam * self.phi_dot0 * s - 2.0 * z0 * w - beta * s
        c0 = s * self.theta_dot0**2
        if c0 == 0.0:
            low, middle, high = sorted((0.0, *_quadratic(beta, c2, c1)))
            return low, middle, high

        def cubic(v: float) -> float:
            return ((beta * v + c2) * v + c1) * v + c0

        for end in (self._ends[0], -self._ends[1]):
            if cubic(end) >= 0.0:  # the axis passes this vertical: a root to round-off
                low, middle, high = sorted((end, *_quadratic(beta, c2 + beta * end, -c0 / end)))
                return low, middle, high
        v1, v2 = (float(brentq(cubic, 0.0, end, xtol=1e-300, rtol=8.9e-16)) for end in (-self._ends[1], self._ends[0]))
        return v1, v2, max(v2, -c0 / (beta * v1 * v2))

    @cached_property
    def _modulus(self) -> tuple[float, float]:
        """m and 1 - m."""
        v1, v2, v3 = self._roots
        return ((v2 - v1) / (v3 - v1), (v3 - v2) / (v3 - v1)) if v3 > v1 else (0.0, 1.0)

    @cached_property
    def _p(self) -> float:
        v1, _, v3 = self._roots
        return float(np.sqrt(0.5 * self.mgl * (v3 - v1) / self.I1))

    @cached_property
    def _u0(self) -> float:
        """Phase at t = 0; infinite when the top stands at an unstable equilibrium."""
        v1, v2, _ = self._roots
        if v1 == v2:
            return 0.0
        if v2 == 0.0 and self._modulus[1] == 0.0:
            return float("inf")
        s, c = np.sqrt(-v1 / (v2 - v1)), np.sqrt(v2 / (v2 - v1))
        phase = incomplete_first(float(s), float(c), self._modulus[1])
        return -phase if self.theta_dot0 > 0.0 else phase

    @cached_property
    def _poles(self) -> tuple[float, float]:
        """(Lz - L3) / (2 I1) and (Lz + L3) / (2 I1): zero when the axis passes the upper, the lower vertical."""
        swing = self.I1 * self.phi_dot0 * self._ends[0] * self._ends[1]
        return (swing - self.L3 * self._ends[0]) / (2.0 * self.I1), (swing + self.L3 * self._ends[1]) / (2.0 * self.I1)

    @cached_property
    def _gaps(self) -> tuple[float, float]:
        """1 - z2 and 1 + z1, without cancellation: the cubic at z = +-1 is beta |z1 -+ 1| |z2 -+ 1| |z3 -+ 1| = (2 pole)^2."""
        v1, v2, v3 = self._roots
        down, up = self._ends
        quarter_beta = 0.5 * self.mgl / self.I1
        lower = self._poles[1] ** 2 / (quarter_beta * (up + v2) * (up + v3)) if up + v2 > 0.0 else 0.0
        direct = down - v2
        if direct * v3 >= (v3 - down) * down:
            return direct, lower
        return self._poles[0] ** 2 / (quarter_beta * (down - v1) * (v3 - down)), lower

    def _functions(self, t: Any) -> Jacobi:
        return jacobi(self._u0 + self._p * np.asarray(t, dtype=float), *self._modulus)

    def _azimuth_parts(self, t: Any) -> tuple[Array, Array]:
        """Integrals of A and B of the head over [0, t]."""
        t = np.asarray(t, dtype=float)
        v1, v2, _ = self._roots
        upper, lower = self._gaps
        far_upper, far_lower = self._ends[0] - v1, self._ends[1] + v2
        A = self._part(t, self._poles[0], far_upper, upper, v2 - v1) + self._passages(t, 0)
        B = self._part(t, self._poles[1], lower, far_lower, v1 - v2) + self._passages(t, 1)
        return A, B

    def _passages(self, t: Array, end: int) -> Array:
        """Half a turn for each time that the axis has passed through the upper (0) or the lower (1) vertical since t = 0.

        There theta, which is never negative, turns back where the motion goes straight on: phi and psi jump by pi. They are the limits of
        the integrals
        of A and B for a vanishing pole. sn^2 is 1 at the upper end of the nutation (odd multiples of K) and 0 at the lower one (even
        multiples).
        """
        v1, v2, _ = self._roots
        if self._poles[end] != 0.0 or v1 == v2 or np.isinf(self._u0) or np.isinf(self.nutation_period):
            return np.zeros_like(t)
        half = 0.5 * self.nutation_period * self._p
        start = self._u0 / half + (1.0 if end == 0 else 0.0)
        if self._ends[end] == 0.0:  # the motion begins at this vertical and leaves it: not counted
            start = round(start)
        return np.pi * (np.floor((start + self._p * t / half) / 2.0) - np.floor(start / 2.0))

    def _part(self, t: Array, pole: float, first: float, last: float, span: float) -> Array:
        """int pole dt / (first - span sn^2), first - span = last; a vanishing pole belongs to an axis that passes the vertical."""
        if pole == 0.0:
            return np.zeros_like(t)
        if np.isinf(self._u0):
            return pole / last * t
        n, n1 = span / first, last / first
        now, start = (third_kind(f, n, n1, *self._modulus) for f in (self._functions(t), self._functions(0.0)))
        return pole / (first * self._p) * (now - start)


def _quadratic(a: float, b: float, c: float) -> tuple[float, float]:
    """Real roots of a x^2 + b x + c; a discriminant that rounds below 0 counts as 0."""
    half = -0.5 * (b + float(np.copysign(np.sqrt(max(0.0, b * b - 4.0 * a * c)), b)))
    return (half / a, c / half) if half != 0.0 else (0.0, 0.0)


def _tilt(down: float, up: float) -> float:
    """theta from 1 - z and 1 + z."""
    return 2.0 * float(np.arctan2(np.sqrt(max(down, 0.0)), np.sqrt(max(up, 0.0))))


def _turn(angle: Array, axis: int) -> Array:
    q = np.zeros((len(angle), 4))
    q[:, 0], q[:, axis] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return q
