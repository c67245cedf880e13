"""The compiled loop over the steps of one family."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels import loop, tick
from dalembert.kernels._far import raise_pending
from dalembert.kernels._jit import CONTROL, HOLD, NODAL, STEP, address_of, first_class
from dalembert.kernels.guard import Guarded
from dalembert.kernels.status import OK
from dalembert.runs.controls import HELD, CompiledControl, TabledControl, sample
from dalembert.runs.engines import Chunk, Into, Stopping, times
from dalembert.runs.functions import Functions

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan

NO_PUSH = np.empty(0)


class CompiledEngine:
    """State and workspace of a run, and the compiled loop over them. The system array is shared, and only read."""

    log_columns = loop.LOG_COLUMNS

    def __init__(self, plan: Plan, control: Any = None):
        model, family = plan.acting, plan.family
        self.model, self.family, self.h = model, family, plan.h
        self.functions = Functions(model) if plan.evaluates_functions else None
        self.system = plan.arrays(self.functions)
        self.weights = np.array(plan.weights, dtype=float)
        self.work, self.info = np.zeros(family.work_size(self.system)), np.zeros(family.info_size)
        self.q, self.v, self.tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)  # of the node that was last asked for
        self.pending = NO_PUSH  # what acts during the next `tick`, where a control is held
        self.tally = np.zeros(len(loop.LOG_COLUMNS))
        self.counter = np.zeros(3, dtype=np.int64)
        self.source, self.table = loop.NO_CONTROL, np.zeros((0, model.nv))
        self.python_control: Any = None
        self._compiled_control: Any = None
        self._take(control)
        self.use_ledger = control is not None or plan.keeps_account
        kernels, addresses = plan.once(("kernels", self.use_ledger), lambda: _kernels(plan, self.use_ledger))
        self._run, self._step, self._nodal, self._hold = kernels
        asked = address_of(loop.no_control if self._compiled_control is None else control.kernel, CONTROL)
        self._functions = (*addresses, asked, self.source, self.use_ledger)
        self.ticker: tuple[Callable[..., int], int] | None = None
        self._held = control is HELD
        self.state = np.zeros(0)
        self.t0 = 0.0
        self._no_rows = (np.empty((0, 0)), np.empty((0, 0)))

    def without_account(self) -> None:
        """Keep none: for who looks at the current node alone."""
        self.use_ledger = False
        self._functions, self.ticker = (*self._functions[:-1], False), None

    def _take(self, control: Any) -> None:
        """Where the control comes from: the loop calls it, or reads it, or Python is asked before each step."""
        if isinstance(control, CompiledControl):
            self.source, self._compiled_control = loop.FUNCTION, control
        elif isinstance(control, TabledControl):
            self.source, self.table, self.counter[loop.TABLE_START] = loop.TABLE, control.rows, control.first
        elif control is not HELD:
            self.python_control = control

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        state = self.family.start(self.system, q, v)
        if self.family.expect is not None:
            self.family.expect(self.model, self.system, q, v, state)
        self.restart(state, 0)

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint: the flat state after `step` steps."""
        self.state = np.array(state, dtype=float)
        if self.family.usable is not None:
            self.state = self.family.usable(self.system, self.state)
        self.previous = self.state.copy()
        node = (self.q, self.v, self.tau)
        self._arrays = (
            self.weights,
            self.system,
            self.state,
            self.previous,
            self.work,
            self.info,
            *node,
            self.tally,
            self.counter,
            self.table,
        )
        self.counter[loop.STEP_INDEX], self.counter[loop.ROW] = step, 0
        self.tally[:] = 0.0
        self.ticker = None

    @property
    def steps(self) -> int:
        """Steps done since t = 0."""
        return int(self.counter[loop.STEP_INDEX])

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.t0 + self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        self._nodal(self.system, self.state, self.work, self.q, self.v)
        return self.q, self.v

    def node(self) -> tuple[Array, Array]:
        """q and v of the current node, new arrays."""
        q, v = np.empty(self.q.size), np.empty(self.v.size)
        self._nodal(self.system, self.state, self.work, q, v)
        return q, v

    def hold(self, tau: Array) -> None:
        """Hold a generalised force until told otherwise."""
        self._hold(self.system, self.state, np.ascontiguousarray(tau, dtype=float))

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps. Ends early on failure, and between steps on request of `stop` where Python takes part in each step."""
        first = self.steps
        rows = (first + n) // every - first // every
        states, log = (np.empty((rows, self.state.size)), np.empty((rows, self.tally.size))) if into is None else into(rows)
        self.counter[loop.ROW] = 0
        error: Stopping | None = None
        if self.python_control is None:
            status = self._call(n, every, states, log)
            error = None if status == OK else self._raised()
        else:
            status, error = self._with_python_control(n, every, stop, states, log)
        if self.functions is not None:
            error = self.functions.take_error() or error
        done = int(self.counter[loop.ROW])
        return Chunk(status, times(first, self.steps, every, self.h, self.t0), states[:done], log[:done], error)

    def make_ticker(self) -> tuple[Callable[..., int], int]:
        """`ticker`, which makes steps of which nothing is kept but the last node (`kernels/tick.py`). Not for a control of Python.

        call, address = ticker; done = call(address, t0, h, n, push, node). An engine that was started anew makes another one.
        """
        self._bound = tick.tick.bind(*self._functions, *self._arrays, *self._no_rows, self._held, self.pending)
        self.ticker = self._bound.call, self._bound.address
        return self.ticker

    def tick(self, n: int, push: Array = NO_PUSH) -> int:
        """n steps of which nothing is kept; the status. With a control that is held: it is pending + push, and pending is 0 afterwards."""
        call, address = self.ticker or self.make_ticker()
        done = call(address, self.t0, self.h, n, push, np.empty(self.q.size + self.v.size))
        raise_pending()
        return tick.status_of(done)

    def failed(self) -> Stopping | None:
        """What the user's own code raised in the step that failed, if it did."""
        error = self._raised()
        return error if self.functions is None else self.functions.take_error() or error

    def _raised(self) -> Exception | None:
        """What the user's compiled code raised in the step that failed, if it did: it is asked once more, at the node before."""
        if self._compiled_control is not None and not np.isfinite(self.tau).all():
            return self._compiled_control.problem(self.time, *self.observe())
        if isinstance(self._step, Guarded):
            try:
                self._step(self.time, self.weights[0] * self.h, self.system, self.state.copy(), self.work.copy(), self.info.copy())
            except Exception as problem:
                return problem
        return None

    def _with_python_control(self, n: int, every: int, stop: Callable[[], bool], states: Array, log: Array) -> tuple[int, Stopping | None]:
        for _ in range(n):
            try:
                tau = sample(self.python_control, self.time, *self.observe())
            except (Exception, KeyboardInterrupt) as problem:  # the user's code: handed on together with what was computed before
                return OK, problem
            self.hold(tau)
            status = self._call(1, every, states, log)
            if status != OK or stop():
                return status, None
        return OK, None

    def _call(self, n: int, every: int, states: Array, log: Array) -> int:
        return int(self._run(*self._functions, False, self.t0, self.h, n, every, *self._arrays, states, log))

    def unpack(self, states: Array) -> dict[str, Array]:
        """q, v, v_interval, control, work, impulse and account of recorded states."""
        return self.family.read(self.model, self.system, states, self.use_ledger)

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Array]:
        """`unpack` of a run that is over; steps are not compiled for it."""
        return plan.family.read(plan.acting, plan.arrays(), states, controlled or plan.keeps_account)


def _kernels(plan: Plan, use_ledger: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Loop, step, node and hold of a plan, and the addresses of step, ledger, node and hold."""
    step, family = plan.stepper.step, plan.family
    found = (first_class(loop.run, loop.LOOP), first_class(step, STEP), first_class(family.nodal, NODAL), first_class(family.hold, HOLD))
    ledger = address_of(family.ledger if use_ledger else loop.no_ledger, loop.LEDGER)
    return found, (address_of(step, STEP), ledger, address_of(family.nodal, NODAL), address_of(family.hold, HOLD))


ENGINE = CompiledEngine
