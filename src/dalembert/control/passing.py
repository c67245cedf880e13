"""What may pass through each other in a plan: pairs of bodies that can touch, and that the plan neither keeps apart nor lets touch.

Contacts that nobody planned are no part of the discrete equations, as nobody knows beforehand which there are. Robots of files can nearly
all touch themselves, so they are not refused: a note of the plan, and its evidence, name what was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.model.touching import touching


def say_passing(problem: Any, touches: Sequence[Any] = ()) -> None:
    """Put the note into a problem. touches: contacts that are planned."""
    problem.passing = passing(problem, touches)
    problem.notes += [problem.passing] if problem.passing else []


def passing(problem: Any, touches: Sequence[Any]) -> str:
    """The pairs in words; nothing where `ignore=` names contacts."""
    machine = problem.machine
    if "contact" not in machine.aside:
        return ""
    known = {frozenset(s.owner for s in pair) for pair in problem.made.apart}
    known |= {frozenset((touch.body, touch.on)) for touch in touches if touch.gap is None}
    left = [pair for pair in touching(machine.whole) if frozenset(pair) not in known]
    if not left:
        return ""
    named = "; ".join(f"{a!r} and {b!r}" for a, b in left[:2]) + (f"; {len(left) - 2} more pairs" if len(left) > 2 else "")
    return (
        f"contacts are left out, these may pass through each other ({named}): avoid=True keeps them apart, dmocc plans contacts, "
        "ignore=('contact',) says that it does not matter"
    )
