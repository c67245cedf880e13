"""What all samples of a study share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dalembert.runs.plan import Plan


@dataclass(frozen=True)
class Common:
    """What all samples share: stepper, step, time, and what is looked at. every: nodes that observers see, 0: the last one alone."""

    stepper: str | None
    h: Any
    t_end: float
    every: int = 1
    compose: str | None = None
    ignore: Any = ()
    control: Any = None
    observers: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    q0: Any = None
    v0: Any = None

    def plan(self, system: Any, h: Any = None) -> Plan:
        """Of a system."""
        return Plan.of(system, self.stepper, self.h if h is None else h, self.compose, self.ignore, "ensemble", **self.options)
