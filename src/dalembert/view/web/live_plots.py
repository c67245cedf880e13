"""Curves of a run while it runs, over the last KEPT readings: energy, momentum, constraints, contacts, times of steps.

balance      E - E0 - W: what the account of the engine does not explain; round-off where all is accounted for. None where no account
             is kept (a run of a tree without damping and control)
scale        curves beyond 0.1 ... 10^4 are drawn in a unit of 10^3k, which the title names: the page has room for few digits
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.picture import COLOURS
from dalembert.view.web.driver import Driver, Snapshot

KEPT = 300
LOW, HIGH = 0.1, 1e4  # largest values that are drawn as they are
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLOTS: dict[str, tuple[str, ...]] = {
    "energy, J": ("kinetic", "potential", "total", "balance"),
    "momentum": ("|p|, N s", "|L|, N m s"),
    "constraint violation, m": ("largest",),
    "contacts": ("contacts",),
    "time of a step, ms": ("median", "95 %", "largest"),
}


def power_of(curves: list[Array]) -> int:
    """The power of ten, a multiple of 3, in which curves are drawn."""
    finite = [np.abs(c[np.isfinite(c)]).max(initial=0.0) for c in curves]
    largest = float(max(finite, default=0.0))
    return 0 if largest == 0.0 or LOW <= largest < HIGH else 3 * int(np.floor(np.log10(largest) / 3.0))


def in_unit(title: str, power: int) -> str:
    """The title of a plot that is drawn in a power of ten."""
    name, _, unit = title.partition(", ")
    return title if power == 0 else f"{name}, 10{str(power).translate(_RAISED)} {unit}".rstrip()


class LivePlots:
    """Plots of a panel, and what they show. account: the engine keeps one."""

    def __init__(self, gui: Any, account: bool = True):
        self.on = gui.add_checkbox("draw", True, hint="plots take some of the browser's time")
        self.rows: deque[dict[str, float]] = deque(maxlen=KEPT)
        self.of, self.first = (None, ""), 0.0  # machine and stepper, and their E0
        self.names = {title: tuple(n for n in names if n != "balance" or account) for title, names in PLOTS.items()}
        self.plots = {}
        for title, names in self.names.items():
            series = ({"label": "t"}, *({"label": n, "stroke": COLOURS[i % len(COLOURS)], "width": 1.5} for i, n in enumerate(names)))
            empty = tuple(np.zeros(2) for _ in range(1 + len(names)))
            self.plots[title] = gui.add_uplot(empty, series, title=title, height=150, scales={"x": {"time": False}}, legend={"show": True})

    def tell(self, snap: Snapshot, driver: Driver) -> None:
        """Read, and draw. Before the first step there is nothing to read."""
        if self.rows and snap.t < self.rows[-1]["t"]:
            self.rows.clear()
        if not driver.pace.times or (self.rows and snap.t == self.rows[-1]["t"]):
            return
        self.rows.append(self._reading(snap, driver))
        if not self.on.value or len(self.rows) < 2:
            return
        for title, names in self.names.items():
            times, *curves = (np.array([row[name] for row in self.rows]) for name in ("t", *(f"{title}: {n}" for n in names)))
            power, plot = power_of(curves), self.plots[title]
            plot.data = (times, *(curve / 10.0**power for curve in curves))
            if plot.title != (words := in_unit(title, power)):
                plot.title = words

    def _reading(self, snap: Snapshot, driver: Driver) -> dict[str, float]:
        """One number for each curve."""
        kinetic, potential = float(snap.model.kinetic_energy(snap.q, snap.v)), float(snap.model.potential_energy(snap.q))
        total, work = kinetic + potential, snap.gauges.work
        if not self.rows or self.of[0] is not snap.model or self.of[1] != snap.stepper:
            self.of, self.first = (snap.model, snap.stepper), total - work
        p = np.asarray(snap.model.momentum(snap.q, snap.v))
        values = (
            kinetic, potential, total, total - work - self.first,
            float(np.linalg.norm(p[3:6])), float(np.linalg.norm(p[:3])), snap.gauges.violation, float(len(snap.contacts)),
            *(1e3 * x for x in driver.pace.percentiles()),
        )  # fmt: skip
        return {"t": snap.t, **dict(zip((f"{title}: {n}" for title, names in PLOTS.items() for n in names), values, strict=True))}
