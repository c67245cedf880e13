"""Other laws of friction for the problems of steps (lacoursiere2007, 10.12, (10.86), (17.18-25)); Coulomb's is in contact/coulomb.py.

    box        |lam_1|, |lam_2| <= mu n        n: normal impulse of the contact in the step before; where it did not press there, that of a
    cylinder   |lam_t| <= mu n                 first solution without its friction. One convex problem, one solution
    pyramid    |lam_1|, |lam_2| <= mu lam_n    lam_n: of the solution itself
    polygon    lam_t in mu lam_n times the regular polygon with `sides` corners, the first on the first tangent

In each of these sets the impulse does the most work against the slip, and contacts do not separate by sliding. Sets and rows are those of
contact/tangents.py. Pyramid and polygon: rounds with the normal impulses of the last round, accelerated, until they are those of the
solution. That is not proved to converge (chapter 17); a step that does not is counted as unsolved, as for Coulomb's law.
Tangents are those of the contact: functions of its normal, or of `friction_axis`. Residuals are those of the law that was asked for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.anderson import Anderson
from dalembert.contact.problem import CONE, StepProblem
from dalembert.contact.solver import JUDGED, SolverOptions, StepResult, StepSolver
from dalembert.contact.tangents import DISC, SQUARE, Section, Tangents, polygon
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

#: the words of the option `law`
LAWS = ("coulomb", "cone", "cylinder", "box", "pyramid", "polygon")
#: those of the cone, as `StepSolver` calls them
CONES = {"coulomb": "coulomb", "cone": "associated"}
#: laws whose limits are those of the step before
HELD = ("cylinder", "box")
ROUNDS, SETTLE, DEPTH = 60, 8, 8
#: m/s: residuals below which a round begins with Newton from the round before (halves the factors of 200 boxes dropped at 5 m/s)
CLOSE = 0.1


def solver_of(law: str, options: SolverOptions, sides: int = 8) -> StepSolver | LawSolver:
    """The solver of steps whose contacts obey a law."""
    if law in CONES:
        return StepSolver(replace(options, law=CONES[law]))
    return LawSolver(law, options, sides)


def section_of(law: str, sides: int = 8) -> Section:
    """The set of tangential impulses of a law."""
    return {"box": SQUARE, "pyramid": SQUARE}.get(law) or (polygon(sides) if law == "polygon" else DISC)


class LawSolver:
    """Solves problems in which cones obey one of the laws above."""

    def __init__(self, law: str, options: SolverOptions, sides: int):
        self.section, self.held, self.options = section_of(law, sides), law in HELD, options
        sweeps = options.method != "direct"
        self.solver = StepSolver(
            replace(options, law="coulomb" if sweeps else "associated")
        )  # sweeps hold the radius of a disc by themselves
        self.goal = max(options.tol, options.interior_tol)

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result; residual of the law."""
        if not (problem.mu[problem.kind == CONE] > 0.0).any():
            return self.solver.solve(problem)
        return _Solution(self, problem).run()


class _Solution:
    """One problem: the best so far, and what it took."""

    def __init__(self, owner: LawSolver, problem: StepProblem):
        self.owner, self.tangents = owner, Tangents(problem, owner.section)
        self.best, self.lam, self.x, self.branch = math.inf, self.tangents.problem.impulses.copy(), problem.free, ""
        self.counts = np.zeros(3, dtype=np.int64)
        budget = owner.options.max_time
        self.deadline = math.inf if budget is None else perf_counter() + budget
        self.sweeps = owner.options.sweeps

    def run(self) -> StepResult:
        t, goal = self.tangents, self.owner.goal
        normals = np.maximum(t.normals, 0.0)
        if self.owner.held:
            self._held(normals)
        else:
            self._rounds(normals)
        t.problem.impulses[:] = self.lam
        t.back()
        status = OK if self.best <= goal else NOT_CONVERGED if math.isfinite(self.best) else NOT_FINITE
        factors, iterations, solves = (int(c) for c in self.counts)
        return StepResult(status, self.best, factors, iterations, solves, self.branch, self.x, math.inf)

    def _held(self, normals: Array) -> None:
        t = self.tangents
        self._at(t.mu * normals, None)
        new = (normals == 0.0) & (t.normals > 0.0) & (t.mu > 0.0)
        if new.any() and not self._late:
            normals[new] = t.normals[new]
            self.best = math.inf
            self._at(t.mu * normals, None)

    def _rounds(self, normals: Array) -> None:
        """Rounds of which the best is kept."""
        t, mixing, direct = self.tangents, Anderson(DEPTH), self.owner.options.method == "direct"
        self.sweeps = JUDGED
        for _ in range(ROUNDS if direct else math.ceil(self.owner.options.sweeps / JUDGED)):
            self._at(t.mu * normals, t.mu)
            if self.best <= (self.owner.goal if direct else self.owner.options.tol) or self._late:
                return
            normals = np.maximum(mixing.next(normals, t.normals), 0.0) if direct else t.normals.copy()

    def _at(self, radius: Array, mu: Array | None) -> None:
        """A solution with sets of these radii, judged with those, or with mu times its own normal impulses."""
        t = self.tangents
        t.limit(radius)
        shifts = t.section.disc and self.owner.options.method == "direct"
        if shifts:
            t.shift(np.hypot(*t.speeds(np.asarray(t.given.start)).T))
        for _ in range(SETTLE if shifts else 1):
            found = self._ask()
            u = t.speeds(found.x)
            miss = max(found.residual, t.miss(u, radius if mu is None else mu * np.maximum(t.normals, 0.0)))
            if miss < self.best or not self.branch or not math.isfinite(self.best):
                self.best, self.branch, self.x = miss, found.branch, found.x.copy()
                self.lam[:] = t.problem.impulses
            t.problem.start = found.x.copy()
            if not shifts or miss <= self.owner.options.tol or self._late:
                return
            t.shift(np.hypot(*u.T))

    def _ask(self) -> StepResult:
        left = None if self.deadline == math.inf else max(self.deadline - perf_counter(), 0.0)
        o = self.owner.solver.options
        o = replace(o, max_time=left, sweeps=self.sweeps, rest=CLOSE if self.branch else o.rest)
        found = self.owner.solver.solve(self.tangents.problem, o)
        self.counts += (found.factorisations, found.iterations, found.solves)
        return found

    @property
    def _late(self) -> bool:
        return perf_counter() > self.deadline
