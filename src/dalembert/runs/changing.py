"""`Changing`: another machine, another stepper, between two steps of a `Simulation`. State: editing.py, switching.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.model import kinematics
from dalembert.runs.acting import Acting
from dalembert.runs.controls import check_control
from dalembert.runs.editing import SAME, carry, editable, here, unchanged
from dalembert.runs.engines import Engine
from dalembert.runs.plan import Plan
from dalembert.runs.switching import hand_over, refuse_others


class Changing(Acting):
    """A simulation that goes on with another machine or stepper; what was recorded is then a segment of its own."""

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
        run, old = self._run, self._run.engine
        if not q and not v and control is SAME and unchanged(self._whole, m):
            self._segments = self._past()
            run.record_first()
            self._forget_segments()
            return
        control = self._control if control is SAME else control
        plan = Plan.of(m, run.plan.stepper.name, old.h, call="edit", **self._options)
        self._renew(m.frozen(), plan, control, lambda engine: carry(run.plan, old, plan, engine, q, v))
        self._given = {**self._given, "q0": self._state.q, "v0": self._state.v, "control": control}

    def switch(self, stepper: str | None = None, **options: Any) -> None:
        """Go on with another stepper, or with other options, from the node that is there, at the same time: `sim.switch("mk4")`.

        stepper: None: the one that runs, which keeps the options that are not given; another one has its own. options: also `compose` and
        `ignore`; what was ignored still is. What was recorded is a segment of its own. A refusal leaves all as it was.
        """
        refuse_others(options)
        run, old = self._run, self._run.engine
        name = run.plan.stepper.name if stepper is None else stepper
        options = {**(self._options if stepper is None else {"ignore": run.plan.ignore}), **options}
        own = {key: x for key, x in options.items() if key not in ("compose", "ignore")}
        plan = Plan.chosen("switch", self._whole, name, old.h, options.get("compose"), options.get("ignore", ()), own)
        before = dict(self.__dict__)
        try:
            self._options = {"compose": None, **options, "ignore": plan.ignore}
            self._renew(self._whole, plan, self._control, lambda engine: hand_over(run.plan, old, plan, engine))
            start = {name: self._given[name] for name in ("q0", "v0", "control", "keep")}
            self._given = {"stepper": plan.stepper.name, "h": plan.h, **start, **self._options}
        except BaseException:
            self.__dict__.update(before)
            raise

    def _renew(self, machine: Any, plan: Plan, control: Any, carried: Callable[[Engine], None]) -> None:
        """Another run in place of the one that is there, which becomes a segment. carried(engine): puts an engine where the old one is."""
        applied, was, steered = self._applied, self.model, self._steered or control is not None
        past = self._past()
        self._prepare(machine, plan, control)
        self._steered = steered
        engine = self._engine(plan, self._acts())
        carried(engine)
        self._begin(plan, engine)
        self._segments = past
        self._forget_segments()
        self._apply_again(applied, was)

    def _apply_again(self, applied: list[tuple[Any, ...]], was: Any) -> None:
        """What was to act during the next step, on the parts that are still there."""
        for body, *what in applied:
            if was is self.model:
                self._add(body, *what)
            elif body is None:
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

    def post(self, change: Callable[[Any], Any]) -> None:
        """Let another thread change the simulation: change(sim) is called by the stepping thread at the beginning of its next step."""
        if not callable(change):
            raise OptionError(f"post: {change!r} is not a function change(sim).")
        self._posted.append(change)

    @property
    def waiting(self) -> int:
        """How many changes were posted and have not been called."""
        return len(self._posted)
