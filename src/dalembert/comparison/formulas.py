"""What a comparison of methods on a Lagrangian does by itself: which methods it takes."""

from __future__ import annotations

from typing import Any

from dalembert.comparison.methods import Method
from dalembert.families import find_family
from dalembert.registry import steppers
from dalembert.runs import choice

RIVALS = ("rk4", "implicit-euler", "baumgarte", "projection")
MOST = 4


def default_methods(s: Any, h: float) -> list[Method]:
    """Two structure-preserving steppers that handle the system, and classical ones, at one step."""
    family = find_family(s)
    able = [x for x in steppers(system="lagrangian") if not x.python and not choice.unhandled(s, family, x)]
    if not able:
        choice.choose_stepper(s, None, ())  # says why
    own = [x.name for x in able if x.symplectic][:2] or [able[0].name]
    rivals = [name for name in RIVALS if name in {x.name for x in able}]
    return [Method(name, h) for name in [*own, *rivals][:MOST]]
