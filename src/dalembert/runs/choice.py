"""Which stepper runs a system, and what to say where none does."""

from __future__ import annotations

from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.families import Family, find_family, fitting
from dalembert.model.forces import features as force_features
from dalembert.registry import Stepper, steppers
from dalembert.systems import System

UNPROVED = ("tree", "bodies")  # kinds of steppers whose step sizes are proved only where they say so


def unhandled(model: System, family: Family, stepper: Stepper, ignore: tuple[str, ...] = ()) -> set[str]:
    """Features of the model, without what is ignored, that the stepper does not handle."""
    return _missing(family.features(model.without(ignore)), stepper)


def _missing(features: set[str], stepper: Stepper) -> set[str]:
    if stepper.python:  # a plain step works on the model itself; of contact and walls that has no dynamics, of drives no time
        return features & {"contact", "drive", "unilateral"} - set(stepper.handles)
    every = force_features() if "forces" in stepper.handles else frozenset()
    return features - set(stepper.handles) - every - {"function"}  # functions join the control


def _holds(features: set[str], stepper: Stepper) -> bool:
    """Whether a stepper can only hold the functions of a model over its steps: order 1, so that it is not chosen unless it is named."""
    return "function" in features and "function" not in stepper.handles


def choose_stepper(model: System, name: str | None, ignore: tuple[str, ...], proved: bool = False) -> tuple[Family, Stepper]:
    """The family and the stepper of that name; without a name the registry's first that handles the model.

    proved: of those whose step sizes are proved, which concerns the steppers of trees.
    """
    if name is not None and not isinstance(name, str):
        raise OptionError(f"stepper is {name!r}; expected a name, or None for the first that handles the model.")
    known = _candidates(model, ignore)
    if name is None and proved:
        known = [entry for entry in known if entry[2].proved or entry[2].system not in UNPROVED]
    for family, features, s in known:
        if s.name == name or (name is None and not s.python and not s.named and not _holds(features, s) and not _missing(features, s)):
            check_handles(model, family, s, ignore)
            return family, s
    if name is not None:
        raise UnknownNameError("stepper", name, {s.name for _, _, s in known})
    own = [(f, s, _missing(x, s)) for f, x, s in known if not s.python and (_missing(x, s) or not _holds(x, s))]
    family, nearest, _ = min(own, key=lambda entry: len(entry[2]))
    check_handles(model, family, nearest, ignore)  # names what the one that misses least does not handle
    raise UnsupportedError(f"no stepper with proved step sizes handles model {model.name!r}; give h, or name a stepper.")


def _candidates(model: System, ignore: tuple[str, ...]) -> list[tuple[Family, set[str], Stepper]]:
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


def check_handles(model: System, family: Family, stepper: Stepper, ignore: tuple[str, ...]) -> None:
    """UnsupportedError that names what the stepper does not handle, which steppers do, and what to ignore."""
    missing = unhandled(model, family, stepper, ignore)
    if missing:
        who = f"model {model.name!r}{model.detail(missing)}"
        ways, names = _ways(model, missing, ignore)
        raise UnsupportedError(f"stepper {stepper.name!r} does not handle {', '.join(sorted(missing))} of {who}; {ways}.", names)


def _ways(model: System, missing: set[str], ignore: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """(What a user can do about features that a stepper does not handle, the names to ignore.)"""
    can = [s for _, features, s in _candidates(model, ignore) if not s.python and not _missing(features, s)]
    able = list(dict.fromkeys(s.name for s in sorted(can, key=lambda s: s.named)))
    ways = [f"stepper {able[0]!r} does"] if able else []
    try:
        names = model.check_features((*ignore, *sorted(missing)))
    except UnknownNameError:  # it cannot be taken out
        return "; ".join(ways) or "no stepper does", ()
    return "; ".join([*ways, f"ignore={names!r} runs without"]), names
