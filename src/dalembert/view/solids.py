"""Shapes as four-sided faces in the body frame; a triangle repeats its last corner. Corners run counter-clockwise seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from dalembert.model import Body
from dalembert.model import shapes as kinds
from dalembert.model.rotation import Array, matrix
from dalembert.model.shapes import Shape

POINT = 0.05  # edge of the cube that stands for a point mass, m


class Solid(NamedTuple):
    """Faces (n, 4, 3); tone (n,): 1 where a face is drawn darker, so that a round body is seen to turn; closed: back faces are hidden."""

    faces: Array
    tone: Array
    closed: bool = True


def solids_of_body(body: Body) -> list[Solid]:
    """Solids of all shapes of a body, or the box with the same mass and inertia if it has none that can be drawn."""
    found = [_placed(DRAW[s.kind](s), np.array(s.position), np.array(s.quaternion)) for s in body.shapes if s.kind in DRAW]
    return found or [equivalent_box(body)]


def equivalent_box(body: Body) -> Solid:
    """Box of the same mass and inertia: edges a_i^2 = 6 (I_j + I_k - I_i)/m along the principal axes; a vanishing one is drawn thin.

    A point mass, and a body that has inertia alone, become a small cube.
    """
    moments, axes = np.linalg.eigh(body.inertia)
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / body.mass, 0.0)) if body.mass > 0.0 else np.zeros(3)
    edges = np.maximum(edges, 0.02 * edges.max() if edges.any() else POINT)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    solid = _box(kinds.Box(edges))
    return solid._replace(faces=solid.faces @ axes.T + body.com)


def rod(start: Array, end: Array, radius: float) -> Solid:
    """A thin cylinder between two points."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    across = np.linalg.svd(axis[None, :])[2][1:]
    frame = np.column_stack([*across, axis / length])
    if np.linalg.det(frame) < 0:
        frame[:, 0] *= -1.0
    solid = _cylinder(kinds.Cylinder(radius, length), sectors=8)
    return solid._replace(faces=solid.faces @ frame.T + 0.5 * (start + end), tone=np.zeros(len(solid.tone)))


def _placed(solid: Solid, position: Array, quaternion: Array) -> Solid:
    return solid._replace(faces=solid.faces @ matrix(quaternion).T + position)


def _box(shape: Shape, cells: int = 4) -> Solid:
    """Each side is divided, so that the order of depth against neighbouring shapes comes out right."""
    half = 0.5 * np.array(shape.size)  # type: ignore[attr-defined]
    s = np.linspace(-1, 1, cells + 1)
    a, b = (x.ravel() for x in np.meshgrid(s[:-1], s[:-1], indexing="ij"))
    d = 2.0 / cells
    u = np.stack([a, a + d, a + d, a], axis=-1)
    w = np.stack([b, b, b + d, b + d], axis=-1)
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            side = np.empty((len(u), 4, 3))
            side[..., axis] = sign
            side[..., (axis + 1) % 3], side[..., (axis + 2) % 3] = u, w
            sides.append(side if sign > 0 else side[:, ::-1])
    faces = np.concatenate(sides) * half
    return Solid(faces, np.zeros(len(faces)))


def _revolved(profile: Array, sectors: int = 24) -> Solid:
    """Surface of revolution about z; profile: (k, 2) of radius and height, upwards. Every other group of three sectors is darker."""
    angle = np.linspace(0, 2 * np.pi, sectors + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate(
        [profile[None, :, :1] * ring[:, None, :], np.broadcast_to(profile[None, :, 1:], (sectors + 1, len(profile), 1))], axis=-1
    )
    faces = np.stack([points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    tone = np.repeat(np.arange(sectors) // max(sectors // 8, 1) % 2, len(profile) - 1).astype(float)
    return Solid(faces, tone)


def _arc(radius: float, start: float, stop: float, height: float, n: int) -> Array:
    latitude = np.linspace(start, stop, n)
    return np.stack([radius * np.cos(latitude), height + radius * np.sin(latitude)], axis=-1)


def _sphere(shape: Shape) -> Solid:
    return _revolved(_arc(shape.radius, -0.5 * np.pi, 0.5 * np.pi, 0.0, 13))  # type: ignore[attr-defined]


def _cylinder(shape: Shape, sectors: int = 32) -> Solid:
    r, z = shape.radius, 0.5 * shape.length  # type: ignore[attr-defined]
    rings = max(2, min(8, 1 + round(2 * z / r)))
    lids = np.linspace(0, r, 4)
    wall = np.column_stack([np.full(rings, r), np.linspace(-z, z, rings)])
    below, above = np.column_stack([lids, np.full(4, -z)]), np.column_stack([lids[::-1], np.full(4, z)])
    return _revolved(np.concatenate([below, wall, above]), sectors)


def _capsule(shape: Shape) -> Solid:
    r, z = shape.radius, 0.5 * shape.length  # type: ignore[attr-defined]
    wall = np.column_stack([np.full(4, r), np.linspace(-z, z, 4)])
    ends = _arc(r, -0.5 * np.pi, 0.0, -z, 6), _arc(r, 0.0, 0.5 * np.pi, z, 6)
    return _revolved(np.concatenate([ends[0], wall, ends[1]]))


def _convex(shape: Shape) -> Solid:
    """Triangles of the hull, turned so that their normals point away from its middle."""
    points = np.array(shape.points)  # type: ignore[attr-defined]
    triangles = points[ConvexHull(points).simplices]
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inward = np.einsum("ij,ij->i", normal, triangles[:, 0] - points.mean(axis=0)) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return Solid(triangles[:, [0, 1, 2, 2]], np.zeros(len(triangles)))


def _mesh(shape: Shape) -> Solid:
    """Triangles as they are given; if they close a volume, turned so that their normals point outwards."""
    index = np.array(shape.triangles)  # type: ignore[attr-defined]
    triangles = np.array(shape.points)[index]  # type: ignore[attr-defined]
    edges = {tuple(edge) for pair in ([0, 1], [1, 2], [2, 0]) for edge in index[:, pair].tolist()}
    closed = len(edges) == 3 * len(index) and all((b, a) in edges for a, b in edges)
    if closed and np.linalg.det(triangles).sum() < 0:  # six times the volume
        triangles = triangles[:, ::-1]
    return Solid(triangles[:, [0, 1, 2, 2]], np.zeros(len(triangles)), closed)


DRAW: dict[str, Callable[[Shape], Solid]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "convex": _convex,
    "mesh": _mesh,
}
