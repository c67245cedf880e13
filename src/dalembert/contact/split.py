"""Splitting for friction (lacoursiere2007 chapter 17): limits of friction from the last normal impulses, one monotone problem per round.

    nu = normal impulses of the step before, or 0: no friction at first
    repeat   (lam_n, lam_t, joints) = solution with 0 <= lam_n  _|_  u_n >= 0,  |lam_t| <= mu nu,  all other rows as they are   (17.18-25)
             nu = lam_n, mixed with earlier rounds by Anderson's method, or by halves where that does not help
    until Coulomb's law holds to the tolerance, or `rounds` are over

Print has boxes for the tangents; here they are discs, so that what stays fixed obeys Coulomb's cone, exactly, not a pyramid. Within the
laws of `kernels/contact/codes.py` a disc of radius mu nu is a cone with a normal row of its own that touches no body:

    u_0 = S lam_0 + b_0,   b_0 = mu s - S nu,   s = |u_t| of the last round:   lam_0 = nu where the contact slides with s, or sticks, s = 0

S = STIFF times the diagonal of the tangents: an error of s changes the limit by mu^2/STIFF of its impulse, and vanishes in the limit.
Convergence is not proved; it is linear, and can stagnate. The residual is that of Coulomb's law of the problem as it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.contact.anderson import Anderson
from dalembert.contact.problem import CONE, UNILATERAL, StepProblem
from dalembert.contact.solver import SolverOptions, StepResult, StepSolver
from dalembert.errors import OptionError
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

STIFF = 100.0
#: rounds without a better residual after which impulses are halved instead of mixed; and after which it ends. Measured on pyramids and
#: heaps: mixing takes 16 to 60 rounds to 1e-9 m/s, halving 60 to more than 100; a first round without friction can be near by chance
PATIENCE, STALLED = 20, 40


class SplitSolver:
    """Solves steps in which cones obey Coulomb's law; `solver` solves the problem of a round."""

    def __init__(self, options: SolverOptions):
        if options.law != "coulomb":
            raise OptionError(
                f"method 'split' takes limits of friction from normal impulses, which is Coulomb's law; law is {options.law!r}."
            )
        self.options = options
        self.solver = StepSolver(replace(options, law="associated", method="direct"))
        self.goal = max(options.tol, options.interior_tol)

    def solve(self, problem: StepProblem, max_time: float | None = None, most: float = np.inf) -> StepResult:
        """Impulses into problem.lam, velocities into the result. max_time: in place of that of the options; most: factors, after which no
        round begins."""
        cones = (problem.kind == CONE) & (problem.mu > 0.0)
        if not cones.any():
            return self.solver.solve(problem)
        return _Rounds(self, problem, cones, self.options.max_time if max_time is None else max_time, most).run()


class DirectSplitSolver:
    """The direct solver, and splitting from its answer where that misses Coulomb's law by more than the goal, in problems of at most `most`
    constraints with at most so many factors."""

    def __init__(self, options: SolverOptions, most: float = np.inf, factors: float = np.inf):
        self.direct, self.split = StepSolver(replace(options, method="direct")), SplitSolver(options)
        self.max_time, self.most, self.factors = options.max_time, most, factors

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result."""
        began = perf_counter()
        first = self.direct.solve(problem)
        if first.ok or len(problem.kind) > self.most or not np.isfinite(first.residual) or not (problem.mu > 0.0).any():
            return first
        left = None if self.max_time is None else max(self.max_time - (perf_counter() - began), 0.0)
        found = self.split.solve(replace(problem, start=np.array(first.x), check=False), left, self.factors)
        return StepResult(
            found.status, found.residual, first.factorisations + found.factorisations, first.iterations + found.iterations,
            first.solves + found.solves, f"{first.branch}, {found.branch}", found.x, first.first,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Halves:
    """A problem in which every cone is two constraints: its normal row, and its tangents with a limit of their own.

    rows: where the rows of the problem are. limit: the rows that hold the limits, mu, S: of the cones, in their order.
    """

    problem: StepProblem
    rows: AnyArray
    limit: AnyArray
    mu: Array
    S: Array

    @classmethod
    def of(cls, p: StepProblem, cones: Array) -> Halves:
        """Constraints in the order of the problem, the tangents of a cone behind its normal row."""
        m, counts = len(p.kind), np.diff(p.first)
        pieces = np.where(cones, 2, 1)
        owner, second = np.repeat(np.arange(m), pieces), np.zeros(int(pieces.sum()), dtype=bool)
        ends = np.cumsum(pieces)
        second[ends[cones] - 1] = True
        sizes = np.where(second, 3, np.where(cones[owner], 1, counts[owner]))
        first = np.concatenate([[0], np.cumsum(sizes)])
        limit = first[:-1][second]
        whole = np.ones(int(first[-1]), dtype=bool)
        whole[limit] = False
        rows = np.flatnonzero(whole)
        D = p.diagonal()[p.first[:-1][cones][:, None] + np.arange(1, 3)].max(axis=1)

        def spread(values: Array, fill: float) -> Array:
            out = np.full((len(whole), *values.shape[1:]), fill)
            out[rows] = values
            return out

        sigma = spread(p.sigma, 0.0)
        sigma[limit] = STIFF * D
        normal = cones[owner] & ~second
        kind, mu = np.where(normal, UNILATERAL, p.kind[owner]), np.where(normal, 0.0, p.mu[owner])
        halves = StepProblem(
            p.bodies[owner], kind, first, spread(p.J, 0.0), spread(p.b, 0.0), sigma, mu, p.masses, p.inverse, p.free,
            spread(p.lows, -np.inf), spread(p.highs, np.inf), p.start, spread(p.impulses, 0.0), check=False,
        )  # fmt: skip
        return cls(halves, rows, limit, p.mu[cones], STIFF * D)

    def hold(self, nu: Array, slip: Array) -> None:
        """Limits mu nu, for contacts that slide with `slip`."""
        self.problem.b[self.limit] = self.mu * slip - self.S * nu
        self.problem.impulses[self.limit] = nu


class _Rounds:
    """One problem: the best so far, and what it took."""

    def __init__(self, owner: SplitSolver, problem: StepProblem, cones: Array, budget: float | None, most: float):
        self.owner, self.problem, self.most = owner, problem, most
        self.at = problem.first[:-1][cones]
        self.halves = Halves.of(problem, cones)
        self.lam, self.x = problem.impulses.copy(), problem.velocities()
        self.best = self.first = problem.natural_residual(None, "coulomb", owner.options.creep)
        self.factors = self.solves = self.rounds = self.stalls = 0
        self.deadline = np.inf if budget is None else perf_counter() + budget

    def run(self) -> StepResult:
        o, p = self.owner.options, self.problem
        nu, slip, mixing = np.maximum(p.impulses[self.at], 0.0), self._slip(p.impulses), Anderson(5)
        while self.rounds < o.rounds and self.factors < self.most and self.best > o.tol and self.stalls < STALLED and not self._late:
            found, slip = self._round(nu, slip)
            if self.stalls < PATIENCE:
                nu = np.maximum(mixing.next(nu, found), 0.0)
            else:
                nu = 0.5 * (nu + found)
        p.impulses[:] = self.lam
        status = OK if self.best <= self.owner.goal else NOT_CONVERGED if np.isfinite(self.best) else NOT_FINITE
        branch = "warm" if not self.rounds else "split (time)" if self._late and self.best > o.tol else "split"
        return StepResult(status, self.best, self.factors, self.rounds, self.solves, branch, self.x, self.first)

    def _round(self, nu: Array, slip: Array) -> tuple[Array, Array]:
        """(normal impulses, slip speeds) with limits mu nu; the impulses are judged, and kept where they are the best."""
        h, p = self.halves, self.problem
        h.hold(nu, slip)
        left = None if self.deadline == np.inf else max(self.deadline - perf_counter(), 0.0)
        found = self.owner.solver.solve(h.problem, replace(self.owner.solver.options, tol=0.1 * self.owner.options.tol, max_time=left))
        self.factors, self.solves, self.rounds = self.factors + found.factorisations, self.solves + found.solves, self.rounds + 1
        lam = h.problem.impulses[h.rows]
        h.problem.start = found.x.copy()
        residual = p.natural_residual(lam, "coulomb", self.owner.options.creep)
        self.stalls = 0 if residual < 0.9 * self.best else self.stalls + 1 if np.isfinite(residual) else STALLED
        if residual < self.best:
            self.best, self.lam, self.x = residual, lam, found.x.copy()
        return np.maximum(lam[self.at], 0.0), self._slip(lam)

    def _slip(self, lam: Array) -> Array:
        """Slip speeds of the cones."""
        u = self.problem.row_velocities(lam)
        return np.hypot(u[self.at + 1], u[self.at + 2])

    @property
    def _late(self) -> bool:
        return perf_counter() > self.deadline
