"""An image that triangles, lines and words are painted on, seen along parallel rays: screen = (x . right, x . up), depth = x . eye.

Painted twice as large as asked for and averaged at the end: edges come out smooth. Only the part that was painted on is cleared and
averaged again for the next image.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from dalembert.kernels.raster.triangles import paint
from dalembert.model.rotation import Array

FINE = 2  # pixels painted per pixel shown, each way
UNDER, OVER = -1e30, 1e30  # depths behind and in front of everything


def camera(azimuth: float = 35.0, elevation: float = 22.0) -> Array:
    """Rows: right, up, towards the eye."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def window_of(size: tuple[int, int]) -> Array:
    """Half width and half height of the picture, of which the shorter is 1."""
    return np.array(size) / min(size)


class Canvas:
    """size: width and height in pixels; view: rows right, up, eye; half: half of what is seen along the shorter side, m; centre: the point
    in the middle of the picture."""

    def __init__(self, size: tuple[int, int], view: Array, half: float, centre: Array):
        self.size, self.view, self.half, self.centre = size, view, half, centre
        self.pixels = FINE * np.array(size)
        self.image = np.full((*self.pixels[::-1], 3), 255, dtype=np.uint8)
        self.depth = np.full(self.pixels[::-1], UNDER, dtype=np.float32)
        self.ground, self.small = self.image.copy(), Image.new("RGB", size, "white")
        self._touched = np.array([self.pixels, [0, 0]])

    def keep(self) -> None:
        """What is painted now is what every image starts from."""
        self.ground, self.small = self.image.copy(), Image.fromarray(self.image).reduce(FINE)
        self.depth[:] = UNDER
        self._touched = np.array([self.pixels, [0, 0]])

    def clear(self) -> None:
        """Start again."""
        part = self._part()
        self.image[part], self.depth[part] = self.ground[part], UNDER
        self._touched = np.array([self.pixels, [0, 0]])

    def finished(self) -> Image.Image:
        """The picture in the size that was asked for."""
        out, part = self.small.copy(), self._part()
        if part[0].stop > part[0].start and part[1].stop > part[1].start:
            small = Image.fromarray(np.ascontiguousarray(self.image[part])).reduce(FINE)
            out.paste(small, (part[1].start // FINE, part[0].start // FINE))
        return out

    def _part(self) -> tuple[slice, slice]:
        """Rows and columns that were touched, to whole pixels of the picture."""
        low = FINE * (np.clip(self._touched[0], 0, self.pixels) // FINE)
        high = FINE * -(-np.clip(self._touched[1], 0, self.pixels) // FINE)
        return slice(low[1], max(high[1], low[1])), slice(low[0], max(high[0], low[0]))

    def affine(self) -> tuple[Array, Array]:
        """(A (3, 3), b (3,)): pixels x, y (downwards) and depth of a point p are p A + b."""
        A = self.view.T * (0.5 * min(self.pixels) / self.half * np.array([1.0, -1.0, 1.0]))
        return A, np.append(0.5 * self.pixels - 0.5, 0.0) - self.centre @ A

    def project(self, points: Array) -> Array:
        """(..., 3): x and y in pixels of `image`, y downwards, and depth."""
        A, b = self.affine()
        return (points.reshape(-1, 3) @ A + b).reshape(points.shape)

    def triangles(self, corners: Array, colours: Array, hidden: float = 0.0, depth: float | None = None) -> None:
        """corners (n, 3, 3) in pixels; colours (n, 4): see `paint`; depth: one for all instead of their own."""
        finite = np.isfinite(corners).all(axis=(1, 2))
        if not finite.all():
            corners, colours = corners[finite], colours[finite]
        if not len(corners):
            return
        if depth is not None:
            corners = np.concatenate([corners[..., :2], np.full((len(corners), 3, 1), depth)], axis=-1)
        ends = np.stack([corners[..., :2].min(axis=(0, 1)), corners[..., :2].max(axis=(0, 1)) + 1.0])
        ends = np.clip(ends, 0, self.pixels).astype(int)
        self._touched = np.stack([np.minimum(self._touched[0], ends[0]), np.maximum(self._touched[1], ends[1] + 1)])
        paint(np.ascontiguousarray(corners, dtype=float), np.ascontiguousarray(colours, dtype=float), hidden, self.depth, self.image)

    def ribbons(self, pieces: Array, colours: Array, width: float, hidden: float = 0.0, depth: float | None = None) -> None:
        """Straight lines (n, 2, 3) in the world, of a width in pixels of the picture."""
        ends = self.project(pieces)
        along = ends[:, 1, :2] - ends[:, 0, :2]
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        side = 0.5 * FINE * width * np.stack([-along[:, 1], along[:, 0], np.zeros(len(along))], axis=-1)
        a, b, c, d = ends[:, 0] - side, ends[:, 1] - side, ends[:, 1] + side, ends[:, 0] + side
        both = np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3, 3)
        self.triangles(both, np.repeat(colours, 2, axis=0), hidden, depth)

    def dots(self, points: Array, colour: Array, radius: float) -> None:
        """Discs of a radius in pixels of the picture, in front of everything."""
        angle = np.linspace(0.0, 2.0 * np.pi, 17)
        rim = FINE * radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(17)], axis=-1)
        for at in self.project(points):
            corners = np.stack([np.broadcast_to(at, (16, 3)), at + rim[:-1], at + rim[1:]], axis=1)
            self.triangles(corners, np.tile(opaque(colour), (16, 1)), depth=OVER)

    def words(self, at: tuple[float, float], text: str, size: float, colour: str, anchor: str = "la", bold: bool = False) -> None:
        """Words at a place in pixels of the picture, under what is painted later."""
        image = Image.fromarray(self.image)
        write(image, (FINE * at[0], FINE * at[1]), text, FINE * size, colour, anchor, bold)
        self.image[:] = np.asarray(image)
        self._touched = np.array([[0, 0], self.pixels])


def rgb(colour: str) -> Array:
    """(3,) from 0 to 255 of '#rrggbb'."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def opaque(colours: Array) -> Array:
    """With a fourth column of ones."""
    return np.concatenate([colours, np.ones((*colours.shape[:-1], 1))], axis=-1)


def write(image: Image.Image, at: tuple[float, float], text: str, size: float, colour: str, anchor: str = "la", bold: bool = False) -> None:
    """Words on an image; anchor as in Pillow: l, m, r and a (top), m, d (bottom)."""
    pen: Any = ImageDraw.Draw(image)
    pen.text(at, text, fill=colour, font=_font(size, bold), anchor=anchor)


@lru_cache(maxsize=16)
def _font(size: float, bold: bool) -> Any:
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return ImageFont.truetype(str(folder / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")), size)
