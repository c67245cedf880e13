"""What `advise` returns: step limits, each with its meaning, its source, and whether it is proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Limit:
    """One bound on the step.

    name        short, unique in its advice
    h           seconds; inf when it does not restrict
    rigorous    proved (True), or found by search or experiment (False)
    meaning     what holds below h, or fails above it
    reference   bibliography key and equation, or "derived here"
    """

    name: str
    h: float
    rigorous: bool
    meaning: str
    reference: str

    @property
    def text(self) -> str:
        return f"{self.name}: {seconds(self.h)} ({'proved' if self.rigorous else 'not proved'}; {self.reference}): {self.meaning}"


@dataclass(frozen=True)
class StepAdvice:
    """Step limits of one stepper at one state.

    h_jacobian   below it the equation of the step is regular (its Jacobian cannot be singular)
    h_newton     up to it Newton's method converges from its usual start
    limits       every bound that was considered, also those that are not proved or weaker
    constants    numbers that entered
    rigorous     "h_jacobian", "h_newton" and the name of each limit -> proved or not
    """

    stepper: str
    h_jacobian: float
    h_newton: float
    limits: tuple[Limit, ...] = ()
    constants: dict[str, float] = field(default_factory=dict)
    rigorous: dict[str, bool] = field(default_factory=dict)

    @property
    def text(self) -> str:
        lines = [f"Step advice for {self.stepper!r}"]
        for name, meaning in (("h_jacobian", "regular equation"), ("h_newton", "Newton converges")):
            lines.append(f"  {name:<11} {seconds(getattr(self, name)):<14} {meaning}, {self._word(name)}")
        lines += [f"  - {limit.text}" for limit in self.limits]
        if self.constants:
            lines.append("  constants: " + ", ".join(f"{name} = {value:.6g}" for name, value in self.constants.items()))
        return "\n".join(lines)

    def _word(self, name: str) -> str:
        return "proved" if self.rigorous.get(name, False) else "not proved"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists."""
        return {
            "stepper": self.stepper,
            "h_jacobian": self.h_jacobian,
            "h_newton": self.h_newton,
            "limits": [vars(limit).copy() for limit in self.limits],
            "constants": dict(self.constants),
            "rigorous": dict(self.rigorous),
        }


def seconds(h: float) -> str:
    """'0.0123 s', or 'no limit'."""
    return "no limit" if math.isinf(h) else f"{h:.6g} s"
