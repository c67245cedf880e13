"""Families of systems: how a model becomes the flat arrays of one compiled loop, and back.

A family is one file that defines `FAMILY`. A model belongs to the first family that fits it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dalembert.errors import UnsupportedError
from dalembert.model import Model
from dalembert.model.rotation import Array


@dataclass(frozen=True)
class Family:
    """Functions of one kind of system. Kernels have the signatures of `kernels/_jit.py`."""

    name: str
    fits: Callable[[Model], bool]
    features: Callable[[Model], set[str]]
    system: Callable[[Model, dict[str, Any]], Array]
    start: Callable[[Array, Array, Array], Array]
    nodal: Any
    hold: Any
    ledger: Any
    work_size: int
    info_size: int
    unpack: Callable[[Model, Array, Array], dict[str, Array]]
    advise: Callable[[Model, Array, Array, str], Any]


def find_family(model: Model) -> Family:
    """The family of a model; UnsupportedError if there is none."""
    from dalembert.families.rigid_body import FAMILY

    for family in (FAMILY,):
        if family.fits(model):
            return family
    raise UnsupportedError(
        f"no stepper handles {model!r} yet: supported is one body that is free, or joined to the world by a spherical joint."
    )
