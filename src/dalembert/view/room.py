"""Lines beside the solids of a picture: edges of the room that planes of the world enclose, and links of `distance` loops.

room    points that lie on three planes and outside of none are its corners; corners that share two planes are joined by an edge. It is
        drawn where it is closed, each corner has three edges or more, and where bodies get around in it
link    a straight line between the two points whose distance is kept
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Body, Model
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix, quat_conj, rotate

MOST = 12  # planes of a room that is drawn
LARGER = 1.2  # a room whose corners are farther than so many times the extent of the motion is not drawn
PARALLEL = 1e-9  # determinant of three normals


def room_edges(model: Model) -> Array:
    """(n, 2, 3) edges; none where the planes of the world enclose nothing."""
    planes = [s for s in model.world_shapes if s.kind == "plane"]
    if not 4 <= len(planes) <= MOST:
        return np.zeros((0, 2, 3))
    normals = np.array([matrix(np.array(s.quaternion))[:, 2] for s in planes])
    offsets = np.einsum("ij,ij->i", normals, np.array([s.position for s in planes], dtype=float))
    corners = _corners(normals, offsets)
    pairs = [(a, b) for (a, on), (b, of) in combinations(corners, 2) if len(on & of) >= 2]
    ends = [id(x) for pair in pairs for x in pair]
    if len(corners) < 4 or any(ends.count(id(x)) < 3 for x, _ in corners):
        return np.zeros((0, 2, 3))
    return np.array(pairs)


def fills(edges: Array, centres: Array) -> bool:
    """Whether bodies with centres (n, bodies, 3) get around in a room: one that is far larger than their motion is not drawn."""
    flat = centres.reshape(-1, 3)
    low, high = np.nanmin(flat, axis=0), np.nanmax(flat, axis=0)
    reach = np.linalg.norm(edges.reshape(-1, 3) - 0.5 * (low + high), axis=1).max()
    return bool(reach <= LARGER * np.linalg.norm(high - low))


def _corners(normals: Array, offsets: Array) -> list[tuple[Array, set[int]]]:
    """Corners with the planes on which they lie."""
    found: list[tuple[Array, set[int]]] = []
    size = float(np.abs(offsets).max()) + 1e-300
    for three in combinations(range(len(normals)), 3):
        A, b = normals[list(three)], offsets[list(three)]
        if abs(np.linalg.det(A)) < PARALLEL:
            continue
        x: Array = np.asarray(np.linalg.solve(A, b), dtype=float)
        gaps = normals @ x - offsets
        if gaps.min() >= -1e-9 * size and all(np.linalg.norm(x - y) > 1e-9 * size for y, _ in found):
            found.append((x, set(np.flatnonzero(gaps <= 1e-9 * size).tolist())))
    return found


class Links:
    """Links of a model, by body (the world is the last) and place in its frame."""

    def __init__(self, model: Model):
        number = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: len(model.bodies)}
        bodies = {b.name: b for b in model.bodies}
        self.ends = []
        for loop in model.loops:
            if loop.kind == "distance":
                pairs = ((loop.parent, loop.anchor), (loop.child, loop.point))
                self.ends.append([(number[who], place if who == WORLD else _local(bodies[who], place)) for who, place in pairs])

    def lines(self, poses: Array) -> Array:
        """(n, 2, 3) at poses (bodies + 1, 4, 4)."""
        made = [[poses[i, :3, :3] @ x + poses[i, :3, 3] for i, x in pair] for pair in self.ends]
        return np.array(made).reshape(-1, 2, 3)


def _local(body: Body, place: Array) -> Array:
    return np.asarray(rotate(quat_conj(body.quaternion), place - body.position))
