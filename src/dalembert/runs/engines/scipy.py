"""SciPy's adaptive solvers on the index-reduced equations of a Lagrangian.

One solver lives through the whole run and takes the steps that its tolerances ask for; nodes are read from its dense output, so that a
multistep method keeps its history and h only says where the motion is recorded. A control is held from node to node: its jumps are no
part of a smooth history, so a run with a control starts a new solver at every node. A run that is resumed from a checkpoint starts one
there as well, and repeats an uninterrupted run to the tolerances, not bit for bit.

The right-hand side is machine code. The flat state is (q, v, mean velocity of the interval, multipliers, work, impulse of each
symmetry, control of the interval).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.integrate

from dalembert.arrays import Array
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from dalembert.lagrangian.index_reduced import NotFinite, RightHandSide
from dalembert.runs.controls import sample
from dalembert.runs.engines import Chunk, Into, times

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan

NODES = 256  # read from the dense output at once
IMPLICIT = ("LSODA", "BDF", "Radau")  # take the Jacobian of the right-hand side


class ScipyEngine:
    """A run by one of SciPy's `OdeSolver` classes, the one that the stepper names: engine="scipy:DOP853"."""

    log_columns = LOG_COLUMNS
    t0 = 0.0

    def __init__(self, plan: Plan, control: Any = None):
        solver = plan.stepper.engine.partition(":")[2]
        self.method, self.needs_jacobian = getattr(scipy.integrate, solver), solver in IMPLICIT
        model = plan.acting
        self.model, self.h, self.options, self.control = model, plan.h, plan.options, control
        self.rhs = RightHandSide(model)
        self.use_ledger = control is not None or bool(model.formulas.features & {"force", "damping"})
        self.system, self.state, self.info = np.zeros(0), np.zeros(0), np.zeros(3)
        self.steps = 0
        self._solver: Any = None
        self._dense: Any = None
        self._ahead: list[Array] = []

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        self.restart(np.concatenate([q, v, v, np.zeros(self.rhs.multiplier_count + self.rhs.ledger_count + self.model.n)]), 0)

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint, with a new solver."""
        self.state, self.steps = np.array(state, dtype=float), step
        self._solver = None

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.t0 + self.steps * self.h

    @property
    def _y(self) -> Array:
        return self.state[: 2 * self.model.n]

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        n = self.model.n
        return self.state[:n], self.state[n : 2 * n]

    def node(self) -> tuple[Array, Array]:
        """The same as new arrays."""
        q, v = self.observe()
        return q.copy(), v.copy()

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n nodes."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="lsoda", category=UserWarning)  # the status of the run reports its failures
            return self._advance(n, every, stop)

    def _advance(self, n: int, every: int, stop: Callable[[], bool]) -> Chunk:
        states: list[Array] = []
        status, error, first = OK, None, self.steps
        for _ in range(n):
            try:
                if self.control is not None:
                    self.rhs.hold(sample(self.control, self.time, *self.observe()))
                    self._solver = None
            except (Exception, KeyboardInterrupt) as problem:  # the user's code: handed on together with what was computed before
                error = problem
                break
            before = self.steps
            status = self._one(stop)
            if status != OK or self.steps == before:
                break
            if self.steps % every == 0:
                states.append(self.state)
            if stop():
                break
        rows = np.array(states).reshape(len(states), self.state.size)
        t = times(first, self.steps, every, self.h, self.t0)
        return Chunk(status, t, rows, np.zeros((len(states), len(LOG_COLUMNS))), error)

    def _one(self, stop: Callable[[], bool]) -> int:
        """To the next node. A failure, and a request to stop on the way, leave the state as it was."""
        before, t, end = self._y, self.time, self.t0 + (self.steps + 1) * self.h
        try:
            row = self._reach(before, t, end, stop)
        except NotFinite:
            self._solver = None
            return NOT_FINITE
        if row is None and self._solver.status == "failed":
            self._solver = None
            return NOT_CONVERGED
        if row is None:
            return OK
        if not math.isfinite(row[0]):
            return NOT_FINITE
        if self.use_ledger or self.rhs.multiplier_count:
            self._complete(row, before, t, end)
        self.state = row
        self.steps += 1
        return OK

    def _reach(self, y: Array, t: float, end: float, stop: Callable[[], bool]) -> Array | None:
        """The state of the next node; None where the solver gives up, or has not come there when it shall stop."""
        if self._solver is None:
            self._begin(y, t, end)
        if not self._ahead:
            solver, forward = self._solver, math.copysign(1.0, self.h)
            while forward * (solver.t - end) < 0:
                solver.step()
                self._dense = None
                if solver.status == "failed" or stop():
                    return None
            self._ahead = list(self._rows(y, self._nodes_reached(solver, forward, end))[::-1])
        return self._ahead.pop()

    def _nodes_reached(self, solver: Any, forward: float, end: float) -> Array:
        """The solution at the next nodes that the solver has reached or passed, a row each."""
        if solver.t == end:
            return np.array(solver.y[None, :])
        if self._dense is None:
            self._dense = solver.dense_output()
        count = min(int((solver.t - end) / self.h) + 2, NODES)
        ends = self.t0 + (self.steps + 1 + np.arange(count)) * self.h
        return np.asarray(self._dense(ends[forward * (solver.t - ends) >= 0]).T)

    def _rows(self, before: Array, reached: Array) -> Array:
        """States of nodes, but for multipliers and account; NaN throughout where a number is not finite."""
        n = self.model.n
        rows = np.zeros((len(reached), len(self.state)))
        rows[:, : 2 * n] = reached
        rows[:, 2 * n : 3 * n] = np.diff(reached[:, :n], axis=0, prepend=before[None, :n]) / self.h
        rows[:, len(self.state) - n :] = self.rhs.held
        rows[~np.isfinite(reached).all(axis=1)] = math.nan
        return rows

    def _begin(self, y: Array, t: float, end: float) -> None:
        """A new solver, without end but where a control changes at the next node. Its first step is no longer than h."""
        bound = end if self.control is not None else math.copysign(math.inf, self.h)
        given = {"rtol": self.options["rtol"], "atol": self.options["atol"]}
        slope = float(np.abs(self.rhs(t, y) / (given["atol"] + given["rtol"] * np.abs(y))).max())
        first = min(abs(end - t), 1 / (math.sqrt(given["rtol"]) * slope)) if slope > 0 else abs(end - t)
        jacobian = {"jac": self.rhs.jacobian} if self.needs_jacobian else {}
        self._solver = self.method(self.rhs, t, y.copy(), bound, first_step=first, **given, **jacobian)
        self._dense, self._ahead = None, []

    def _complete(self, row: Array, before: Array, t: float, end: float) -> None:
        """Multipliers of a node, and the account up to it by the trapezoidal rule."""
        n, y = self.model.n, row[: 2 * self.model.n]
        tail = len(row) - self.rhs.ledger_count - n
        row[3 * n : tail] = self.rhs.multipliers(end, y) if self.rhs.multiplier_count else 0.0
        account = slice(tail, tail + self.rhs.ledger_count)
        row[account] = self.state[account]
        if self.use_ledger:
            row[account] += 0.5 * self.h * (self.rhs.ledger(t, before) + self.rhs.ledger(end, y))

    def unpack(self, states: Array) -> dict[str, Array]:
        """q, v, mean velocity of the interval before, multipliers of the node, control, work, impulse along each symmetry."""
        n = self.model.n
        tail = 3 * n + self.rhs.multiplier_count
        end = tail + self.rhs.ledger_count
        known = states.shape[1] == end + n  # files of versions before kept no control
        return {
            "q": states[:, :n],
            "v": states[:, n : 2 * n],
            "v_interval": states[:, 2 * n : 3 * n],
            "multipliers": states[:, 3 * n : tail],
            "control": states[:, end:] if known else np.full((len(states), n), np.nan),
            "work": states[:, tail],
            "impulse": states[:, tail + 1 : end],
        }

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Array]:
        """`unpack` of a run that is over."""
        return cls(plan).unpack(states)


ENGINE = ScipyEngine
