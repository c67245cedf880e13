"""Problems of optimal control that are solved in tests, by `dalembert optimize`, and in the documentation. One file each."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from dalembert.control.scenes._base import SCENES, Finding, PlanScene, common, register
from dalembert.errors import UnknownNameError

__all__ = ["Finding", "PlanScene", "common", "find", "names", "register"]


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")


def names() -> list[str]:
    """All scenes."""
    _load()
    return sorted(SCENES)


def find(name: str) -> PlanScene:
    """The scene of that name."""
    _load()
    if name not in SCENES:
        raise UnknownNameError("problem", name, SCENES)
    return SCENES[name]
