"""The controls of a live view: the clock, what acts on the machine, what is drawn over it, plots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.view.web import changes
from dalembert.view.web.driver import Snapshot, has_contacts
from dalembert.view.web.keys import Keys
from dalembert.view.web.live_plots import LivePlots
from dalembert.view.web.overlays import add_switches
from dalembert.view.web.setting import add_shadow_switch
from dalembert.view.web.words import plain

if TYPE_CHECKING:
    from dalembert.view.web.live import Live

MOST_MOTORS = 24
SLOW = 0.95  # of the speed that was asked for
COMPLIANCE = (1e-9, 1e-3)  # m/N, of the slider


class LivePanel:
    """The panel of one live view. changed: something is to be drawn anew."""

    def __init__(self, gui: Any, live: Live):
        self.gui, self.live, self.changed = gui, live, True
        self.friction: Any = None
        self.compliance: Any = None
        self.words = gui.add_markdown("")
        self.trouble = gui.add_markdown("", visible=False)
        tabs = gui.add_tab_group()
        with tabs.add_tab("run"):
            self._add_clock()
        with tabs.add_tab("act"):
            self._add_hands()
            self._add_nature()
            self._add_motors()
        with tabs.add_tab("show"):
            first = ("contacts",) if has_contacts(live.sim) else ("trails",)
            self.shadows = add_shadow_switch(live.page.server)
            self.boxes = add_switches(gui, live.overlays, first)
            for box in self.boxes.values():
                box.on_update(lambda _: self._change())
        with tabs.add_tab("plots"):
            self.plots = LivePlots(gui, not math.isnan(live.driver.snapshot.gauges.work))
        self.keys = Keys(gui, self)

    def _change(self) -> None:
        self.changed = True

    # what there is ----------------------------------------------------------------------------------------------------------------------

    def _add_clock(self) -> None:
        gui, driver, sim = self.gui, self.live.driver, self.live.sim
        self.clock = gui.add_button_group("clock", ("play", "pause", "step", "reset"), hint="reset: back to the start")
        self.clock.on_click(lambda event: self.press(str(event.target.value)))
        self.speed = gui.add_slider("speed", 0.05, max(4.0, driver.speed), 0.05, driver.speed, hint="of real time")
        self.speed.on_update(lambda _: setattr(driver, "speed", reading(self.speed)))
        h = 1e3 * float(sim.h)
        low, high, step, now = (float(f"{x * h:.4g}") for x in (0.1, 4.0, 0.05, 1.0))
        self.h = gui.add_slider("h, ms", low, high, step, now, hint="step size")
        self.h.on_update(lambda _: driver.change(lambda s: setattr(s, "h", 1e-3 * reading(self.h))))
        names = changes.able_steppers(sim.model)
        own = sim.stepper.name
        known = tuple(dict.fromkeys([own, *names]))
        self.stepper = gui.add_dropdown("stepper", known, initial_value=own, hint="goes on from here")
        self.stepper.on_update(lambda _: driver.change(lambda s: s.switch(str(self.stepper.value))))

    def _add_hands(self) -> None:
        gui, live = self.gui, self.live
        self.chosen = gui.add_markdown("Drag a body with the mouse; click one to choose it.")
        self.kick_speed = gui.add_slider("kick, m/s", 0.1, 20.0, 0.1, 3.0)
        self.kick = gui.add_button("kick", icon="bolt", hint="away from the camera, and a little up")
        self.kick.on_click(self.press_kick)
        if not hasattr(live.sim.model, "add_body"):
            return
        self.hands = gui.add_button_group("bodies", ("add box", "add ball", "delete"), hint="delete: the body that was chosen")
        self.hands.on_click(lambda event: self.press(str(event.target.value)))

    def _add_nature(self) -> None:
        gui, driver, model = self.gui, self.live.driver, self.live.sim.model
        if not hasattr(model, "gravity"):
            return
        g = float(np.linalg.norm(model.gravity))
        self.gravity = gui.add_slider("gravity", 0.0, max(20.0, g), 0.01, g, hint="m/s^2")
        self.gravity.on_update(lambda _: driver.change(lambda s: changes.set_gravity(s, reading(self.gravity))))
        mu = changes.friction_of(model)
        self.friction = gui.add_slider("friction", 0.0, max(1.5, mu), 0.01, mu, hint="of all contacts")
        self.friction.on_update(lambda _: driver.change(lambda s: changes.set_friction(s, reading(self.friction))))
        eps = float(np.clip(self.live.sim.options.get("eps", 1e-8), *COMPLIANCE))
        low, high = (math.log10(x) for x in COMPLIANCE)
        self.compliance = gui.add_slider(
            "log compliance", low, high, 0.1, math.log10(eps), hint="of contacts, log10 of m/N: -9 hard, -3 soft"
        )
        self.compliance.on_update(lambda _: driver.change(lambda s: changes.set_compliance(s, 10.0 ** reading(self.compliance))))
        self._show_contacts()

    def _show_contacts(self) -> None:
        """Sliders of contacts, while the stepper knows of contacts."""
        known = has_contacts(self.live.sim)
        for slider in (self.friction, self.compliance):
            if slider is not None and slider.visible != known:
                slider.visible = known

    def _add_motors(self) -> None:
        """Sliders of motors, where the run has no control of its own."""
        sim = self.live.sim
        self.motors: dict[str, Any] = {}
        found = list(getattr(sim.model, "motors", ()))[:MOST_MOTORS]
        if not found or sim.control is not None:
            return
        control = changes.MotorInputs(sim)
        with self.gui.add_folder("motors"):
            self.motor_words = self.gui.add_markdown("")
            for motor in found:
                reach = _reach(motor)
                slider = self.gui.add_slider(f"{motor.name} ({motor.kind})", -reach, reach, reach / 100.0, 0.0)
                slider.on_update(lambda _, s=slider, name=motor.name: self.live.driver.change(
                    lambda sim: changes.set_motor(sim, control, name, reading(s))
                ))  # fmt: skip
                self.motors[motor.name] = slider

    # what buttons do --------------------------------------------------------------------------------------------------------------------

    def press(self, word: str) -> None:
        """A button, by its label."""
        live, driver = self.live, self.live.driver
        if word in ("play", "pause"):
            driver.play(word == "play")
        elif word == "step":
            driver.play(False)
            driver.step()
        elif word == "reset":
            live.reset()
        elif word == "delete":
            live.delete()
        elif word in ("add box", "add ball"):
            live.add(word.removeprefix("add "))

    def press_kick(self, event: Any = None) -> None:
        """The chosen body, away from the camera that asked for it."""
        self.live.kick(reading(self.kick_speed), _ahead(event))

    # what is told -----------------------------------------------------------------------------------------------------------------------

    def tell_chosen(self) -> None:
        """Which body was chosen."""
        name = self.live.chosen
        self.chosen.content = (
            f"Chosen: **{plain(name)}**, {self.live.model.body(name).mass:.4g} kg" if name else "Click a body to choose it; drag it."
        )

    def tell(self, snap: Snapshot) -> None:
        """Time, pace, trouble, plots."""
        driver = self.live.driver
        with self.live.page.server.atomic():
            self.words.content = f"**t = {snap.t:.2f} s** &nbsp; {pace_words(driver)} &nbsp; {_counts(snap)}"
            words = driver.trouble or driver.said
            self.trouble.visible = bool(words)
            if words:
                self.trouble.content = (
                    ("**Stopped:** " if driver.trouble else "**Refused:** ")
                    + plain(words)
                    + (" *Reset goes on.*" if driver.trouble else "")
                )
            self._show_contacts()
            self.plots.tell(snap, driver)


def _counts(snap: Snapshot) -> str:
    bodies, contacts = len(snap.model.bodies), len(snap.contacts)
    return f"{bodies} {'body' if bodies == 1 else 'bodies'}" + (f", {contacts} contacts" if contacts else "")


def reading(slider: Any) -> float:
    """The value of a slider, within its ends whatever a page sent."""
    value = float(slider.value)
    return float(slider.min) if math.isnan(value) else float(min(max(value, slider.min), slider.max))


def pace_words(driver: Any) -> str:
    """How fast the run is, where that is not what was asked for."""
    if not driver.playing:
        return "stands"
    ratio = driver.pace.ratio
    if math.isnan(ratio) or ratio >= SLOW * driver.speed:
        return "real time" if driver.speed == 1.0 else f"{driver.speed:g} of real time"
    return f"**running at {ratio:.2f} of real time**"


def _reach(motor: Any) -> float:
    """Of the slider of a motor: its limit, or what is usual."""
    if motor.kind == "torque" and motor.limit is not None:
        return float(max(abs(x) for x in motor.limit)) / abs(motor.gear)
    return {"torque": 10.0, "position": math.pi, "velocity": 20.0}[motor.kind]


def _ahead(event: Any) -> Any:
    """Where the camera of a page looks, level, and a little up."""
    client = getattr(event, "client", None)
    if client is None:
        return (1.0, 0.0, 0.2)
    way = np.asarray(client.camera.look_at) - np.asarray(client.camera.position)
    level = way * [1.0, 1.0, 0.0]
    norm = float(np.linalg.norm(level))
    return (1.0, 0.0, 0.2) if not norm > 0.0 else level / norm + [0.0, 0.0, 0.2]
