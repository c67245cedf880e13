"""A machine in one colour, seen from a camera that goes with it."""

from __future__ import annotations

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.canvas import Canvas, camera, rgb, write
from dalembert.view.links import BASE, groups_of, pieces_of
from dalembert.view.machine import CELL, Machine
from dalembert.view.picture import INK, MUTED

FADED = 0.75


class Painter:
    """Images of one machine. size: pixels; half: half of what is seen of the shorter side, m; scale: of the resolution."""

    def __init__(self, model: Model, colour: str, size: tuple[int, int], half: float, title: str = "", scale: float = 1.0):
        self.title, self.colour, self.scale = title, colour, scale
        size = (round(scale * size[0]), round(scale * size[1]))
        self.canvas = Canvas(size, camera(), half, np.zeros(3))
        shades = (1.0, 0.82, 1.16)
        colours = [np.clip(rgb(colour) * shades[g % 3], 0.0, 255.0) for g in groups_of(model)]
        pieces = [p._replace(shade=BASE, given=None, solid=p.solid._replace(tone=0.0 * p.solid.tone)) for p in pieces_of(model)]
        self.machine = Machine(pieces, colours, CELL * 2.0 * half / min(size))

    def draw(self, poses: Array, centre: Array, clock: str, note: str = "", faded: bool = False) -> Array:
        """Image (height, width, 3) of one configuration; poses (bodies, 4, 4)."""
        self.canvas.centre = centre
        self.machine.paint(self.canvas, poses, FADED if faded else 0.0)
        image = self.canvas.finished()
        self._write(image, clock, note)
        return np.asarray(image)

    def _write(self, image: Image.Image, clock: str, note: str) -> None:
        width, height = image.size
        write(image, (0.5 * width, 0.015 * height), self.title, 12.5 * self.scale, self.colour, "ma", bold=True)
        write(image, (0.5 * width, 0.1 * height), clock, 11.0 * self.scale, INK, "ma")
        lines = note.splitlines()
        for k, line in enumerate(lines):
            y = 0.97 * height - 13.5 * self.scale * (len(lines) - 1 - k)
            write(image, (0.5 * width, y), line, 11.0 * self.scale, MUTED, "md")


def anchor_of(model: Model) -> Array | None:
    """Where the machine is held by the world, or None if it floats."""
    held = [j.anchor for j in model.joints if j.parent == WORLD and not j.coordinates.absolute]
    return np.mean(held, axis=0) if held else None


def reach(model: Model, poses: Array, centres: Array) -> float:
    """Largest distance of a corner from the centre; poses (n, bodies, 4, 4), centres (n, 3)."""
    most = 0.0
    for piece in pieces_of(model):
        corners = np.unique(piece.solid.faces.reshape(-1, 3), axis=0)
        pose = poses[:, piece.body]
        x = corners @ pose[:, :3, :3].swapaxes(1, 2) + pose[:, None, :3, 3] - centres[:, None]
        most = max(most, float(np.linalg.norm(x, axis=2).max()))
    return most or 1.0
