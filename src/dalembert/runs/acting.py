"""`Acting`: what acts on the machine of a `Simulation`, and the engine that takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.model import validate
from dalembert.runs.controls import HELD
from dalembert.runs.engines import Engine, checkpoint_tables, restart
from dalembert.runs.node import rooms
from dalembert.runs.plan import Plan
from dalembert.runs.run import Run
from dalembert.runs.simulate import describe_functions
from dalembert.runs.simulated import Simulated


class Acting(Simulated):
    """Forces that are applied from step to step beside the control."""

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

    def _inputs(self, t: float, q: Array, v: Array) -> Any:
        if self._control is None:
            return self._pending
        given = self._control(t, q, v)
        if self._cut is not None and isinstance(given, (Mapping, tuple)):  # with inputs of motors
            tau, inputs = (0.0, given) if isinstance(given, Mapping) else given
            return self._pending + np.asarray(tau, dtype=float), inputs
        tau = np.asarray(given, dtype=float)
        return self._pending + tau if tau.shape == self._shape else tau  # of another shape: who asked says so

    # the run that takes it ----------------------------------------------------------------------------------------------------------------

    def _prepare(self, given: Any, plan: Plan, control: Any) -> None:
        """Everything but the run itself, for a machine as its user gave it."""
        self._whole = given
        self.model = plan.system if plan.given is None else plan.given
        self._cut = None if plan.given is None else plan.system  # what runs, in coordinates of its bodies
        self._push = np.zeros(0 if self._cut is None else self._cut.nv)  # on its bodies
        self._control, self._pending = control, np.zeros(self.model.nv)
        self._applied = []  # what makes up both
        self._pushed = False  # something acts during the next call of step
        self._acting = False  # something acted during the last one, and is still held
        self._steered = control is not None  # once anything has acted, the run has a control, and keeps an account of it
        self._segments = []  # before the current one
        asked = bool(plan.functions) and not plan.evaluates_functions  # functions of Python, asked at every node
        self._compiled = plan.stepper.engine_name == "compiled" and not asked
        self._quick = self._compiled and self.keep == 0 and control is None  # no Python in a step, nothing kept
        self._sizes = self.model.nq, self.model.nv
        self._shape, self._rooms = (self.model.nv,), rooms(*self._sizes)

    def _acts(self) -> Any:
        """The control of an engine."""
        if not self._steered:
            return None
        return HELD if self._compiled and self._control is None else self._inputs

    def _engine(self, plan: Plan, control: Any) -> Engine:
        engine = plan.engine(control)
        if self.keep != "all" and hasattr(engine, "forgets"):
            engine.forgets = True
        if self._quick:
            engine.without_account()  # type: ignore[attr-defined]
            engine.pending = self._pending  # type: ignore[attr-defined]
        return engine

    def _begin(self, plan: Plan, engine: Engine) -> None:
        """A run from the node of an engine."""
        self._run = Run(plan, engine, {**plan.meta(self._acts()), **describe_functions(plan)})
        self._run.record_first()
        self._show()

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
