"""Drawing of bodies in space, one image per configuration: faces projected, hidden, shaded and painted from back to front.

The camera stands at azimuth 35 and elevation 22 degrees, far away: screen = (x . right, x . up), depth = x . eye, without perspective.
Where the bodies travel further than the picture could show, the camera goes with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dalembert.model import Body, Model
from dalembert.model.rotation import Array, matrix
from dalembert.view.picture import COLOURS, FAINT, INK, styled
from dalembert.view.solids import Solid, rod, solids_of_body
from dalembert.view.sphere import com_paths

DPI = 100
FOLLOW_AT = 25.0  # widths of the bodies
BODY_COLOURS = ("#4a86c5", "#e08a3c", "#57a773", "#9a78c4", "#c9a93a", "#c66a8c")
AXES_COLOURS = ("#c8402f", "#3a8f4c", "#2f62c0")
_LIGHT = np.array([0.45, 0.25, 0.86]) / np.linalg.norm([0.45, 0.25, 0.86])
_SLATE, _WHITE = np.array([0.23, 0.28, 0.33]), np.ones(3)
_BACKGROUND, _GROUND_SHADOW = "#fbfcfd", "#e6eaef"


def camera(azimuth: float = 35.0, elevation: float = 22.0) -> Array:
    """Rows: right, up, towards the eye."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


class Stage:
    """Everything that stays the same between the images of one animation; q (n, nq): what they will show."""

    def __init__(self, model: Model, q: Array, size: tuple[int, int], title: str):
        self.model, self.camera = model, camera()
        self._collect_faces()
        self._frame(q, size)
        with styled():
            self._open(size, title)

    def _collect_faces(self) -> None:
        """Faces of all bodies in one array, each with its body and colour."""
        owners: list[int] = []
        solids: list[Solid] = []
        colours: list[Array] = []
        for i, body in enumerate(self.model.bodies):
            own = solids_of_body(body) + _arm(self.model, body)
            owners += [i] * len(own)
            solids += own
            colours += _part_colours(body, len(own), np.array(to_rgb(BODY_COLOURS[i % len(BODY_COLOURS)])))
        counts = [len(s.faces) for s in solids]
        self.faces = np.concatenate([s.faces for s in solids])
        self.owner = np.repeat(owners, counts)
        self.closed = np.repeat([s.closed for s in solids], counts)
        self.colour = np.repeat(colours, counts, axis=0) * (1.0 - 0.22 * np.concatenate([s.tone for s in solids]))[:, None]

    def _frame(self, q: Array, size: tuple[int, int]) -> None:
        """What is seen: the bodies wherever they go and their shadows; centre and half width of it, height of the floor."""
        self.window = np.array([max(size[0] / size[1], 1.0), max(size[1] / size[0], 1.0)])
        q = q[:: max(len(q) * len(self.faces) // 1_000_000, 1)]
        middle = np.mean(com_paths(self.model, q), axis=0)[:, None, :]
        x = self._corners(self.model.poses(q))
        widest = float(np.linalg.norm(x - middle, axis=2).max())
        self.follows = bool(np.ptp(middle, axis=0).max() > FOLLOW_AT * widest)
        x = x - middle if self.follows else x
        self.floor = float(x[..., 2].min()) - 0.05 * widest
        below = np.concatenate([x[..., :2], np.full((*x.shape[:2], 1), self.floor)], axis=-1)
        screen = np.concatenate([x, below], axis=1) @ self.camera[:2].T
        low, high = screen.min(axis=(0, 1)), screen.max(axis=(0, 1))
        high[1] += 0.08 * (high[1] - low[1])  # room for the labels
        self.half = 1.05 * float((0.5 * (high - low) / self.window).max())
        self.centre = self.camera[:2].T @ (0.5 * (low + high))

    def _corners(self, poses: Array) -> Array:
        """World positions (n, corners, 3) of the corners of all bodies."""
        found = []
        for i in range(len(self.model.bodies)):
            corners = np.unique(self.faces[self.owner == i].reshape(-1, 3), axis=0)
            found.append(corners @ poses[:, i, :3, :3].swapaxes(1, 2) + poses[:, i, None, :3, 3])
        return np.concatenate(found, axis=1)

    def _open(self, size: tuple[int, int], title: str) -> None:
        self.figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, facecolor=_BACKGROUND)
        self.canvas = FigureCanvasAgg(self.figure)
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=self.window[0] * np.array([-1, 1]), ylim=self.window[1] * np.array([-1, 1]))
        grey: dict[str, Any] = {"facecolors": _GROUND_SHADOW, "edgecolors": _GROUND_SHADOW}
        self.grid: Any = axes.add_collection(LineCollection([], colors=FAINT, linewidths=0.7, zorder=1), autolim=False)
        self.shadow: Any = axes.add_collection(PolyCollection([], **grey, linewidths=0.5, zorder=2), autolim=False)
        self.solids: Any = axes.add_collection(PolyCollection([], linewidths=0.5, zorder=3), autolim=False)
        self.trail: Any = axes.add_collection(LineCollection([], linewidths=1.2, zorder=4), autolim=False)
        (self.pivots,) = axes.plot([], [], "o", ms=4, color=INK, zorder=5)
        axes.text(0.03, 0.97, title, transform=axes.transAxes, va="top", fontsize=10, fontweight="bold", color=INK)
        self.clock = axes.text(0.97, 0.97, "", transform=axes.transAxes, va="top", ha="right", fontsize=10, color=INK)
        self._draw_triad(axes)

    def _draw_triad(self, axes: Any) -> None:
        """World axes in the lower left corner."""
        origin = np.array([0.2, 0.16]) - self.window
        for i in np.argsort(self.camera[2]):
            tip = 0.13 * self.camera[:2, i]
            arrow = {"arrowstyle": "-|>", "color": AXES_COLOURS[i], "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", origin + tip, origin, zorder=6, arrowprops=arrow)
            axes.text(*(origin + 1.32 * tip), "xyz"[i], color=AXES_COLOURS[i], fontsize=9, ha="center", va="center", zorder=6)

    def draw(self, poses: Array, clock: str, past: Array) -> Array:
        """Image (height, width, 3) of one configuration; poses (bodies, 4, 4), past (k, bodies, 3): centres of mass up to now."""
        world = np.einsum("fij,fkj->fki", poses[self.owner, :3, :3], self.faces) + poses[self.owner, None, :3, 3]
        away = past[-1].mean(axis=0) if self.follows else np.zeros(3)
        self._draw_ground(world, away)
        self._draw_solids(world, away)
        self._draw_trail(past, away)
        anchors = np.array([j.anchor for j in self.model.joints if j.parent == "world" and j.kind != "free"]).reshape(-1, 3)
        self.pivots.set_data(*self._project(anchors, away).T)
        self.clock.set_text(clock)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()

    def _project(self, points: Array, away: Array) -> Array:
        return (points - away - self.centre) @ self.camera[:2].T / self.half

    def _draw_solids(self, world: Array, away: Array) -> None:
        """Faces that look at the eye, the farthest first; brightness 0.56 + 0.56 (normal . light)."""
        normal = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        facing = normal @ self.camera[2]
        light = 0.56 + 0.56 * np.clip(np.sign(facing) * (normal @ _LIGHT), 0.0, 1.0)
        seen = np.flatnonzero((facing > 0) | ~self.closed)
        seen = seen[np.argsort(world[seen].mean(axis=1) @ self.camera[2], kind="stable")]
        colours = np.clip(self.colour[seen] * light[seen, None], 0.0, 1.0)
        self.solids.set_verts(self._project(world[seen], away))
        self.solids.set_facecolor(colours)
        self.solids.set_edgecolor(colours)

    def _draw_ground(self, world: Array, away: Array) -> None:
        """A grid of round spacing, and the shadow of a light from straight above."""
        height = self.floor + away[2]
        up = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])[:, 2] > 0
        flat = world[up | ~self.closed]
        flat[..., 2] = height
        self.shadow.set_verts(self._project(flat, away))
        spacing = _round_length(self.half / 2.5)
        ticks = np.arange(-4, 5) * spacing
        lines = np.array([[[t, ticks[0]], [t, ticks[-1]]] for t in ticks] + [[[ticks[0], t], [ticks[-1], t]] for t in ticks])
        lines += np.round((away + self.centre)[:2] / spacing) * spacing
        self.grid.set_segments(self._project(np.concatenate([lines, np.full((len(lines), 2, 1), height)], axis=-1), away))

    def _draw_trail(self, past: Array, away: Array) -> None:
        """Paths of the centres of mass so far, fading with age."""
        xy = self._project(past, away)
        pieces = np.stack([xy[:-1], xy[1:]], axis=2)  # (k - 1, bodies, 2, 2)
        age = np.linspace(0.0, 0.9, len(pieces) + 1)[1:]
        self.trail.set_segments(pieces.reshape(-1, 2, 2))
        self.trail.set_color([(*to_rgb(COLOURS[(i + 1) % len(COLOURS)]), a) for a in age for i in range(pieces.shape[1])])


def _part_colours(body: Body, parts: int, base: Array) -> list[Array]:
    """The body's colour, then a darker and a lighter one for its further parts; equal shapes have equal colours."""
    shades = (base, 0.35 * base + 0.65 * _SLATE, 0.45 * base + 0.55 * _WHITE)
    looks = [{k: v for k, v in s.to_dict().items() if k not in ("position", "quaternion")} for s in body.shapes if s.kind != "plane"]
    different = [look for i, look in enumerate(looks) if look not in looks[:i]]
    found = [shades[different.index(look) % 3] for look in looks] or [base]
    return found + [shades[1]] * (parts - len(found))


def _arm(model: Model, body: Body) -> list[Solid]:
    """A rod from the joint to the centre of mass of a body that has no shape to show its arm."""
    joint = next(j for j in model.joints if j.child == body.name)
    if body.shapes or joint.kind == "free":
        return []
    anchor = matrix(body.quaternion).T @ (joint.anchor - body.position)
    length = float(np.linalg.norm(body.com - anchor))
    return [rod(anchor, body.com, 0.03 * length)] if length > 0 else []


def _round_length(x: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(s for s in (1.0, 2.0, 5.0) if s * power <= x * (1 + 1e-9)))
