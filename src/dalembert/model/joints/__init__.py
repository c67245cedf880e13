"""Joint kinds: one file each, found by their name. Every module of this package that ends in `KIND = ...` is a kind: no list to edit."""

import importlib
import pkgutil

from dalembert.model.joints._base import Axes, JointKind, Primitive

_MODULES = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
KINDS: dict[str, JointKind] = {m.KIND.name: m.KIND for m in _MODULES}

__all__ = ["KINDS", "Axes", "JointKind", "Primitive"]
