"""What all entries of this family have in common. A stepper is one function program(scope-making formulas, options) -> Program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.kernels.lagrangian.step import step
from dalembert.registry import Option, register

TOL = Option(
    "tol",
    1e-9,
    "size of the last Newton correction but one, relative to the velocity",
    valid=lambda x: 0 < x < 1,
    expected="a number in (0, 1)",
)
MAX_ITERATIONS = Option("max_iterations", 50, "Newton iterations per step", valid=lambda n: n >= 1, expected="a whole number >= 1")

#: what any Lagrangian without constraints may have
SMOOTH = ("variable mass", "gyroscopic", "force", "damping", "control")
CONSTRAINED = (*SMOOTH, "holonomic", "driven")
ANY = (*CONSTRAINED, "nonholonomic")


def lagrangian(**description: Any) -> Callable[[Any], Any]:
    """Decorator of a function program(formulas, options): registers it as a stepper for Lagrangians."""
    options = (*description.pop("options", ()), TOL, MAX_ITERATIONS)

    def enter(program: Any) -> Any:
        register(system="lagrangian", options=options, program=program, **description)(step)
        return program

    return enter
