"""What a picture or a film is asked for, checked: one sentence for each thing that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError

SMALLEST, LARGEST = 64, 8192
MOST_EXPOSURES = 100


def checked_size(size: Any, largest: int = LARGEST) -> tuple[int, int]:
    """(width, height) in pixels."""
    try:
        given = [float(x) for x in size]
        width, height = (int(x) for x in given)
        whole = given == [width, height]
    except (TypeError, ValueError, OverflowError):
        width = height = 0
        whole = False
    if not (whole and SMALLEST <= width <= largest and SMALLEST <= height <= largest):
        raise OptionError(f"size = {size!r}; expected (width, height) in pixels, each from {SMALLEST} to {largest}.")
    return width, height


def checked_time(traj: Any, t: Any) -> float:
    """A time of the run; None: its end."""
    first, last = float(traj.t[0]), float(traj.t[-1])
    if t is None:
        return last
    value = _number(t)
    if not first <= value <= last:
        raise OptionError(f"t = {t!r} is outside the run [{first:g}, {last:g}] s.")
    return value


def exposure_times(traj: Any, exposures: Any, t: float) -> Array:
    """Times of the earlier exposures, ascending: so many, evenly spread from the start of the run, or those of a list."""
    first, last = float(traj.t[0]), float(traj.t[-1])
    if isinstance(exposures, (int, np.integer)) and not isinstance(exposures, bool):
        if not 0 <= exposures <= MOST_EXPOSURES:
            raise OptionError(f"exposures = {exposures}; expected 0 to {MOST_EXPOSURES} earlier ones, or a list of times in s.")
        return np.linspace(first, t, int(exposures) + 1)[:-1] if t > first else np.zeros(0)
    try:
        times = np.array([_number(x) for x in exposures])
    except TypeError:
        times = np.array([np.nan])
    if not (np.isfinite(times).all() and len(times) <= MOST_EXPOSURES):
        raise OptionError(f"exposures = {exposures!r}; expected a whole number, or at most {MOST_EXPOSURES} times in s.")
    outside = times[(times < first) | (times > last)]
    if len(outside):
        raise OptionError(f"exposures: t = {outside[0]:g} is outside the run [{first:g}, {last:g}] s.")
    return np.sort(times)


def checked_finite(q: Array, times: Array) -> None:
    """OptionError names the first time at which the state is not finite."""
    bad = ~np.isfinite(q).all(axis=1)
    if bad.any():
        raise OptionError(f"the state at t = {times[bad][0]:g} s is not finite: there is nothing to draw; choose an earlier time.")


def check_switch(what: str, value: Any) -> None:
    """OptionError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{what} = {value!r}; expected True or False.")


def _number(x: Any) -> float:
    try:
        return float(x)
    except (TypeError, ValueError):
        return np.nan
