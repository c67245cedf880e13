"""Which solver solves the steps of a run: by `SolverOptions.method` and `law`. Each has `solve(problem) -> StepResult`."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import SolverOptions, StepResult, StepSolver

#: laws of the cone by the words of the stepper's option `law`, as SolverOptions call them
CONES = {"coulomb": "coulomb", "cone": "associated"}


class Solver(Protocol):
    """What a machine asks of a solver."""

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result."""


def solver_of(options: SolverOptions, law: str = "") -> Solver:
    """A new solver. What few runs need is imported when it is asked for. law: of contact/friction_laws.py, in place of `options.law`."""
    if law and law not in CONES:
        from dalembert.contact.friction_laws import law_solver

        return law_solver(law, options)
    if options.method == "split":
        from dalembert.contact.split import SplitSolver

        return SplitSolver(options)
    if options.method == "direct+split" and options.law == "coulomb":
        from dalembert.contact.split import DirectSplitSolver

        return DirectSplitSolver(options)
    if options.method == "direct+newton" and options.law == "coulomb":
        from dalembert.contact.friction_laws import DirectNewtonSolver

        return DirectNewtonSolver(options)
    if options.method in ("lemke", "keller"):
        from dalembert.contact.pivoting import PivotingSolver

        return PivotingSolver(options)
    if options.method in ("direct+split", "direct+newton"):  # the associated law leaves nothing to be done better
        options = replace(options, method="direct")
    return StepSolver(options)
