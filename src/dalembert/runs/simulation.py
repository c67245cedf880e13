"""`Simulation`: one step at a time, for notebooks, learning, games and hardware in the loop.

simulated.py    parts, the current node, what was recorded
acting.py       forces from step to step, the engine that takes them
changing.py     another machine, another stepper
here            beginning, pickling, steps
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy import ndarray

from dalembert.arrays import Array
from dalembert.errors import OptionError, SimulationError
from dalembert.kernels._far import PENDING, raise_pending
from dalembert.kernels.status import OK
from dalembert.kernels.tick import REFUSED, status_of
from dalembert.model import validate
from dalembert.runs import checks
from dalembert.runs.changing import Changing
from dalembert.runs.controls import check_control
from dalembert.runs.engines import Chunk, checkpoint_tables, restart
from dalembert.runs.engines.compiled import NO_PUSH
from dalembert.runs.node import Gauges, State, rooms
from dalembert.runs.plan import Plan
from dalembert.runs.run import Run
from dalembert.systems import System, as_system

__all__ = ["Gauges", "Simulation", "State"]

FLOAT = np.dtype(float)
_new_state = tuple.__new__  # as `State(t, q, v)`, in half the time


class Simulation(Changing):
    """A run that is advanced by hand.

    sim = dal.Simulation(m, stepper="cayley", h=0.01, v0=...)
    sim.step(100); sim.state; sim.apply_force("rotor", force=(1, 0, 0)); sim.step(tau=(0.1, 0)); sim.reset(q, v); sim.h = 0.005
    sim.trajectory()

    keep: nodes for `trajectory()`: "all", or how many of the last ones; 0 keeps the current node alone and is the quickest.
    Of a Lagrangian: sim.apply_force(tau=(0.5, 0)).
    A machine that runs in coordinates of its bodies ("spook") is seen in its own: state, tau and reset speak q and v of m, `trajectory()`
    those of the machine cut free.
    with sim.edit() as m: m.add_body(...); m.remove_joint(...)       between two steps; `sim.segments` are the trajectories in between
    sim.switch("mk4")                                                another stepper, from here, at the same time
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
        plan = Plan.chosen("Simulation", m, stepper, checks.seconds("h", h), compose, ignore, stepper_options)
        start = plan.start(q0, v0)
        self.keep = keep if isinstance(keep, str) and keep == "all" else checks.whole("keep", keep, 0, ", or 'all'")
        self._given = dict(
            stepper=plan.stepper.name, h=plan.h, q0=q0, v0=v0, control=control, compose=compose, ignore=plan.ignore, keep=keep,
            **stepper_options,
        )  # fmt: skip
        self._options = dict(compose=compose, ignore=plan.ignore, **stepper_options)
        self._posted = deque()
        self._prepare(as_system(m, "Simulation").frozen(), plan, control)
        engine = self._engine(plan, self._acts())
        engine.start(*start)
        self._begin(plan, engine)

    def reset(self, q: Any = None, v: Any = None) -> State:
        """Start anew at t = 0; what was kept is forgotten. q, v: as q0, v0; default: those that the simulation, or the machine since its
        last edit, began with."""
        run = self._run
        start = run.plan.start(self._given["q0"] if q is None else q, self._given["v0"] if v is None else v)
        self._let_go()
        self._acting, run.engine.t0, self._segments = False, 0.0, []
        run.engine.start(*start)
        run.meta.pop("h_changes", None)
        run.record_first()
        self._show()
        return self._state

    def view(self, port: int = 8080, host: str = "127.0.0.1", speed: float = 1.0, play: bool = True, block: bool = False) -> Any:
        """Run in a browser, in real time times `speed`: a page of this computer, at `.url` of what is returned; `.close()` ends it.

        A thread of its own steps the simulation until then: read `state`, hand over changes by `post`, do not call `step`. block: return
        when the page is closed, or on Ctrl-C. host: another one lets other computers in, with a token. See docs/viewer.md.
        """
        from dalembert.view.web.fronts import view_simulation

        return view_simulation(self, port=port, host=host, speed=speed, play=play, block=block)

    # steps --------------------------------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1, tau: Any = None) -> State:
        """Advance by n steps. A step that fails raises; the state is then that of the last good node.

        tau: a generalised force, dual to v, during this call only, beside what `apply_force` gave.
        """
        if type(n) is not int or n != 1:
            n = checks.whole("step: n", n, 0)
            if n > checks.MOST_STEPS:
                raise OptionError(f"step: n is {n}; expected at most {checks.MOST_STEPS:.0e} steps.")
        while self._posted:
            self._posted.popleft()(self)
        if not self._quick:
            return self._in_python(n, tau)
        if tau is None:
            tau = NO_PUSH
        elif type(tau) is not ndarray or tau.dtype is not FLOAT or tau.ndim != 1:
            tau = validate.vector("step", "tau", tau, len(self._pending), OptionError)
        if not self._steered and (self._pushed or tau is not NO_PUSH):
            self._steer()
        engine: Any = self._run.engine
        call, address = engine.ticker or engine.make_ticker()
        room = next(self._rooms, None)
        if room is None:
            self._rooms = rooms(*self._sizes)
            room = next(self._rooms)
        node, q, v = room
        t0, h = engine.t0, engine.h
        done = call(address, t0, h, n, tau, node)  # adds up and lets go what acts, and writes the node
        if done < 0 or PENDING:
            self._refuse(done, tau)
        if self._pushed:
            self._let_go()
        self._state = state = _new_state(State, (t0 + done * h, q, v))
        return state

    def _refuse(self, done: int, tau: Array) -> None:
        """Raise what came of a call of compiled code."""
        raise_pending()
        if done == REFUSED:
            validate.vector("step", "tau", tau, len(self._pending), OptionError)  # says which number
        if self._pushed:
            self._let_go()
        self._show()
        self._raise(status_of(done), self._run.engine.failed())  # type: ignore[attr-defined]

    def _in_python(self, n: int, tau: Any) -> State:
        """Steps of which nodes are kept, or in which Python takes part."""
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
            self._let_go()
        self._show()
        if found.status != OK or found.error is not None:
            self._raise(found.status, found.error)
        return self._state

    def _recorded(self, n: int) -> Chunk:
        found = self._run.engine.advance(n, 1)
        if self.keep != 0:
            self._run.keep(found)
            self._forget()
        return found

    def _raise(self, status: int, error: Any) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is not None:
            where = f"step {self._run.engine.steps} at t = {self._run.engine.time:.6g} s"
            raise SimulationError(f"{where}: {self._run.said(error)}", self.trajectory()) from error
        raise SimulationError(self._run.failure(status), self.trajectory(), status=status)

    # pickling -----------------------------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """What was given, and what was computed: compiled code is made anew."""
        run, engine = self._run, self._run.engine
        rows = {"t": list(run.t), "states": list(run.states), "logs": list(run.logs), "tables": list(run.tables), "meta": dict(run.meta)}
        where = {"state": engine.state, "steps": engine.steps, "t0": engine.t0, "h": engine.h, "tables": checkpoint_tables(engine)}
        acts = {"pending": self._pending, "push": self._push, "steered": self._steered, "applied": self._applied}
        return {"model": self._whole, "given": self._given, **acts, "rows": rows, "where": where, "segments": self._segments}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        given = self._given = saved["given"]
        self.keep = given["keep"]
        self._posted = deque()
        self._options = {k: x for k, x in given.items() if k not in ("stepper", "h", "q0", "v0", "control", "keep")}
        plan = Plan.of(saved["model"], given["stepper"], given["h"], call="Simulation", **self._options)
        self._prepare(saved["model"].frozen(), plan, given["control"])
        self._steered = saved["steered"]
        self._run = Run(plan, self._engine(plan, self._acts()), {})
        self._pending[:], self._push[:], self._applied = saved["pending"], saved["push"], saved["applied"]
        self._pushed, self._acting = bool(self._pending.any() or self._push.any()), saved["steered"]
        self._segments = saved["segments"]
        run, rows, where = self._run, saved["rows"], saved["where"]
        run.t, run.states, run.logs, run.tables, run.meta = rows["t"], rows["states"], rows["logs"], rows["tables"], rows["meta"]
        run.plan = run.plan.at(where["h"])
        run.engine.h, run.engine.t0 = where["h"], where["t0"]
        restart(run.engine, where["state"], where["steps"], where["tables"])
        self._show()
