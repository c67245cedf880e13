"""`Simulation`: one step at a time, for notebooks, games and hardware in the loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import OptionError, SimulationError
from dalembert.kernels.status import OK
from dalembert.model import validate
from dalembert.model.rotation import Array
from dalembert.runs import checks
from dalembert.runs.controls import check_control
from dalembert.runs.plan import Plan
from dalembert.runs.run import Run
from dalembert.runs.simulate import describe_functions
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System


class State(NamedTuple):
    """Time, configuration, velocity."""

    t: float
    q: Array
    v: Array


class Simulation:
    """A run that is advanced by hand.

    sim = dal.Simulation(m, stepper="cayley", h=0.01, v0=...)
    sim.step(100); sim.state; sim.apply_force("rotor", force=(1, 0, 0)); sim.step(); sim.trajectory()

    Of a Lagrangian: sim.apply_force(tau=(0.5, 0)).
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
        **stepper_options: Any,
    ):
        check_control(control, "Simulation")
        plan = Plan.of(m, stepper, h, compose, ignore, call="Simulation", **stepper_options)
        q, v = plan.start(q0, v0)
        self.model: Any = plan.system
        self._pending = np.zeros(len(v))
        self._control = control
        self._given = dict(
            stepper=plan.stepper.name, h=plan.h, q0=q0, v0=v0, control=control, compose=compose, ignore=plan.ignore, **stepper_options
        )
        acting = None if self._control is None else self._inputs
        self._steered = acting is not None
        engine = plan.engine(acting)
        engine.start(q, v)
        self._run = Run(plan, engine, {**plan.meta(acting), **describe_functions(plan)})
        self._run.record_first()

    def __getstate__(self) -> dict[str, Any]:
        """What was given, and what was computed: compiled code is made anew."""
        run = self._run
        done = {
            "t": list(run.t),
            "states": list(run.states),
            "logs": list(run.logs),
            "state": run.engine.state,
            "steps": run.engine.steps,
            "meta": dict(run.meta),
        }
        return {"model": self.model, "given": self._given, "pending": self._pending, "done": done}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(saved["model"], **saved["given"])  # type: ignore[misc]
        self._pending[:] = saved["pending"]
        run, done = self._run, saved["done"]
        run.t, run.states, run.logs, run.meta = done["t"], done["states"], done["logs"], done["meta"]
        run.engine.restart(done["state"], done["steps"])

    def _inputs(self, t: float, q: Array, v: Array) -> Array:
        tau = self._pending if self._control is None else self._pending + np.asarray(self._control(t, q, v), dtype=float)
        return tau

    def _take_inputs(self) -> None:
        """From here on the run has a control. One that never had any stays free of it, and is judged like any run without."""
        if self._steered or not self._pending.any():
            return
        before = self._run.engine
        self._run.engine = self._run.plan.engine(self._inputs)
        self._run.engine.restart(before.state, before.steps)
        self._run.meta["control"], self._steered = "python", True

    @property
    def state(self) -> State:
        """Copies of the current node."""
        q, v = self._run.engine.observe()
        return State(self._run.engine.time, q.copy(), v.copy())

    def apply_force(
        self, body: str | None = None, force: Any = (0, 0, 0), torque: Any = (0, 0, 0), point: Any = None, tau: Any = None
    ) -> None:
        """Apply a world force (at a world point; default: the centre of mass) and torque during the next call of `step` only.

        tau: a generalised force, dual to v, instead; of a Lagrangian the only way.
        """
        if tau is not None and body is None:
            self._pending += validate.vector("apply_force", "tau", tau, self.model.nv, OptionError)
            return
        if tau is not None:
            raise OptionError("apply_force: expected the name of a body, or a generalised force tau, and not both.")
        if body is None:
            self.model.needs_bodies("apply_force")
            raise OptionError("apply_force: expected the name of a body, or a generalised force tau, and not both.")
        self._pending += self.model.generalised_force(self._run.engine.observe()[0], body, force, torque, point)

    def step(self, n: int = 1) -> State:
        """Advance by n steps. A step that fails raises; the state is then that of the last good node."""
        n = checks.whole("step: n", n, 0)
        self._take_inputs()
        found = self._run.engine.advance(n, 1)
        self._run.keep(found)
        status, error = found.status, found.error
        self._pending[:] = 0.0
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is not None:
            where = f"step {self._run.engine.steps} at t = {self._run.engine.time:.6g} s"
            raise SimulationError(f"{where}: {self._run.said(error)}", self.trajectory()) from error
        if status != OK:
            message = self._run.failure(status)
            raise SimulationError(message, self.trajectory(), status=status)
        return self.state

    def trajectory(self) -> Trajectory:
        """Everything so far."""
        self._run.meta["t_end"] = self._run.engine.time
        return self._run.trajectory()
