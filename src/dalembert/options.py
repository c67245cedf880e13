"""Checks of the arguments of a run."""

from __future__ import annotations

import math
import os
from typing import Any

from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.families import Family, families, find_family
from dalembert.model import Model
from dalembert.registry import Stepper, steppers


def step_count(h: Any, t_end: Any) -> tuple[float, int]:
    """(h, N) with N h = t_end; OptionError names the nearest h where N is not whole."""
    for what, value in (("h", h), ("t_end", t_end)):
        if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
            raise OptionError(f"{what} is {value!r}; expected a positive number of seconds.")
        if not math.isfinite(value) or value <= 0:
            raise OptionError(f"{what} is {value!r}; expected a positive, finite number of seconds.")
    h, t_end = float(h), float(t_end)
    n = round(t_end / h)
    if n < 1 or abs(n * h - t_end) > 1e-9 * t_end:
        nearest = t_end / max(1, n)
        raise OptionError(f"t_end / h = {t_end / h:.6g} is not a whole number of steps; the nearest h is {nearest!r} ({max(1, n)} steps).")
    return h, n


def check_every(every: Any, n: int) -> int:
    """A divisor of the number of steps."""
    if isinstance(every, bool) or int(every) != every or every < 1:
        raise OptionError(f"every is {every!r}; expected a whole number >= 1: the state is kept every so many steps.")
    if n % every:
        fits = max(d for d in range(1, min(int(every), n) + 1) if n % d == 0)
        raise OptionError(f"every = {every} does not divide the {n} steps of the run; the next smaller number that does is {fits}.")
    return int(every)


def check_memory(rows: int, row_bytes: int) -> None:
    """OptionError where the nodes of a run would not fit into this machine's memory; names an `every` that fits."""
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = rows * row_bytes
    if needed > available:
        raise OptionError(
            f"{rows} nodes need about {needed / 1e9:.3g} GB of memory, and this machine has {available / 1e9:.3g} GB; "
            f"every={math.ceil(needed / available * 2)} or more (a divisor of the number of steps) keeps fewer."
        )


def check_on_fail(on_fail: str) -> str:
    """'raise' or 'return'."""
    if on_fail not in ("raise", "return"):
        raise OptionError(f"on_fail is {on_fail!r}; expected 'raise' or 'return'.")
    return on_fail


def unhandled(model: Model, family: Family, stepper: Stepper, ignore: tuple[str, ...] = ()) -> set[str]:
    """Features of the model that the stepper does not handle."""
    if stepper.python:
        return set()
    return family.features(model) - set(stepper.handles) - set(ignore) - {"function"}  # functions join the control


def choose_stepper(model: Model, name: str | None, ignore: tuple[str, ...]) -> tuple[Family, Stepper]:
    """The family and the stepper of that name; without a name the registry's first that handles the model."""
    fitting = [f for f in families() if f.fits(model)]
    if not fitting:
        find_family(model)  # says why
    for family in fitting:
        for s in steppers(system=family.kind) + steppers(system="any"):
            if s.family_name not in (family.name, "any"):
                continue
            if s.name == name or (name is None and not s.python and not unhandled(model, family, s, ignore)):
                check_handles(model, family, s, ignore)
                return family, s
    if name is not None:
        raise UnknownNameError("stepper", name, {s.name for f in fitting for s in steppers(system=f.kind) + steppers(system="any")})
    features = sorted(set().union(*(f.features(model) for f in fitting)))
    raise UnsupportedError(f"no stepper handles {features} of {model!r}; ignore=(...) leaves features out.")


def check_handles(model: Model, family: Family, stepper: Stepper, ignore: tuple[str, ...]) -> None:
    """UnsupportedError that names what the stepper does not handle."""
    missing = unhandled(model, family, stepper, ignore)
    if missing:
        raise UnsupportedError(
            f"stepper {stepper.name!r} does not handle {', '.join(sorted(missing))} of model {model.name!r}; "
            f"it handles {', '.join(stepper.handles)}. ignore={tuple(sorted(missing))!r} runs without."
        )
