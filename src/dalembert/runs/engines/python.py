"""A plain Python step(m, t, q, v, h) -> q, v."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.runs.controls import sample
from dalembert.runs.engines import Chunk, Into, times

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan


class PythonEngine:
    """A plain Python step(m, t, q, v, h) -> q, v. The flat state is (q, v, control of the last step)."""

    log_columns = LOG_COLUMNS
    t0 = 0.0

    def __init__(self, plan: Plan, control: Any = None):
        self.model, self.stepper, self.h, self.options = plan.acting, plan.stepper, plan.h, plan.options
        self.control, self.weights = control, tuple(plan.weights)
        self.steps = 0
        self.info = np.zeros(2)
        self.system = np.zeros(0)
        self.state = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        self.restart(np.concatenate([q, v, np.zeros(len(v))]), 0)

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint."""
        self.state, self.steps = np.array(state, dtype=float), step

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.t0 + self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        nq, nv = self.model.nq, self.model.nv
        return self.state[:nq], self.state[nq : nq + nv]

    def node(self) -> tuple[Array, Array]:
        """The same as new arrays."""
        q, v = self.observe()
        return q.copy(), v.copy()

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps."""
        states: list[Array] = []
        status, error, first = OK, None, self.steps
        for _ in range(n):
            try:
                status = self._one()
            except (Exception, KeyboardInterrupt) as problem:  # the user's code: handed on together with what was computed before
                error = problem
            if status != OK or error is not None:
                break
            if self.steps % every == 0:
                states.append(self.state.copy())
            if stop():
                break
        rows = np.array(states).reshape(len(states), self.state.size)
        return Chunk(status, times(first, self.steps, every, self.h, self.t0), rows, np.zeros((len(states), len(LOG_COLUMNS))), error)

    def _one(self) -> int:
        q, v = self.observe()
        t = self.time
        tau = np.zeros(self.model.nv) if self.control is None else sample(self.control, t, q, v)
        extra = {} if self.control is None else {"tau": tau.copy()}
        for w in self.weights:
            q, v = self.stepper.step(self.model, t, q, v, w * self.h, **extra, **self.options)
            t += w * self.h
        new = np.concatenate([np.asarray(q, dtype=float), np.asarray(v, dtype=float), tau])
        if new.shape != self.state.shape or not np.isfinite(new).all():
            return NOT_FINITE
        self.state = new
        self.steps += 1
        return OK

    def unpack(self, states: Array) -> dict[str, Array]:
        """q, v and control of recorded states; intervals and ledger are not known."""
        nq, nv = self.model.nq, self.model.nv
        q, v, control = states[:, :nq], states[:, nq : nq + nv], states[:, nq + nv :]
        if control.shape[1] != nv:  # files of versions before kept none
            control = np.full_like(v, np.nan)
        nan = np.full(len(states), np.nan)
        impulse = np.tile(nan[:, None], (1, len(self.model.momentum_names)))
        return {"q": q, "v": v, "v_interval": v, "control": control, "work": nan, "impulse": impulse}

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Array]:
        """`unpack` of a run that is over."""
        return cls(plan).unpack(states)


ENGINE = PythonEngine
