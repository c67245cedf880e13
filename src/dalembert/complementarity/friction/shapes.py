"""Sets of tangential impulses of radius R, with what the judge needs of each: its gauge (the norm whose ball it is) and its projection.

disc      sqrt(x^2 + y^2) <= R                                         cone, cylinder
square    |x|, |y| <= R                                                box, pyramid
polygon   convex hull of R (cos, sin)(2 pi k / n)                      polygonal cone
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array


@dataclass(frozen=True)
class Shape:
    """gauge(points (m, 2)) -> (m,);  project(points (m, 2), radii (m,)) -> (m, 2): the nearest points of the sets."""

    name: str
    gauge: Callable[[Array], Array]
    project: Callable[[Array, Array], Array]


def _disc_project(p: Array, radius: Array) -> Array:
    length = np.hypot(p[:, 0], p[:, 1])
    inside = length <= radius
    factor = np.ones_like(length)
    factor[~inside] = radius[~inside] / length[~inside]
    return np.asarray(p * factor[:, None])


DISC = Shape("disc", lambda p: np.hypot(p[:, 0], p[:, 1]), _disc_project)
SQUARE = Shape("square", lambda p: np.abs(p).max(axis=1, initial=0.0), lambda p, radius: np.clip(p, -radius[:, None], radius[:, None]))


def directions(n: int) -> Array:
    """n unit vectors of the plane, the first along the first tangent; exact on the axes."""
    angle = 2.0 * np.pi * np.arange(n) / n
    d = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.where(np.abs(d) < 1e-15, 0.0, d)


def polygon(n: int) -> Shape:
    """The regular polygon with n corners."""
    corners = directions(n)
    normals = corners + np.roll(corners, -1, axis=0)
    normals /= np.hypot(normals[:, 0], normals[:, 1])[:, None]
    width = float(np.cos(np.pi / n))

    def gauge(p: Array) -> Array:
        return np.asarray((p @ normals.T).max(axis=1, initial=0.0) / width)

    def project(p: Array, radius: Array) -> Array:
        start = radius[:, None, None] * corners[None]
        edge = np.roll(start, -1, axis=1) - start
        square = np.maximum((edge**2).sum(axis=2), 1e-300)
        along = np.clip(((p[:, None] - start) * edge).sum(axis=2) / square, 0.0, 1.0)
        nearest = start + along[:, :, None] * edge
        best = ((nearest - p[:, None]) ** 2).sum(axis=2).argmin(axis=1)
        inside = gauge(p) <= radius
        return np.where(inside[:, None], p, nearest[np.arange(len(p)), best])

    return Shape(f"polygon of {n}", gauge, project)
