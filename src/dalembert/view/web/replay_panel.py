"""The controls of a replay: time, play, speed, loop, events, what is drawn over the machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.view.web.overlays import add_switches
from dalembert.view.web.setting import add_shadow_switch
from dalembert.view.web.words import plain

if TYPE_CHECKING:
    from dalembert.view.web.events import Happened
    from dalembert.view.web.replay import Replay

MOST_MARKS = 24
TELLS = 8.0  # per second
SPEEDS = ("1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8")


class ReplayPanel:
    """The panel of one replay."""

    def __init__(self, gui: Any, replay: Replay):
        self.replay, self._telling = replay, False
        self._told, self._said = 0.0, False  # when, and whether it played then
        self.words = gui.add_markdown("")
        span = max(replay.end - replay.start, 1e-9)
        self.slider = gui.add_slider("time, s", replay.start, replay.start + span, span / 2000.0, replay.start, marks=self._marks())
        self.slider.on_update(lambda _: None if self._telling else replay.seek(self.slider.value))
        self.button = gui.add_button("play", icon="player-play")
        self.button.on_click(lambda _: replay.play(not replay.playing))
        self.speed = gui.add_dropdown("speed", SPEEDS, initial_value="1", hint="of real time")
        self.speed.on_update(lambda _: setattr(replay, "speed", _ratio(self.speed.value)))
        self.loop = gui.add_checkbox("loop", replay.loop, hint="begin again at the end")
        self.loop.on_update(lambda _: setattr(replay, "loop", bool(self.loop.value)))
        if replay.events:
            self._add_events(gui)
        if len(replay.tracks) > 1:
            self._add_comparison(gui)
        with gui.add_folder("show"):
            self.shadows = add_shadow_switch(replay.page.server)
            self.boxes = add_switches(gui, [track.overlays for track in replay.tracks], self._first_shown())
            for box in self.boxes.values():
                box.on_update(lambda _: replay.refresh())

    def _first_shown(self) -> tuple[str, ...]:
        return ("contacts",) if any(len(track.traj.contacts.rows) for track in self.replay.tracks) else ("trails",)

    def _marks(self) -> tuple[float, ...] | None:
        """Times of events; of those that lie close together the first."""
        r = self.replay
        bins: dict[int, float] = {}
        for event in r.events:
            bins.setdefault(int(MOST_MARKS * (event.t - r.start) / max(r.end - r.start, 1e-9)), float(np.clip(event.t, r.start, r.end)))
        return tuple(bins.values()) or None

    def _add_events(self, gui: Any) -> None:
        count = len(self.replay.events)
        with gui.add_folder("1 event" if count == 1 else f"{count} events"):
            self.event = gui.add_markdown("marked below the time")
            gui.add_button("previous", icon="player-skip-back").on_click(lambda _: self.replay.next_event(back=True))
            gui.add_button("next", icon="player-skip-forward").on_click(lambda _: self.replay.next_event())

    def _add_comparison(self, gui: Any) -> None:
        beside = gui.add_checkbox("side by side", self.replay.beside, hint="else all but the first run are ghosts")
        beside.on_update(lambda _: self.replay.set_beside(bool(beside.value)))

    def tell_event(self, event: Happened) -> None:
        """Which event the picture shows."""
        self.event.content = (
            f"{self.replay.events.index(event) + 1} of {len(self.replay.events)}, t = {event.t:.4g} s: {plain(event.words)}"
        )

    def tell(self) -> None:
        """Time and names; while it plays a few times per second: words cost a browser more than bodies do."""
        r, now = self.replay, time.monotonic()
        if r.playing and self._said and now - self._told < 1.0 / TELLS:
            return
        self._told, self._said = now, r.playing
        lines = [f"**t = {r.t:.3f} s** of {r.end:.4g} s", *(f"- {plain(track.name)}" for track in r.tracks[:8])]
        self.words.content = "\n".join(lines) + (f"\n- and {len(r.tracks) - 8} more" if len(r.tracks) > 8 else "")
        self._telling = True  # a slider that is set calls its callbacks
        self.slider.value = r.t
        self._telling = False
        self.button.label = "pause" if r.playing else "play"
        self.button.icon = "player-pause" if r.playing else "player-play"


def _ratio(text: Any) -> float:
    over, _, under = str(text).partition("/")
    return float(over) / float(under or 1)
