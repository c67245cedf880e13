"""`Live`: a simulation in a browser while it runs.

Two threads: the engine (driver.py) steps in soft real time; the painter reads its last snapshot at most RATE times per second, and only
while somebody looks. Neither waits for the other. What the page changes is handed over by `Simulation.post`.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.view.links import pieces_of
from dalembert.view.stage import sizes_of
from dalembert.view.web import changes
from dalembert.view.web.bodies import Bodies
from dalembert.view.web.driver import Driver, Snapshot
from dalembert.view.web.live_panel import LivePanel, reading
from dalembert.view.web.motion import Motion, machine_of, motion_of
from dalembert.view.web.overlays import Overlays, apply_switches
from dalembert.view.web.page import HOST, PORT, Page
from dalembert.view.web.pull import Drag, grabbed
from dalembert.view.web.setting import furnish, setting_of, with_reach

RATE, TELLS = 60.0, 5.0  # pictures, words and plots per second
SPACING = 0.8  # of 1/RATE, at least, between two pictures: they follow the ticks of the engine
FAR = 1e4  # m: farther than this no mouse pulls


class Live:
    """sim.view() makes one. `close()` ends it, `url` is where it is.

    driver: what steps; chosen: name of the body that was clicked last, or "".
    """

    def __init__(self, sim: Any, host: str = HOST, port: int = PORT, speed: float = 1.0, play: bool = True, title: str = ""):
        if not (isinstance(speed, (int, float)) and 0.0 < speed < math.inf):
            raise OptionError(f"view: speed = {speed!r}; expected a positive number, 1 for real time.")
        model = machine_of(sim.model)
        self.sim, self.chosen, self._ended = sim, "", threading.Event()
        self._drawing = threading.RLock()  # nodes of the scene come and go with the machine
        self.driver = Driver(sim, float(speed), play)
        snap = self.driver.snapshot
        self.first = changes.start_of(model, snap.q, snap.v)
        self.page = Page(title or model.name or "dalembert", host, port)
        self.url = self.page.url
        try:
            self._fill(snap)
        except BaseException:
            self.page.close()
            raise
        self.thread = threading.Thread(target=self._paint, name="dalembert painter", daemon=True)
        self.driver.start()
        self.thread.start()

    def _fill(self, snap: Snapshot) -> None:
        server, model = self.page.server, snap.model
        motion = motion_of(model, snap.q, snap.v)
        self.setting = setting_of(model, model.poses(snap.q[None]), motion.centre[None])
        sizes = sizes_of(pieces_of(model))
        self.setting = with_reach(self.setting, model, motion.centre, float(sizes.max(initial=0.0)))
        self.overlays: list[Overlays] = []
        self.bodies: Bodies
        self._shown: Any = None
        self._pictures = 0
        with server.atomic():
            furnish(server, model, self.setting, motion.centre[None])
            self._build(model)
            self.panel = LivePanel(server.gui, self)
        self.draw(snap)

    def _build(self, model: Any) -> None:
        """Nodes of a machine, in place of those of the one before."""
        if self.overlays:
            self.overlays[0].remove()
            self.bodies.remove()
        self.model = model
        self.bodies = Bodies(self.page.server.scene, model)
        self.overlays[:] = [Overlays(self.page.server.scene, model, self.bodies.size)]
        self.bodies.listen(self._clicked, self._dragged)
        if hasattr(self, "panel"):
            apply_switches(self.panel.boxes, self.overlays)
        self.choose(self.chosen)

    # what the mouse does ----------------------------------------------------------------------------------------------------------------

    def _name(self, body: int) -> str:
        return str(self.model.bodies[body].name) if 0 <= body < len(self.model.bodies) else ""

    def _clicked(self, body: int, event: Any) -> None:
        self.choose(self._name(body))

    def _dragged(self, body: int, event: Any) -> None:
        self.drag(self._name(body), event.phase, event.start_position, event.end_position)

    def choose(self, name: str) -> None:
        """The body that "kick" and "delete" mean; "": none."""
        with self._drawing:
            names = [b.name for b in self.model.bodies]
            self.chosen = name if name in names else ""
            self.bodies.choose(names.index(self.chosen) if self.chosen else -1)
            if hasattr(self, "panel"):
                self.panel.tell_chosen()

    def drag(self, name: str, phase: str, start: Any, end: Any) -> None:
        """Pull a body at the point `start` of it (world, where it is now) to `end`; phase: "start", "update", "end"."""
        now, target = self.driver.drag, np.asarray(end, dtype=float)
        if phase == "end" or not name or not np.isfinite(target).all() or np.abs(target).max() > FAR:
            self.driver.drag = None
        elif now is not None and now.body == name and phase == "update":
            self.driver.drag = now._replace(target=target)
        else:
            k, snap = [b.name for b in self.model.bodies].index(name), self.driver.snapshot
            motion = motion_of(self.model, snap.q, snap.v) if snap.model is self.model else None
            if motion is not None:
                self.driver.drag = Drag(name, grabbed(motion.position[k], motion.quaternion[k], start), target)
                self.choose(name)

    # what buttons do ---------------------------------------------------------------------------------------------------------------------

    def reset(self) -> threading.Event:
        """Back to the start."""

        def change(sim: Any) -> None:
            changes.reset(sim, self.first)
            self.driver.recover()

        for overlay in self.overlays:
            overlay.forget()
        return self.driver.change(change)

    def kick(self, speed: float, direction: Any = (1.0, 0.0, 0.0)) -> None:
        """Give the body that was chosen so much speed, m/s, along a direction."""
        if not self.chosen:
            self.driver.said = "kick: click a body first."
            return
        along = np.asarray(direction, dtype=float)
        norm = float(np.linalg.norm(along))
        if norm > 0.0 and math.isfinite(norm):
            self.driver.kick(self.chosen, self.model.body(self.chosen).mass * speed * along / norm)

    def add(self, kind: str, position: Any = None) -> threading.Event:
        """Drop a box or a ball of the usual size and mass, above the middle of the machine unless a place is given."""
        size, mass = self.bodies.size, self.overlays[0].mean
        mu = reading(self.panel.friction) if self.panel.friction is not None else changes.USUAL

        def change(sim: Any) -> None:
            place = self._above(sim, size) if position is None else np.asarray(position, dtype=float)
            changes.add_body(sim, kind, size, mass, place, mu)

        return self.driver.change(change)

    def _above(self, sim: Any, size: float) -> Any:
        """A free place over the middle: higher than everything that is there, a little off, another one each time."""
        centre = motion_of(machine_of(sim.model), sim.state.q, sim.state.v).centre
        middle = np.median(centre, axis=0) if len(centre) else self.setting.centre
        near = centre[np.linalg.norm(centre[:, :2] - middle[:2], axis=1) < 3.0 * size] if len(centre) else centre
        top = max(float(near[:, 2].max(initial=self.setting.floor)), self.setting.floor)
        angle = 2.399963 * len(centre)  # the golden angle
        return np.array([middle[0] + 0.3 * size * np.cos(angle), middle[1] + 0.3 * size * np.sin(angle), top + 2.0 * size])

    def delete(self) -> threading.Event | None:
        """Take away the body that was chosen."""
        name = self.chosen
        if not name:
            self.driver.said = "delete: click a body first."
            return None
        self.driver.drag = None
        return self.driver.change(lambda sim: changes.remove_body(sim, name))

    def close(self) -> None:
        """End the page and the thread that steps."""
        self.driver.close()
        self._ended.set()
        self.thread.join(5.0)
        self.page.close()

    def wait(self) -> None:
        """Until it is closed, or Ctrl-C."""
        self.page.wait()

    # pictures ---------------------------------------------------------------------------------------------------------------------------

    def draw(self, snap: Snapshot) -> Motion:
        """The picture of a snapshot."""
        motion = motion_of(snap.model, snap.q, snap.v)
        with self._drawing, self.page.server.atomic():
            if snap.model is not self.model:
                self._build(snap.model)
            self.bodies.show(motion)
            self.overlays[0].show(motion, snap.contacts, snap.h)
        self._shown = (snap.t, snap.model)
        self._pictures += 1
        return motion

    def _paint(self) -> None:
        told, clients = 0.0, 0
        while not self._ended.is_set():
            self.driver.fresh.wait(1.0 / RATE)
            self.driver.fresh.clear()
            began = time.perf_counter()
            snap, now = self.driver.snapshot, len(self.page.server.get_clients())
            if now and ((snap.t, snap.model) != self._shown or now != clients or self.panel.changed):
                self.panel.changed = False
                self.draw(snap)
            clients = now
            if began - told > 1.0 / TELLS:
                told = began
                self.panel.tell(snap)
            time.sleep(max(SPACING / RATE - (time.perf_counter() - began), 0.002))

    def __repr__(self) -> str:
        return f"Live({self.sim.model.name!r}, t = {self.driver.snapshot.t:.4g} s; {self.url})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'
