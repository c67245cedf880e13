"""The faces of a machine as data of a page: each different solid once, and where it is used.

Numbers are little-endian arrays in base64. Colours are a palette of the solid and a number per triangle. Meshes of many triangles are made
coarser: all points in one cell of a grid become their mean.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.model import Model
from dalembert.view.canvas import rgb
from dalembert.view.ground import world_pieces
from dalembert.view.links import pieces_of
from dalembert.view.meshes import WORLD_COLOUR, Mesh, meshes_of
from dalembert.view.seen import seen
from dalembert.view.stage import sizes_of

FINE = 4000  # triangles of a mesh that stays as it is
WALLS, CLEAR = 3, 0.22  # so many shapes of the world may be walls around the bodies; they are then clear
CELL = 1 / 160  # of what is shown: the grid on which others are made coarser


class Geometry(NamedTuple):
    """solids: plain data; parts: [body, number of its solid], body -1 is the world."""

    solids: list[dict[str, Any]]
    parts: list[list[int]]

    @property
    def characters(self) -> int:
        """Length of the data in a page, nearly."""
        return sum(len(s["points"]) + len(s["triangles"]) + len(s["paint"]) + 200 for s in self.solids) + 8 * len(self.parts)


def encoded(array: AnyArray, kind: str) -> str:
    """Base64 of an array as "<f4", "<f8", "<u2" or "<u4"."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def geometry_of(model: Model, centres: Array, size: float, origin: Any = (0.0, 0.0, 0.0)) -> Geometry:
    """Everything of a machine that has faces; centres (n, bodies, 3) of its motion tell how much of a tilted plane is drawn.

    What belongs to the world is relative to an origin.
    """
    solids: list[dict[str, Any]] = []
    known: dict[bytes, int] = {}
    parts = []
    found = meshes_of(model)
    opacity = CLEAR if surrounds([m for m in found if m.body < 0], centres) else 1.0
    solid = [m._replace(opacity=opacity * m.opacity) if m.body < 0 else m for m in found]
    for mesh in (*solid, *tilted_planes(model, centres)):
        placed = mesh._replace(points=mesh.points - origin) if mesh.body < 0 else mesh
        data = _data(coarser(placed, CELL * size))
        key = repr(sorted(data.items())).encode()
        if key not in known:
            known[key] = len(solids)
            solids.append(data)
        parts.append([mesh.body, known[key]])
    return Geometry(solids, parts)


def surrounds(walls: list[Mesh], centres: Array) -> bool:
    """Whether shapes of the world hide what moves: several of them, around all centres (n, bodies, 3) and higher than the lowest."""
    if len(walls) < WALLS or not centres.size:
        return False
    points, flat = np.concatenate([w.points for w in walls]), centres.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    inside = ((flat > low) & (flat < high))[:, :2].all(axis=1)
    return bool(inside.mean() > 0.5 and high[2] > flat[:, 2].min())


def tilted_planes(model: Model, centres: Array) -> Iterable[Mesh]:
    """Planes of the world that are not level, as far as bodies need them."""
    plain = sum(s.kind != "plane" for s in seen(model.world_shapes, world=True))
    colour = rgb(WORLD_COLOUR) / 255.0
    for piece in world_pieces(model, centres, sizes_of(pieces_of(model)))[plain:]:
        points = piece.solid.faces.reshape(-1, 3)
        quads = np.arange(len(points)).reshape(-1, 4)
        triangles = quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
        tone = 1.0 - 0.12 * np.repeat(piece.solid.tone, 2)
        if len(triangles):
            yield Mesh(-1, points, triangles, tone[:, None] * colour, 1.0, False)


def coarser(mesh: Mesh, cell: float) -> Mesh:
    """A mesh of many triangles with fewer; others as they are."""
    if len(mesh.triangles) <= FINE or not cell > 0.0:
        return mesh
    _, which, counts = np.unique(np.floor(mesh.points / cell).astype(np.int64), axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    points = np.stack([np.bincount(which, mesh.points[:, i]) for i in range(3)], axis=-1) / counts[:, None]
    index = which[mesh.triangles]
    a, b, c = index.T
    whole = (a != b) & (b != c) & (c != a)
    return mesh._replace(points=points, triangles=index[whole], colours=mesh.colours[whole])


def _data(mesh: Mesh) -> dict[str, Any]:
    palette, which = np.unique(np.round(255.0 * mesh.colours).astype(int), axis=0, return_inverse=True)
    wide = len(mesh.points) > 65535
    return {
        "points": encoded(mesh.points, "<f4"),
        "triangles": encoded(mesh.triangles, "<u4" if wide else "<u2"),
        "wide": wide,
        "palette": palette.tolist(),
        "paint": encoded(which.reshape(-1), "<u2"),
        "opacity": round(float(mesh.opacity), 3),
        "closed": bool(mesh.closed),
    }
