"""`Simulation`: one step at a time, for notebooks, learning, games and hardware in the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, SimulationError
from dalembert.kernels.status import OK
from dalembert.kernels.tick import REFUSED
from dalembert.model import validate
from dalembert.runs import checks
from dalembert.runs.controls import HELD, check_control
from dalembert.runs.engines import Chunk, Engine, checkpoint_tables, restart
from dalembert.runs.engines.compiled import NO_PUSH
from dalembert.runs.plan import Plan
from dalembert.runs.run import Run
from dalembert.runs.simulate import describe_functions
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System


class State(NamedTuple):
    """Time, configuration, velocity. The arrays cannot be written to; copy them to change them."""

    t: float
    q: Array
    v: Array


FLOAT = np.dtype(float)
_new_state = tuple.__new__  # as `State(t, q, v)`, in half the time


class Simulation:
    """A run that is advanced by hand.

    sim = dal.Simulation(m, stepper="cayley", h=0.01, v0=...)
    sim.step(100); sim.state; sim.apply_force("rotor", force=(1, 0, 0)); sim.step(tau=(0.1, 0)); sim.reset(q, v); sim.h = 0.005
    sim.trajectory()

    keep: nodes for `trajectory()`: "all", or how many of the last ones; 0 keeps the current node alone and is the quickest.
    Of a Lagrangian: sim.apply_force(tau=(0.5, 0)).
    A machine that runs in coordinates of its bodies ("spook") is seen in its own: state, tau and reset speak q and v of m, `trajectory()`
    those of the machine cut free.
    Threads: one thread steps; others may read `sim.state` at any time, and hand over changes by `sim.post(change)`.
    """

    def __init__(
        self,
        m: System,
        stepper: str | None = None,
        h: float = 0.01,
        q0: Any = None,
        v0: Any = None,
        control: Any = None,
        compose: str | None = None,
        ignore: Any = (),
        keep: int | str = "all",
        **stepper_options: Any,
    ):
        check_control(control, "Simulation")
        plan = Plan.of(m, stepper, checks.seconds("h", h), compose, ignore, call="Simulation", **stepper_options)
        q, v = plan.start(q0, v0)
        self.model: Any = plan.system if plan.given is None else plan.given
        self._cut: Any = None if plan.given is None else plan.system  # what runs, in coordinates of its bodies
        self._push = np.zeros(0 if self._cut is None else self._cut.nv)  # on its bodies
        self.keep = keep if isinstance(keep, str) and keep == "all" else checks.whole("keep", keep, 0, ", or 'all'")
        self._control, self._pending = control, np.zeros(len(v))
        self._pushed = False  # something acts during the next call of step
        self._acting = False  # something acted during the last one, and is still held
        self._steered = control is not None  # once anything has acted, the run has a control, and keeps an account of it
        self._posted: deque[Callable[[Simulation], Any]] = deque()
        self._given = dict(
            stepper=plan.stepper.name, h=plan.h, q0=q0, v0=v0, control=control, compose=compose, ignore=plan.ignore, keep=keep,
            **stepper_options,
        )  # fmt: skip
        asked = bool(plan.functions) and not plan.evaluates_functions  # functions of Python, asked at every node
        self._compiled = plan.stepper.engine_name == "compiled" and not asked
        self._quick = self._compiled and self.keep == 0 and control is None  # no Python in a step, nothing kept
        acting = self._inputs if self._steered else None
        engine = self._engine(plan, acting)
        engine.start(q, v)
        self._nq, self._shape = len(q), v.shape
        self._run = Run(plan, engine, {**plan.meta(acting), **describe_functions(plan)})
        self._run.record_first()
        self._show()

    # pickling --------------------------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """What was given, and what was computed: compiled code is made anew."""
        run, engine = self._run, self._run.engine
        rows = {"t": list(run.t), "states": list(run.states), "logs": list(run.logs), "tables": list(run.tables), "meta": dict(run.meta)}
        where = {"state": engine.state, "steps": engine.steps, "t0": engine.t0, "h": engine.h, "tables": checkpoint_tables(engine)}
        acts = {"pending": self._pending, "push": self._push, "steered": self._steered}
        return {"model": self.model, "given": self._given, **acts, "rows": rows, "where": where}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(saved["model"], **saved["given"])  # type: ignore[misc]
        if saved["steered"]:
            self._steer()
        self._pending[:] = saved["pending"]
        self._push[:] = saved["push"]
        self._pushed, self._acting = bool(self._pending.any() or self._push.any()), saved["steered"]
        run, rows, where = self._run, saved["rows"], saved["where"]
        run.t, run.states, run.logs, run.tables, run.meta = rows["t"], rows["states"], rows["logs"], rows["tables"], rows["meta"]
        run.plan = run.plan.at(where["h"])
        run.engine.h, run.engine.t0 = where["h"], where["t0"]
        restart(run.engine, where["state"], where["steps"], where["tables"])
        self._show()

    # state -----------------------------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The current node. Any thread may read it: it is put in place as a whole after each call of `step`."""
        return self._state

    def _show(self) -> None:
        """Put the current node in place."""
        engine = self._run.engine
        q, v = engine.node()
        q.setflags(write=False)
        v.setflags(write=False)
        self._state = State(engine.time, q, v)

    @property
    def h(self) -> float:
        """Step size, s. May be set between steps; energy then no longer stays in the band of one h."""
        return self._run.engine.h

    @h.setter
    def h(self, value: Any) -> None:
        h, engine, run = checks.seconds("h", value), self._run.engine, self._run
        if h == engine.h:
            return
        run.meta.setdefault("h_changes", []).append([engine.time, h])
        run.meta["h"] = h
        engine.t0, engine.h, run.plan = engine.time, h, run.plan.at(h)
        restart(engine, engine.state, 0, checkpoint_tables(engine))

    def reset(self, q: Any = None, v: Any = None) -> State:
        """Start anew at t = 0; what was kept is forgotten. q, v: as q0, v0; default: those that the simulation began with."""
        run = self._run
        start = run.plan.start(self._given["q0"] if q is None else q, self._given["v0"] if v is None else v)
        self._pending[:], self._push[:], self._pushed, self._acting, run.engine.t0 = 0.0, 0.0, False, False, 0.0
        run.engine.start(*start)
        run.meta.pop("h_changes", None)
        run.record_first()
        self._show()
        return self._state

    # what acts -------------------------------------------------------------------------------------------------------------------------

    def apply_force(
        self, body: str | None = None, force: Any = (0, 0, 0), torque: Any = (0, 0, 0), point: Any = None, tau: Any = None
    ) -> None:
        """Apply a world force (at a world point; default: the centre of mass) and torque during the next call of `step` only.

        tau: a generalised force, dual to v, instead; of a Lagrangian the only way.
        """
        if (tau is None) == (body is None):
            if body is None:
                self.model.needs_bodies("apply_force")
            raise OptionError("apply_force: expected the name of a body, or a generalised force tau, and not both.")
        if tau is not None:
            self._pending += validate.vector("apply_force", "tau", tau, len(self._pending), OptionError)
        elif self._cut is not None:
            q, _ = self._run.engine.machine.configuration()  # type: ignore[attr-defined]
            self._push += self._cut.generalised_force(q, body, force, torque, point)
        else:
            self._pending += self.model.generalised_force(self._state.q, body, force, torque, point)
        self._pushed = True

    def post(self, change: Callable[[Simulation], Any]) -> None:
        """Let another thread change the simulation: change(sim) is called by the stepping thread at the beginning of its next step."""
        if not callable(change):
            raise OptionError(f"post: {change!r} is not a function change(sim).")
        self._posted.append(change)

    def _inputs(self, t: float, q: Array, v: Array) -> Any:
        if self._control is None:
            return self._pending
        given = self._control(t, q, v)
        if self._cut is not None and isinstance(given, (Mapping, tuple)):  # with inputs of motors
            tau, inputs = (0.0, given) if isinstance(given, Mapping) else given
            return self._pending + np.asarray(tau, dtype=float), inputs
        return self._pending + np.asarray(given, dtype=float)

    def _engine(self, plan: Plan, control: Any) -> Engine:
        engine = plan.engine(control)
        if self._quick:
            engine.without_account()  # type: ignore[attr-defined]
        return engine

    def _hold(self) -> None:
        """What is pending acts from here on; a control of Python adds it by itself."""
        if self._compiled and self._control is None:
            self._run.engine.hold(self._pending)  # type: ignore[attr-defined]
        if self._cut is not None:
            self._run.engine.push(self._push)  # type: ignore[attr-defined]

    def _steer(self) -> None:
        """From here on the run has a control. One that never had any stays free of it, and is judged like any run without."""
        if self._steered:
            return
        before, run = self._run.engine, self._run
        run.engine = self._engine(run.plan, HELD if self._compiled else self._inputs)
        run.engine.t0 = before.t0
        restart(run.engine, before.state, before.steps, checkpoint_tables(before))
        run.meta["control"], self._steered = "python", True

    # steps -----------------------------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1, tau: Any = None) -> State:
        """Advance by n steps. A step that fails raises; the state is then that of the last good node.

        tau: a generalised force, dual to v, during this call only, beside what `apply_force` gave.
        """
        if n != 1 or n is True:
            n = checks.whole("step: n", n, 0)
        while self._posted:
            self._posted.popleft()(self)
        if self._quick:
            return self._quickly(n, tau)
        if tau is not None:
            self._pending += validate.vector("step", "tau", tau, len(self._pending), OptionError)
            self._pushed = True
        if self._pushed:
            self._steer()
            self._hold()
        elif self._acting:
            self._hold()
        found = self._recorded(n)
        self._acting = self._pushed
        if self._pushed:
            self._pending[:], self._push[:], self._pushed = 0.0, 0.0, False
        self._show()
        if found.status != OK or found.error is not None:
            self._raise(found.status, found.error)
        return self._state

    def _quickly(self, n: int, tau: Any) -> State:
        """One call of compiled code, which adds up and lets go what acts, and writes the node."""
        if tau is None:
            tau = NO_PUSH
        elif type(tau) is not np.ndarray or tau.dtype is not FLOAT or tau.shape != self._shape:
            tau = validate.vector("step", "tau", tau, len(self._pending), OptionError)
        if not self._steered and (self._pushed or tau is not NO_PUSH):
            self._steer()
        engine: Any = self._run.engine
        status = engine.tick(n, self._pending, tau)
        if status == REFUSED:
            validate.vector("step", "tau", tau, len(self._pending), OptionError)  # says which number
        self._pushed = False
        if status != OK:
            self._show()
            self._raise(status, engine.failed())
        node = engine.qv.copy()
        node.setflags(False)
        self._state = state = _new_state(State, (engine.time, node[: self._nq], node[self._nq :]))
        return state

    def _recorded(self, n: int) -> Chunk:
        found = self._run.engine.advance(n, 1)
        if self.keep != 0:
            self._run.keep(found)
            self._forget()
        return found

    def _forget(self) -> None:
        """Drop the oldest nodes; twice as many as wanted may wait, so that a step does not copy all of them."""
        run = self._run
        if isinstance(self.keep, str) or len(run.states) <= 2 * self.keep + 1:
            return
        run.keep_last(self.keep)

    def _raise(self, status: int, error: Any) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is not None:
            where = f"step {self._run.engine.steps} at t = {self._run.engine.time:.6g} s"
            raise SimulationError(f"{where}: {self._run.said(error)}", self.trajectory()) from error
        raise SimulationError(self._run.failure(status), self.trajectory(), status=status)

    def trajectory(self) -> Trajectory:
        """The nodes that were kept, the current one at least."""
        run, engine = self._run, self._run.engine
        if self.keep == 0:
            run.keep_current()
        elif not isinstance(self.keep, str):
            run.keep_last(self.keep)
        run.meta["t_end"] = engine.time
        return run.trajectory()
