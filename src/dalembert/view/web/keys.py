"""Keys of a live page: the clock, a kick, and motors one at a time.

space       play or pause       I, K    more and less of the motor that is chosen, by a tenth of its reach
N           one step            J, L    the motor before it, the one after it
R           reset               O       all motors to 0
B           kick

The letters that move the camera (W A S D Q E, arrows) stay those of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dalembert.view.web.words import plain

if TYPE_CHECKING:
    from dalembert.view.web.live_panel import LivePanel

SHARE = 0.1  # of the reach of a motor, for one press


class Keys:
    """The keys of one panel; `commands` by key, `motor`: the name of the motor that is chosen, "" where there is none."""

    def __init__(self, gui: Any, panel: LivePanel):
        self.panel, self.commands, self._gui = panel, dict[str, Any](), gui
        self.motor = next(iter(panel.motors), "")
        self._add("space", "play or pause", lambda _: panel.press("pause" if panel.live.driver.playing else "play"))
        self._add("N", "one step", lambda _: panel.press("step"))
        self._add("R", "reset", lambda _: panel.press("reset"))
        self._add("B", "kick", panel.press_kick)
        if self.motor:
            self._add("I", "motor: more", lambda _: self.turn(SHARE))
            self._add("K", "motor: less", lambda _: self.turn(-SHARE))
            self._add("J", "motor: the one before", lambda _: self.choose(-1))
            self._add("L", "motor: the next one", lambda _: self.choose(1))
            self._add("O", "motors: all to 0", lambda _: self.rest())
            self.tell()

    def _add(self, key: str, label: str, act: Callable[[Any], None]) -> None:
        command = self._gui.add_command(label, hotkey=key)
        command.on_trigger(act)
        self.commands[key] = command

    def turn(self, share: float) -> None:
        """The input of the chosen motor, by a part of its reach, within its ends."""
        slider = self.panel.motors[self.motor]
        wanted = float(slider.value) + share * float(slider.max)
        slider.value = min(max(wanted, float(slider.min)), float(slider.max))

    def choose(self, by: int) -> None:
        """Another motor."""
        names = list(self.panel.motors)
        self.motor = names[(names.index(self.motor) + by) % len(names)]
        self.tell()

    def rest(self) -> None:
        """All motors let go."""
        for slider in self.panel.motors.values():
            slider.value = 0.0

    def tell(self) -> None:
        """Which motor is chosen."""
        self.panel.motor_words.content = f"Keys: **I K** turn **{plain(self.motor)}**, **J L** choose, **O** lets go."
