"""What a comparison shows of each kind of system: heads of its table, units, notes, and the method that is trusted most.

A rigid body is compared by its attitude, a tree by all coordinates, a Lagrangian by its coordinates and its constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from dalembert.comparison.measures import is_tree
from dalembert.directors import Directors
from dalembert.families import find_family
from dalembert.lagrangian import Lagrangian
from dalembert.model.compile_rigid_body import dissipative
from dalembert.registry import steppers
from dalembert.runs.choice import unhandled

_ENERGY = "energy relative to the largest kinetic energy of the run that has least of it, momentum to {}; CPU time of the steps alone."


@dataclass(frozen=True)
class Look:
    """heads: of the columns. per_step: times are told per step, not of the run. unit: of a distance between ends. end: what of the end is
    compared. relative: what errors are relative to. smooth: the note says what was left out. drawable: there are bodies to draw.
    """

    heads: tuple[str, ...]
    per_step: bool
    unit: str
    end: str
    relative: str
    smooth: bool = False
    drawable: bool = True


TREE = Look(
    ("method", "h (s)", "steps", "us/step", "energy drift", "energy band", "momentum", "group", "end (rad, m)", "verdict"),
    True,
    " rad or m",
    "end",
    _ENERGY.format("that at the start"),
    smooth=True,
)
FORMULA = Look((*TREE.heads[:7], "constraint", "end", "verdict"), True, "", "end", _ENERGY.format("the size of its terms"), drawable=False)
BODY = Look(
    ("method", "h (s)", "steps", "CPU (s)", "energy drift", "energy band", "momentum", "group", "attitude (rad)", "verdict"),
    False,
    " rad",
    "attitude",
    "energy relative to the largest kinetic energy, momentum to the largest momentum; CPU time of the steps alone.",
    drawable=False,
)


@singledispatch
def look_of(system: Any) -> Look:
    """By the kind of system."""
    return TREE if is_tree(system) else BODY


@look_of.register
def _(system: Lagrangian) -> Look:
    return FORMULA


@singledispatch
def trusted(system: Any) -> str:
    """The method that is trusted most."""
    if is_tree(system):
        return "midpoint+kahan-li6" if system.driven else "mk8"
    return "scipy:dop853" if dissipative(system) else "cayley+kahan-li6"


@trusted.register
def _(system: Lagrangian) -> str:
    family = find_family(system)
    able = {s.name for s in steppers(system=family.kind) if not unhandled(system, family, s)}
    return "dop853" if "dop853" in able else "scipy:dop853"


@trusted.register
def _(system: Directors) -> str:
    return "null-space+kahan-li6"
