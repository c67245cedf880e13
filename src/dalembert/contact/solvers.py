"""Which solver solves the steps of a run: by `SolverOptions.method` and `law`. Each has `solve(problem) -> StepResult`."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import SolverOptions, StepResult, StepSolver
from dalembert.errors import OptionError

#: Constraints of problems in which method "direct" goes on by splitting, and factors after which it gives up. A ragdoll of 102 constraints
#: that falls: none of 600 steps is left unsolved in place of 60, in half the time, since what is solved goes on smoothly (with at most 100
#: factors 61 are left); single steps take up to 80 ms, which `max_time` bounds. In heaps of hundreds it takes ten times as long.
SMALL, FACTORS = 200, 1000
#: laws of the cone, as `SolverOptions` calls them
CONES = {"coulomb": "coulomb", "cone": "associated"}


class Solver(Protocol):
    """What a machine asks of a solver."""

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result."""


def solver_of(options: SolverOptions, law: str = "", sides: int = 8) -> Solver:
    """A new solver. law: a word of the option `law` of the stepper in place of that of the options; sides: of a polygon. What few runs need
    is imported when it is asked for."""
    if law and law not in CONES:
        return _of_other_law(options, law, sides)
    options = replace(options, law=CONES[law]) if law else options
    if options.method == "exact":
        from dalembert.contact.friction_laws import ExactSolver

        direct = StepSolver(replace(options, method="direct"))
        return ExactSolver(direct) if options.law == "coulomb" else direct
    if options.method == "split":
        from dalembert.contact.split import SplitSolver

        return SplitSolver(options)
    if options.method in ("direct", "direct+split") and options.law == "coulomb":
        from dalembert.contact.split import DirectSplitSolver

        return DirectSplitSolver(options, *((SMALL, FACTORS) if options.method == "direct" else ()))
    if options.method in ("lemke", "keller"):
        from dalembert.contact.pivoting import PivotingSolver

        return PivotingSolver(options)
    if options.method == "direct+split":  # the associated law leaves nothing to be done better
        options = replace(options, method="direct")
    return StepSolver(options)


def _of_other_law(options: SolverOptions, law: str, sides: int) -> Solver:
    from dalembert.contact.friction_laws import HELD, LawSolver, section_of

    if options.method == "exact":  # they end with Newton on the law anyway
        options = replace(options, method="direct")
    if options.method not in ("direct", "gauss-seidel"):
        raise OptionError(f"solver = {options.method!r} knows the laws coulomb and cone; law = {law!r} needs 'direct' or 'gauss-seidel'.")
    return LawSolver(law in HELD, section_of(law, sides), options)
