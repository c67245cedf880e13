"""Engines: what advances a state. One drives the compiled loop, one calls a user's Python step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.families import Family
from dalembert.functions import Functions, given_functions
from dalembert.inputs import CompiledControl, combined, sample
from dalembert.kernels import loop
from dalembert.kernels._jit import CONTROL, HOLD, NODAL, STEP, first_class
from dalembert.kernels.guard import Guarded
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.kernels.tree import layout as tree
from dalembert.model import Model
from dalembert.model.rotation import Array
from dalembert.registry import Stepper


def system_of(model: Model, family: Family, stepper: Stepper, options: dict[str, Any], functions: Functions | None = None) -> Array:
    """The arrays of a model for a stepper: with its program, or with what it prepares. functions: those that the steps call."""
    if stepper.program is not None:
        return family.system(model, options, stepper)
    system = family.system(model, options)
    if functions is not None:
        system[tree.FUNCTION], system[tree.PASSIVE] = functions.address, 1.0
    longer = None if stepper.prepare is None else stepper.prepare(system, options)
    return system if longer is None else longer


def evaluates_functions(model: Any, stepper: Stepper) -> bool:
    """True if forces given as functions are called where the step evaluates its forces; False: there are none, or they are held."""
    return bool(given_functions(model)) and "function" in stepper.handles and not stepper.python


#: what a user's code raises to end a run, and what is kept of the run then: everything
Stopping = Exception | KeyboardInterrupt


class Chunk(NamedTuple):
    """What one call computed: status of the last step, recorded rows, and an exception of the user's own code that ended it."""

    status: int
    states: Array
    log: Array
    error: Stopping | None = None


class CompiledEngine:
    """State, system and workspace of a run, and the compiled loop over them."""

    def __init__(
        self, model: Model, family: Family, stepper: Stepper, h: float, options: dict[str, Any], control: Any = None, weights: Any = (1.0,)
    ):
        self.model, self.family, self.stepper, self.h = model, family, stepper, h
        self.functions = Functions(model) if evaluates_functions(model, stepper) else None
        self.system = system_of(model, family, stepper, options, self.functions)
        self.weights = np.array(weights, dtype=float)
        if family.compose is not None and len(self.weights) > 1:
            self.system = family.compose(self.system, self.weights)
        self.work, self.info = np.zeros(family.work_size(self.system)), np.zeros(family.info_size)
        self.q, self.v, self.tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        self.tally = np.zeros(len(loop.LOG_COLUMNS))
        self.counter = np.zeros(2, dtype=np.int64)
        self.python_control: Any = control if control is not None and not isinstance(control, CompiledControl) else None
        self.use_control = isinstance(control, CompiledControl)
        self._compiled_control: Any = control if self.use_control else None
        self.use_ledger = family.keeps_account(model, control is not None)
        self._step = first_class(stepper.step, STEP)
        self._nodal = first_class(family.nodal, NODAL)
        self._hold = first_class(family.hold, HOLD)
        self._ledger = first_class(family.ledger if self.use_ledger else loop.no_ledger, loop.LEDGER)
        self._control = first_class(control.kernel if self.use_control else loop.no_control, CONTROL)
        self._run = first_class(loop.run, loop.LOOP)
        self.state = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        state = self.family.start(self.system, q, v)
        if self.family.expect is not None and self.python_control is None and not self.use_control:
            self.family.expect(self.model, self.system, q, v, state)
        self.restart(state, 0)

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint: the flat state after `step` steps."""
        self.state = np.array(state, dtype=float)
        if self.family.usable is not None:
            self.state = self.family.usable(self.system, self.state)
        self.previous = self.state.copy()
        self.counter[:] = 0
        self.counter[loop.STEP_INDEX] = step
        self.tally[:] = 0.0

    @property
    def steps(self) -> int:
        """Steps done since t = 0."""
        return int(self.counter[loop.STEP_INDEX])

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        self._nodal(self.system, self.state, self.work, self.q, self.v)
        return self.q, self.v

    def hold(self, tau: Array) -> None:
        """Hold a generalised force until told otherwise."""
        self._hold(self.system, np.ascontiguousarray(tau, dtype=float))

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False) -> Chunk:
        """Up to n steps. Ends early on failure, and between steps on request of `stop` where Python takes part in each step."""
        rows = (self.steps + n) // every - self.steps // every
        states, log = np.empty((rows, self.state.size)), np.empty((rows, self.tally.size))
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
        return Chunk(status, states[:done], log[:done], error)

    def _raised(self) -> Exception | None:
        """What the user's compiled code raised in the step that failed, if it did: it is asked once more, at the node before."""
        if self.use_control and not np.isfinite(self.tau).all():
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
        functions = (self._step, self._ledger, self._nodal, self._hold, self._control)
        arrays = (self.weights, self.system, self.state, self.previous, self.work, self.info, self.q, self.v, self.tau, self.tally)
        return int(self._run(*functions, self.use_control, self.use_ledger, self.h, n, every, *arrays, self.counter, states, log))

    def unpack(self, states: Array) -> dict[str, Array]:
        """q, v, v_interval, work, impulse and account of recorded states."""
        return self.family.read(self.model, self.system, states, self.use_ledger)


class PythonEngine:
    """A plain Python step(m, t, q, v, h) -> q, v. The flat state is (q, v)."""

    def __init__(self, model: Model, stepper: Stepper, h: float, options: dict[str, Any], control: Any = None, weights: Any = (1.0,)):
        self.model, self.stepper, self.h, self.options = model, stepper, h, options
        self.control, self.weights = control, tuple(weights)
        self.steps = 0
        self.info = np.zeros(2)
        self.system = np.zeros(0)
        self.state = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        self.restart(np.concatenate([q, v]), 0)

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint."""
        self.state, self.steps = np.array(state, dtype=float), step

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        return self.state[: self.model.nq], self.state[self.model.nq :]

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False) -> Chunk:
        """Up to n steps."""
        states: list[Array] = []
        status, error = OK, None
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
        return Chunk(status, rows, np.zeros((len(states), len(loop.LOG_COLUMNS))), error)

    def _one(self) -> int:
        q, v = self.observe()
        t = self.time
        extra = {} if self.control is None else {"tau": sample(self.control, t, q, v)}
        for w in self.weights:
            q, v = self.stepper.step(self.model, t, q, v, w * self.h, **extra, **self.options)
            t += w * self.h
        new = np.concatenate([np.asarray(q, dtype=float), np.asarray(v, dtype=float)])
        if new.shape != self.state.shape or not np.isfinite(new).all():
            return NOT_FINITE
        self.state = new
        self.steps += 1
        return OK

    def unpack(self, states: Array) -> dict[str, Array]:
        """q and v of recorded states; intervals and ledger are not known."""
        q, v = states[:, : self.model.nq], states[:, self.model.nq :]
        nan = np.full(len(states), np.nan)
        return {"q": q, "v": v, "v_interval": v, "work": nan, "impulse": np.tile(nan[:, None], (1, len(self.model.momentum_names)))}


def make_engine(model: Model, family: Family, stepper: Stepper, h: float, options: dict[str, Any], control: Any, weights: Any) -> Any:
    """The engine that a stepper needs. Functions that its steps cannot call are held over the step, like a control."""
    held = [] if evaluates_functions(model, stepper) else given_functions(model)
    if held:
        control = combined(control, held)
    if stepper.engine is not None:
        return stepper.engine(model, stepper, h, options, control, weights)
    if stepper.python:
        return PythonEngine(model, stepper, h, options, control, weights)
    return CompiledEngine(model, family, stepper, h, options, control, weights)
