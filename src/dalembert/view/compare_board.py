"""The board of a comparison: one panel per method with its machine, and diagrams of the errors over the whole time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from dalembert.arrays import Array
from dalembert.view.compare_painter import Painter, anchor_of, reach
from dalembert.view.picture import COLOURS, INK, MUTED, new_picture, png_bytes, styled
from dalembert.view.sphere import com_paths

if TYPE_CHECKING:
    from dalembert.comparison.runs import Comparison

HEAD = 30  # pixels
COLUMNS = 4
CEILING = 10.0  # errors are drawn up to here: what explodes would hide everything else
DASHES: tuple[Any, ...] = ("-", "-", (0, (3, 3)))  # two methods may give the same curve
TITLES = {"energy_error": "|energy error| / kinetic energy", "momentum_error": "|momentum error|, relative"}


class Diagram(NamedTuple):
    """What is drawn, and its axes on the board in pixels from the upper left corner."""

    what: str
    left: float
    top: float
    width: float
    height: float


class Layout(NamedTuple):
    """Sizes in pixels; panels fill rows of so many columns below the title, from the left."""

    size: tuple[int, int]
    panel: tuple[int, int]
    columns: int
    diagrams: tuple[Diagram, ...]


def page_layout(panels: int, shown: list[str], width: int = 900, panel: int = 240, chart: int = 210) -> Layout:
    """Panels above, diagrams below."""
    columns = min(panels, COLUMNS)
    top = HEAD + -(-panels // columns) * panel
    wide = (width - 20) / len(shown)
    diagrams = tuple(Diagram(what, 68 + i * wide, top + 28, wide - 88, chart - 66) for i, what in enumerate(shown))
    return Layout((width, top + chart), (width // columns, panel), columns, diagrams)


def strip_layout(panels: int, shown: list[str], width: int = 960, panel: int = 165, chart: int = 330) -> Layout:
    """Panels and, to the right of them, the diagram of the energy."""
    wide = (width - chart) // panels
    diagram = Diagram("energy_error", width - chart + 62, HEAD + 16, chart - 84, panel - 50)
    return Layout((width, HEAD + panel), (wide, panel), panels, (diagram,))


class Board:
    """What stays the same between the images: curves, titles, painters. scale: pixels per pixel of the layout."""

    def __init__(self, result: Comparison, layout: Any = page_layout, scale: float = 1.0):
        self.result, self.scale, self.model = result, scale, result.model
        self.errors = result.curves
        shown = [what for what in TITLES if any(np.isfinite(r[what]).any() for r in self.errors)] or ["energy_error"]
        self.layout: Layout = layout(len(result.rows), shown)
        self.base = self._paint_base()
        half = (1.2 if anchor_of(self.model) is None else 1.0) * self._half()
        self.painters = [
            Painter(self.model, COLOURS[i % len(COLOURS)], self.layout.panel, half, row.label, scale) for i, row in enumerate(result.rows)
        ]

    def _half(self) -> float:
        """What must be seen: the reach of the machine in some configurations of the first run."""
        first = self.result.trajectories[0]
        q = first.q[np.unique(np.linspace(0, len(first) - 1, 60).astype(int))]
        return reach(self.model, self.model.poses(q), self._centres(q))

    def _centres(self, q: Array) -> Array:
        """What the camera looks at: where the machine is held, or its centre of mass."""
        anchor = anchor_of(self.model)
        if anchor is not None:
            return np.tile(anchor, (len(q), 1))
        return np.average(com_paths(self.model, q), axis=0, weights=[b.mass for b in self.model.bodies])

    def _paint_base(self) -> Array:
        """Title and diagrams."""
        width, height = self.layout.size
        with styled():
            figure = new_picture(width / 100, height / 100)
            figure.set_layout_engine("none")
            figure.text(10 / width, 1 - 8 / height, self._title(), va="top", fontsize=10.5, fontweight="bold", color=INK)
            for d in self.layout.diagrams:
                box = (d.left / width, 1 - (d.top + d.height) / height, d.width / width, d.height / height)
                draw_errors(figure.add_axes(box), self.errors, d.what, self.result.t_end)
            image = Image.open(io.BytesIO(png_bytes(figure, dpi=round(100 * self.scale)))).convert("RGB")
        return np.asarray(image).copy()

    def _title(self) -> str:
        steps = sorted({r.h for r in self.result.rows})
        h = f"h = {steps[0]:g} s" if len(steps) == 1 else "different h"
        held = "held by the world" if anchor_of(self.model) is not None else "floating"
        weight = "with gravity" if np.any(self.model.gravity) else "without gravity"
        return f"{self.model.name or 'model'}: {self.model.nv} degrees of freedom, {held}, {weight}, {h}, {self.result.t_end:g} s"

    def draw(self, t: float, cursor: bool = True) -> Array:
        """The image of a time."""
        image, (wide, high) = self.base.copy(), self.layout.panel
        for i, painter in enumerate(self.painters):
            row, column = divmod(i, self.layout.columns)
            x, y = round(self.scale * column * wide), round(self.scale * (HEAD + row * high))
            part = self._paint_machine(i, painter, t)
            image[y : y + part.shape[0], x : x + part.shape[1]] = part
        return self._mark(image, t) if cursor else image

    def _paint_machine(self, i: int, painter: Painter, t: float) -> Array:
        traj = self.result.trajectories[i]
        last = float(traj.t[-1])
        broken = t > last * (1.0 + 1e-9)
        q = traj.at(min(t, last))[0][None]
        note = f"broke down after {last:.4g} s" if broken else self._state(i, t)
        with np.errstate(over="ignore", invalid="ignore"):
            return painter.draw(self.model.poses(q)[0], self._centres(q)[0], f"t = {min(t, last):.1f} s", note, broken)

    def _state(self, i: int, t: float) -> str:
        """Errors of energy and momentum now."""
        curve = self.errors[i]
        k = min(int(np.searchsorted(curve["t"], t)), len(curve["t"]) - 1)
        energy, momentum = float(curve["energy_error"][k]), float(curve["momentum_error"][k])
        lines = [f"energy {100 * energy:+.2g} %"] if np.isfinite(energy) else []
        return "\n".join([*lines, *([f"momentum off by {momentum:.0e}"] if np.isfinite(momentum) else [])])

    def _mark(self, image: Array, t: float) -> Array:
        """A vertical line at the time in the diagrams."""
        drawn = Image.fromarray(image)
        pen = ImageDraw.Draw(drawn)
        for d in self.layout.diagrams:
            x = round(self.scale * (d.left + d.width * t / self.result.t_end))
            pen.line([(x, round(self.scale * d.top)), (x, round(self.scale * (d.top + d.height)))], fill=INK, width=round(self.scale))
        return np.asarray(drawn)


def envelope(t: Array, y: Array, pieces: int = 250) -> tuple[Array, Array]:
    """Middle and largest value of y of so many pieces of a curve."""
    parts = [k for k in np.array_split(np.arange(len(t)), min(pieces, len(t))) if len(k)]
    with np.errstate(invalid="ignore"):
        return np.array([t[k].mean() for k in parts]), np.array([y[k].max() for k in parts])


def draw_errors(axes: Any, rows: list[dict[str, Any]], what: str, t_end: float) -> None:
    """Largest magnitudes in short pieces of the whole time, on a logarithmic axis; what exceeds CEILING is cut off, x: broke down."""
    low = 1.0
    for i, row in enumerate(rows):
        t, y = envelope(np.asarray(row["t"], dtype=float), np.abs(np.asarray(row[what], dtype=float)))
        positive = y[np.isfinite(y) & (y > 0)]
        if positive.size:
            low = min(low, float(np.quantile(positive, 0.1)))
        look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "clip_on": True}
        axes.semilogy(t, np.minimum(y, 2 * CEILING), lw=1.2, ls=DASHES[i % 3], **look)
        if float(row["t"][-1]) < t_end * (1 - 1e-9):  # broke down
            axes.semilogy([float(row["t"][-1])], [0.5 * CEILING], marker="x", ms=6, mew=1.6, **look)
    axes.set(xlim=(-0.005 * t_end, t_end), ylim=(max(0.2 * low, 1e-17), CEILING))
    axes.set_xlabel("t (s)", labelpad=1)
    axes.set_title(TITLES[what], fontsize=9, pad=5, color=INK)
    axes.tick_params(colors=MUTED)
