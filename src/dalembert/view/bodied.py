"""Whether a system has bodies that can be drawn."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from dalembert.model import Model


@singledispatch
def has_bodies(system: Any) -> bool:
    """By the kind of system: formulas and directors have none."""
    return False


@has_bodies.register
def _(system: Model) -> bool:
    return bool(system.bodies)
