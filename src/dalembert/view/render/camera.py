"""Where a picture is seen from: a pinhole at `position` that looks at `focus`, with a vertical angle of view.

With rows right, up, eye of `axes` and p = axes (x - position), depth d = -p_eye, a point is seen at

    (p_right, p_up) / (d tan(angle/2))      1 at the upper edge, width/height at the right one

`fitted` puts the camera as near as it can be while all points stay inside the margins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, unknown_name
from dalembert.view.canvas import camera as direction

ANGLE = 22.0  # degrees, vertical: that of a lens that draws machines without much distortion
MARGIN = 1.14
Angles = tuple[float, float]  # azimuth and elevation, degrees
VIEWS: dict[str, Angles] = {"iso": (35.0, 22.0), "front": (-90.0, 4.0), "side": (0.0, 4.0), "top": (-90.0, 89.9)}


class Camera(NamedTuple):
    """position, focus (3,), m; up (3,); angle: of view, vertical, degrees."""

    position: Array
    focus: Array
    up: Array
    angle: float = ANGLE

    @property
    def axes(self) -> Array:
        """Rows: right, up, towards the eye."""
        eye = self.position - self.focus
        eye = eye / np.linalg.norm(eye)
        right = np.cross(self.up, eye)
        right = right / np.linalg.norm(right)
        return np.stack([right, np.cross(eye, right), eye])

    @property
    def slope(self) -> float:
        """tan(angle/2)"""
        return float(np.tan(0.5 * np.radians(self.angle)))

    def moved(self, away: Array) -> Camera:
        """Shifted."""
        return self._replace(position=self.position + away, focus=self.focus + away)

    def rays(self, width: int, height: int) -> Array:
        """(height, width, 3): what to add to the position to get to depth 1 behind the middle of each pixel."""
        x = (2.0 * np.arange(width) + 1.0 - width) / height * self.slope
        y = -(2.0 * np.arange(height) + 1.0 - height) / height * self.slope
        right, up, eye = self.axes.astype(np.float32)
        return x.astype(np.float32)[None, :, None] * right + y.astype(np.float32)[:, None, None] * up - eye

    def scale(self, depth: float) -> float:
        """Half of what is seen along the height at a depth, m."""
        return self.slope * depth


def checked_camera(given: Any) -> Camera | Angles:
    """A camera, or azimuth and elevation of one that is fitted to what there is to see."""
    if given is None:
        return VIEWS["iso"]
    if isinstance(given, str):
        if given not in VIEWS:
            raise OptionError(f"{unknown_name('camera', given, VIEWS)[:-1]}; or (azimuth, elevation), or (position, focus, up).")
        return VIEWS[given]
    try:
        parts = [np.array(x, dtype=float) for x in given]
    except (TypeError, ValueError):
        parts = []
    if [x.shape for x in parts] == [(), ()]:
        return _checked_angles(given, float(parts[0]), float(parts[1]))
    if [x.shape for x in parts] != [(3,), (3,), (3,)]:
        names = ", ".join(VIEWS)
        raise OptionError(
            f"camera = {given!r}; expected {names}, (azimuth, elevation) in degrees, or (position, focus, up), of 3 numbers each."
        )
    position, focus, up = parts
    if not all(np.isfinite(x).all() for x in parts):
        raise OptionError(f"camera = {given!r} is not finite; expected (position, focus, up) in m.")
    if not np.linalg.norm(np.cross(up, position - focus)) > 1e-9 * np.linalg.norm(up) * np.linalg.norm(position - focus):
        raise OptionError(f"camera = {given!r}: position and focus are one point, or up points along the view; expected others.")
    return Camera(position, focus, up)


def _checked_angles(given: Any, azimuth: float, elevation: float) -> Angles:
    if not (np.isfinite(azimuth) and abs(elevation) < 90.0):
        raise OptionError(f"camera = {given!r}; expected an azimuth and an elevation between -90 and 90, in degrees.")
    return azimuth, elevation


def axes_of(view: Camera | Angles) -> Array:
    """Rows right, up, eye."""
    return view.axes if isinstance(view, Camera) else direction(*view)


def fitted(view: Angles, points: Array, size: tuple[int, int], angle: float = ANGLE) -> Camera:
    """The camera in a direction from which all points (n, 3) are seen."""
    axes = axes_of(view)
    p = points @ axes.T
    slopes = np.tan(0.5 * np.radians(angle)) * np.array([size[0] / size[1], 1.0]) / MARGIN
    middle = 0.5 * (p.min(axis=0) + p.max(axis=0))
    for _ in range(20):
        away = float((np.abs(p[:, :2] - middle[:2]) / slopes + p[:, 2:]).max())
        seen = (p[:, :2] - middle[:2]) / (away - p[:, 2:])
        middle[:2] += 0.5 * (seen.min(axis=0) + seen.max(axis=0)) * (away - middle[2])
    away = max(float((np.abs(p[:, :2] - middle[:2]) / slopes + p[:, 2:]).max()), middle[2] + 1e-6)
    focus = middle @ axes
    return Camera(focus + (away - middle[2]) * axes[2], focus, axes[1], angle)
