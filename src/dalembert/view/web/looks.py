"""Triangles of a machine as a browser draws them: parts of one colour, equal ones of many bodies together.

A browser smooths over corners that triangles share. So a corner is split where faces meet at more than CREASE: boxes keep their edges,
balls are round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.view.meshes import Mesh, meshes_of

CREASE = np.cos(np.radians(40.0))
MOST_CREASED = 30_000  # triangles; larger meshes are smooth all over


class Batch(NamedTuple):
    """Triangles that several bodies share: points (n, 3) in the body frame, triangles (m, 3); bodies (k,), their colours (k, 3), 0 ... 255.

    opacity: 1 is solid; closed: back faces are never seen.
    """

    points: Array
    triangles: Any
    opacity: float
    closed: bool
    bodies: Any
    colours: Any


def batches_of(model: Model) -> list[Batch]:
    """Everything that a machine looks like; body -1 is the world."""
    groups: dict[Any, list[tuple[int, Any]]] = {}
    shapes: dict[Any, Mesh] = {}
    for mesh in meshes_of(model):
        for part, colour in _by_colour(mesh):
            key = (part.points.tobytes(), part.triangles.tobytes(), part.opacity, part.closed, part.body < 0)
            shapes.setdefault(key, part)
            groups.setdefault(key, []).append((part.body, colour))
    out = []
    for key, members in groups.items():
        part = shapes[key]
        points, triangles = creased(part.points, part.triangles)
        bodies, colours = (np.array(x) for x in zip(*members, strict=True))
        out.append(Batch(points, triangles, part.opacity, part.closed, bodies, colours))
    return out


def _by_colour(mesh: Mesh) -> list[tuple[Mesh, Any]]:
    """A mesh as meshes of one colour (3,), 0 ... 255."""
    colours, which = np.unique(np.round(255.0 * mesh.colours).astype(np.uint8), axis=0, return_inverse=True)
    out = []
    for k, colour in enumerate(colours):
        used, index = np.unique(mesh.triangles[which.reshape(-1) == k], return_inverse=True)
        out.append((mesh._replace(points=mesh.points[used], triangles=index.reshape(-1, 3)), colour))
    return out


def creased(points: Array, triangles: Any) -> tuple[Array, Any]:
    """The same triangles with corners of their own where faces meet at an edge."""
    if not 0 < len(triangles) <= MOST_CREASED:
        return points, triangles
    grain = 1e-7 * float(np.ptp(points, axis=0).max())
    _, first, which = np.unique(np.round(points / grain), axis=0, return_index=True, return_inverse=True)
    points, triangles = points[first], which.reshape(-1)[triangles]  # the seam of what is turned about an axis is closed
    a, b, c = (points[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    index: dict[int, list[tuple[int, int]]] = {}  # of a corner: (face that has it, its number)
    out = np.empty_like(triangles)
    corners: list[int] = []
    for f, face in enumerate(triangles.tolist()):
        for i, corner in enumerate(face):
            known = index.setdefault(corner, [])
            number = next((n for g, n in known if normal[f] @ normal[g] >= CREASE), -1)
            if number < 0:
                number = len(corners)
                corners.append(corner)
                known.append((f, number))
            out[f, i] = number
    return points[corners], out


def sizes_of_bodies(model: Model, batches: list[Batch]) -> Array:
    """(bodies,): geometric mean of the three extents of each body, m; 0 of what is not drawn. At least a tenth of the largest each."""
    low, high = np.full((len(model.bodies), 3), np.inf), np.full((len(model.bodies), 3), -np.inf)
    for batch in batches:
        for body in batch.bodies[batch.bodies >= 0]:
            low[body], high[body] = np.minimum(low[body], batch.points.min(axis=0)), np.maximum(high[body], batch.points.max(axis=0))
    extent = np.maximum(high - low, 0.0)
    return np.asarray(np.cbrt(np.maximum(extent, 0.1 * extent.max(axis=1, initial=0.0, keepdims=True)).prod(axis=1)))
