"""Faces and edges of convex hulls and boxes: triangles of the hull that lie in one plane are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array

FLAT = 1e-6  # 1 - cosine of the angle between triangles of one face
MANY = 120  # edges, above which MuJoCo finds the contacts of a hull
CORNERS = 48  # of a face, see kernels/contact/hulls.py
CUBE = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])


class Solid(NamedTuple):
    """points (n, 3); corners of each face, counter-clockwise from outside; normals (f, 3); edges (e, 4): two vertices, two faces."""

    points: Array
    faces: list[list[int]]
    normals: Array
    edges: Any


def solids(shapes: Sequence[Any], vertices: Sequence[Array]) -> list[Solid | None]:
    """Of hulls, and of boxes if there are hulls; None for all else. vertices: of the hulls."""
    found = [polytope(v) if len(v) else None for v in vertices]
    if not any(found):
        return found
    cube = polytope(CUBE)
    assert cube is not None
    half = [0.5 * np.array(s.size) if s.kind == "box" else None for s in shapes]
    return [s if h is None else cube._replace(points=CUBE * h) for s, h in zip(found, half, strict=True)]


def polytope(points: Array) -> Solid | None:
    """Of points that are all vertices of their hull; None where they are flat, or the hull has too many edges."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    normals = hull.equations[:, :3]
    group = _merged(hull.neighbors, normals)
    loops: dict[int, dict[int, int]] = {}
    owner: dict[tuple[int, int], int] = {}
    for t, (a, b, c) in enumerate(hull.simplices.tolist()):
        if np.cross(points[b] - points[a], points[c] - points[a]) @ normals[t] < 0.0:
            b, c = c, b
        for u, v in ((a, b), (b, c), (c, a)):
            owner[u, v] = group[t]
    for (u, v), g in owner.items():
        if owner[v, u] != g:
            loops.setdefault(g, {})[u] = v
    names = sorted(loops)
    faces = [_walk(loops[g]) for g in names]
    number = {g: k for k, g in enumerate(names)}
    edges = [(u, v, number[g], number[owner[v, u]]) for (u, v), g in owner.items() if u < v and owner[v, u] != g]
    whole = all(len(face) == len(loops[g]) <= CORNERS for face, g in zip(faces, names, strict=True))
    if not whole or len(edges) > MANY:
        return None
    return Solid(points, faces, np.array([_normal(points[face]) for face in faces]), np.array(sorted(edges), dtype=np.int64))


def _merged(neighbours: Any, normals: Array) -> list[int]:
    """For each triangle the smallest number of those that lie in one plane with it and hang together."""
    group = list(range(len(normals)))

    def root(t: int) -> int:
        while group[t] != t:
            t = group[t]
        return t

    for t, near in enumerate(neighbours.tolist()):
        for other in near:
            if normals[t] @ normals[other] > 1.0 - FLAT:
                a, b = sorted((root(t), root(other)))
                group[b] = a
    return [root(t) for t in range(len(normals))]


def _walk(after: dict[int, int]) -> list[int]:
    """The loop from its smallest vertex."""
    start = min(after)
    loop, at = [start], after[start]
    while at != start and len(loop) <= len(after):
        loop.append(at)
        at = after.get(at, start)
    return loop


def _normal(corners: Array) -> Array:
    """Newell: sum of p_i x p_(i+1), the mean over all triangles."""
    n = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
    return np.asarray(n / np.linalg.norm(n))
