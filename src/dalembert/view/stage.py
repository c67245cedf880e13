"""Drawing of bodies in space, one image per configuration: faces projected, hidden, shaded and painted from back to front.

The camera looks along -e from azimuth 35 and elevation 22 degrees without perspective: screen = (x . right, x . up), depth = x . eye.
Where the bodies travel further than the picture is wide, the camera follows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dalembert.model import Model
from dalembert.model.rotation import Array
from dalembert.view.picture import COLOURS, FAINT, INK, MUTED, styled
from dalembert.view.solids import Solid, rod, solid_of_body
from dalembert.view.sphere import com_paths

DPI = 100
BODY_COLOURS = ("#4a86c5", "#e08a3c", "#57a773", "#9a78c4", "#c9a93a", "#c66a8c")
AXES_COLOURS = ("#c8402f", "#3a8f4c", "#2f62c0")
_LIGHT = np.array([0.45, 0.25, 0.86]) / np.linalg.norm([0.45, 0.25, 0.86])
_BACKGROUND, _GROUND_SHADOW = "#fbfcfd", "#e6eaef"


def camera(azimuth: float = 35.0, elevation: float = 22.0) -> Array:
    """Rows: right, up, towards the eye."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


class Stage:
    """Everything that stays the same between the images of one animation."""

    def __init__(self, model: Model, q: Array, size: tuple[int, int], title: str):
        self.model, self.camera = model, camera()
        self._collect_faces()
        self.paths = np.stack(com_paths(model, q), axis=1)  # (n, bodies, 3)
        self.reach = np.array([self._radius(i) for i in range(len(model.bodies))])
        self._frame()
        self._open(size, title)

    def _collect_faces(self) -> None:
        owners, solids = [], []
        for i, body in enumerate(self.model.bodies):
            own = solid_of_body(body) + _links(self.model, i)
            solids += own
            owners += [i] * len(own)
        counts = [len(s.faces) for s in solids]
        self.faces = np.concatenate([s.faces for s in solids])
        self.owner = np.repeat(owners, counts)
        self.closed = np.repeat([s.closed for s in solids], counts)
        shade = 1.0 - 0.22 * np.concatenate([s.tone for s in solids])
        part = np.concatenate([np.full(n, 1.0 - 0.1 * (k % 3)) for k, n in enumerate(counts)])
        base = np.array([to_rgb(BODY_COLOURS[i % len(BODY_COLOURS)]) for i in range(len(self.model.bodies))])
        self.colour = base[self.owner] * (shade * part)[:, None]

    def _radius(self, body: int) -> float:
        """Largest distance of the body's faces from its centre of mass."""
        own = self.faces[self.owner == body].reshape(-1, 3)
        return float(np.linalg.norm(own - self.model.bodies[body].com, axis=1).max())

    def _frame(self) -> None:
        """Centre and half width of what is seen, and the height of the floor."""
        low = (self.paths - self.reach[:, None]).min(axis=(0, 1))
        high = (self.paths + self.reach[:, None]).max(axis=(0, 1))
        travel = np.ptp(self.paths.mean(axis=1), axis=0).max()
        widest = float((np.linalg.norm(self.paths - self.paths.mean(axis=1, keepdims=True), axis=2) + self.reach).max())
        self.follows = bool(travel > 12.0 * widest)
        if self.follows:
            self.half, self.centre, self.floor = 1.6 * widest, None, float(self.paths[0, :, 2].mean() - 1.2 * widest)
            return
        self.centre = 0.5 * (low + high)
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]) - self.centre
        box = np.abs(corners @ self.camera[:2].T).max()
        ball = np.linalg.norm(self.paths - self.centre, axis=2).max() + self.reach.max()
        self.half, self.floor = 1.08 * float(min(box, ball)), float(low[2] - 0.03 * (high[2] - low[2]))

    def _open(self, size: tuple[int, int], title: str) -> None:
        with styled():
            self.figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, facecolor=_BACKGROUND)
            self.canvas = FigureCanvasAgg(self.figure)
            axes = self.figure.add_axes((0, 0, 1, 1))
            axes.set_axis_off()
            wide, high = max(size[0] / size[1], 1.0), max(size[1] / size[0], 1.0)
            axes.set(xlim=(-wide, wide), ylim=(-high, high))
            self.grid = axes.add_collection(LineCollection([], colors=FAINT, linewidths=0.7, zorder=1), autolim=False)
            self.shadow = axes.add_collection(PolyCollection([], facecolors=_GROUND_SHADOW, edgecolors=_GROUND_SHADOW, linewidths=0.5, zorder=2), autolim=False)
            self.trail = axes.add_collection(LineCollection([], linewidths=1.3, zorder=3), autolim=False)
            self.solids = axes.add_collection(PolyCollection([], linewidths=0.5, zorder=4), autolim=False)
            axes.text(0.03, 0.97, title, transform=axes.transAxes, va="top", fontsize=10, fontweight="bold", color=INK)
            self.clock = axes.text(0.97, 0.97, "", transform=axes.transAxes, va="top", ha="right", fontsize=10, color=INK)
            self._draw_triad(axes)

    def _draw_triad(self, axes: Any) -> None:
        """World axes in the lower left corner."""
        origin = np.array([axes.get_xlim()[0] + 0.2, axes.get_ylim()[0] + 0.16])
        for i in np.argsort(self.camera[2]):
            tip = 0.13 * self.camera[:2, i]
            axes.annotate("", origin + tip, origin, zorder=6, arrowprops={"arrowstyle": "-|>", "color": AXES_COLOURS[i], "lw": 1.3, "shrinkA": 0, "shrinkB": 0})
            axes.text(*(origin + 1.32 * tip), "xyz"[i], color=AXES_COLOURS[i], fontsize=9, ha="center", va="center", zorder=6)

    def draw(self, poses: Array, clock: str, past: Array) -> Array:
        """Image (height, width, 3) of one configuration; poses (bodies, 4, 4), past (k, bodies, 3): centres of mass up to now."""
        R, p = poses[self.owner, :3, :3], poses[self.owner, :3, 3]
        world = np.einsum("fij,fkj->fki", R, self.faces) + p[:, None, :]
        centre = self.centre if self.centre is not None else past[-1].mean(axis=0)
        self._draw_ground(world, centre)
        self._draw_trail(past, centre)
        normal = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        facing = normal @ self.camera[2]
        normal = np.where((facing < 0)[:, None], -normal, normal)
        light = 0.5 + 0.5 * np.clip(normal @ _LIGHT, 0.0, 1.0) ** 0.9
        seen = np.flatnonzero((facing > 0) | ~self.closed)
        seen = seen[np.argsort(world[seen].mean(axis=1) @ self.camera[2], kind="stable")]
        colours = np.clip(self.colour[seen] * light[seen, None] * 1.12, 0, 1)
        self.solids.set_verts(self._project(world[seen], centre))
        self.solids.set_facecolor(colours)
        self.solids.set_edgecolor(colours)
        self.clock.set_text(clock)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()

    def _project(self, points: Array, centre: Array) -> Array:
        return (points - centre) @ self.camera[:2].T / self.half

    def _draw_ground(self, world: Array, centre: Array) -> None:
        """A grid of round spacing, and the shadow of a light from straight above."""
        flat = world.copy()
        flat[..., 2] = self.floor
        self.shadow.set_verts(self._project(flat, centre))
        spacing = _round_length(self.half / 2.5)
        middle = np.round(centre[:2] / spacing) * spacing
        ticks = np.arange(-4, 5) * spacing
        end = ticks[-1]
        lines = [[[t, -end], [t, end]] for t in ticks] + [[[-end, t], [end, t]] for t in ticks]
        flat_lines = np.array(lines) + middle
        self.grid.set_segments(self._project(np.concatenate([flat_lines, np.full((*flat_lines.shape[:2], 1), self.floor)], axis=-1), centre))

    def _draw_trail(self, past: Array, centre: Array) -> None:
        """Paths of the centres of mass so far, fading with age."""
        if len(past) < 2:
            self.trail.set_segments([])
            return
        xy = self._project(past, centre)
        pieces = np.stack([xy[:-1], xy[1:]], axis=2)  # (k - 1, bodies, 2, 2)
        alpha = np.linspace(0.05, 0.9, len(pieces))
        colours = [(*to_rgb(COLOURS[(i + 1) % len(COLOURS)]), a) for a in alpha for i in range(pieces.shape[1])]
        self.trail.set_segments(pieces.reshape(-1, 2, 2))
        self.trail.set_color(colours)


def _links(model: Model, body: int) -> list[Solid]:
    """A rod from the joint to the centre of mass of a body that has no shape to show its arm."""
    part = model.bodies[body]
    joint = next(j for j in model.joints if j.child == part.name)
    if part.shapes or joint.kind == "free":
        return []
    from dalembert.model.rotation import matrix

    anchor = matrix(part.quaternion).T @ (joint.anchor - part.position)
    length = float(np.linalg.norm(part.com - anchor))
    return [rod(anchor, part.com, 0.03 * length)] if length > 0 else []


def _round_length(x: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(s for s in (1.0, 2.0, 5.0) if s * power <= x * (1 + 1e-9)))


__all__ = ["MUTED", "Stage", "camera"]
