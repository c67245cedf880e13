"""`Simulated`: what a `Simulation` is made of and what it tells: the current node, the method, what was recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.registry import Stepper
from dalembert.runs import checks
from dalembert.runs.engines import checkpoint_tables, restart
from dalembert.runs.node import Gauges, State
from dalembert.runs.ragged import COLUMNS
from dalembert.runs.run import Run
from dalembert.runs.trajectory import Trajectory

NO_CONTACTS = np.zeros((0, len(COLUMNS["contacts"])))


class Simulated:
    """The parts of a simulation. Those in the second paragraph are made anew for another machine or stepper (`Acting._prepare`).

    keep: nodes for `trajectory()`. _given: arguments of the simulation; _options: of its plan, those of the stepper among them. _posted:
    changes that wait for the next step, made once: other threads add to it at any time. _segments: trajectories before the current one.

    model: the machine as its user knows it; _whole: as it was given, with what is ignored; _cut: what runs, where it runs in coordinates of
    its bodies, or None. _pending, _push: generalised force, and force on bodies, during the next call of `step`; _applied: what makes up
    both; _pushed: there is any; _acting: something acted during the last call and is still held. _steered: the run has a control, and
    keeps an account of it. _compiled: no Python is asked at a node unless by a control; _quick: nor by a control, and nothing is kept.
    """

    keep: int | str
    model: Any
    _given: dict[str, Any]
    _options: dict[str, Any]
    _run: Run
    _state: State
    _posted: deque[Callable[[Any], Any]]
    _segments: list[Trajectory]
    _whole: Any
    _cut: Any
    _control: Any
    _pending: Array
    _push: Array
    _applied: list[tuple[Any, ...]]
    _pushed: bool
    _acting: bool
    _steered: bool
    _compiled: bool
    _quick: bool
    _sizes: tuple[int, int]
    _shape: tuple[int, ...]
    _rooms: Iterator[tuple[Array, Array, Array]]

    # the current node ---------------------------------------------------------------------------------------------------------------------

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

    # what runs ----------------------------------------------------------------------------------------------------------------------------

    @property
    def stepper(self) -> Stepper:
        """Description of the method that runs, as `traj.stepper`."""
        return self._run.plan.stepper

    @property
    def options(self) -> dict[str, Any]:
        """Options of the stepper, all of them."""
        return dict(self._run.plan.options)

    @property
    def control(self) -> Any:
        """The control that was given, or None."""
        return self._control

    @property
    def contacts(self) -> Array:
        """Contacts of the last step, a row each, with the columns of `traj.contacts`; none where the stepper knows of none."""
        found = getattr(self._run.engine, "contacts", None)
        return NO_CONTACTS if found is None else found()

    def gauges(self) -> Gauges:
        """Work and violation of constraints at the current node. Of the stepping thread."""
        engine = self._run.engine
        found = engine.unpack(engine.state[None, :].copy())
        model = self.model if self._cut is None else self._cut
        rows = np.asarray(model.constraint_errors(found["q"], np.array([engine.time])))
        work = float("nan") if self._quick else float(np.asarray(found["work"]).reshape(-1)[0])
        return Gauges(work, float(np.abs(rows).max(initial=0.0)))

    # what was recorded --------------------------------------------------------------------------------------------------------------------

    def trajectory(self) -> Trajectory:
        """The nodes that were kept, the current one at least."""
        run, engine = self._run, self._run.engine
        if self.keep == 0:
            run.keep_current()
        elif not isinstance(self.keep, str):
            run.keep_last(self.keep)
        run.meta["t_end"] = engine.time
        return run.trajectory()

    @property
    def segments(self) -> list[Trajectory]:
        """Trajectories from edit to edit, each with its own model, the current one last: one ends when the next begins. With keep=n the
        last n nodes of all."""
        self._forget_segments()
        return [*self._segments, self.trajectory()]

    def _past(self) -> list[Trajectory]:
        """Segments, with the one that ends here."""
        return [*self._segments, *([] if self.keep == 0 else [self.trajectory()])]

    def _forget(self) -> None:
        """Drop the oldest nodes; twice as many as wanted may wait, so that a step does not copy all of them."""
        run = self._run
        if isinstance(self.keep, str) or len(run.states) <= 2 * self.keep + 1:
            return
        run.keep_last(self.keep)

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
