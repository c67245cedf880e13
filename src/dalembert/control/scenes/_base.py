"""A problem worth solving, with what its solution must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """Something that a solution shows: the number, what was expected, whether it is so."""

    what: str
    found: float
    expected: str
    ok: bool

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'} {self.what}: {self.found:.6g} ({self.expected})"


@dataclass(frozen=True)
class PlanScene:
    """build(**options) -> Problem; check(solution) -> findings, what every scene shows (control/scenes) aside."""

    name: str
    summary: str
    build: Callable[..., Any]
    check: Callable[[Any], list[Finding]] = lambda solution: []
    references: tuple[str, ...] = ()


SCENES: dict[str, PlanScene] = {}


def register(scene: PlanScene) -> PlanScene:
    """Make a scene known by its name."""
    SCENES[scene.name] = scene
    return scene


def common(solution: Any) -> list[Finding]:
    """What every plan shows: it is solved, and one step of the simulator from every node matches to 1e-9."""
    errors = solution.replay.errors
    return [
        Finding("largest violation", solution.infeasibility, "<= 1e-7", solution.ok and solution.infeasibility <= 1e-7),
        Finding("one step from every node", float(errors.max(initial=0.0)), "<= 1e-9", bool((errors <= 1e-9).all())),
    ]
