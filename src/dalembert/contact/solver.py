"""`StepSolver`: solves one step after the other and keeps what the next one can use: arrays, and the order of elimination.

The way to a solution (measured on piles: the numbers are in the defaults of `SolverOptions`):

    1. Residual of the impulses given. Below the tolerance: nothing to do ("warm").
    2. Below `rest`, or last velocities below `slow` along all rows, or without inequalities: Newton from the last velocities, at most
       `rest_factors` factors ("rest"). It does not need the impulses: where contact points come and go at rest and spoil them, `slow` saves
       the interior point (pyramids of 105 and 990 boxes with such points: 1.3 and 5 to 7 factors per step, 7.4 and 16 without).
    3. Else, or where that fails: the cold interior point to `interior_tol` ("interior"), then Newton to `tol` ("polished"); the
       interior point's answer stays where that does not help.
    4. Where neither reaches `interior_tol`: Newton with sigma raised and lowered again in steps ("continuation").

Coulomb's law of sliding: `contact/coulomb.py`. The residual that is reported is always recomputed from the impulses, for the law that was
asked for.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from dalembert.contact.anderson import warm_up
from dalembert.contact.coulomb import LITTLE, Coulomb
from dalembert.contact.groups import LARGE, Group, groups_of
from dalembert.contact.problem import StepProblem
from dalembert.errors import OptionError
from dalembert.kernels._jit import bare, first_class
from dalembert.kernels.contact import codes
from dalembert.kernels.contact.codes import FACTORS, INFO, MORE, OPTIONS, PAIRS, RESIDUAL, SOLVES, STEPS
from dalembert.kernels.contact.gauss_seidel import gauss_seidel
from dalembert.kernels.contact.pattern import NO_ROOM, analyse
from dalembert.kernels.contact.records import RUN, Factor, Pattern, Step, Work
from dalembert.kernels.contact.solve import run
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

LAWS = ("associated", "coulomb")
METHODS = ("direct", "gauss-seidel", "exact", "split", "direct+split", "lemke", "keller")  # the last five: contact/solvers.py
WORTH = 200  # contacts for which threads are started
JUDGED = 10  # sweeps between two looks at the residual
#: sigma is multiplied by these, one after the other
CONTINUATION = (1e4, 1e2, 10.0)


@dataclass(frozen=True)
class SolverOptions:
    """tol: natural residual, in units of velocity. floor: rows with sigma below floor D (D: diagonal of J M^-1 J^T; cones: 100 floor D) are
    solved by rounds with one factor.

    rest, slow: m/s, where a solve begins with Newton (see the head of the file).
    max_time: seconds of wall time after which the best impulses so far are returned ("time" in the branch).
    creep: m/s, dead band of Coulomb's law: contacts with mu |u_t| below it count as sticking. rounds_tol: what ends its rounds.
    threads: how many solve islands side by side (contact/groups.py); no digit depends on it.
    method "gauss-seidel": at most `sweeps` sweeps to `tol`, no factor. "split": at most `rounds` rounds (contact/split.py).
    "lemke", "keller": dense; a cone may become a polygon of so many `corners`, 0: it may not (contact/pivoting.py).
    """

    tol: float = 1e-9
    law: str = "associated"
    method: str = "direct"
    rest: float = 1e-3
    rest_factors: int = 12
    slow: float = 1e-3
    interior_tol: float = 1e-6
    interior_steps: int = 50
    polish_factors: int = 8
    creep: float = 0.0
    rounds_tol: float = 0.0
    floor: float = 1e-8
    sweeps: int = 50
    max_time: float | None = None
    threads: int = 1
    rounds: int = 200
    corners: int = 0

    def __post_init__(self) -> None:
        for what, value, known in (("law", self.law, LAWS), ("method", self.method, METHODS)):
            if value not in known:
                raise OptionError(f"{what} is {value!r}; expected one of {', '.join(known)}.")
        if not self.tol > 0.0 or not self.interior_tol > 0.0 or not 0.0 < self.floor < 1.0:
            raise OptionError("tol and interior_tol must be positive, floor between 0 and 1.")


@dataclass(frozen=True, slots=True)
class StepResult:
    """status: OK, NOT_CONVERGED or NOT_FINITE of `kernels/status.py`; OK: residual <= max(tol, interior_tol).

    residual: natural residual of the law that was asked for, m/s; first: that of the impulses given. x: velocities, valid until the next
    solve; impulses are in the problem. branch: warm, rest, interior, polished, continuation, sweeps, associated; with " (time)" where
    max_time ended it.
    """

    status: int
    residual: float
    factorisations: int
    iterations: int
    solves: int
    branch: str
    x: Any
    first: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the residual is at most max(tol, interior_tol)."""
        return self.status == OK


def _slides(problem: StepProblem) -> bool:
    """Whether the associated law is another than Coulomb's."""
    return float(problem.mu.max()) > 0.0  # of cones alone it is more than 0


def _roomier(have: int, need: int) -> int:
    return need if have == 0 else max(need, have + have // 2)


class StepSolver:
    """Owns arrays that grow when needed; one solver per simulation and thread."""

    def __init__(self, options: SolverOptions | None = None, divides: bool = True):
        """divides: whether islands are solved apart."""
        self.options, self.divides = options or SolverOptions(), divides
        self._solvers: list[StepSolver] = []  # of groups
        self.analyses = 0  # how often an order was made
        self._room = (0, 0, 0)  # bodies, constraints, rows
        self._numbers, self.info = np.zeros(OPTIONS), np.zeros(INFO)
        self._bodies = 0
        self._scaled = (np.zeros((0, 6, 6)), np.zeros((0, 12)), np.zeros(0))  # of sweeps
        self._run = bare(first_class(run, RUN))
        warm_up()
        self._grow(1, 1, 1)
        self._deadline, self._least, self._first = math.inf, math.inf, math.inf

    # arrays

    def _grow(self, n: int, m: int, rows: int) -> None:
        n, m, rows = (_roomier(h, w) if w > h else h for h, w in zip(self._room, (n, m, rows), strict=True))
        self._room, of = (n, m, rows), np.zeros
        r, b, i = (lambda *shape: of((*shape, rows))), (lambda *shape: of((*shape, 6 * n))), (lambda size: of(size, dtype=np.int64))
        self.work = Work(
            lam=r(), x=b(), start=b(), b=r(), lo=r(), hi=r(), D=r(), R=r(), W=of((rows, 3)), state=i(m), best=r(), base=r(), rows=r(6),
            bodies=b(5), l=r(), s=r(), gaps=of((rows, 4)), frame=of((m, 8)), turns=r(8), pairs=of((4, rows, 2)), island=i(n),
            worst=of(n),
        )  # fmt: skip
        self._pattern = Pattern(i(n), i(n), i(n + 1), i(0), i(n + 1), i(0), i(0), i(3))
        self._factor = Factor(of(36 * n), of(0), of(6 * n), i(n), i(m), i(m), i(2))
        self._spare = (i(n + 1), i(2 * m), i(n), np.zeros((13, n + 1), dtype=np.int64))
        self._forget()

    def _forget(self) -> None:
        self._pattern.place[:] = -1
        self._pattern.size[:] = 0
        self._factor.kept[:] = 0

    def _analyse(self, step: Step) -> None:
        """A new order for the bodies of this step."""
        n = len(step.masses)
        blocks = max(len(self._pattern.column), 2 * len(step.kind))
        while True:
            if blocks > len(self._pattern.column):
                column, block, row = (np.zeros(blocks, dtype=np.int64) for _ in range(3))
                self._pattern = self._pattern._replace(column=column, above_block=block, above_row=row)
            first, adjacency, order, work = self._spare
            narrow = self._pattern._replace(place=self._pattern.place[:n])
            if analyse(step.bodies, narrow, first, adjacency, order, work) != NO_ROOM:
                break
            blocks *= 2
        used = int(self._pattern.size[1])
        if 36 * used > len(self._factor.blocks):
            self._factor = self._factor._replace(blocks=np.zeros(36 * _roomier(len(self._factor.blocks) // 36, used)))
        self._factor.kept[:] = 0
        self.analyses += 1

    # calls

    def call(
        self, what: int, step: Step, most: int = 0, tol: float = 0.0, scale: float = 0.0, from_zero: bool = False, least: float = math.inf
    ) -> int:
        """`solve.run`; least: dead band of Coulomb's law, inf: the associated law."""
        o = self._numbers
        o[codes.TOLERANCE], o[codes.MOST], o[codes.SCALE], o[codes.FROM_ZERO], o[codes.LEAST] = tol, most, scale, from_zero, least
        return int(self._run(what, step, self._pattern, self._factor, self.work, o, self.info))

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return perf_counter() > self._deadline

    def _in_parts(self, what: int, step: Step, most: int, tol: float, **more: Any) -> int:
        """All at once; under a time budget one by one, with a look at the clock between."""
        if self._deadline == math.inf:
            return self.call(what, step, most, tol, **more)
        status, wanted = MORE, self.info[FACTORS] + most
        while not self.late:
            before = self.info[FACTORS]
            status = self.call(what, step, 1, tol, **more)
            if status not in (MORE, NOT_CONVERGED) or self.info[FACTORS] == before or self.info[FACTORS] >= wanted:
                break
        return status

    def newton(self, step: Step, most: int, tol: float, scale: float = 0.0, from_zero: bool = False) -> int:
        """At most so many factors from work.start and work.lam, for b in work."""
        return self._in_parts(codes.NEWTON, step, most, tol, scale=scale, from_zero=from_zero)

    def interior(self, step: Step, o: SolverOptions, least: float = math.inf) -> int:
        """The best iterate is taken over also where it ends early."""
        self.call(codes.INTERIOR_START, step)
        status = self._in_parts(codes.INTERIOR, step, o.interior_steps, max(o.tol, o.interior_tol), least=least)
        if status == MORE:  # take the best so far: any residual will do
            self.call(codes.INTERIOR, step, 0, math.inf, least=least)
        return status

    # the way to a solution

    def solve(self, problem: StepProblem, options: SolverOptions | None = None) -> StepResult:
        """Impulses into problem.lam, velocities into the result."""
        o = options or self.options
        n, m, rows = len(problem.masses), len(problem.kind), len(problem.J)
        if not m:
            return StepResult(OK, 0.0, 0, 0, 0, "warm", problem.free.copy())
        if n > self._room[0] or m > self._room[1] or rows > self._room[2]:
            self._grow(n, m, rows)
        if n != self._bodies:  # an order of other bodies
            self._bodies = n
            self._forget()
        self._deadline = math.inf if o.max_time is None else perf_counter() + o.max_time
        self._numbers[codes.FLOOR], self._numbers[codes.SLOW] = o.floor, o.slow
        self._least = o.creep if o.law == "coulomb" and _slides(problem) else math.inf
        self.info[:], self._first = 0.0, math.inf
        self._factor.kept[:] = 0  # a factor of an earlier step would make the last digits depend on history
        step, w = problem.step(), self.work
        w.lam[:rows], w.start[: 6 * n] = problem.impulses, problem.start
        branch = self._sweeps(step, o) if o.method == "gauss-seidel" else self._direct(problem, step, o)
        return self._result(problem, step, o, branch)

    def _sweeps(self, step: Step, o: SolverOptions) -> str:
        n, rows = len(step.masses), len(step.J)
        if self._scaled[0].shape[0] != n or len(self._scaled[1]) < rows:
            self._scaled = (np.zeros((n, 6, 6)), np.zeros((rows + rows // 2, 12)), np.zeros(6 * n))
        gauss_seidel(step, self.work, self._least, o.tol, o.sweeps, JUDGED, *self._scaled, self.info)
        return "sweeps"

    def _direct(self, problem: StepProblem, step: Step, o: SolverOptions) -> str:
        status = self.call(codes.START, step, scale=1.0, least=self._least)
        worn = status == OK and self.info[PAIRS] != self._pattern.size[2]  # the order is a function of the pairs: a resumed run repeats it
        if status == codes.NEW_PAIR or worn:
            self._analyse(step)
            self.call(codes.START, step, scale=1.0, least=self._least)
        self._first = residual = float(self.info[RESIDUAL])
        if residual <= o.tol:
            return "warm"
        n = len(step.masses)
        count = self.call(codes.ISLANDS, step, least=self._least) if self.divides and len(step.kind) >= LARGE and residual > o.rest else 1
        groups = groups_of(problem, self.work.island[:n], self.work.worst[:count], o.tol, LITTLE) if count > 1 else []
        if groups:
            return self._by_groups(problem, step, o, groups)
        if self._least < math.inf:
            return Coulomb(self, step, o).run(residual)
        branch = self.associated(step, o, residual)
        self.call(codes.SHIFT, step)
        return branch

    def _by_groups(self, problem: StepProblem, step: Step, o: SolverOptions, groups: list[Group]) -> str:
        """Each group by a solver of its own. Returns the way of the first."""
        while len(self._solvers) < len(groups):
            self._solvers.append(StepSolver(self.options, divides=False))
        w = self.work
        parts = [group.problem(problem, w.lam) for group in groups]
        own = o if o.max_time is None else replace(o, max_time=max(self._deadline - perf_counter(), 0.0))

        def one(k: int) -> StepResult:
            return self._solvers[k].solve(parts[k], own)

        if o.threads > 1 and len(groups) > 1 and sum(len(part.kind) for part in parts) > WORTH:
            with ThreadPoolExecutor(o.threads) as pool:
                results = list(pool.map(one, range(len(groups))))
        else:
            results = [one(k) for k in range(len(groups))]
        for group, part, result in zip(groups, parts, results, strict=True):
            w.lam[group.rows], w.x[group.velocities] = part.impulses, result.x
            self.info[[FACTORS, STEPS, SOLVES]] += result.factorisations, result.iterations, result.solves
        self.info[RESIDUAL] = max(result.residual for result in results)  # settled islands are below tol
        return results[0].branch

    def at_rest(self, step: Step, o: SolverOptions, residual: float) -> bool:
        """Whether to begin with Newton: little is to be changed, or nothing moved, or there are only equations."""
        return residual < o.rest or bool(self.info[codes.SPEED] < o.slow) or not step.kind.any()

    def associated(self, step: Step, o: SolverOptions, residual: float) -> str:
        """The associated law for b in work. Returns the way."""
        if self.at_rest(step, o, residual):
            if self.newton(step, o.rest_factors, o.tol) == OK or not step.kind.any():
                return "rest"
            if self.late:
                return "rest (time)"
        goal = max(o.tol, o.interior_tol)
        ended = self.interior(step, o)
        if ended == MORE and self.late:
            return "interior (time)"
        branch = self._polished(step, o, goal) if self.info[RESIDUAL] > o.tol else "interior"
        return branch if self.info[RESIDUAL] <= goal or self.late else self._continuation(step, o, branch)

    def _polished(self, step: Step, o: SolverOptions, goal: float) -> str:
        """Newton after the interior point, whose answer stays where that is better."""
        found, rows = float(self.info[RESIDUAL]), len(step.J)
        kept = self.work.lam[:rows].copy()
        self.newton(step, o.polish_factors if found <= goal else o.rest_factors, o.tol)
        if self.info[RESIDUAL] < found:
            return "polished"
        self.work.lam[:rows], self.info[RESIDUAL] = kept, found
        return "interior"

    def _continuation(self, step: Step, o: SolverOptions, before: str) -> str:
        """Sigma raised and lowered; the better of two answers."""
        found, rows = float(self.info[RESIDUAL]), len(step.J)
        kept = self.work.lam[:rows].copy()
        for scale in CONTINUATION:
            self.newton(step, 50, max(1e-4, o.tol), scale, from_zero=True)
        self.work.lam[:rows] = kept
        self.newton(step, 50, o.tol, 1.0)
        if self.info[RESIDUAL] < found:
            return "continuation" + (" (time)" if self.late else "")
        self.work.lam[:rows] = kept
        return before

    def _result(self, problem: StepProblem, step: Step, o: SolverOptions, branch: str) -> StepResult:
        """What is left in lam."""
        factors, steps, solves = (int(self.info[k]) for k in (FACTORS, STEPS, SOLVES))
        problem.impulses[:] = self.work.lam[: len(step.J)]
        residual = float(self.info[RESIDUAL])
        status = OK if residual <= max(o.tol, o.interior_tol) else NOT_CONVERGED if math.isfinite(residual) else NOT_FINITE
        return StepResult(status, residual, factors, steps, solves, branch, self.work.x[: len(step.free)], self._first)
