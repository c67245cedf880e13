"""The collision geometry of a model as arrays: which shapes there are, which of them touch, what they are made of.

Bodies that fixed joints hold together are one (`model/lumps.py`); poses of shapes are relative to its centre of mass, in the axes of the
body that carries it. Convex hulls and meshes count as the hulls of their points, as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.materials import Materials
from dalembert.contact.polytopes import Solid, solids
from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.kernels.contact.tables import BOX, FOREIGN, HULL, LARGE_HULL, PLANE, SPHERE, Filters, Polytopes, Shapes
from dalembert.model import Model
from dalembert.model.lumps import Rigid, lump
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, quat_mul, rotate
from dalembert.model.shapes import Shape
from dalembert.model.touching import neighbours

CODES = {"plane": PLANE, "sphere": SPHERE, "box": BOX, "convex": HULL, "mesh": HULL}
FULL_SIZE = 0.05  # m: tolerances of shapes of a smaller bounding radius shrink with it
HERE = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


@dataclass(frozen=True)
class Placed:
    """A colliding shape: of which part of the model, which body owns it (-1 the world), where it is relative to its centre of mass."""

    shape: Shape
    part: str
    owner: int
    position: Array
    quaternion: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """Colliding shapes of a model, ordered by owner. materials: rows of friction, restitution, compliance, damping time; NaN: not given."""

    bodies: tuple[str, ...]
    placed: tuple[Placed, ...]
    shapes: Shapes
    polytopes: Polytopes
    filters: Filters
    materials: Array

    @classmethod
    def of(cls, model: Model, bodies: Sequence[str] | None = None) -> Scene:
        """The scene of a model. bodies: names of those that carry others by fixed joints and are not fixed in the world, in the order of
        their numbers; None: in the order of the model."""
        lead, wholes = lump(model)
        names = tuple(b.name for b in model.bodies if b.name in wholes) if bodies is None else tuple(bodies)
        for name in names:
            if name not in wholes:
                raise UnknownNameError("body of a scene", name, wholes)
        number = {name: i for i, name in enumerate(names)}
        found = sorted(_placed(model, lead, wholes, number), key=lambda p: p.owner)  # stable
        _refuse_moving_ground(found)
        boxes = [bounds(p.shape) for p in found]
        flat = solids([p.shape for p in found], [b[2] for b in boxes])
        shapes, materials = _shapes(found, boxes, flat), Materials.of(model, found)
        return cls(names, tuple(found), shapes, _polytopes(shapes.first, flat), _filters(model, lead, found, materials), materials.table)

    @property
    def radii(self) -> Array:
        """(bodies,): greatest distance of a point of a colliding shape from the centre of mass of its body, m."""
        out = np.zeros(len(self.bodies))
        size = np.linalg.norm(self.shapes.position, axis=1) + np.linalg.norm(np.abs(self.shapes.centre) + self.shapes.half, axis=1)
        moving = self.shapes.owner >= 0
        np.maximum.at(out, self.shapes.owner[moving], size[moving])
        return out

    def touch(self, i: int, j: int) -> bool:
        """Can shapes i and j touch?"""
        from dalembert.kernels.contact.filters import touch

        return bool(touch(self.shapes, self.filters, min(i, j), max(i, j)))


def _placed(model: Model, lead: dict[str, str], wholes: dict[str, Rigid], number: dict[str, int]) -> Iterator[Placed]:
    """All colliding shapes. A body that is neither in the list nor fixed in the world is left out."""
    for s in model.world_shapes:
        if s.collide:
            yield Placed(s, WORLD, -1, np.array(s.position), np.array(s.quaternion))
    for b in model.bodies:
        if lead[b.name] != WORLD and lead[b.name] not in number:
            continue
        owner, (p, q), com = -1, HERE, np.zeros(3)
        if lead[b.name] != WORLD:
            whole = wholes[lead[b.name]]
            owner, (p, q), com = number[lead[b.name]], (whole.body.position, whole.body.quaternion), whole.com
        back = quat_conj(q)
        shift, turn = rotate(back, b.position - p) - com, quat_mul(back, b.quaternion)
        for s in b.shapes:
            if s.collide:
                turned = quat_mul(turn, np.array(s.quaternion))
                yield Placed(s, b.name, owner, shift + rotate(turn, np.array(s.position)), turned / np.linalg.norm(turned))


def _refuse_moving_ground(found: Sequence[Placed]) -> None:
    for p in found:
        if p.owner >= 0 and p.shape.kind in ("plane", "height-field"):
            raise UnsupportedError(f"body {p.part!r}: a {p.shape.kind} collides in the world alone; use a box, or collide=False.")


# arrays ------------------------------------------------------------------------------------------------------------------------------


def bounds(shape: Any) -> tuple[Array, Array, Array]:
    """(middle, half edges of the bounding box in the axes of the shape, vertices of the hull (n, 3))."""
    none, middle = np.zeros((0, 3)), np.zeros(3)
    if shape.kind == "sphere":
        return middle, np.full(3, shape.radius), none
    if shape.kind == "box":
        return middle, 0.5 * np.array(shape.size), none
    if shape.kind in ("cylinder", "capsule"):
        end = 0.5 * shape.length + (shape.radius if shape.kind == "capsule" else 0.0)
        return middle, np.array([shape.radius, shape.radius, end]), none
    if shape.kind == "ellipsoid":
        return middle, np.array(shape.radii), none
    if shape.kind in ("convex", "mesh"):
        points = hull_vertices(np.array(shape.points))
        low, high = points.min(axis=0), points.max(axis=0)
        return 0.5 * (low + high), 0.5 * (high - low), points
    return middle, np.full(3, np.inf), none


def hull_vertices(points: Array) -> Array:
    """Points of a set that are vertices of its hull, in their order; all of them where they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.ascontiguousarray(points[np.sort(ConvexHull(points).vertices)])
    except QhullError:
        return np.unique(points, axis=0)


def _shapes(found: Sequence[Placed], boxes: Sequence[tuple[Array, Array, Array]], flat: Sequence[Solid | None]) -> Shapes:
    vertices = [b[2] if s is None else s.points for b, s in zip(boxes, flat, strict=True)]
    codes = [CODES.get(p.shape.kind, FOREIGN) for p in found]
    codes = [LARGE_HULL if k == HULL and s is None else k for k, s in zip(codes, flat, strict=True)]
    middles, halves = (np.array([b[k] for b in boxes]).reshape(-1, 3) for k in (0, 1))
    size = np.linalg.norm(halves, axis=1)
    size = np.where([p.shape.kind == "sphere" for p in found], halves[:, 0] if len(found) else 0.0, size)
    return Shapes(
        owner=np.array([p.owner for p in found], dtype=np.int64),
        kind=np.array(codes, dtype=np.int64),
        position=np.array([p.position for p in found]).reshape(-1, 3),
        quaternion=np.array([p.quaternion for p in found]).reshape(-1, 4),
        centre=middles,
        half=np.where(np.isfinite(halves), halves, 0.0),
        scale=np.minimum(1.0, size / FULL_SIZE),
        first=np.cumsum([0, *(len(v) for v in vertices)], dtype=np.int64),
        vertices=np.concatenate([np.zeros((0, 3)), *vertices]),
    )


def _polytopes(first: Any, flat: Sequence[Solid | None]) -> Polytopes:
    """Faces and edges of all solids, one behind the other."""
    given = [(int(start), s) for start, s in zip(first[:-1], flat, strict=True) if s is not None]
    faces = [np.array(face) + start for start, s in given for face in s.faces]
    face_first = np.cumsum([0, *(0 if s is None else len(s.faces) for s in flat)], dtype=np.int64)
    whose = [k for k, s in enumerate(flat) if s is not None]
    edges = [s.edges + np.array([start, start, *[face_first[k]] * 2]) for k, (start, s) in zip(whose, given, strict=True)]
    return Polytopes(
        face_first=face_first,
        face_normal=np.concatenate([np.zeros((0, 3)), *(s.normals for _, s in given)]),
        face_start=np.cumsum([0, *map(len, faces)], dtype=np.int64),
        face_vertex=np.concatenate([np.zeros(0, dtype=np.int64), *faces]),
        edge_first=np.cumsum([0, *(0 if s is None else len(s.edges) for s in flat)], dtype=np.int64),
        edges=np.concatenate([np.zeros((0, 4), dtype=np.int64), *edges]),
    )


def _filters(model: Model, lead: dict[str, str], found: Sequence[Placed], materials: Materials) -> Filters:
    parts = {name: i for i, name in enumerate((WORLD, *(b.name for b in model.bodies)))}
    bits = np.array([[int(p.shape.extra.get(w, 1)) for w in ("contype", "conaffinity")] for p in found], dtype=np.int64).reshape(-1, 2)
    return Filters(
        part=np.array([parts[p.part] for p in found], dtype=np.int64),
        parts=len(parts),
        types=np.ascontiguousarray(bits[:, 0]),
        affinities=np.ascontiguousarray(bits[:, 1]),
        apart=_keys(_apart(model, lead, parts), len(parts)),
        named=_keys(_named(model, found), len(found)),
        priority=materials.priority,
        ranks=materials.ranks,
        counts=materials.counts,
        special=materials.special,
        material=materials.of_special,
    )


def _keys(pairs: Iterator[tuple[int, int]], n: int) -> Array:
    return np.array(sorted({min(p) * n + max(p) for p in pairs}), dtype=np.int64)


def _apart(model: Model, lead: dict[str, str], parts: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Parts that pass through each other: excluded ones, neighbours, and all that is fixed to such bodies."""
    carried: dict[str, list[str]] = {}
    for name, carrier in lead.items():
        carried.setdefault(carrier, []).append(name)
    for pair in model._excluded | (set() if model.source.get("neighbours touch") else neighbours(model)):
        if len(pair) < 2:  # neighbours that a fixed joint makes one
            continue
        a, b = pair
        yield parts[a], parts[b]
        for x, y in product(carried.get(a, ()), carried.get(b, ())):
            yield parts[x], parts[y]


def _named(model: Model, found: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """Pairs of shapes that a file names; where it names bodies alone, all their shapes."""
    bodies = model.source.get("contact pairs", ())
    names = model.source.get("contact pair shapes") or [(None, None)] * len(bodies)
    for two, called in zip(bodies, names, strict=True):
        first, second = (
            [i for i, p in enumerate(found) if p.part == part and name in (None, p.shape.extra.get("name"))]
            for part, name in zip(two, called, strict=True)
        )
        yield from ((i, j) for i, j in product(first, second) if i != j)
