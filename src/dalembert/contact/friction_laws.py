"""Other laws of friction for the problems of steps (lacoursiere2007, 10.12, (10.86), (17.18-25)); Coulomb's is in contact/coulomb.py.

    box        |lam_1|, |lam_2| <= mu n        n: normal impulse of the contact in the step before; where it did not press there, that of a
    cylinder   |lam_t| <= mu n                 first solution without its friction. One convex problem, one solution
    pyramid    |lam_1|, |lam_2| <= mu lam_n    lam_n: of the solution itself
    polygon    lam_t in mu lam_n times the regular polygon with `sides` corners, the first on the first tangent

In each of these sets the impulse does the most work against the slip, and contacts do not separate by sliding. Sets and rows are those of
contact/tangents.py. Pyramid and polygon: rounds with the normal impulses of the last round, accelerated, until they are those of the
solution; where that takes long, Newton on the law itself (contact/finishing.py). Neither is proved to converge (chapter 17); a step that
does not is counted as unsolved. The same for discs finishes Coulomb's law (`ExactSolver`), where its own solver has given up.
Tangents are those of the contact: functions of its normal, or of `friction_axis`. Residuals are those of the law that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.anderson import Anderson
from dalembert.contact.finishing import Finishing
from dalembert.contact.problem import CONE, StepProblem
from dalembert.contact.solver import JUDGED, SolverOptions, StepResult, StepSolver
from dalembert.contact.tangents import DISC, SQUARE, Section, Tangents, polygon
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

#: the words of the option `law`
LAWS = ("coulomb", "cone", "cylinder", "box", "pyramid", "polygon")
#: laws whose limits are those of the step before
HELD = ("cylinder", "box")
#: rounds of limits, of shifts of discs, and iterates that accelerate. Measured on 42 problems of 200 boxes dropped at 5 m/s (60 rounds
#: alone): depths 3, 5, 8 and 15 leave 10, 7, 8 and 10 unsolved, the largest residuals 0.02, 2, 4 and 5 m/s
ROUNDS, SETTLE, DEPTH = 40, 8, 3
#: m/s: residuals below which a round begins with Newton from the round before (halves the factors of those problems)
CLOSE = 0.1
#: Newton on the law: from this residual (m/s) on, after so many rounds, so many corrections; again when the residual is a tenth
FINISH, FEW, CORRECTIONS = 1e-2, 4, 20
#: the rounds after which it is tried on Coulomb's law, whose own solver has been near
TRIES = (1, 3, 6, 10, 15)


def section_of(law: str, sides: int = 8) -> Section:
    """The set of tangential impulses of a law."""
    return {"box": SQUARE, "pyramid": SQUARE}.get(law) or (polygon(sides) if law == "polygon" else DISC)


class LawSolver:
    """Solves problems in which tangential impulses of cones lie in sections, held at those of the step before or not."""

    def __init__(self, held: bool, section: Section, options: SolverOptions):
        self.section, self.held, self.options = section, held, options
        self.direct = options.method == "direct"
        # sweeps of Coulomb's law hold the radius of a disc by themselves
        self.solver = StepSolver(replace(options, law="associated" if self.direct else "coulomb", creep=0.0))
        self.goal = max(options.tol, options.interior_tol)

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result; residual of the law."""
        if not (problem.mu[problem.kind == CONE] > 0.0).any():
            return self.solver.solve(problem)
        found = _Solution(self, problem)
        if self.held:
            found.held()
        elif self.direct:
            found.rounds(lambda k, best, last: k >= FEW and best <= min(FINISH, 0.1 * last))
            if found.best > self.goal and not found.late:
                self._from_the_cone(problem, found)
        else:
            found.sweeps()
        return found.result()

    def _from_the_cone(self, problem: StepProblem, found: _Solution) -> None:
        """Rounds from the normal impulses of Coulomb's law, with Newton on the law."""
        lam = problem.impulses.copy()
        cone = self.solver.solve(problem, replace(self.options, law="coulomb", max_time=found.left))
        found.counts += (cone.factorisations, cone.iterations, cone.solves)
        found.tangents.start(problem.impulses[found.tangents.at], cone.x)
        problem.impulses[:] = lam
        found.rounds(lambda k, best, last: k in TRIES or best <= min(FINISH, 0.1 * last))


class ExactSolver:
    """Coulomb's law by `solver`; where it ends above the goal, rounds of discs from there and Newton on the law itself.

    200 boxes dropped at 5 m/s, 90 steps with up to 690 contacts: 0 or 1 of them end above 1e-6 m/s, in place of 61; 93 to 110 factors per
    step in place of 50, and five times the time.
    """

    def __init__(self, solver: StepSolver):
        self.solver = solver
        self.rounds = LawSolver(False, DISC, solver.options)

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result; residual of Coulomb's law."""
        began = perf_counter()
        first = self.solver.solve(problem)
        budget = self.solver.options.max_time
        if first.ok or (budget is not None and perf_counter() - began > budget):
            return first
        lam, x, start = problem.impulses.copy(), first.x.copy(), problem.start
        problem.start = x.copy()
        found = _Solution(self.rounds, problem)
        found.counts += (first.factorisations, first.iterations, first.solves)
        found.rounds(lambda k, best, last: k in TRIES, TRIES[-1])
        problem.start = start
        if found.best <= self.rounds.goal:
            return found.result()
        problem.impulses[:] = lam
        factors, iterations, solves = (int(c) for c in found.counts)
        return replace(first, x=x, factorisations=factors, iterations=iterations, solves=solves)


class _Solution:
    """One problem: the best so far, and what it took."""

    def __init__(self, owner: LawSolver, problem: StepProblem):
        self.owner, self.tangents = owner, Tangents(problem, owner.section)
        self.best, self.lam, self.x, self.branch = math.inf, self.tangents.problem.impulses.copy(), problem.free, ""
        self.counts = np.zeros(3, dtype=np.int64)
        budget = owner.options.max_time
        self.deadline = math.inf if budget is None else perf_counter() + budget
        self.most = owner.options.sweeps

    def result(self) -> StepResult:
        """The best so far, which is left in the problem that was given."""
        t = self.tangents
        t.problem.impulses[:] = self.lam
        t.back()
        status = OK if self.best <= self.owner.goal else NOT_CONVERGED if math.isfinite(self.best) else NOT_FINITE
        factors, iterations, solves = (int(c) for c in self.counts)
        return StepResult(status, self.best, factors, iterations, solves, self.branch, self.x, math.inf)

    def held(self) -> None:
        """Limits of the step before; new contacts have those of a first solution."""
        t = self.tangents
        normals = np.maximum(t.normals, 0.0)
        self._at(t.mu * normals, None)
        new = (normals == 0.0) & (t.normals > 0.0) & (t.mu > 0.0)
        if new.any() and not self.late:
            normals[new] = t.normals[new]
            self.best = math.inf
            self._at(t.mu * normals, None)

    def rounds(self, tries: Callable[[int, float, float], bool], most: int = ROUNDS) -> None:
        """Rounds of which the best is kept. tries(round, residual, residual of the last try): whether Newton is tried."""
        t, mixing, last = self.tangents, Anderson(DEPTH), math.inf
        normals = np.maximum(t.normals, 0.0)
        for k in range(most):
            self._at(t.mu * normals, t.mu)
            if self.best <= self.owner.goal or self.late:
                return
            wanted = t.normals.copy()
            if tries(k + 1, self.best, last):
                last = self.best
                if self._finish():
                    if self.best <= self.owner.goal:
                        return
                    wanted, mixing = t.normals.copy(), Anderson(DEPTH)
            normals = np.maximum(mixing.next(normals, wanted), 0.0)

    def sweeps(self) -> None:
        """Limits from the normal impulses of the last few sweeps."""
        t, self.most = self.tangents, JUDGED
        for _ in range(math.ceil(self.owner.options.sweeps / JUDGED)):
            self._at(t.mu * np.maximum(t.normals, 0.0), t.mu)
            if self.best <= self.owner.options.tol or self.late:
                return

    def _finish(self) -> bool:
        """Newton on the law from the best so far; False where it gains nothing."""
        t, finishing = self.tangents, Finishing(self.tangents)
        t.problem.impulses[:] = self.lam
        miss = finishing.run(CORRECTIONS, self.owner.options.tol)
        self.counts += (finishing.factors, finishing.factors, finishing.factors)
        if miss >= self.best:
            return False
        self.best, self.branch, self.x = miss, "finished", finishing.velocities()
        self.lam[:] = t.problem.impulses
        return True

    def _at(self, radius: Array, mu: Array | None) -> None:
        """A solution with sets of these radii, judged with those, or with mu times its own normal impulses."""
        t = self.tangents
        t.limit(radius)
        shifts = t.section.disc and self.owner.direct
        if shifts:
            t.shift(np.hypot(*t.speeds(np.asarray(t.problem.start)).T))
        for _ in range(SETTLE if shifts else 1):
            found = self._ask()
            u = t.speeds(found.x)
            held = max(found.residual, t.miss(u, radius))
            miss = held if mu is None else max(found.residual, t.miss(u, mu * np.maximum(t.normals, 0.0)))
            if miss < self.best or not math.isfinite(self.best):
                self.best, self.branch, self.x = miss, found.branch, found.x.copy()
                self.lam[:] = t.problem.impulses
            t.problem.start = found.x.copy()
            if not shifts or held <= self.owner.options.tol or self.late:
                return
            t.shift(np.hypot(*u.T))

    def _ask(self) -> StepResult:
        o = self.owner.solver.options
        found = self.owner.solver.solve(
            self.tangents.problem, replace(o, max_time=self.left, sweeps=self.most, rest=CLOSE if self.branch else o.rest)
        )
        self.counts += (found.factorisations, found.iterations, found.solves)
        return found

    @property
    def left(self) -> float | None:
        """Seconds, or None where time does not matter."""
        return None if self.deadline == math.inf else max(self.deadline - perf_counter(), 0.0)

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return perf_counter() > self.deadline
