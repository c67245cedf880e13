"""What must not overlap: convex solids on bodies and in the world, and obstacles that are no part of the machine.

A convex solid is the hull of a few points, grown by an ellipsoid:  K = hull{x_i} + {E u : |u| <= 1}.  Along a direction a of its frame it
reaches as far as  max_i a . x_i + |E^T a|.

    shape           points          E
    sphere          centre          r 1
    capsule         two ends        r 1
    cylinder        two ends        r (1 - z z^T), a disc
    ellipsoid       centre          R diag(radii)
    box             eight corners   0
    convex, mesh    hull            0
    plane           the half space below it, no hull of points: n . x <= d

A body or obstacle of several shapes is the union of their solids: this is how bodies that are not convex are told.

Hulls of many vertices are made coarser for a plan: a few of them, chosen one by one as those farthest from the hull of the others, grown
by a ball as large as the distance of the farthest one that is left. The coarse solid contains the fine one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.polytopes import CUBE
from dalembert.contact.scene import hull_vertices
from dalembert.contact.separation import sshlp
from dalembert.errors import ModelError, OptionError, UnsupportedError
from dalembert.model import validate
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix, quat_mul, rotate
from dalembert.model.shapes import Shape

#: directions in which ellipsoids and discs are sampled where a hull of points is needed: faces, edges and corners of a cube
AROUND = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], dtype=float)
AROUND /= np.linalg.norm(AROUND, axis=1)[:, None]
FEW = 32  # vertices of a hull that is made coarser


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex solid in the frame of its owner, a body or "world".

    points (n, 3); growth: the radius of a ball, or a matrix E (3, 3) of an ellipsoid. half_space: (normal, d) of a plane instead.
    shape, position, quaternion: what it was made of, and where.
    """

    owner: str
    name: str
    points: Array
    growth: Any
    shape: Shape
    position: Array
    quaternion: Array
    half_space: tuple[Array, float] | None = None
    fine: Solid | None = None  # what it was made coarser from

    @property
    def exact(self) -> Solid:
        """The solid itself, not made coarser."""
        return self if self.fine is None else self.fine

    @property
    def radius(self) -> float:
        """Of the ball by which the hull is grown; 0 where it is grown by an ellipsoid."""
        return float(self.growth) if np.ndim(self.growth) == 0 else 0.0

    @property
    def ball(self) -> bool:
        """A ball."""
        return self.shape.kind == "sphere"

    @property
    def bare(self) -> bool:
        """Known by its points alone: a hull, in the frame of the owner."""
        return self.shape.kind in ("convex", "mesh")

    @property
    def cloud(self) -> Array:
        """Points whose hull, grown by `radius`, is about the solid: where a guess needs them."""
        if np.ndim(self.growth) == 0:
            return self.points
        around: Array = AROUND @ np.asarray(self.growth).T
        return (self.points[:, None, :] + around[None, :, :]).reshape(-1, 3)

    @property
    def reach(self) -> float:
        """Of the solid from the origin of its owner, m."""
        most = float(np.linalg.norm(self.points, axis=1).max(initial=0.0))
        return most + (self.radius if np.ndim(self.growth) == 0 else float(np.linalg.norm(self.growth, 2)))


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Something in the world that is no part of the machine: a shape or several, at a pose ((x, y, z), (position, quaternion), 4 x 4)."""

    shapes: Any
    pose: Any = None
    name: str = ""
    placed: tuple[Array, Array] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = (self.shapes,) if isinstance(self.shapes, Shape) else self.shapes
        if not isinstance(given, Sequence) or not given or not all(isinstance(s, Shape) for s in given):
            raise OptionError(f"obstacle: {self.shapes!r}; expected a shape such as dal.Sphere(0.1), or a list of them.")
        object.__setattr__(self, "shapes", tuple(given))
        object.__setattr__(self, "name", self.name or " and ".join(dict.fromkeys(f"the {s.kind}" for s in given)))
        object.__setattr__(self, "placed", _pose(self.name, self.pose))


def coarser(s: Solid) -> Solid:
    """A solid of few points that contains a hull of many; other solids as they are."""
    if not s.bare or len(s.points) <= 2 * FEW:
        return s
    points, room = _few(s.shape.points)  # type: ignore[attr-defined]
    return replace(s, points=points @ matrix(s.quaternion).T + s.position, growth=room, fine=s)


@lru_cache(maxsize=256)
def _few(points: tuple[tuple[float, float, float], ...]) -> tuple[Array, float]:
    """(vertices, largest distance of a point from their hull)"""
    given = hull_vertices(np.array(points))
    chosen = list(dict.fromkeys(int(np.argmax(given @ a)) for a in np.vstack([np.eye(3), -np.eye(3)])))
    while True:
        distances = np.array([sshlp(x[None], given[chosen]).h for x in given])
        if len(chosen) >= FEW or distances.max() <= 0.0:
            return given[chosen], max(0.0, float(distances.max()))
        chosen.append(int(np.argmax(distances)))


def _pose(name: str, given: Any) -> tuple[Array, Array]:
    """(position, quaternion) also of a position alone."""
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):  # a pair of position and quaternion
        numbers = np.empty(0)
    try:
        if numbers.ndim == 1 and numbers.size and given is not None:
            return validate.vector(name, "position", given, 3), np.array([1.0, 0.0, 0.0, 0.0])
        return validate.pose(name, given)
    except ModelError as error:
        raise OptionError(f"obstacle: {error}") from None


def of_obstacle(obstacle: Obstacle) -> list[Solid]:
    """The solids of an obstacle, in the world."""
    p, quaternion = obstacle.placed
    return [solid(WORLD, f"{obstacle.name}{_number(i, obstacle.shapes)}", s, p, quaternion) for i, s in enumerate(obstacle.shapes)]


def of_owner(owner: str, shapes: Iterable[Shape]) -> list[Solid]:
    """The solids of the colliding shapes of a body or the world, in its frame."""
    own = [s for s in shapes if s.collide]
    zero, none = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    return [solid(owner, f"{owner}{_number(i, own)}", s, zero, none) for i, s in enumerate(own)]


def _number(i: int, shapes: Sequence[Shape]) -> str:
    return f" ({shapes[i].kind} {i})" if len(shapes) > 1 else ""


def solid(owner: str, name: str, shape: Shape, position: Array, quaternion: Array) -> Solid:
    """The solid of a shape whose frame is at a pose in the frame of its owner."""
    x = position + rotate(quaternion, np.array(shape.position))
    turn = quat_mul(quaternion, np.array(shape.quaternion))
    turn = turn / np.linalg.norm(turn)
    R, half = matrix(turn), None
    points, growth = _parts(shape, R, name)
    if shape.kind == "plane":
        if owner != WORLD:
            raise UnsupportedError(f"body {owner!r}: a plane is avoided in the world alone; use a box, or collide=False.")
        half = R[:, 2], float(R[:, 2] @ x)
    return Solid(owner, name, points @ R.T + x, growth, shape, x, turn, half)


def _parts(s: Any, R: Array, name: str) -> tuple[Array, Any]:
    """(points in the frame of the shape, growth in the frame of the owner)"""
    centre = np.zeros((1, 3))
    if s.kind == "sphere":
        return centre, s.radius
    if s.kind in ("capsule", "cylinder"):
        ends = np.array([[0.0, 0.0, -0.5 * s.length], [0.0, 0.0, 0.5 * s.length]])
        return ends, s.radius if s.kind == "capsule" else s.radius * (R @ np.diag([1.0, 1.0, 0.0]))
    if s.kind == "ellipsoid":
        return centre, R @ np.diag(s.radii)
    if s.kind == "box":
        return 0.5 * CUBE * np.array(s.size), 0.0
    if s.kind in ("convex", "mesh"):
        return hull_vertices(np.array(s.points)), 0.0
    if s.kind == "plane":
        return centre, 0.0
    raise UnsupportedError(f"{name}: a plan cannot avoid a {s.kind}; give it as boxes or convex hulls, or collide=False.")


def relative(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Pose (R, x) of b in the frame of a."""
    return a[0].T @ b[0], a[0].T @ (b[1] - a[1])


__all__ = ["Obstacle", "Solid", "of_obstacle", "of_owner", "relative", "solid"]
