"""Shadows of the key light, soft, from what the light itself sees: depths of the nearest points along parallel rays.

on the floor     what the light sees at all is dark on the floor. Its edge is the softer the higher it is above the floor:
                 s = blur_small(m w) + DIM blur_large(m (1 - w)), w = exp(-height / SHARP size), m: 1 where the light sees something
on the bodies    a point is dark where the light sees something nearer; means over TAPS neighbours (percentage-closer filtering)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from dalembert.arrays import Array
from dalembert.view.render.camera import Camera
from dalembert.view.render.eye import Eye, Surface
from dalembert.view.render.layers import FINE, smaller

PIXELS = 1024
SHARP = 0.12
DIM = 0.75  # how dark the shadow of something high is
SMALL, LARGE = 1.5, 7.0  # pixels of the shadow, FINE of the light's each way
SPREAD, TAPS = 3.5, 16  # pixels of the light; a spiral of so many places
BIAS = 9.0  # pixels of the light: nearer surfaces are the same one
_TURN = np.arange(TAPS) * 2.399963  # the golden angle
_PLACES = np.sqrt((np.arange(TAPS) + 0.5) / TAPS)[:, None] * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)


class Light:
    """The eye of the light. surfaces: what throws shadows; towards (3,): where it shines from, not straight from above; size: half of what
    it sees, m."""

    def __init__(self, surfaces: Sequence[Surface], towards: Array, size: float):
        self.eye, self.towards, self.size = Eye((PIXELS, PIXELS)), towards / np.linalg.norm(towards), size
        self.eye.add_machine([s for s in surfaces if s.opacity == 1.0], lit=False)
        self.camera = Camera(4.0 * size * self.towards, np.zeros(3), np.array([0.0, 0.0, 1.0]))
        self.axes = self.camera.axes

    def see(self, poses: Array, middle: Array) -> None:
        """Look at bodies at poses (bodies, 4, 4) around a point."""
        self.eye.place(poses)
        self.eye.look(self.camera.moved(middle), 1e-3 * self.size, 8.0 * self.size, half=self.size)
        self.middle = middle
        self.depth = self.eye.shot()[1]

    def _places(self, points: Array) -> tuple[Array, Array, Array]:
        """Row, column and depth of points (..., 3) as the light sees them."""
        p = (points - self.middle.astype(np.float32)) @ self.axes.T.astype(np.float32)
        half = 0.5 * PIXELS / self.size
        return 0.5 * (PIXELS - 1) - half * p[..., 1], 0.5 * (PIXELS - 1) + half * p[..., 0], 4.0 * self.size - p[..., 2]

    def on_floor(self, floor: float) -> Array:
        """From 0 to 1 as the light sees the floor at a height, in pixels that are FINE times as large."""
        seen = np.isfinite(self.depth)
        if not seen.any():
            return np.zeros((PIXELS // FINE, PIXELS // FINE), dtype=np.float32)
        along = self._floor_depth(floor) - np.where(seen, self.depth, 0.0)  # from what is seen to the floor behind it
        weight = np.where(seen, np.exp(-np.maximum(along * self.towards[2], 0.0) / (SHARP * self.size)), 0.0).astype(np.float32)
        weight[along < -0.01 * self.size], seen = 0.0, seen & (along > -0.01 * self.size)
        sharp = smaller(weight)
        return np.asarray(gaussian_filter(sharp, SMALL) + DIM * gaussian_filter(smaller(seen) - sharp, LARGE, truncate=3.0))

    def _floor_depth(self, floor: float) -> Array:
        """(PIXELS, 1): depth at which the ray of a row meets the floor; rays of a row have one height, as right is level."""
        rows = (0.5 * (PIXELS - 1) - np.arange(PIXELS)) * 2.0 * self.size / PIXELS
        start = self.middle[2] + 4.0 * self.size * self.towards[2] + rows * self.axes[1, 2]
        return ((start - floor) / max(self.towards[2], 1e-9))[:, None]

    def places(self, points: Array) -> Array:
        """(2, n): row and column of points (n, 3) in what `on_floor` gives."""
        return (np.stack(self._places(points)[:2]) + 0.5) / np.float32(FINE) - 0.5

    @staticmethod
    def at(shade: Array, places: Array) -> Array:
        """The shadow on the floor at `places` of points of it."""
        return np.asarray(map_coordinates(shade, places, order=1, mode="constant", output=np.float32))

    def on_bodies(self, points: Array) -> Array:
        """(n,) from 0 to 1: how much of the light points (n, 3) do not get."""
        row, column, depth = self._places(points)
        bias = BIAS * 2.0 * self.size / PIXELS
        dark = np.zeros(len(points), dtype=np.float32)
        for i, j in SPREAD * _PLACES:
            r = np.clip((row + i).astype(np.int32), 0, PIXELS - 1)
            c = np.clip((column + j).astype(np.int32), 0, PIXELS - 1)
            dark += self.depth[r, c] < depth - bias
        return dark / TAPS
