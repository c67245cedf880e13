"""`Simulation`: one step at a time, for notebooks, games and hardware in the loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert import options
from dalembert.engine import make_engine
from dalembert.errors import OptionError, SimulationError, UnknownNameError, UnsupportedError
from dalembert.inputs import check_control
from dalembert.kernels.status import OK
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model, validate
from dalembert.model.kinematics import frames
from dalembert.model.rotation import Array, quat_conj, rotate
from dalembert.running import Run, composition_weights, describe_functions, run_description
from dalembert.trajectory import Trajectory


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
        m: Model | Lagrangian,
        stepper: str | None = None,
        h: float = 0.01,
        q0: Any = None,
        v0: Any = None,
        control: Any = None,
        compose: str | None = None,
        ignore: Any = (),
        **stepper_options: Any,
    ):
        if not isinstance(m, (Model, Lagrangian)):
            raise OptionError(f"Simulation: the first argument is {type(m).__name__!r}; expected a Model or a Lagrangian.")
        check_control(control, "Simulation")
        model: Any = m.frozen()
        ignore = model.check_features(ignore)
        family, method = options.choose_stepper(model, stepper, ignore)
        step, _ = options.step_count(h, h)
        resolved = method.resolve(stepper_options)
        weights = composition_weights(compose, method, model.without(ignore), family, h)
        self._pending = np.zeros(model.nv)
        self._control = control
        self._given = dict(stepper=method.name, h=step, q0=q0, v0=v0, control=control, compose=compose, ignore=ignore, **stepper_options)
        q, v = model.check_q(q0), model.check_v(v0)
        options.check_start(model, family, method, q, v, ignore)
        acting = None if self._control is None else self._inputs
        meta = run_description(method, compose, family, step, resolved, ignore, acting)
        meta.update(describe_functions(model, method))
        self._parts = (model.without(ignore), family, method, step, resolved)
        self._weights = weights
        self._steered = acting is not None
        engine = make_engine(*self._parts, acting, weights)
        engine.start(q, v)
        self.model = model
        self._run = Run(model, family, method, engine, meta, None, False, ())
        self._run.record_first()

    def __getstate__(self) -> dict[str, Any]:
        """What was given, and what was computed: compiled code is made anew."""
        run = self._run
        done = {
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
        run.states, run.logs, run.meta = done["states"], done["logs"], done["meta"]
        run.engine.restart(done["state"], done["steps"])

    def _inputs(self, t: float, q: Array, v: Array) -> Array:
        tau = self._pending if self._control is None else self._pending + np.asarray(self._control(t, q, v), dtype=float)
        return tau

    def _take_inputs(self) -> None:
        """From here on the run has a control. One that never had any stays free of it, and is judged like any run without."""
        if self._steered or not self._pending.any():
            return
        before = self._run.engine
        self._run.engine = make_engine(*self._parts, self._inputs, self._weights)
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
        if isinstance(self.model, Lagrangian):
            raise UnsupportedError(f"{self.model!r} has no bodies; apply_force(tau=...) takes {self.model.n} generalised forces.")
        if body is None or tau is not None:
            raise OptionError("apply_force: expected the name of a body, or a generalised force tau, and not both.")
        if not validate.known(body, [b.name for b in self.model.bodies]):
            raise UnknownNameError("body", body, [b.name for b in self.model.bodies])
        owner = f"force on body {body!r}"
        F, T = (validate.vector(owner, what, x, 3, OptionError) for what, x in (("force", force), ("torque", torque)))
        state = self.state
        frame = frames(self.model, state.q)[body]
        com = frame.position + rotate(frame.quaternion, self.model.body(body).com)
        at = com if point is None else validate.vector(owner, "point", point, 3, OptionError)
        to_body = quat_conj(frame.quaternion)
        wrench = np.concatenate([rotate(to_body, T + np.cross(at - frame.position, F)), rotate(to_body, F)])
        self._pending += self.model.jacobian(body, state.q).T @ wrench

    def step(self, n: int = 1) -> State:
        """Advance by n steps. A step that fails raises; the state is then that of the last good node."""
        n = options.whole("step: n", n, 0)
        self._take_inputs()
        status, states, log, error = self._run.engine.advance(n, 1)
        self._run._keep(states, log)
        self._pending[:] = 0.0
        if isinstance(error, KeyboardInterrupt):
            raise error
        if error is not None:
            where = f"step {self._run.engine.steps} at t = {self._run.engine.time:.6g} s"
            raise SimulationError(f"{where}: {self._run._said(error)}", self.trajectory()) from error
        if status != OK:
            message = self._run._failure(status)
            raise SimulationError(message, self.trajectory(), status=status)
        return self.state

    def trajectory(self) -> Trajectory:
        """Everything so far."""
        self._run.meta["t_end"] = self._run.engine.time
        return self._run.trajectory()
