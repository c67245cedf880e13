"""Forces on bodies: one file each, found by their kind. Every module of this package that registers a `Force` is one: no list to edit.

Other packages add theirs by the entry-point group `dalembert.forces`; a file of a user need only be imported. The files hold kernels, so
they are imported when a force is first asked for: a model without one needs no compiler.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import pkgutil
from typing import Any

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model.forces._base import REGISTERED, Force, Kernels, Load, Push, Slide, acts_on, at_point, group, number, register, vector

__all__ = ["Force", "Kernels", "Load", "Push", "Slide", "acts_on", "at_point", "features", "group", "kinds", "number", "register", "vector"]


@functools.cache
def _load_all() -> None:
    for found in pkgutil.iter_modules(__path__):
        if not found.name.startswith("_"):
            importlib.import_module(f"{__name__}.{found.name}")
    for entry in importlib.metadata.entry_points(group="dalembert.forces"):
        entry.load()


def kinds() -> dict[str, type[Force]]:
    """All forces that are known, by kind."""
    _load_all()
    return dict(REGISTERED)


def features(conservative: bool | None = None) -> frozenset[str]:
    """Names of the features that forces bring; of those with a potential alone, or of those without."""
    return frozenset(f.feature for f in kinds().values() if conservative in (None, f.has_potential()))


def build(force: Any) -> Force:
    """The force that a model keeps: data as it is, a function wrapped."""
    if isinstance(force, Force) and type(force) in kinds().values():
        return force
    if not callable(force) or isinstance(force, type):
        names = ", ".join(sorted(f.__name__ for f in kinds().values() if f.writable))
        raise ModelError(f"force {force!r}: expected one of {names}, or a function f(t, q, v) -> tau (nv,).")
    from dalembert.model.forces.function import FunctionForce

    return FunctionForce(force)


def from_dict(data: dict[str, Any]) -> Force:
    """The force that `to_dict` wrote. One of a package that is not installed, or of a file that is not imported, is refused by name."""
    rest = {k: x for k, x in data.items() if k != "name"}
    kind = rest.pop("kind")
    known = {k: f for k, f in kinds().items() if f.writable}
    if kind not in known:
        raise UnknownNameError("kind of force", kind, known)
    return known[kind](**rest)


def __getattr__(name: str) -> Any:
    """A force by the name of its class."""
    if not name.startswith("_"):
        for found in kinds().values():
            if found.__name__ == name:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
