"""`StepSolver`: solves one step after the other and keeps what the next one can use: arrays, order of elimination, factor.

The way to a solution (measured on piles: the numbers are in the defaults of `SolverOptions`):

    1. Residual of the impulses given. Below the tolerance: nothing to do ("warm").
    2. Below `rest`, or last velocities below `slow` along all rows, or without inequalities: Newton from the last velocities, at most
       `rest_factors` factors ("rest"). It does not need the impulses: where contact points come and go at rest and spoil them, `slow` saves
       the interior point (pyramids of 105 and 990 boxes with such points: 1.3 and 5 to 7 factors per step, 7.4 and 16 without).
    3. Else, or where that fails: the cold interior point to `interior_tol` ("interior"), then Newton to `tol` ("polished"); the
       interior point's answer stays where that does not help.
    4. Where neither reaches `interior_tol`: Newton with sigma raised and lowered again in steps ("continuation").

Exact Coulomb: where 3 begins, the interior point with the shift mu |u_t| inside; then rounds of Newton with the shift of the last
round, accelerated, until the tolerance is met or nothing is gained. The residual that is reported is always recomputed from the impulses,
for the law that was asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from dalembert.contact.anderson import Anderson
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

LAWS = {"associated": codes.ASSOCIATED, "coulomb": codes.COULOMB}
METHODS = ("direct", "gauss-seidel", "split", "direct+split", "lemke", "keller")  # the last four: contact/solvers.py
JUDGED = 10  # sweeps between two looks at the residual
#: sigma is multiplied by these, one after the other
CONTINUATION = (1e4, 1e2, 10.0)


@dataclass(frozen=True)
class SolverOptions:
    """tol: natural residual, in units of velocity. floor: rows with sigma below floor D (D: diagonal of J M^-1 J^T; cones: 100 floor D) are
    solved by rounds with one factor.

    rest, slow: m/s, where a solve begins with Newton (see the head of the file).
    max_time: seconds of wall time after which the best impulses so far are returned ("time" in the branch).
    method "gauss-seidel": at most `sweeps` sweeps to `tol`, no factor. "split": at most `rounds` rounds (contact/split.py).
    "lemke", "keller": dense; a cone may become a polygon of so many `sides`, 0: it may not (contact/pivoting.py).
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
    coulomb_rounds: int = 40
    floor: float = 1e-8
    sweeps: int = 50
    max_time: float | None = None
    rounds: int = 200
    sides: int = 0

    def __post_init__(self) -> None:
        for what, value, known in (("law", self.law, LAWS), ("method", self.method, METHODS)):
            if value not in known:
                raise OptionError(f"{what} is {value!r}; expected one of {', '.join(known)}.")
        if not self.tol > 0.0 or not self.interior_tol > 0.0 or not 0.0 < self.floor < 1.0:
            raise OptionError("tol and interior_tol must be positive, floor between 0 and 1.")


@dataclass(frozen=True, slots=True)
class StepResult:
    """status: OK, NOT_CONVERGED or NOT_FINITE of `kernels/status.py`; OK: residual <= max(tol, interior_tol).

    residual: natural residual of the law that was asked for, m/s. branch: warm, rest, interior, polished, continuation, sweeps; with
    " (time)" where max_time ended it. x: velocities, valid until the next solve; impulses are in the problem.
    """

    status: int
    residual: float
    factorisations: int
    iterations: int
    solves: int
    branch: str
    x: Any

    @property
    def ok(self) -> bool:
        """Whether the residual is at most max(tol, interior_tol)."""
        return self.status == OK


def _roomier(have: int, need: int) -> int:
    return need if have == 0 else max(need, have + have // 2)


class StepSolver:
    """Owns arrays that grow when needed; one solver per simulation and thread."""

    def __init__(self, options: SolverOptions | None = None):
        self.options = options or SolverOptions()
        self.analyses = 0  # how often an order was made
        self._room = (0, 0, 0)  # bodies, constraints, rows
        self._numbers, self._info = np.zeros(OPTIONS), np.zeros(INFO)
        self._bodies = 0
        self._scaled = (np.zeros((0, 6, 6)), np.zeros((0, 12)), np.zeros(0))  # of sweeps
        self._run = bare(first_class(run, RUN))
        self._grow(1, 1, 1)
        self._deadline = math.inf

    # arrays

    def _grow(self, n: int, m: int, rows: int) -> None:
        n, m, rows = (_roomier(h, w) if w > h else h for h, w in zip(self._room, (n, m, rows), strict=True))
        self._room, of = (n, m, rows), np.zeros
        r, b, i = (lambda *shape: of((*shape, rows))), (lambda *shape: of((*shape, 6 * n))), (lambda size: of(size, dtype=np.int64))
        self._work = Work(
            lam=r(), x=b(), start=b(), b=r(), lo=r(), hi=r(), D=r(), R=r(), W=of((rows, 3)), state=i(m), best=r(), base=r(), rows=r(6),
            bodies=b(5), l=r(), s=r(), gaps=of((rows, 4)), frame=of((m, 8)), turns=r(8), pairs=of((4, rows, 2)),
        )  # fmt: skip
        self._pattern = Pattern(i(n), i(n), i(n + 1), i(0), i(n + 1), i(0), i(0), i(3))
        self._factor = Factor(of(36 * n), of(0), of(6 * n), i(n), i(0), i(m), i(m), i(2))
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
                column, block, row, seen = (np.zeros(blocks, dtype=np.int64) for _ in range(4))
                self._pattern = self._pattern._replace(column=column, above_block=block, above_row=row)
                self._factor = self._factor._replace(seen=seen)
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

    def _call(self, what: int, step: Step, most: int = 0, tol: float = 0.0, scale: float = 0.0, from_zero: bool = False) -> int:
        o = self._numbers
        o[codes.TOLERANCE], o[codes.MOST], o[codes.SCALE], o[codes.FROM_ZERO] = tol, most, scale, from_zero
        return int(self._run(what, step, self._pattern, self._factor, self._work, o, self._info))

    @property
    def _late(self) -> bool:
        return perf_counter() > self._deadline

    def _in_parts(self, what: int, step: Step, most: int, tol: float, **more: Any) -> int:
        """All at once; under a time budget one by one, with a look at the clock between."""
        if self._deadline == math.inf:
            return self._call(what, step, most, tol, **more)
        status, wanted = MORE, self._info[FACTORS] + most
        while not self._late:
            before = self._info[FACTORS]
            status = self._call(what, step, 1, tol, **more)
            if status not in (MORE, NOT_CONVERGED) or self._info[FACTORS] == before or self._info[FACTORS] >= wanted:
                break
        return status

    def _newton(self, step: Step, most: int, tol: float, scale: float = 0.0, from_zero: bool = False) -> int:
        return self._in_parts(codes.NEWTON, step, most, tol, scale=scale, from_zero=from_zero)

    def _interior(self, step: Step, o: SolverOptions) -> int:
        """The best iterate is taken over also where it ends early."""
        self._call(codes.INTERIOR_START, step)
        status = self._in_parts(codes.INTERIOR, step, o.interior_steps, max(o.tol, o.interior_tol))
        if status == MORE:  # take the best so far: any residual will do
            self._call(codes.INTERIOR, step, 0, math.inf)
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
        self._numbers[codes.FLOOR], self._numbers[codes.LAW] = o.floor, LAWS[o.law]
        self._info[:] = 0.0
        self._factor.kept[:] = 0  # a factor of an earlier step would make the last digits depend on history
        step, w = problem.step(), self._work
        w.lam[:rows], w.start[: 6 * n] = problem.impulses, problem.start
        branch = self._sweeps(step, o) if o.method == "gauss-seidel" else self._direct(step, o)
        return self._result(problem, step, o, branch)

    def _sweeps(self, step: Step, o: SolverOptions) -> str:
        n, rows = len(step.masses), len(step.J)
        if self._scaled[0].shape[0] != n or len(self._scaled[1]) < rows:
            self._scaled = (np.zeros((n, 6, 6)), np.zeros((rows + rows // 2, 12)), np.zeros(6 * n))
        gauss_seidel(step, self._work, LAWS[o.law], o.tol, o.sweeps, JUDGED, *self._scaled, self._info)
        return "sweeps"

    def _direct(self, step: Step, o: SolverOptions) -> str:
        status = self._call(codes.START, step, scale=1.0)
        worn = status == OK and self._info[PAIRS] != self._pattern.size[2]  # the order is a function of the pairs: a resumed run repeats it
        if status == codes.NEW_PAIR or worn:
            self._analyse(step)
            self._call(codes.START, step, scale=1.0)
        residual = self._info[RESIDUAL]
        if residual <= o.tol:
            return "warm"
        return self._coulomb(step, o, residual) if o.law == "coulomb" else self._associated(step, o, residual)

    def _at_rest(self, step: Step, o: SolverOptions, residual: float) -> bool:
        """Whether to begin with Newton: little is to be changed, or nothing moved, or there are only equations."""
        return residual < o.rest or bool(self._info[codes.SPEED] < o.slow) or not step.kind.any()

    def _associated(self, step: Step, o: SolverOptions, residual: float) -> str:
        if self._at_rest(step, o, residual):
            if self._newton(step, o.rest_factors, o.tol) == OK or not step.kind.any():
                return "rest"
            if self._late:
                return "rest (time)"
        goal = max(o.tol, o.interior_tol)
        ended = self._interior(step, o)
        if ended == MORE and self._late:
            return "interior (time)"
        branch = self._polished(step, o, goal) if self._info[RESIDUAL] > o.tol else "interior"
        return branch if self._info[RESIDUAL] <= goal or self._late else self._continuation(step, o, branch)

    def _polished(self, step: Step, o: SolverOptions, goal: float) -> str:
        """Newton after the interior point, whose answer stays where that is better."""
        found, rows = float(self._info[RESIDUAL]), len(step.J)
        kept = self._work.lam[:rows].copy()
        self._newton(step, o.polish_factors if found <= goal else o.rest_factors, o.tol)
        if self._info[RESIDUAL] < found:
            return "polished"
        self._work.lam[:rows], self._info[RESIDUAL] = kept, found
        return "interior"

    def _continuation(self, step: Step, o: SolverOptions, before: str) -> str:
        """Sigma raised and lowered; the better of two answers."""
        found, rows = float(self._info[RESIDUAL]), len(step.J)
        kept = self._work.lam[:rows].copy()
        for scale in CONTINUATION:
            self._newton(step, 50, max(1e-4, o.tol), scale, from_zero=True)
        self._work.lam[:rows] = kept
        self._newton(step, 50, o.tol, 1.0)
        if self._info[RESIDUAL] < found:
            return "continuation" + (" (time)" if self._late else "")
        self._work.lam[:rows] = kept
        return before

    def _coulomb(self, step: Step, o: SolverOptions, residual: float) -> str:
        goal = max(o.tol, o.interior_tol)
        if self._at_rest(step, o, residual):
            self._newton(step, o.rest_factors, max(o.tol, 0.01 * o.rest))
            if self._rounds(step, o) <= goal or self._late:
                return "rest" + (" (time)" if self._late else "")
            self._call(codes.START, step, scale=1.0)  # b without a shift
        self._interior(step, o)
        best = math.inf if self._late else self._rounds(step, o)
        return "interior" + (" (time)" if self._late and best > o.tol else "")

    def _rounds(self, step: Step, o: SolverOptions) -> float:
        """Newton with the shift mu |u_t| of the last round, accelerated. The best impulses are left in lam; returns their residual."""
        w, rows = self._work, len(step.J)
        at = step.first[:-1][step.kind == codes.CONE]
        best, kept, stalls, mixing, shift = math.inf, w.lam[:rows].copy(), 0, Anderson(5), None
        for _ in range(o.coulomb_rounds + 1):
            self._call(codes.SHIFT, step)
            found = float(self._info[RESIDUAL])
            stalls = 0 if found < 0.7 * best else stalls + 1
            if found < best:
                best, kept[:] = found, w.lam[:rows]
            if best <= o.tol or stalls == 8 or self._late:
                break
            if shift is not None:
                wanted = w.b[at] - step.b[at]
                w.b[at] = step.b[at] + np.maximum(mixing.next(shift, wanted), 0.0)
            shift = w.b[at] - step.b[at]
            self._newton(step, o.polish_factors, max(0.1 * o.tol, 0.01 * best))
        w.lam[:rows] = kept
        return best

    def _result(self, problem: StepProblem, step: Step, o: SolverOptions, branch: str) -> StepResult:
        """Judge what is left in lam, for the law that was asked for."""
        factors, steps, solves = (int(self._info[k]) for k in (FACTORS, STEPS, SOLVES))
        if o.method == "direct":
            self._call(codes.SHIFT, step)
        problem.impulses[:] = self._work.lam[: len(step.J)]
        residual = float(self._info[RESIDUAL])
        status = OK if residual <= max(o.tol, o.interior_tol) else NOT_CONVERGED if math.isfinite(residual) else NOT_FINITE
        return StepResult(status, residual, factors, steps, solves, branch, self._work.x[: len(step.free)])
