"""`Replay`: runs that are over, again, in a browser: one, or several of which all but the first are ghosts.

Between nodes the motion goes along the geodesic (`traj.at`); contacts are those of the node before. Several runs share one clock. Pictures
are made in a thread of its own, at most RATE per second, and only while something changes.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.runs.as_bodies import as_bodies
from dalembert.view.stage import BODY_COLOURS
from dalembert.view.web.bodies import Bodies
from dalembert.view.web.events import Happened, happened_in
from dalembert.view.web.motion import Motion, machine_of, motion_of
from dalembert.view.web.overlays import Overlays
from dalembert.view.web.page import HOST, PORT, Page
from dalembert.view.web.replay_panel import ReplayPanel
from dalembert.view.web.setting import SPREAD, beside, furnish, look_from, setting_of

RATE = 60.0
GHOST = 0.35
MOST_RUNS = 64
SOME = 60  # configurations that the camera is set by
TRAIL_SECONDS = 2.0
TRAIL_NODES = 180


class Track:
    """One run on the page."""

    def __init__(self, server: Any, traj: Any, number: int):
        self.traj, self.number = as_bodies(traj), number
        self.model = machine_of(self.traj.model)
        ghost = number > 0
        colour = BODY_COLOURS[number % len(BODY_COLOURS)]
        tint = tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) if ghost else None
        self.bodies = Bodies(server.scene, self.model, f"/run{number}", GHOST if ghost else 1.0, tint)
        self.overlays = Overlays(server.scene, self.model, self.bodies.size, f"/run{number}/over")
        self.name = f"{self.model.name or 'model'}: {traj.meta['method']}, h = {traj.h:g} s"

    def node(self, t: float) -> int:
        """The last node that is not after t."""
        return int(np.clip(np.searchsorted(self.traj.t, t + 1e-12, side="right") - 1, 0, len(self.traj) - 1))

    def motion(self, t: float) -> Motion:
        """At a time; before the start and after the end the first and the last node."""
        q, v = self.traj.at(float(np.clip(t, self.traj.t[0], self.traj.t[-1])))
        return motion_of(self.model, q, v)

    def path(self, t: float) -> Array:
        """Centres of mass (n, bodies, 3) over the last TRAIL_SECONDS."""
        last, first = self.node(t), self.node(t - TRAIL_SECONDS)
        nodes = np.unique(np.linspace(first, last, min(last - first + 1, TRAIL_NODES)).astype(int))
        return np.array([motion_of(self.model, self.traj.q[k], self.traj.v[k]).centre for k in nodes])

    def show(self, t: float) -> None:
        """The picture of a time."""
        motion = self.motion(t)
        self.bodies.show(motion)
        contacts = self.traj.contacts.of(self.node(t)) if len(self.traj.contacts) else np.zeros((0, 14))
        path = self.path(t) if self.overlays.on["trails"] else np.zeros((0, len(self.mass), 3))
        self.overlays.show(motion, contacts, self.traj.h, path)

    @property
    def mass(self) -> Array:
        """Of the bodies."""
        return self.overlays.mass


class Replay:
    """traj.view() makes one. `close()` ends it; `url` is where it is.

    t: the time that is shown; playing, speed, loop: as the page has them.
    """

    def __init__(self, runs: list[Any], host: str = HOST, port: int = PORT, beside: bool = False):
        if not 0 < len(runs) <= MOST_RUNS:
            raise OptionError(f"view: {len(runs)} runs were given; expected 1 ... {MOST_RUNS}.")
        for run in runs:
            machine_of(as_bodies(run).model)
        self.start = min(float(r.t[0]) for r in runs)
        self.end = max(float(r.t[-1]) for r in runs)
        self.t, self.speed, self.playing, self.loop, self.beside = self.start, 1.0, False, True, beside
        self.events: list[Happened] = sorted(e for run in runs for e in happened_in(run))
        self._changed, self._ended, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.page = Page(runs[0].model.name or "dalembert", host, port)
        self.url = self.page.url
        try:
            self._fill(runs)
        except BaseException:
            self.page.close()
            raise
        self.thread = threading.Thread(target=self._play, name="dalembert replay", daemon=True)
        self.thread.start()

    def _fill(self, runs: list[Any]) -> None:
        server = self.page.server
        with server.atomic():
            self.tracks = [Track(server, run, i) for i, run in enumerate(runs)]
            self._furnish()
            self.panel = ReplayPanel(server.gui, self)
        self.draw()

    def _furnish(self) -> None:
        first = self.tracks[0]
        nodes = np.unique(np.linspace(0, len(first.traj) - 1, SOME).astype(int))
        poses = first.model.poses(first.traj.q[nodes])
        centres = np.array([motion_of(first.model, first.traj.q[k], first.traj.v[k]).centre for k in nodes])
        self.setting = setting_of(first.model, poses, centres)
        furnish(self.page.server, first.model, self.setting, centres)
        if self.beside:
            look_from(self.page.server, beside(self.setting, len(self.tracks)))
        self._place()

    def _place(self) -> None:
        """Runs on top of each other, or side by side."""
        for i, track in enumerate(self.tracks):
            track.bodies.move(self.setting.view[0] * (SPREAD * self.setting.half * i if self.beside else 0.0))
            track.bodies.fade(1.0 if self.beside or i == 0 else GHOST)

    # what the page, or a script, may do ------------------------------------------------------------------------------------------------

    def seek(self, t: float) -> None:
        """Show another time."""
        with self._lock:
            self.t = float(np.clip(t, self.start, self.end))
        self._changed.set()

    def play(self, playing: bool = True) -> None:
        """Go on, or stop; from the end a new round begins."""
        with self._lock:
            if playing and self.t >= self.end:
                self.t = self.start
            self.playing = playing
        self._changed.set()

    def set_beside(self, beside: bool) -> None:
        """Several runs side by side, or on top of each other."""
        self.beside = beside
        with self.page.server.atomic():
            self._place()

    def next_event(self, back: bool = False) -> Happened | None:
        """Go to the next event, or the one before, and stop there."""
        later = [e for e in self.events if e.t > self.t + 1e-9]
        earlier = [e for e in self.events if e.t < self.t - 1e-9]
        found = (earlier[-1] if earlier else None) if back else (later[0] if later else None)
        if found is not None:
            self.play(False)
            self.seek(found.t)
            self.panel.tell_event(found)
        return found

    def refresh(self) -> None:
        """Draw again: what is shown has changed."""
        self._changed.set()

    def close(self) -> None:
        """End it."""
        self._ended.set()
        self._changed.set()
        self.thread.join(5.0)
        self.page.close()

    def wait(self) -> None:
        """Until it is closed, or Ctrl-C."""
        self.page.wait()

    # pictures ---------------------------------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """The picture of now."""
        with self.page.server.atomic():
            for track in self.tracks:
                track.show(self.t)
            self.panel.tell()

    def _play(self) -> None:
        before = time.perf_counter()
        while not self._ended.is_set():
            now = time.perf_counter()
            self._advance(now - before)
            before = now
            if self._changed.is_set():
                self._changed.clear()
                self.draw()
            if self.playing:
                time.sleep(max(1.0 / RATE - (time.perf_counter() - now), 0.001))
            else:
                self._changed.wait(0.5)
                before = time.perf_counter()

    def _advance(self, seconds: float) -> None:
        with self._lock:
            if not self.playing:
                return
            self.t += self.speed * seconds
            if self.t >= self.end:
                span = self.end - self.start
                self.playing = self.loop and span > 0.0
                self.t = self.start + (self.t - self.end) % span if self.playing else self.end
            self._changed.set()

    def __repr__(self) -> str:
        return f"Replay({', '.join(track.name for track in self.tracks)}; {self.url})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'
