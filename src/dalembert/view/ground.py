"""What the world is made of, in pictures: its shapes, and its planes as chequered ground.

A level plane is the floor of the picture, wherever the bodies are. Of a tilted one as much is drawn as the bodies need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.rotation import matrix
from dalembert.view.links import BASE, Piece
from dalembert.view.seen import colour_given, seen
from dalembert.view.solids import Solid, solid_of_shape

LEVEL = 1e-6  # rad
TILES = 12  # across a tilted plane


def level_floor(model: Model) -> float | None:
    """Height of the highest level plane of the world that looks up, or None."""
    planes = [s for s in model.world_shapes if s.kind == "plane" and _normal(s)[2] > 1.0 - 0.5 * LEVEL**2]
    return max((float(s.position[2]) for s in planes), default=None)


def world_pieces(model: Model, centres: Array, sizes: Array) -> list[Piece]:
    """Shapes of the world, of a body that follows the last: centres (n, bodies, 3) of all that moves, sizes (bodies,) of its bodies."""
    number = len(model.bodies)
    shapes = [(solid, colour_given(s)) for s in seen(model.world_shapes, world=True) if (solid := solid_of_shape(s)) is not None]
    shapes += [(_patch(s, centres, sizes), None) for s in model.world_shapes if s.kind == "plane" and _normal(s)[2] <= 1.0 - 0.5 * LEVEL**2]
    return [Piece(number, solid, BASE, given) for solid, given in shapes]


def with_world(poses: Array) -> Array:
    """Poses (..., bodies, 4, 4) and one more for the world."""
    return np.concatenate([poses, np.broadcast_to(np.eye(4), (*poses.shape[:-3], 1, 4, 4))], axis=-3)


def _normal(plane: Any) -> Array:
    return np.asarray(matrix(np.array(plane.quaternion))[:, 2])


def _patch(plane: Any, centres: Array, sizes: Array) -> Solid:
    """Tiles of a tilted plane below the bodies; steep ones, walls, are left out by a size of 0."""
    R, origin = matrix(np.array(plane.quaternion)), np.array(plane.position)
    local = (centres[np.isfinite(centres).all(axis=(1, 2))] - origin) @ R
    if R[2, 2] < 0.2 or not local.size:
        return Solid(np.zeros((0, 4, 3)), np.zeros(0), False)
    reach = 1.5 * float(sizes.max(initial=0.0))
    low, high = local[..., :2].min(axis=(0, 1)) - reach, local[..., :2].max(axis=(0, 1)) + reach
    edge = float((high - low).max()) / TILES
    counts = np.maximum(np.ceil((high - low) / edge), 1).astype(int)
    start = 0.5 * (low + high) - 0.5 * edge * counts
    i, j = (x.ravel() for x in np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"))
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    flat = start + edge * (np.stack([i, j], axis=-1)[:, None] + corners)
    faces = np.concatenate([flat, np.full((*flat.shape[:2], 1), -2e-3 * edge)], axis=-1)
    return Solid(faces @ R.T + origin, ((i + j) % 2).astype(float), False)
