"""A machine in one colour, seen from a camera that goes with it: faces projected, shaded and painted from back to front.

Bodies are drawn by their simple shapes; a body that has none (or only meshes) as rods between its joints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dalembert.model import Body, Model, Sphere
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import Array, quat_conj, rotate
from dalembert.view.picture import INK, MUTED, styled
from dalembert.view.solids import Solid, rod, solids_of_body
from dalembert.view.stage import camera

SIMPLE = ("box", "sphere", "cylinder", "capsule")
BACKGROUND = "#fbfcfd"
_LIGHT = np.array([0.45, 0.25, 0.86]) / np.linalg.norm([0.45, 0.25, 0.86])


def drawable(model: Model) -> tuple[Array, Array]:
    """(faces (n, 4, 3) in body frames, index of the body of each)."""
    thick = 0.05 * _extent(model)
    above = {j.child: j for j in model.joints}
    below: dict[str, list[Joint]] = {}
    for j in model.joints:
        below.setdefault(j.parent, []).append(j)
    faces, owners = [], []
    for i, body in enumerate(model.bodies):
        for solid in _solids(body, above[body.name], below.get(body.name, []), thick):
            faces.append(solid.faces)
            owners.append(np.full(len(solid.faces), i))
    if not faces:
        return np.zeros((0, 4, 3)), np.zeros(0, dtype=int)
    return np.concatenate(faces), np.concatenate(owners)


def _extent(model: Model) -> float:
    """Largest distance between joints and centres of mass at the reference configuration."""
    points = [b.position + rotate(b.quaternion, b.com) for b in model.bodies] + [j.anchor for j in model.joints if j.kind != "free"]
    return float(np.ptp(points, axis=0).max()) or 1.0


def _solids(body: Body, joint: Joint, carried: list[Joint], thick: float) -> list[Solid]:
    simple = tuple(s for s in body.shapes if s.kind in SIMPLE)
    if simple:
        return solids_of_body(replace(body, shapes=simple))
    here = np.zeros(3) if joint.kind == "free" else _in(body, joint.anchor)
    ends = [_in(body, j.anchor) for j in carried] or ([] if body.massless else [body.com])
    found = [rod(here, end, 0.5 * thick) for end in ends if np.linalg.norm(end - here) > 0.2 * thick]
    if found and joint.kind not in ("fixed", "free"):
        found += solids_of_body(replace(body, shapes=(Sphere(0.8 * thick, position=tuple(here)),)))
    if joint.kind == "free" and not body.massless:
        found += solids_of_body(replace(body, shapes=()))
    return found


def _in(body: Body, point: Array) -> Array:
    return rotate(quat_conj(body.quaternion), point - body.position)


class Painter:
    """Images of one machine. size: pixels; half: half of what is seen of the shorter side, m; scale: of the resolution."""

    def __init__(self, model: Model, colour: str, size: tuple[int, int], half: float, title: str = "", scale: float = 1.0):
        self.model, self.camera, self.half = model, camera(), half
        self.faces, self.owner = drawable(model)
        shades = np.array([1.0, 0.82, 1.16])
        self.colour = np.clip(np.array(to_rgb(colour))[None, :] * shades[self.owner % 3, None], 0.0, 1.0)
        with styled():
            self._open(size, title, colour, scale)

    def _open(self, size: tuple[int, int], title: str, colour: str, scale: float) -> None:
        self.figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100 * scale, facecolor=BACKGROUND)
        self.canvas = FigureCanvasAgg(self.figure)
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        least = min(size)
        axes.set(xlim=(-size[0] / least, size[0] / least), ylim=(-size[1] / least, size[1] / least))
        self.solids: Any = axes.add_collection(PolyCollection([], linewidths=0.4, zorder=2), autolim=False)
        axes.text(0.5, 0.985, title, transform=axes.transAxes, va="top", ha="center", fontsize=9, fontweight="bold", color=colour)
        self.note = axes.text(0.5, 0.03, "", transform=axes.transAxes, va="bottom", ha="center", fontsize=8, color=MUTED)
        self.clock = axes.text(0.5, 0.91, "", transform=axes.transAxes, va="top", ha="center", fontsize=8, color=INK)

    def draw(self, poses: Array, centre: Array, clock: str, note: str = "", faded: bool = False) -> Array:
        """Image (height, width, 3) of one configuration; poses (bodies, 4, 4)."""
        world = np.einsum("fij,fkj->fki", poses[self.owner, :3, :3], self.faces) + poses[self.owner, None, :3, 3] - centre
        normal = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        seen = np.flatnonzero(normal @ self.camera[2] > 0)
        seen = seen[np.argsort(world[seen].mean(axis=1) @ self.camera[2], kind="stable")]
        light = 0.56 + 0.56 * np.clip(normal[seen] @ _LIGHT, 0.0, 1.0)
        colours = np.clip(self.colour[seen] * light[:, None], 0.0, 1.0)
        if faded:
            colours = 0.25 * colours + 0.75
        self.solids.set_verts(world[seen] @ self.camera[:2].T / self.half)
        self.solids.set_facecolor(colours)
        self.solids.set_edgecolor(colours)
        self.note.set_text(note)
        self.clock.set_text(clock)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()


def anchor_of(model: Model) -> Array | None:
    """Where the machine is held by the world, or None if it floats."""
    held = [j.anchor for j in model.joints if j.parent == WORLD and j.kind != "free"]
    return np.mean(held, axis=0) if held else None


def reach(model: Model, poses: Array, centres: Array) -> float:
    """Largest distance of a corner from the centre; poses (n, bodies, 4, 4), centres (n, 3)."""
    faces, owner = drawable(model)
    most = 0.0
    for i in np.unique(owner):
        corners = np.unique(faces[owner == i].reshape(-1, 3), axis=0)
        x = corners @ poses[:, i, :3, :3].swapaxes(1, 2) + poses[:, i, None, :3, 3] - centres[:, None]
        most = max(most, float(np.linalg.norm(x, axis=2).max()))
    return most or 1.0
