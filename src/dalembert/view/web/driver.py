"""`Driver`: the thread that steps a simulation, in soft real time, whoever looks.

Every tick (at most TICKS per second) it does the steps that are due (pace.py), with what pulls and kicks, and puts a `Snapshot` in place as
a whole; viewers read that and never wait for it, nor it for them. Changes go through `Simulation.post`. A step that is refused, or
whatever a user's own code raises, stops the clock and is told; a change that is refused is told and changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.runs.node import Gauges
from dalembert.view.web.motion import joint_state, machine_of
from dalembert.view.web.pace import Pace
from dalembert.view.web.pull import Drag, pull

TICKS = 60.0
BUDGET = 0.025  # s of steps per tick, at most; one step is always done
SLICE = 0.008  # s of steps per call
GAUGE_EVERY = 0.1  # s


class Snapshot(NamedTuple):
    """One moment of a run: the machine that is drawn and its q and v; contacts of the last step, a row each; numbers of the engine; name of
    the stepper."""

    model: Any
    t: float
    q: Array
    v: Array
    h: float
    contacts: Array
    gauges: Gauges
    stepper: str


class Driver:
    """playing, speed: may be set by any thread. trouble: what stopped the run, or ""; said: the last change that was refused, or ""."""

    def __init__(self, sim: Any, speed: float = 1.0, playing: bool = True):
        self.sim, self.speed, self.playing = sim, speed, playing
        self.trouble, self.said, self._resume = "", "", False
        self.drag: Drag | None = None
        self.kicks: deque[tuple[str, Array]] = deque()
        self.pace = Pace()
        self.single = 0  # steps that were asked for one by one
        self._ended, self._wake = threading.Event(), threading.Event()
        self.fresh = threading.Event()  # set at every tick: there may be something new to show
        self._gauges, self._gauged, self._gauged_of = Gauges(), 0.0, ""  # numbers, when they were read, and of which stepper
        self.snapshot = self._look()
        self.thread = threading.Thread(target=self._run, name="dalembert engine", daemon=True)

    # of other threads -------------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin."""
        self.thread.start()

    def close(self) -> None:
        """End the thread; the simulation is then the caller's again."""
        self._ended.set()
        self._wake.set()
        if self.thread.is_alive() and threading.current_thread() is not self.thread:
            self.thread.join(30.0)

    def play(self, playing: bool = True) -> None:
        """Go on, or stand still. After trouble a reset comes first."""
        self.playing = playing and not self.trouble
        self._wake.set()

    def step(self, n: int = 1) -> None:
        """So many steps of a run that stands."""
        if not self.trouble:
            self.single += n
        self._wake.set()

    def kick(self, body: str, impulse: Array) -> None:
        """An impulse (N s, world axes) on a body, at its centre of mass, over the next step."""
        self.kicks.append((body, np.asarray(impulse, dtype=float)))

    def change(self, change: Callable[[Any], Any]) -> threading.Event:
        """Let the stepping thread call change(sim) between two steps; the event tells when it has."""
        done = threading.Event()

        def guarded(sim: Any) -> None:
            try:
                change(sim)
                self.said = ""
            except DalembertError as error:
                self.said = str(error)
            finally:
                done.set()

        self.sim.post(guarded)
        self._wake.set()
        return done

    def recover(self) -> None:
        """After a reset: trouble is over, and the run goes on if it ran before. Of the stepping thread."""
        if self.trouble:
            self.trouble, self.playing = "", self._resume
        self.drag = None
        self.kicks.clear()
        self.pace.rest()

    # of the stepping thread ---------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        next_tick = time.perf_counter()
        while not self._ended.is_set():
            began = time.perf_counter()
            try:
                self._turn(began)
                self.snapshot = self._look()
            except Exception as error:  # nothing may end this thread but `close`
                self._stop(error)
            self.fresh.set()
            now = time.perf_counter()
            next_tick = max(next_tick + 1.0 / TICKS, now)  # a sleep that is too long does not put off the ticks after it
            self._wake.wait(max(next_tick - now, 5e-4) if self.playing else 0.05)
            self._wake.clear()

    def _turn(self, began: float) -> None:
        if self.playing:
            self._tick(began)
            return
        self.pace.rest()
        n, self.single = (self.single, 0) if not self.trouble else (0, 0)
        if n:
            self._steps(n)
        elif self.sim.waiting:
            self._call(0)

    def _stop(self, error: Exception) -> None:
        """The clock stops, and the page says why."""
        words = str(error) if isinstance(error, DalembertError) else f"{type(error).__name__}: {error}"
        self._resume, self.trouble, self.playing = self.playing or (bool(self.trouble) and self._resume), words, False

    def _tick(self, began: float) -> None:
        h = float(self.sim.h)
        due = self.pace.due(began, self.speed, h)
        if not due and self.sim.waiting:
            self._call(0)
        while due > 0 and self.playing and not self._ended.is_set():
            n = 1 if self.drag or self.kicks or self.sim.waiting else min(due, max(int(SLICE / self.pace.step_time), 1))
            self._steps(n)
            due -= n
            if time.perf_counter() - began > BUDGET:
                break
        self.pace.tick(time.perf_counter(), float(self.sim.state.t), self.speed, float(self.sim.h))

    def _steps(self, n: int) -> None:
        for k in [1] * n if self.drag or self.kicks else [n]:
            self._acts()
            if self._call(k):
                return

    def _acts(self) -> None:
        """What pulls and kicks, over the next step."""
        drag, model = self.drag, machine_of(self.sim.model)
        names = {b.name for b in model.bodies} if drag or self.kicks else set()
        try:
            if drag is not None and drag.body in names:
                pull(self.sim, model, drag)
            while self.kicks:
                body, impulse = self.kicks.popleft()
                if body in names:
                    self.sim.apply_force(body, force=impulse / self.sim.h)
        except DalembertError as error:
            self.said, self.drag = str(error), None
            self.kicks.clear()

    def _call(self, n: int) -> bool:
        """n steps; True if they were refused."""
        began, h = time.perf_counter(), float(self.sim.h)
        try:
            self.sim.step(n)
        except Exception as error:  # of the engine, or of the user's own control: told on the page
            self._stop(error)
            return True
        if n:
            self.pace.did(n, h, time.perf_counter() - began)
        return False

    def _look(self) -> Snapshot:
        sim = self.sim
        state, stepper, now = sim.state, sim.stepper.name, time.perf_counter()
        if now - self._gauged > GAUGE_EVERY or stepper != self._gauged_of:
            self._gauges, self._gauged, self._gauged_of = sim.gauges(), now, stepper
        q, v = joint_state(sim.model, state.q, state.v)
        return Snapshot(machine_of(sim.model), state.t, q, v, sim.h, sim.contacts, self._gauges, stepper)


def has_contacts(sim: Any) -> bool:
    """Whether its stepper knows of contacts, with friction and compliance."""
    return bool(sim.stepper.engine_name == "spook")
