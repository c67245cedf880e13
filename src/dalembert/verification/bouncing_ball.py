"""A point that falls on a floor and is thrown back with e times its speed, in closed form.

From rest at the height H it meets the floor first at T = sqrt(2 H / g) with the speed g T. Flight n = 1, 2, ... begins with e^n g T and
lasts 2 e^n T, so impact n + 1 is at

    t_n+1 = T (1 + 2 (e + ... + e^n)),        and for e < 1 the point rests from  T (1 + e) / (1 - e)  on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError


@dataclass(frozen=True)
class BouncingBall:
    """height: m, from which it falls; gravity: m/s^2; restitution in [0, 1]."""

    height: float = 1.0
    gravity: float = 9.81
    restitution: float = 1.0

    def __post_init__(self) -> None:
        if not (self.height > 0.0 and self.gravity > 0.0 and 0.0 <= self.restitution <= 1.0):
            raise OptionError(f"{self}: expected a height and a gravity above 0, and a restitution in [0, 1].")

    @property
    def fall(self) -> float:
        """T, s."""
        return math.sqrt(2.0 * self.height / self.gravity)

    @property
    def rest(self) -> float:
        """The time from which on it rests, s; infinite for e = 1."""
        e = self.restitution
        return math.inf if e == 1.0 else self.fall * (1.0 + e) / (1.0 - e)

    def impact_times(self, n: int) -> Array:
        """The first n impacts, s."""
        flights = 2.0 * self.restitution ** np.arange(1.0, n)
        return self.fall * (1.0 + np.concatenate([[0.0], np.cumsum(flights)]))[:n]

    def state(self, t: Any) -> tuple[Array, Array]:
        """Height and velocity at times t (n,)."""
        t = np.asarray(t, dtype=float)
        n, s = self._flight(t)
        up = np.where(n == 0, 0.0, self.restitution ** np.maximum(n, 1.0) * self.gravity * self.fall)
        z = np.where(n == 0, self.height, 0.0) + up * s - 0.5 * self.gravity * s**2
        still = t >= self.rest
        return np.where(still, 0.0, z), np.where(still, 0.0, up - self.gravity * s)

    def _flight(self, t: Array) -> tuple[Array, Array]:
        """Number of the flight, 0 for the fall, and the time since it began."""
        e, T = self.restitution, self.fall
        if e == 1.0:
            n = np.maximum(np.floor((t / T + 1.0) / 2.0), 0.0)
            return n, np.where(n == 0.0, t, t - T * (2.0 * n - 1.0))
        count = 1 if e == 0.0 else 2 + math.ceil(math.log(1e-17) / math.log(e))
        begins = np.concatenate([[0.0], self.impact_times(count)])
        n = np.searchsorted(begins, t, side="right") - 1
        return n.astype(float), t - begins[n]
