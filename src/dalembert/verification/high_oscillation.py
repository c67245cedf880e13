"""A constraint made of a stiff spring: two unit masses pushed together, g = q0 - q1, f = (-1, 1), q(0) = 0, q'(0) = (1, 1).

The rigid limit is q = (t, t) with the multiplier 1. With the potential g^2 / (2 epsilon) and the damping function zeta omega g'^2 / 2,
omega^2 = 2 / epsilon (lacoursiere2007, ch. 8; corrected: signs in (8.2), (8.3) and of lambda, the 1/2 of the damping function):

    u = g + epsilon,   s = omega t:   u'' + 2 zeta u' + u = 0,   lambda = -g / epsilon - zeta omega g' = 1 - (omega^2 / 2)(u + 2 zeta u')

Undamped from g = g' = 0: lambda = 1 - cos(omega t), which has no limit as epsilon -> 0. SPOOK with tau = zeta sqrt(2 epsilon) (8.14) has

    sigma = 2 / (2 + Sigma),   Sigma = 4 epsilon / (h^2 (1 + 4 theta)),   theta = tau / h

and x = g + epsilon, y = h g' follow the law of `linear_constraint`: the steady state g = -epsilon, lambda = 1 is exact for every h and tau,
and for tau = 0, from rest at g = 0,

    lambda_k - 1 = -sqrt(1 - sigma) cos(phi (k + 1/2)),   cos phi = 1 - 2 sigma,   sigma = h^2 / (h^2 + 2 epsilon)     (step k -> k + 1)

while the amplitude of g + epsilon is epsilon / sqrt(1 - sigma).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array
from dalembert.verification.linear_constraint import spook_radius, spook_sigma, spook_state
from dalembert.verification.oscillator import damped_oscillator


@dataclass(frozen=True)
class StiffPair:
    """Exact motion. epsilon: compliance (m/N), zeta: damping ratio, g0 and rate0: first violation and its rate (0: consistent)."""

    epsilon: float
    zeta: float = 0.0
    g0: float = 0.0
    rate0: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon > 0.0 or not self.zeta >= 0.0:
            raise OptionError(f"stiff pair: epsilon, zeta = {self.epsilon}, {self.zeta}; expected epsilon > 0 and zeta >= 0.")

    @property
    def omega(self) -> float:
        """sqrt(2 / epsilon)."""
        return float(np.sqrt(2.0 / self.epsilon))

    @property
    def tau(self) -> float:
        """Damping time zeta sqrt(2 epsilon) of SPOOK that stands for this damping."""
        return self.zeta * float(np.sqrt(2.0 * self.epsilon))

    def constraint(self, t: Any) -> tuple[Array, Array]:
        """g and g'."""
        u, rate = self._oscillation(t)
        return u - self.epsilon, self.omega * rate

    def multiplier(self, t: Any) -> Array:
        """lambda; the force on the masses is (lambda, -lambda)."""
        u, rate = self._oscillation(t)
        return 1.0 - (u + 2.0 * self.zeta * rate) / self.epsilon

    def position(self, t: Any) -> Array:
        """(q0, q1) = (t + g / 2, t - g / 2), shape t.shape + (2,)."""
        g, _ = self.constraint(t)
        t = np.asarray(t, dtype=float)
        return np.stack([t + 0.5 * g, t - 0.5 * g], axis=-1)

    def _oscillation(self, t: Any) -> tuple[Array, Array]:
        s = self.omega * np.asarray(t, dtype=float)
        return damped_oscillator(s, self.zeta, self.g0 + self.epsilon, self.rate0 / self.omega)


@dataclass(frozen=True)
class SpookPair:
    """What SPOOK with the step h makes of a `StiffPair`, after k steps."""

    pair: StiffPair
    h: float

    @property
    def theta(self) -> float:
        """tau / h."""
        return self.pair.tau / self.h

    @property
    def sigma(self) -> float:
        return spook_sigma(2.0, self.pair.epsilon, self.h, self.theta)

    @property
    def contraction(self) -> float:
        """Spectral radius of a step; 1 without damping."""
        return spook_radius(self.sigma, self.theta)

    @property
    def amplitude(self) -> float:
        """sqrt(1 - sigma): amplitude of lambda without damping, from the consistent start (exact motion: 1)."""
        return float(np.sqrt(1.0 - self.sigma))

    def constraint(self, k: Any) -> tuple[Array, Array]:
        """g_k and G v_k."""
        state = self._state(k)
        return state[..., 0] - self.pair.epsilon, state[..., 1] / self.h

    def multiplier(self, k: Any) -> Array:
        """Impulse over h of the step k -> k + 1: 1 - (4 Upsilon x_k + (1 - Upsilon) y_k) / (h^2 (2 + Sigma))."""
        x, y = np.moveaxis(self._state(k), -1, 0)
        upsilon = 1.0 / (1.0 + 4.0 * self.theta)
        return 1.0 - (4.0 * upsilon * x + (1.0 - upsilon) * y) * 0.5 * self.sigma / self.h**2

    def _state(self, k: Any) -> Array:
        return spook_state(self.sigma, self.theta, self.pair.g0 + self.pair.epsilon, self.h * self.pair.rate0, k)
