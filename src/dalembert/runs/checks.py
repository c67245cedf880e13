"""Checks of the arguments of a run."""

from __future__ import annotations

import math
import operator
import os
from functools import cache
from typing import Any

import numpy as np

from dalembert.errors import OptionError

MOST_STEPS = 1e18


def step_count(h: Any, t_end: Any) -> tuple[float, int]:
    """(h, N) with N h = t_end; OptionError names the nearest h where N is not whole."""
    h, t_end = seconds("h", h), seconds("t_end", t_end)
    if not t_end / h < MOST_STEPS:
        raise OptionError(f"t_end / h = {t_end / h:.6g} steps are more than can be counted; expected at most {MOST_STEPS:.0e}.")
    n = round(t_end / h)
    if n < 1 or abs(n * h - t_end) > 1e-9 * t_end:
        nearest = t_end / max(1, n)
        raise OptionError(f"t_end / h = {t_end / h:.6g} is not a whole number of steps; the nearest h is {nearest!r} ({max(1, n)} steps).")
    return h, n


def seconds(what: str, value: Any) -> float:
    """A positive, finite number."""
    try:
        found = math.nan if isinstance(value, (bool, str, bytes)) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or found <= 0:
        raise OptionError(f"{what} is {value!r}; expected a positive, finite number of seconds.")
    return found


def whole(what: str, value: Any, least: int, why: str = "") -> int:
    """A whole number, at least so large; numbers such as 5.0 and np.int64(5) are whole."""
    try:
        found = None if isinstance(value, (bool, str)) else operator.index(int(value))
        ok = found is not None and bool(found == value) and found >= least
    except (TypeError, ValueError, OverflowError):  # no number; NaN; infinity
        ok = False
    if not ok:
        raise OptionError(f"{what} is {value!r}; expected a whole number >= {least}{why}.")
    return int(value)


def check_every(every: Any, n: int) -> int:
    """A divisor of the number of steps."""
    every = whole("every", every, 1, ": the state is kept every so many steps")
    if n % every:
        fits = largest_divisor(n, every)
        raise OptionError(f"every = {every} does not divide the {n} steps of the run; the next smaller number that does is {fits}.")
    return every


def largest_divisor(n: int, limit: int) -> int:
    """The largest divisor of n that does not exceed the limit: d or n / d for some d <= sqrt(n)."""
    found = 1
    for d in range(1, math.isqrt(n) + 1):
        if n % d == 0:
            found = max(found, *(x for x in (d, n // d) if x <= limit), 1)
    return found


def check_memory(rows: int, row_bytes: int) -> None:
    """OptionError where the nodes of a run would not fit into this machine's memory; names an `every` that fits."""
    available = _memory()
    needed = rows * row_bytes
    if needed > available:
        raise OptionError(
            f"{rows} nodes need about {needed / 1e9:.3g} GB of memory, and this machine has {available / 1e9:.3g} GB; "
            f"every={math.ceil(needed / available * 2)} or more (a divisor of the number of steps) keeps fewer."
        )


@cache
def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_on_fail(on_fail: str) -> str:
    """'raise' or 'return'."""
    if not isinstance(on_fail, str) or on_fail not in ("raise", "return"):
        raise OptionError(f"on_fail is {on_fail!r}; expected 'raise' or 'return'.")
    return on_fail


def check_monitors(monitors: Any) -> tuple[Any, ...]:
    """Functions monitor(t, q, v)."""
    if not isinstance(monitors, (list, tuple)) or not all(callable(f) for f in monitors):
        raise OptionError(f"monitors is {monitors!r}; expected a list of functions monitor(t, q, v).")
    return tuple(monitors)


def check_progress(progress: Any) -> None:
    """True, False or None."""
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise OptionError(f"progress is {progress!r}; expected True, False, or None for a bar in a terminal only.")
