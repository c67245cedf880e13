"""Checks of the arguments of a run."""

from __future__ import annotations

import math
import operator
import os
from typing import Any

import numpy as np

from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.families import Family, find_family, fitting
from dalembert.lagrangian import Lagrangian
from dalembert.lagrangian.consistency import check_consistent
from dalembert.model import Model
from dalembert.model.assembly import _size as machine_size
from dalembert.model.definite import check_definite
from dalembert.model.parts import WORLD
from dalembert.model.rotation import Array
from dalembert.model.touching import touching
from dalembert.reactions import row_units
from dalembert.registry import Stepper, steppers

START = 1e-8  # residuals of a start: of the size of the machine, and of |row| max(|v|, 1)
VANISHED = 1e-6  # at singular positions rows of constraints are round-off: below this part of the longest they are judged by it


def step_count(h: Any, t_end: Any) -> tuple[float, int]:
    """(h, N) with N h = t_end; OptionError names the nearest h where N is not whole."""
    h, t_end = seconds("h", h), seconds("t_end", t_end)
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
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = rows * row_bytes
    if needed > available:
        raise OptionError(
            f"{rows} nodes need about {needed / 1e9:.3g} GB of memory, and this machine has {available / 1e9:.3g} GB; "
            f"every={math.ceil(needed / available * 2)} or more (a divisor of the number of steps) keeps fewer."
        )


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


def unhandled(model: Model, family: Family, stepper: Stepper, ignore: tuple[str, ...] = ()) -> set[str]:
    """Features of the model, without what is ignored, that the stepper does not handle."""
    return _missing(family.features(model.without(ignore)), stepper)


def _missing(features: set[str], stepper: Stepper) -> set[str]:
    if stepper.python:  # a plain step works on the model itself, whatever acts there; of contact the model has no dynamics
        return features & {"contact"} - set(stepper.handles)
    return features - set(stepper.handles) - {"function"}  # functions join the control


def choose_stepper(model: Model, name: str | None, ignore: tuple[str, ...], proved: bool = False) -> tuple[Family, Stepper]:
    """The family and the stepper of that name; without a name the registry's first that handles the model.

    proved: of those whose step sizes are proved, which concerns the steppers of trees.
    """
    if name is not None and not isinstance(name, str):
        raise OptionError(f"stepper is {name!r}; expected a name, or None for the first that handles the model.")
    known = _candidates(model, ignore)
    for family, features, s in known:
        if name is None and proved and s.system == "tree" and not s.proved:
            continue
        held = "function" in features and "function" not in s.handles  # order 1: not chosen unless it is named
        if s.name == name or (name is None and not s.python and not held and not _missing(features, s)):
            check_handles(model, family, s, ignore)
            return family, s
    if name is not None:
        raise UnknownNameError("stepper", name, {s.name for _, _, s in known})
    own = [(f, s, _missing(x, s)) for f, x, s in known if not s.python]
    family, nearest, _ = min(own, key=lambda entry: len(entry[2]))
    check_handles(model, family, nearest, ignore)  # names what the one that misses least does not handle
    raise UnsupportedError(f"no stepper with proved step sizes handles model {model.name!r}; give h, or name a stepper.")


def _candidates(model: Model, ignore: tuple[str, ...]) -> list[tuple[Family, set[str], Stepper]]:
    """(family, features that must be handled, stepper) of all that run this kind of system, the best first."""
    found = fitting(model)
    if not found:
        find_family(model)  # says why
    left = model.without(ignore)
    out = []
    for family in found:
        features = family.features(left)
        entries = steppers(system=family.kind) + steppers(system="any")
        out += [(family, features, s) for s in entries if s.family_name in (family.name, "any")]
    return out


def check_handles(model: Model, family: Family, stepper: Stepper, ignore: tuple[str, ...]) -> None:
    """UnsupportedError that names what the stepper does not handle, which steppers do, and what to ignore."""
    missing = unhandled(model, family, stepper, ignore)
    if missing:
        who = f"model {model.name!r}{_who_touches(model) if 'contact' in missing else ''}"
        ways, names = _ways(model, missing, ignore)
        raise UnsupportedError(f"stepper {stepper.name!r} does not handle {', '.join(sorted(missing))} of {who}; {ways}.", names)


def _who_touches(model: Model) -> str:
    """The first bodies that can touch."""
    a, b = next(touching(model))
    return f" ({a!r} can touch {'the world' if b == WORLD else repr(b)})"


def _ways(model: Model, missing: set[str], ignore: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """(What a user can do about features that a stepper does not handle, the names to ignore.)"""
    able = list(dict.fromkeys(s.name for _, features, s in _candidates(model, ignore) if not s.python and not _missing(features, s)))
    ways = [f"stepper {able[0]!r} does"] if able else []
    try:
        names = model.check_features((*ignore, *sorted(missing)))
    except UnknownNameError:  # it cannot be taken out
        return "; ".join(ways) or "no stepper does", ()
    return "; ".join([*ways, f"ignore={names!r} runs without"]), names


# joints that own no coordinates -----------------------------------------------------------------------------------------------------


def check_start(model: Model, family: Family, stepper: Stepper, q: Array, v: Array, ignore: tuple[str, ...]) -> None:
    """OptionError where a start violates the joints that the stepper would have to keep; it names the worst one.

    ModelError where the mass matrix is indefinite there.
    """
    left: Any = model.without(ignore)
    if isinstance(left, Lagrangian):
        return check_consistent(left, stepper, q, v)
    check_definite(left, q)
    if stepper.python or not (left.loops or left.nonholonomic) or not {"loops", "nonholonomic"} & set(stepper.handles):
        return
    g, G = left.constraint_rows(q)
    _refuse_start(left, np.abs(g), np.full(len(g), START * machine_size(left)), "q0 leaves it open by", "", ignore)
    length = np.linalg.norm(G, axis=1)
    length = np.maximum(length, VANISHED * length.max(initial=0.0)) * max(1.0, float(np.linalg.norm(v)))  # below 1 rad/s or m/s: absolute
    _refuse_start(left, np.abs(G @ v), START * length, "v0 opens it at", "/s", ignore)


def _refuse_start(model: Model, found: Array, allowed: Array, how: str, per: str, ignore: tuple[str, ...]) -> None:
    wrong = found > allowed
    if not wrong.any():
        return
    r = int(np.argmax(np.where(wrong, found / np.where(allowed > 0.0, allowed, 1.0), 0.0)))
    joint, row = model.constraint_labels[r]
    feature = "loops" if joint in {x.name for x in model.loops} else "nonholonomic"
    raise OptionError(
        f"model {model.name!r}, joint {joint!r} ({row}): {how} {found[r]:.3g} {row_units(model)[r]}{per}; "
        f"expected at most {allowed[r]:.2g}. "
        f"q0, v0 = m.assemble(q0, v0) gives the nearest start that meets all joints; "
        f"ignore={model.check_features((*ignore, feature))!r} runs without."
    )
