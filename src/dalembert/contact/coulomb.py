"""Coulomb's law of sliding for the problems of steps: the associated law with its normal rows shifted by mu |u_t| (De Saxce 1992).

The associated law of the cone, which is a minimisation, lets a sliding contact separate with mu |u_t|. With that speed added to the normal
row its solution is Coulomb's, if the speed is that of the solution: a fixed point.

    1. Where the impulses given almost fit (LITTLE), rounds: associated problem, shift of its solution, mixed by Anderson's method. At rest
       and in steady sliding the first round is the last.
    2. else, and where the rounds do not end: Newton where little moves, the interior point with the shift inside it where much does; then
       rounds of Newton.
    3. where that misses the law by more than LITTLE: the associated law, which has one solution, in place of an answer that obeys none.

Slip below creep/mu counts as none (`kernels/contact/residual.py`): contacts give way by sigma lam, and those beside them slide that slowly;
without the dead band heaps at rest would have to be factorised in every step. In violent motion of many bodies this way meets the law to
1e-5 ... 1e-3 m/s only: the residual that is reported is that of Coulomb's law, and such steps are counted as unsolved. Splitting
(contact/split.py) and Newton on the law (contact/friction_laws.py) go on from there, at several times the cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from dalembert.contact.anderson import Anderson
from dalembert.kernels.contact import codes
from dalembert.kernels.contact.codes import RESIDUAL
from dalembert.kernels.contact.records import Step

if TYPE_CHECKING:
    from dalembert.contact.solver import SolverOptions, StepSolver

#: m/s. Measured on 200 boxes dropped at 5 m/s and at rest: residuals of first guesses are below 1e-3 or above 1e-2
LITTLE = 1e-2
ROUNDS, NEWTON_ROUNDS, STALLS = 8, 40, 8


class Coulomb:
    """One problem, which `solver` holds: the best impulses so far."""

    def __init__(self, solver: StepSolver, step: Step, options: SolverOptions):
        self.solver, self.step, self.options = solver, step, options
        self.goal = max(options.tol, options.rounds_tol)
        self.rows = len(step.J)
        self.cones = step.first[:-1][step.kind == codes.CONE]
        self.best, self.lam = math.inf, solver.work.lam[: self.rows].copy()
        self.branch, self.last = "", False

    def run(self, residual: float) -> str:
        """From the impulses in work.lam with this residual to the best that are found, in work.lam. Returns the way."""
        if residual <= LITTLE:
            self._rounds(ROUNDS, lambda: self.solver.associated(self.step, self.options, self._residual), judged=True)
        if self.best > self.goal and not self.solver.late:
            self._with_shift()
        if self.best > LITTLE and not self.solver.late:
            self._associated()
        elif self.last:  # the judge saw these impulses last
            return self.branch
        else:
            self.solver.work.lam[: self.rows] = self.lam
        self.solver.call(codes.SHIFT, self.step, least=self.options.creep)
        return self.branch

    @property
    def _residual(self) -> float:
        return float(self.solver.info[RESIDUAL])

    def _rounds(self, most: int, solve: Callable[[], str], judged: bool = False) -> None:
        """solve() with the shift of the last round, accelerated, until the law is met or nothing is gained. judged: SHIFT was called."""
        w, b, mixing, shift, stalls, least = self.solver.work, self.step.b, Anderson(5), None, 0, math.inf
        branch = self.branch
        for _ in range(most + 1):
            if not judged:
                self.solver.call(codes.SHIFT, self.step, least=self.options.creep)
            judged, found = False, self._residual
            stalls = 0 if found < 0.7 * least else stalls + 1
            least, self.last = min(found, least), found <= self.best
            if self.last:
                self.best, self.lam[:], self.branch = found, w.lam[: self.rows], branch
            if (least <= self.goal and branch) or stalls == STALLS or self.solver.late:
                return
            if shift is not None:
                w.b[self.cones] = b[self.cones] + mixing.next(shift, w.b[self.cones] - b[self.cones]).clip(0.0)
            shift = w.b[self.cones] - b[self.cones]
            branch = solve()

    def _newton(self) -> str:
        o = self.options
        self.solver.newton(self.step, o.polish_factors, max(0.1 * self.goal, 0.01 * min(self.best, 1.0)))
        return "rest" if self.branch.startswith("rest") else "interior"

    def _with_shift(self) -> None:
        """Newton where little moves; else the interior point that follows the shift; rounds of Newton after both."""
        s, o, step = self.solver, self.options, self.step
        s.work.lam[: self.rows] = self.lam
        s.call(codes.START, step, scale=1.0)
        if s.at_rest(step, o, self._residual):
            s.newton(step, o.rest_factors, max(o.tol, 0.01 * o.rest))
            self.branch = "rest"
            self._rounds(NEWTON_ROUNDS, self._newton)
            if self.best <= self.goal or s.late:
                return
            s.call(codes.START, step, scale=1.0)  # b without a shift
        s.interior(step, o, o.creep)
        self.branch = "interior"
        self._rounds(NEWTON_ROUNDS, self._newton)

    def _associated(self) -> None:
        s = self.solver
        s.work.lam[: self.rows] = 0.0
        s.call(codes.START, self.step, scale=1.0)
        s.associated(self.step, self.options, self._residual)
        self.branch = "associated"
