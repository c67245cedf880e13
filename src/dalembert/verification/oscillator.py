"""Oscillators with a closed law, in natural time s = omega t: the alpha-beta family, Runge-Kutta methods, damping.

A step z+ = A z of a 2 x 2 matrix with eigenvalues l+ and l- is taken k times by

    A^k = p_k A - det(A) p_{k-1} 1,     p_k = (l+^k - l-^k) / (l+ - l-)                                     lacoursiere2007 (2.21)

which is evaluated through the angle of the pair, without cancellation, r^2 = det A, c = (l+ + l-) / 2 = r cos(phi):

    A^k = q_k 1 + p_k (A - c 1),   q_k = r^k cos(k phi),   p_k = r^(k-1) sin(k phi) / sin(phi)

(cosh and sinh for a real pair, p_k = k r^(k-1) for a double root). h stands for h omega throughout, z = (x, v), x' = v, v' = -x.

Alpha-beta family, (2.6)-(2.15): x+ - x = h [alpha v + (1 - alpha) v+],  v+ - v = -h [beta x + (1 - beta) x+]

    A = [[u, h], [-h, y]] / gamma,   u = 1 - h^2 beta (1 - alpha),   y = 1 - h^2 alpha (1 - beta),   gamma = 1 + h^2 (1 - alpha)(1 - beta)
    det A = (1 + h^2 alpha beta) / gamma,   gamma l+- = 1 - h^2 (alpha + beta - 2 alpha beta) / 2 +- i h sqrt(1 - h^2 (alpha - beta)^2 / 4)

and every member multiplies the form x^2 + v^2 + h (alpha - beta) x v by det A in each step: it is constant for alpha + beta = 1.
Print corrected: the signs of psi in (2.29) are swapped, (2.31) is replaced by that form, (5.3) has 1 / (1 + z) for implicit Euler.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from dalembert.errors import OptionError, UnknownNameError
from dalembert.verification.elliptic import Array

ALPHA_BETA = {"explicit Euler": (1.0, 1.0), "implicit Euler": (0.0, 0.0), "implicit midpoint": (0.5, 0.5), "symplectic Euler": (1.0, 0.0)}
RUNGE_KUTTA = {"RK2": 2, "RK3": 3, "RK4": 4}


@dataclass(frozen=True)
class AlphaBeta:
    """One member of the family at the step h (times omega)."""

    alpha: float
    beta: float
    h: float

    def __post_init__(self) -> None:
        if not (0.0 <= self.alpha <= 1.0 and 0.0 <= self.beta <= 1.0):
            raise OptionError(f"alpha-beta family: alpha, beta = {self.alpha}, {self.beta}; expected numbers in [0, 1].")
        if not self.h > 0.0:
            raise OptionError(f"alpha-beta family: h = {self.h}; expected a positive step.")

    @property
    def gamma(self) -> float:
        return 1.0 + self.h**2 * (1.0 - self.alpha) * (1.0 - self.beta)

    @property
    def matrix(self) -> Array:
        """A of (2.11)."""
        u, y = 1.0 - self.h**2 * self.beta * (1.0 - self.alpha), 1.0 - self.h**2 * self.alpha * (1.0 - self.beta)
        return np.array([[u, self.h], [-self.h, y]]) / self.gamma

    @property
    def det(self) -> float:
        """Factor of areas, and of `form`, per step."""
        return (1.0 + self.h**2 * self.alpha * self.beta) / self.gamma

    @property
    def eigenvalues(self) -> tuple[complex, complex]:
        """(2.15), the root with the larger imaginary (or real) part first."""
        centre, radicand = self._pair
        root = complex(np.sqrt(-complex(radicand)))
        return centre + root, centre - root

    @property
    def phase(self) -> float:
        """Angle phi turned in one step, in [0, pi]; the frequency is phi / h. 0 or pi for a real pair."""
        centre, radicand = self._pair
        return float(np.arctan2(np.sqrt(max(radicand, 0.0)), centre))

    @property
    def growth(self) -> float:
        """Spectral radius: growth of |z| per step in the long run."""
        return max(abs(root) for root in self.eigenvalues)

    def power(self, k: Any) -> Array:
        """A^k for integers k >= 0, shape k.shape + (2, 2)."""
        return matrix_power(self.matrix, *self._pair, self.det, k)

    def state(self, z0: Any, k: Any) -> Array:
        """z_k = A^k z0, shape k.shape + (2,)."""
        return self.power(k) @ np.asarray(z0, dtype=float)

    def form(self, z: Any) -> Array:
        """x^2 + v^2 + h (alpha - beta) x v: det^k times its first value after k steps."""
        x, v = np.moveaxis(np.asarray(z, dtype=float), -1, 0)
        return x * x + v * v + self.h * (self.alpha - self.beta) * x * v

    def modified_energy(self, z: Any) -> Array:
        """The Hamiltonian whose exact flow over the time h is the step: phi / (2 h sqrt(1 - h^2 (alpha - beta)^2 / 4)) * form."""
        _, radicand = self._pair
        if radicand <= 0.0 or not np.isclose(self.alpha + self.beta, 1.0, rtol=0.0, atol=1e-15):
            raise OptionError(
                f"modified energy of the alpha-beta family: alpha + beta = {self.alpha + self.beta}, h |alpha - beta| = "
                f"{self.h * abs(self.alpha - self.beta)}; expected 1 (areas are kept) and less than 2 (the motion is bounded)."
            )
        return 0.5 * self.phase / (self.gamma * np.sqrt(radicand)) * self.form(z)

    @property
    def _pair(self) -> tuple[float, float]:
        """(c, d) with l+- = c +- sqrt(-d)."""
        a, b, h = self.alpha, self.beta, self.h
        centre = (1.0 - 0.5 * h * h * (a + b - 2.0 * a * b)) / self.gamma
        return centre, (h / self.gamma) ** 2 * (1.0 - 0.5 * h * (a - b)) * (1.0 + 0.5 * h * (a - b))


def matrix_power(A: Array, centre: float, radicand: float, det: float, k: Any) -> Array:
    """A^k of a 2 x 2 matrix with the eigenvalues centre +- sqrt(-radicand) of product det > 0, integers k >= 0."""
    k = np.asarray(k)
    if not np.issubdtype(k.dtype, np.integer) or np.any(k < 0):
        raise OptionError(f"number of steps k = {k.tolist()}; expected integers, not negative.")
    r, opening = np.copysign(np.sqrt(det), centre), np.copysign(np.sqrt(abs(radicand)), centre)
    if radicand > 0.0:
        angle = np.arctan2(abs(opening), abs(centre))
        q, p = r**k * np.cos(k * angle), r ** (k - 1.0) * np.sin(k * angle) / np.sin(angle)
    elif radicand < 0.0:  # the larger root carries the power: no large cosh is formed
        larger, ratio = (centre + opening) ** k, np.expm1(-2.0 * k * np.arctanh(opening / centre))
        q, p = larger * (1.0 + 0.5 * ratio), -0.5 * larger * ratio / opening
    else:
        q, p = r**k, k * r ** (k - 1.0)
    return np.asarray(q)[..., None, None] * np.eye(2) + np.asarray(p)[..., None, None] * (A - centre * np.eye(2))


def named_power(name: str, h: float, k: int) -> Array:
    """A^k of the four named methods in the closed forms of lacoursiere2007, ch. 2; R(t) = [[cos t, sin t], [-sin t, cos t]].

    explicit Euler (1 + h^2)^(k/2) R(k atan h); implicit Euler (1 + h^2)^(-k/2) R(k atan h); implicit midpoint R(2 k atan(h / 2));
    symplectic Euler, h < 2, sin psi = h / 2, phi = 2 psi: [[cos(k phi - psi), sin k phi], [-sin k phi, cos(k phi + psi)]] / cos psi.
    """
    if name not in ALPHA_BETA:
        raise UnknownNameError("method of the alpha-beta family", name, ALPHA_BETA)
    if name == "symplectic Euler":
        if not h < 2.0:
            raise OptionError(f"symplectic Euler: h omega = {h}; expected less than 2, where its powers stay bounded.")
        psi = np.arcsin(0.5 * h)
        c, s = np.cos(2.0 * k * psi + np.array([-psi, psi])), np.sin(2.0 * k * psi)
        return np.array([[c[0], s], [-s, c[1]]]) / np.cos(psi)
    angle = 2.0 * k * np.arctan(0.5 * h) if name == "implicit midpoint" else k * np.arctan(h)
    scale = {"explicit Euler": 0.5 * k, "implicit Euler": -0.5 * k, "implicit midpoint": 0.0}[name]
    c, s = np.cos(angle), np.sin(angle)
    return (1.0 + h * h) ** scale * np.array([[c, s], [-s, c]])


def stability_function(name: str, z: Any) -> Any:
    """R(z) of one step on q' = lambda q, z = h lambda (5.3); RKp: sum_{j <= p} z^j / j!."""
    if name in RUNGE_KUTTA:
        return sum(z**j / factorial(j) for j in range(RUNGE_KUTTA[name] + 1))
    if name == "explicit Euler":
        return 1.0 + z
    if name == "implicit Euler":
        return 1.0 / (1.0 - z)
    if name == "implicit midpoint":
        return (1.0 + 0.5 * z) / (1.0 - 0.5 * z)
    raise UnknownNameError("one-step method", name, ["explicit Euler", "implicit Euler", "implicit midpoint", *RUNGE_KUTTA])


def area_factor(name: str, x: Any) -> Array:
    """|R(i x)|^2, x = h omega: what one step does to areas of the phase plane and to the energy (5.4); Verlet: areas only."""
    x = np.asarray(x, dtype=float)
    factors = {
        "explicit Euler": lambda: 1.0 + x**2,
        "implicit Euler": lambda: 1.0 / (1.0 + x**2),
        "implicit midpoint": lambda: np.ones_like(x),
        "Verlet": lambda: np.ones_like(x),
        "RK2": lambda: 1.0 + x**4 / 4.0,
        "RK3": lambda: 1.0 - x**4 / 12.0 + x**6 / 36.0,
        "RK4": lambda: 1.0 - x**6 / 72.0 + x**8 / 576.0,
    }
    if name not in factors:
        raise UnknownNameError("one-step method", name, factors)
    return np.asarray(factors[name]())


def amplitude_factor(name: str, x: Any) -> Array:
    """|R(i x)|: factor of the amplitude per step."""
    return np.sqrt(area_factor(name, x))


def damped_oscillator(s: Any, zeta: float, u0: float, rate0: float) -> tuple[Array, Array]:
    """u and u' of u'' + 2 zeta u' + u = 0 for any zeta >= 0, (8.10), xi^2 = 1 - zeta^2 (may be negative or 0).

    u = e^(-zeta s) (u0 cos xi s + (u0' + zeta u0) sin(xi s) / xi),  u' = e^(-zeta s) (u0' cos xi s - (u0 + zeta u0') sin(xi s) / xi)
    """
    s = np.asarray(s, dtype=float)
    square = (1.0 - zeta) * (1.0 + zeta)
    xi = np.sqrt(abs(square))
    if square >= 0.0:
        decay = np.exp(-zeta * s)
        even, odd = decay * np.cos(xi * s), decay * (np.sin(xi * s) / xi if xi > 0.0 else s)
    else:  # slow root zeta - xi = 1 / (zeta + xi); no large cosh is formed
        decay, fast = np.exp(-s / (zeta + xi)), np.expm1(-2.0 * xi * s)
        even, odd = decay * (1.0 + 0.5 * fast), -0.5 * decay * fast / xi
    return u0 * even + (rate0 + zeta * u0) * odd, rate0 * even - (u0 + zeta * rate0) * odd
