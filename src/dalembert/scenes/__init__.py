"""Scenes: machines with a state to start from. A scene is registered by being written in a file of this folder.

For example `dal.scenes.find("lagrange-top-fast").simulate(stepper="moser-veselov", t_end=5)`.
"""

from __future__ import annotations

import importlib
import pkgutil

from dalembert.errors import UnknownNameError
from dalembert.scenes._base import SCENES, Finding, Scene, register

__all__ = ["Finding", "Scene", "find", "names", "register"]


def _load() -> None:
    for found in pkgutil.iter_modules(__path__):
        if not found.name.startswith("_"):
            importlib.import_module(f"{__name__}.{found.name}")


def names() -> list[str]:
    """Names of all scenes, in alphabetical order."""
    _load()
    return sorted(SCENES)


def find(name: str) -> Scene:
    """The scene of that name."""
    _load()
    if not isinstance(name, str) or name not in SCENES:
        raise UnknownNameError("scene", name, SCENES)
    return SCENES[name]
