"""An image that triangles, lines and words are painted on, seen along parallel rays: screen = (x . right, x . up), depth = x . eye.

Painted twice as large as asked for and averaged at the end: edges come out smooth. Only what was painted on is averaged and
cleared for the next image.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from dalembert.arrays import Array
from dalembert.kernels.raster.triangles import finish, paint

FINE = 2  # pixels painted per pixel shown, each way
_DOWNWARDS = np.array([1.0, -1.0, 1.0])
_ROUND = np.linspace(0.0, 2.0 * np.pi, 17)
_RIM = np.stack([np.cos(_ROUND), np.sin(_ROUND), np.zeros(17)], axis=-1)
_DISC = np.stack([np.zeros((16, 3)), _RIM[:-1], _RIM[1:]], axis=1)
UNDER, OVER = -1e30, 1e30  # depths behind and in front of everything
WHITE = 0xFFFFFFFF


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
        self.image = np.full(self.pixels[::-1], WHITE, dtype=np.uint32)
        self.depth = np.full(self.pixels[::-1], UNDER, dtype=np.float32)
        self.touched = np.empty((self.pixels[1], 2), dtype=np.int64)  # first and last pixel of each row
        self.small = np.empty(size[::-1], dtype=np.uint32)
        self.keep()

    def keep(self) -> None:
        """What is painted now is what every image starts from."""
        self.ground, self.touched[:] = self.image.copy(), (0, self.pixels[0] - 1)
        self._finish()
        self.small_ground = self.small.copy()

    def finished(self) -> Image.Image:
        """The picture in the size that was asked for. The next one starts again."""
        self.small[:] = self.small_ground
        self._finish()
        return _opened(self.small)

    def _finish(self) -> None:
        finish(self.image.view(np.uint64), self.ground.view(np.uint64), self.depth, UNDER, self.touched, self.small)

    def affine(self) -> tuple[Array, Array]:
        """(A (3, 3), b (3,)): pixels x, y (downwards) and depth of a point p are p A + b."""
        A = self.view.T * (0.5 * FINE * min(self.size) / self.half * _DOWNWARDS)
        return A, np.array([0.5 * FINE * n - 0.5 for n in self.size] + [0.0]) - self.centre @ A

    def project(self, points: Array) -> Array:
        """(..., 3): x and y in pixels of `image`, y downwards, and depth."""
        A, b = self.affine()
        return (points.reshape(-1, 3) @ A + b).reshape(points.shape)

    def triangles(self, corners: Array, colours: Array, hidden: float = 0.0) -> None:
        """corners (n, 3, 3) in pixels, and depth; colours (n, 4), hidden: see `paint`."""
        paint(np.ascontiguousarray(corners), np.ascontiguousarray(colours), hidden, self.depth, self.image, self.touched)

    def ribbons(self, pieces: Array, colours: Array, width: float, hidden: float = 0.0, depth: float | None = None) -> None:
        """Straight lines (n, 2, 3) in the world, of a width in pixels of the picture; depth: one for all instead of their own."""
        ends = self.project(pieces)
        if depth is not None:
            ends[..., 2] = depth
        along = ends[:, 1, :2] - ends[:, 0, :2]
        along *= 0.5 * FINE * width / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
        corners = ends[:, [0, 1, 1, 0, 1, 0]]
        corners[..., :2] += np.array([1.0, 1.0, -1.0, 1.0, -1.0, -1.0])[:, None] * (along[:, None, ::-1] * [-1.0, 1.0])
        self.triangles(corners.reshape(-1, 3, 3), np.repeat(colours, 2, axis=0), hidden)

    def dots(self, points: Array, colour: Array, radius: float) -> None:
        """Discs of a radius in pixels of the picture, in front of everything."""
        if not len(points):
            return
        corners = self.project(points)[:, None, None, :] + FINE * radius * _DISC
        corners[..., 2] = OVER
        self.triangles(corners.reshape(-1, 3, 3), np.tile(opaque(colour), (len(points) * len(_DISC), 1)))

    def words(self, at: tuple[float, float], text: str, size: float, colour: str, anchor: str = "la", bold: bool = False) -> None:
        """Words at a place in pixels of the picture, under what is painted later."""
        image = _opened(self.image)
        write(image, (FINE * at[0], FINE * at[1]), text, FINE * size, colour, anchor, bold)
        self.image[:] = np.frombuffer(image.tobytes("raw", "RGBX"), dtype=np.uint32).reshape(self.image.shape)


def _opened(image: Array) -> Image.Image:
    """A copy of pixels (height, width), uint32, as an image of red, green and blue."""
    return Image.frombuffer("RGBX", image.shape[::-1], image, "raw", "RGBX", 0, 1).convert("RGB")


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


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Pixels."""
    return float(_font(size, bold).getlength(text))


@lru_cache(maxsize=16)
def _font(size: float, bold: bool) -> Any:
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return ImageFont.truetype(str(folder / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")), size)
