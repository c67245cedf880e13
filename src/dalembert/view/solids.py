"""Shapes as four-sided faces in the body frame; a triangle repeats its last corner. Corners run counter-clockwise seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from dalembert.arrays import Array
from dalembert.model import Body
from dalembert.model import shapes as kinds
from dalembert.model.rotation import matrix
from dalembert.model.shapes import Shape
from dalembert.view.seen import seen

MANY = 400  # faces of a mesh that may be simplified
POINT = 0.05  # edge of the cube that stands for a point mass, m


class Solid(NamedTuple):
    """Faces (n, 4, 3); tone (n,): 1 where a face is drawn darker, so that a round body is seen to turn; closed: back faces are hidden."""

    faces: Array
    tone: Array
    closed: bool = True

    def moved(self, turn: Array, shift: Array) -> Solid:
        """Turned by a matrix, then shifted."""
        return self._replace(faces=self.faces @ turn.T + shift)


def solids_of_body(body: Body, detail: int = 1) -> list[Solid]:
    """Solids of all shapes of a body that are drawn; detail: how many times finer round ones are."""
    return [solid for s in seen(body.shapes) if (solid := solid_of_shape(s, detail)) is not None]


def solid_of_shape(shape: Shape, detail: int = 1) -> Solid | None:
    """The solid of one shape in the frame of its body; None: a plane."""
    draw = DRAW.get(shape.kind)
    if draw is None:
        return None
    solid = draw(shape, detail=detail) if shape.kind in ROUND else draw(shape)
    return _placed(solid, np.array(shape.position), np.array(shape.quaternion))


def second_moments(body: Body) -> tuple[Array, Array]:
    """Principal values of int x x^T dm / m about the centre of mass, m^2, ascending, and their right-handed axes (columns).

    (tr I/2 - I)/m; 0 where data that no distribution of mass has would give less, and for a body without mass.
    """
    if not body.mass > 0.0:
        return np.zeros(3), np.eye(3)
    values, axes = np.linalg.eigh(0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    return np.maximum(values / body.mass, 0.0), axes


def equivalent_solid(body: Body, detail: int = 1) -> Solid:
    """Ball, cylinder or box of the same mass and inertia, by how many principal moments are alike; what vanishes is drawn thin.

    With s the principal values of the second moments: radius^2 = 5 s; radius^2 = 4 s across and length^2 = 12 s along the axis; edges^2 =
    12 s.
    A point mass, and a body that has inertia alone, become a small cube.
    """
    s, axes = second_moments(body)
    size = np.sqrt(s)
    if not size[2] > 0.0:
        return _box(kinds.Box(np.full(3, POINT))).moved(np.eye(3), body.com)
    size = np.maximum(size, 0.01 * size[2])
    alike = np.diff(s) < 1e-6 * s[2]
    if alike.all():
        return _sphere(kinds.Sphere(np.sqrt(5.0) * size[2]), detail).moved(axes, body.com)
    if alike.any():
        k = 0 if alike[1] else 2  # the axis of symmetry
        turn = axes[:, [1, 2, 0]] if k == 0 else axes
        return _cylinder(kinds.Cylinder(2.0 * size[1], np.sqrt(12.0) * size[k]), detail=detail).moved(turn, body.com)
    return _box(kinds.Box(np.sqrt(12.0) * size)).moved(axes, body.com)


def tapered(start: Array, end: Array, first: float, last: float, detail: int = 1) -> Solid:
    """A rod with round ends between two points, of radius `first` at the start and `last` at the end."""
    frame, length = _along(end - start)
    ends = _arc(first, -0.5 * np.pi, 0.0, 0.0, 4 * detail + 1), _arc(last, 0.0, 0.5 * np.pi, length, 4 * detail + 1)
    solid = _revolved(np.concatenate(ends), 16 * detail)
    return solid._replace(tone=np.zeros(len(solid.tone))).moved(frame, start)


def hinge(centre: Array, axis: Array, radius: float, length: float, detail: int = 1) -> Solid:
    """A drum about an axis."""
    solid = _cylinder(kinds.Cylinder(radius, length), 20, detail)
    return solid._replace(tone=np.zeros(len(solid.tone))).moved(_along(axis)[0], centre)


def ball(centre: Array, radius: float, detail: int = 1) -> Solid:
    """A ball of one tone."""
    solid = _sphere(kinds.Sphere(radius), detail)
    return solid._replace(tone=np.zeros(len(solid.tone))).moved(np.eye(3), centre)


def simplified(solid: Solid, cell: float) -> Solid:
    """Fewer faces: all corners in one cell of a grid become their mean, and faces that collapse are left out. Boxes and the like stay."""
    if len(solid.faces) < MANY:
        return solid
    corners = solid.faces.reshape(-1, 3)
    _, which, counts = np.unique(np.floor(corners / cell).astype(np.int64), axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    merged = np.stack([np.bincount(which, corners[:, i]) for i in range(3)], axis=-1) / counts[:, None]
    index = which.reshape(-1, 4)
    a, b, c, d = index.T
    whole = ((a != b) & (b != c) & (c != a)) | ((a != c) & (c != d) & (d != a))
    _, once = np.unique(np.sort(index[whole], axis=1), axis=0, return_index=True)
    keep = np.flatnonzero(whole)[np.sort(once)]
    return solid._replace(faces=merged[index[keep]], tone=solid.tone[keep])


def _along(axis: Array) -> tuple[Array, float]:
    """Right-handed frame (columns) whose z is the axis, and the axis' length."""
    length = float(np.linalg.norm(axis))
    frame = np.column_stack([*np.linalg.svd(axis[None, :])[2][1:], axis / length])
    if np.linalg.det(frame) < 0:
        frame[:, 0] *= -1.0
    return frame, length


def _placed(solid: Solid, position: Array, quaternion: Array) -> Solid:
    return solid.moved(matrix(quaternion), position)


def _box(shape: Shape) -> Solid:
    half = 0.5 * np.array(shape.size)  # type: ignore[attr-defined]
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            side = np.empty((4, 3))
            side[:, axis] = sign
            side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = (-1, 1, 1, -1), (-1, -1, 1, 1)
            sides.append(side if sign > 0 else side[::-1])
    return Solid(np.array(sides) * half, np.zeros(6))


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


def _sphere(shape: Shape, detail: int = 1) -> Solid:
    return _revolved(_arc(shape.radius, -0.5 * np.pi, 0.5 * np.pi, 0.0, 12 * detail + 1), 24 * detail)  # type: ignore[attr-defined]


def _cylinder(shape: Shape, sectors: int = 36, detail: int = 1) -> Solid:
    r, z = shape.radius, 0.5 * shape.length  # type: ignore[attr-defined]
    return _revolved(np.array([[0.0, -z], [r, -z], [r, z], [0.0, z]]), sectors * detail)


def _capsule(shape: Shape, detail: int = 1) -> Solid:
    r, z = shape.radius, 0.5 * shape.length  # type: ignore[attr-defined]
    rings = 5 * detail + 1
    return _revolved(np.concatenate([_arc(r, -0.5 * np.pi, 0.0, -z, rings), _arc(r, 0.0, 0.5 * np.pi, z, rings)]), 24 * detail)


def _ellipsoid(shape: Shape, detail: int = 1) -> Solid:
    ball = _sphere(kinds.Sphere(1.0), detail)
    return ball._replace(faces=ball.faces * np.array(shape.radii))  # type: ignore[attr-defined]


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
    points = np.array(shape.points)  # type: ignore[attr-defined]
    triangles = points[index]
    a, b = np.concatenate([index[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]).T.astype(np.int64)
    there, back = np.unique(a * len(points) + b), np.unique(b * len(points) + a)
    closed = len(there) == len(a) and np.array_equal(there, back)  # each edge runs once each way
    if closed and np.linalg.det(triangles).sum() < 0:  # six times the volume
        triangles = triangles[:, ::-1]
    return Solid(triangles[:, [0, 1, 2, 2]], np.zeros(len(triangles)), closed)


def _height_field(shape: Shape) -> Solid:
    """The ground itself: open below."""
    points, triangles = shape.surface()  # type: ignore[attr-defined]
    return Solid(points[triangles[:, [0, 1, 2, 2]]], np.zeros(len(triangles)), False)


ROUND = ("sphere", "cylinder", "capsule", "ellipsoid")
DRAW: dict[str, Callable[..., Solid]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": _ellipsoid,
    "convex": _convex,
    "mesh": _mesh,
    "height-field": _height_field,
}
