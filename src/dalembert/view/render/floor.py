"""The floor: a level plane with a fine grid of round spacing that fades out, and the shadows on it; computed ray by ray.

A line of the grid of width w pixels covers, of a pixel at a distance x (in pixels, across the line), clip(w/2 + 1/2 - |x|, 0, 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.canvas import rgb
from dalembert.view.render.camera import Camera
from dalembert.view.render.layers import Pixels, over, plain
from dalembert.view.render.themes import Theme
from dalembert.view.stage import round_length

WIDTH = 1.1  # of a line, pixels
FADES = 1.0, 2.6  # of the extent: where the floor begins to fade, and where it has gone


class Floor:
    """The floor as one camera sees it. middle (2,), extent: of what stands on it, m; height, m; ground: whether the world has a floor."""

    def __init__(self, camera: Camera, size: tuple[int, int], middle: Array, extent: float, height: float, theme: Theme, ground: bool):
        self.height, self.theme = height, theme
        self.places: Pixels | None = None  # of its points as the light sees them
        rays = camera.rays(*size)
        depth = (height - camera.position[2]) / np.where(np.abs(rays[..., 2]) > 1e-9, rays[..., 2], 1e-9)
        self.hit = (depth > 0.0) & (depth < 1e4 * extent)
        depth = np.where(self.hit, depth, 1.0).astype(np.float32)
        self.points = camera.position.astype(np.float32) + depth[..., None] * rays
        away = np.linalg.norm(self.points[..., :2] - middle.astype(np.float32), axis=-1) / extent
        fade = np.clip((FADES[1] - away) / (FADES[1] - FADES[0]), 0.0, 1.0)
        self.fade = np.where(self.hit, fade * fade * (3.0 - 2.0 * fade), 0.0).astype(np.float32)
        self.layer = plain(rgb(theme.floor[0]) / 255.0, theme.floor[1] * self.fade * (1.0 if ground else 0.6))
        lines = self._grid(round_length(extent / 4.0), size[1] / (2.0 * camera.slope), depth, rays)
        self.layer = over(plain(rgb(theme.grid[0]) / 255.0, theme.grid[1] * self.fade * lines), self.layer)
        self.ground = over(self.layer, plain(theme.background(*size), np.ones_like(self.fade)))  # on the background, in full light

    def _grid(self, spacing: float, pixels: float, depth: Pixels, rays: Pixels) -> Pixels:
        """How much of each pixel the lines cover; pixels: per m at depth 1."""
        out = np.zeros(depth.shape, dtype=np.float32)
        per_metre = pixels / depth  # across the view; along it the floor is seen at a slant
        slant = np.abs(rays[..., 2]) / np.linalg.norm(rays, axis=-1)
        flat = rays[..., :2] / np.maximum(np.linalg.norm(rays[..., :2], axis=-1, keepdims=True), 1e-9)
        for i in (0, 1):
            x = self.points[..., i] / spacing
            off = np.abs(x - np.round(x)) * spacing
            along = flat[..., i] ** 2
            scale = per_metre / np.sqrt((1.0 - along) + along / np.maximum(slant, 1e-3) ** 2)  # pixels per m across the line
            near = np.clip(spacing * scale / 6.0 - 0.5, 0.0, 1.0)  # lines that are closer than some pixels are left out
            out = np.maximum(out, near * np.clip(0.5 * WIDTH + 0.5 - off * scale, 0.0, 1.0))
        return out

    def shaded(self, light: Any, shade: Pixels, showing: float = 1.0) -> Pixels:
        """How much darker the floor is (height, width), by the shadow that `light` sees; showing: of something that shows so much."""
        if self.places is None:
            self.places = light.places(self.points[self.fade > 0.0])
        out = np.zeros(self.fade.shape, dtype=np.float32)
        out[self.fade > 0.0] = light.at(shade, self.places)
        return out * self.fade * np.float32(showing * self.theme.shadow)
