"""Monitors: watch a run while it is under way, and end it when there is no point in going on.

A monitor is any function monitor(t, q, v); `simulate(..., monitors=[...])` calls it about ten times a second and at the end with the latest
node. A true answer ends the run; the trajectory then says which monitor ended it. Monitors never touch the numbers of a run.

    traj = dal.simulate(m, h=0.01, t_end=1e4, monitors=[energy_within(m, 0.1), seconds(60)])
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.systems import System, as_system

__all__ = ["Monitor", "Watch", "energy_within", "seconds"]

Monitor = Callable[[float, Array, Array], bool]


def _check_positive(what: str, value: Any) -> None:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)) or not value > 0:
        raise OptionError(f"{what} is {value!r}; expected a positive number.")


def energy_within(model: System, fraction: float) -> Monitor:
    """End the run when the energy has moved from its first value by more than a fraction of the largest kinetic energy seen."""
    as_system(model, "energy_within")
    _check_positive("energy_within: fraction", fraction)
    seen: dict[str, float] = {}

    def energy_left_its_band(t: float, q: Array, v: Array) -> bool:
        energy = float(model.energy(q, v))
        seen["kinetic"] = max(seen.get("kinetic", 0.0), float(model.kinetic_energy(q, v)))
        return abs(energy - seen.setdefault("first", energy)) > fraction * seen["kinetic"]

    return energy_left_its_band


def seconds(limit: float) -> Monitor:
    """End the run after so many seconds of wall time."""
    _check_positive("seconds: limit", limit)
    began = time.monotonic()

    def time_is_up(t: float, q: Array, v: Array) -> bool:
        return time.monotonic() - began > limit

    return time_is_up


class Watch:
    """Keep what a function says of the latest node: a live view of a long run. `times` and `values` grow while it runs."""

    def __init__(self, function: Callable[[float, Array, Array], object]):
        self.function = function
        self.times: list[float] = []
        self.values: list[object] = []

    def __call__(self, t: float, q: Array, v: Array) -> bool:
        self.times.append(t)
        self.values.append(self.function(t, q, v))
        return False

    def latest(self) -> tuple[float, object]:
        """Time and value of the last call; (nan, None) before the first."""
        return (self.times[-1], self.values[-1]) if self.times else (np.nan, None)
