"""`Simulation`: one step at a time, for notebooks, learning, games and hardware in the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, ndarray

from dalembert.arrays import Array
from dalembert.errors import OptionError, SimulationError
from dalembert.kernels._far import PENDING, raise_pending
from dalembert.kernels.status import OK
from dalembert.kernels.tick import REFUSED, status_of
from dalembert.model import kinematics, validate
from dalembert.runs import checks
from dalembert.runs.controls import HELD, check_control
from dalembert.runs.editing import SAME, carry, editable, here, unchanged
from dalembert.runs.engines import Chunk, Engine, checkpoint_tables, restart
from dalembert.runs.engines.compiled import NO_PUSH
from dalembert.runs.plan import Plan
from dalembert.runs.run import Run
from dalembert.runs.simulate import describe_functions
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System, as_system


class State(NamedTuple):
    """Time, configuration, velocity. The arrays cannot be written to; copy them to change them."""

    t: float
    q: Array
    v: Array


FLOAT = np.dtype(float)
_new_state = tuple.__new__  # as `State(t, q, v)`, in half the time
BLOCK = 2**12  # numbers of a block of nodes; a state that is kept keeps its block


def _rooms(nq: int, nv: int) -> Iterator[tuple[Array, Array, Array]]:
    """Room for some nodes: an array to be written, and its parts q and v, which cannot be written to. Views of rows are made in less than
    half the time of an array and its slices."""
    block = empty((max(1, BLOCK // max(1, nq + nv)), nq + nv))
    seen = block.view()
    seen.setflags(write=False)
    return zip(block, seen[:, :nq], seen[:, nq:], strict=True)


class Simulation:
    """A run that is advanced by hand.

    sim = dal.Simulation(m, stepper="cayley", h=0.01, v0=...)
    sim.step(100); sim.state; sim.apply_force("rotor", force=(1, 0, 0)); sim.step(tau=(0.1, 0)); sim.reset(q, v); sim.h = 0.005
    sim.trajectory()

    keep: nodes for `trajectory()`: "all", or how many of the last ones; 0 keeps the current node alone and is the quickest.
    Of a Lagrangian: sim.apply_force(tau=(0.5, 0)).
    A machine that runs in coordinates of its bodies ("spook") is seen in its own: state, tau and reset speak q and v of m, `trajectory()`
    those of the machine cut free.
    with sim.edit() as m: m.add_body(...); m.remove_joint(...)       between two steps; `sim.segments` are the trajectories in between
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
        start = plan.start(q0, v0)
        self.keep = keep if isinstance(keep, str) and keep == "all" else checks.whole("keep", keep, 0, ", or 'all'")
        self._given = dict(
            stepper=plan.stepper.name, h=plan.h, q0=q0, v0=v0, control=control, compose=compose, ignore=plan.ignore, keep=keep,
            **stepper_options,
        )  # fmt: skip
        self._options = dict(compose=compose, ignore=plan.ignore, **stepper_options)
        self._prepare(as_system(m, "Simulation").frozen(), plan, control)
        engine = self._engine(plan, self._acts())
        engine.start(*start)
        self._begin(plan, engine)

    def _prepare(self, given: Any, plan: Plan, control: Any) -> None:
        """Everything but the run itself, for a machine as its user gave it."""
        self._whole = given
        self.model: Any = plan.system if plan.given is None else plan.given
        self._cut: Any = None if plan.given is None else plan.system  # what runs, in coordinates of its bodies
        self._push = np.zeros(0 if self._cut is None else self._cut.nv)  # on its bodies
        self._control, self._pending = control, np.zeros(self.model.nv)
        self._applied: list[tuple[Any, ...]] = []  # what makes up both
        self._pushed = False  # something acts during the next call of step
        self._acting = False  # something acted during the last one, and is still held
        self._steered = control is not None  # once anything has acted, the run has a control, and keeps an account of it
        self._posted: deque[Callable[[Simulation], Any]] = deque()
        self._segments: list[Trajectory] = []  # before the current one
        asked = bool(plan.functions) and not plan.evaluates_functions  # functions of Python, asked at every node
        self._compiled = plan.stepper.engine_name == "compiled" and not asked
        self._quick = self._compiled and self.keep == 0 and control is None  # no Python in a step, nothing kept
        self._sizes = self.model.nq, self.model.nv
        self._shape, self._rooms = (self.model.nv,), _rooms(*self._sizes)

    def _acts(self) -> Any:
        """The control of an engine."""
        if not self._steered:
            return None
        return HELD if self._compiled and self._control is None else self._inputs

    def _begin(self, plan: Plan, engine: Engine) -> None:
        """A run from the node of an engine."""
        self._run = Run(plan, engine, {**plan.meta(self._acts()), **describe_functions(plan)})
        self._run.record_first()
        self._show()

    # pickling --------------------------------------------------------------------------------------------------------------------------

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

    # reconfiguration -------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def edit(self, q: Mapping[str, Any] | None = None, v: Mapping[str, Any] | None = None, control: Any = SAME) -> Iterator[Any]:
        """Change the machine between two steps: `with sim.edit() as m: m.add_body(...); m.remove_joint(...); m.set_values({...})`.

        m: a copy of the machine as it was given. At the end of the block the simulation goes on with it, at the same time: poses and twists
        of bodies, coordinates of joints, impulses, broken joints and contacts are carried over by name (runs/carrying.py), and what
        was recorded is a segment of its own. An exception, also of what does not fit, leaves all as it was.

        q, v: {joint: numbers} of joints and bodies that are new, and of free bodies. control: another one, for another machine.
        """
        whole = self._whole
        m = editable(whole)
        if control is not SAME:
            check_control(control, "edit")
        yield m
        if self._whole is not whole:
            raise OptionError("edit: the simulation was edited within this block; expected one edit after the other.")
        before = dict(self.__dict__)
        try:
            self._go_on(m, q, v, control)
        except BaseException:
            self.__dict__.update(before)
            raise

    def _go_on(self, m: Any, q: Any, v: Any, control: Any) -> None:
        """With another machine."""
        run, old, applied = self._run, self._run.engine, self._applied
        kept = (self._posted, [*self._segments, *([] if self.keep == 0 else [self.trajectory()])])
        if not q and not v and control is SAME and unchanged(self._whole, m):
            run.record_first()
            self._posted, self._segments = kept
            self._forget_segments()
            return
        control = self._control if control is SAME else control
        steered, was = self._steered or control is not None, self.model
        plan = Plan.of(m, run.plan.stepper.name, old.h, call="edit", **self._options)
        self._prepare(m.frozen(), plan, control)
        self._steered = steered
        engine = self._engine(plan, self._acts())
        carry(run.plan, old, plan, engine, q, v)
        self._begin(plan, engine)
        self._given = {**self._given, "q0": self._state.q, "v0": self._state.v, "control": control}
        self._posted, self._segments = kept
        self._forget_segments()
        self._apply_again(applied, was)

    def _apply_again(self, applied: list[tuple[Any, ...]], was: Any) -> None:
        """What was to act during the next step, on the parts that are still there."""
        for body, *what in applied:
            if body is None:
                old, new = was.v_slices(), self.model.v_slices()
                tau = np.zeros(len(self._pending))
                for name in [x for x in new if x in old and was.joint(x).kind == self.model.joint(x).kind]:
                    tau[new[name]] = what[0][old[name]]
                self._add(None, tau)
            elif body in {b.name for b in self.model.bodies}:
                self._add(body, *what)

    def here(self, parent: str, child: str, point: Any = None, axis: Any = None, axis2: Any = None) -> dict[str, Any]:
        """Arguments of `add_loop` for a joint between two bodies as they are now, {"anchor", "point", "turn", "axis"}: a grip, a latch.

        point, axis, axis2: where the joint is, in the world, now; default: the origin of the child, and no axis.
        `with sim.edit() as m: m.add_loop("grip", "fixed", "hand", "cup", **sim.here("hand", "cup"))`
        """
        self.model.needs_bodies("here")
        node = (self._state.q, self._state.v) if self._cut is None else self._run.engine.machine.configuration()  # type: ignore[attr-defined]
        return here(self.model, kinematics.frames(self.model if self._cut is None else self._cut, *node), parent, child, point, axis, axis2)

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
            self._add(None, validate.vector("apply_force", "tau", tau, len(self._pending), OptionError))
        else:
            self._add(body, force, torque, point)

    def _add(self, body: str | None, *what: Any) -> None:
        """Something that acts during the next call of step: (None, tau) or (body, force, torque, point)."""
        if body is None:
            self._pending += what[0]
        elif self._cut is not None:
            q, _ = self._run.engine.machine.configuration()  # type: ignore[attr-defined]
            self._push += self._cut.generalised_force(q, body, *what)
        else:
            self._pending += self.model.generalised_force(self._state.q, body, *what)
        self._applied.append((body, *what))
        self._pushed = True

    def _let_go(self) -> None:
        """Nothing acts any longer."""
        self._pending[:], self._push[:], self._pushed = 0.0, 0.0, False
        self._applied.clear()

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
        tau = np.asarray(given, dtype=float)
        return self._pending + tau if tau.shape == self._shape else tau  # of another shape: who asked says so

    def _engine(self, plan: Plan, control: Any) -> Engine:
        engine = plan.engine(control)
        if self._quick:
            engine.without_account()  # type: ignore[attr-defined]
            engine.pending = self._pending  # type: ignore[attr-defined]
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
            self._rooms = _rooms(*self._sizes)
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

    def view(self, port: int = 8080, host: str = "127.0.0.1", speed: float = 1.0, play: bool = True, block: bool = False) -> Any:
        """Run in a browser, in real time times `speed`: a page of this computer, at `.url` of what is returned; `.close()` ends it.

        A thread of its own steps the simulation until then: read `state`, hand over changes by `post`, do not call `step`. block: return
        when the page is closed, or on Ctrl-C. host: another one lets other computers in, with a token. See docs/viewer.md.
        """
        from dalembert.view.web.fronts import view_simulation

        return view_simulation(self, port=port, host=host, speed=speed, play=play, block=block)

    @property
    def segments(self) -> list[Trajectory]:
        """Trajectories from edit to edit, each with its own model, the current one last: one ends when the next begins. With keep=n the
        last n nodes of all."""
        self._forget_segments()
        return [*self._segments, self.trajectory()]

    def _forget_segments(self) -> None:
        """Drop segments that lie before the nodes that are kept."""
        if isinstance(self.keep, str):
            return
        later = sum(map(len, self._run.t))
        for k in range(len(self._segments), 0, -1):
            if later >= self.keep:
                del self._segments[:k]
                return
            later += len(self._segments[k - 1])
