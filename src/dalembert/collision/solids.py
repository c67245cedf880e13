"""Shapes of a model as solids (hulls of points with a radius) and walls: the arrays of `kernels/collision/tables.py`.

    sphere    one point and its radius           capsule   two points and its radius
    box       eight points                       convex    the vertices of its hull; a mesh stands for its hull
    plane     a wall of the world

Cylinders, ellipsoids and height fields are refused by name: their surfaces are curved in ways that no hull of points with a radius has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.collision.tables import Scene
from dalembert.model.compile_tree import build_tree
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix
from dalembert.model.touching import touching

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FLAT = 1e-9
KINDS = ("sphere", "capsule", "box", "convex", "mesh", "plane")


def points_of(shape: Any, owner: str) -> tuple[Array, float]:
    """(points (n, 3) in axes of the shape, radius)."""
    if shape.kind == "sphere":
        return np.zeros((1, 3)), shape.radius
    if shape.kind == "capsule":
        return np.array([[0.0, 0.0, -0.5 * shape.length], [0.0, 0.0, 0.5 * shape.length]]), shape.radius
    if shape.kind == "box":
        return CORNERS * np.array(shape.size), 0.0
    if shape.kind in ("convex", "mesh"):
        return _hull(np.array(shape.points), owner), 0.0
    raise UnsupportedError(
        f"stepper 'collision': {owner} has a shape of kind {shape.kind!r}; it handles {', '.join(KINDS)}. 'spook' handles all kinds."
    )


def _hull(points: Array, owner: str) -> Array:
    """Vertices of the hull; of a hull thinner than FLAT of its size those of the flat figure, or the ends of the line, that it is."""
    from scipy.spatial import ConvexHull

    middle = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - middle)
    rank = int((sizes > FLAT * sizes[0]).sum()) if sizes[0] > 0.0 else 0
    if rank == 0:
        raise UnsupportedError(f"stepper 'collision': the hull of {owner} is one point; expected a shape of some size, or a sphere.")
    along = (points - middle) @ axes[:rank].T
    if rank == 1:
        return points[[int(along.argmin()), int(along.argmax())]]
    return points[np.sort(ConvexHull(along).vertices)]


class Solids:
    """The scene of a model, and names for its parts."""

    def __init__(self, model: Any, restitution: float | None = None, smooth: bool = False):
        self.model = model
        self.names = [b.name for b in model.bodies]
        tree = build_tree(model)
        shapes = {**{b.name: b.shapes for b in model.bodies}, WORLD: model.world_shapes}
        self.solids: list[tuple[str, Any, Array, float]] = []  # owner, shape, points in link axes, radius
        self.walls: list[tuple[Any, Array, float]] = []  # shape, normal, offset
        links = []
        for owner in (*self.names, WORLD):
            place = tree.places[owner]
            for shape in shapes[owner]:
                if not shape.collide:
                    continue
                R, p = matrix(np.array(shape.quaternion)), np.array(shape.position)
                if shape.kind == "plane":
                    if owner != WORLD and place.link >= 0:
                        raise UnsupportedError(f"stepper 'collision': body {owner!r} has a plane; planes belong to the world.")
                    n = place.R @ R[:, 2]
                    self.walls.append((shape, n, float(n @ place.at(p))))
                    continue
                points, radius = points_of(shape, "the world" if owner == WORLD else f"body {owner!r}")
                self.solids.append((owner, shape, np.array([place.at(R @ x + p) for x in points]), radius))
                links.append(place.link)
        self.links = np.array(links, dtype=np.int64)
        self.scene = self._scene(restitution, smooth)

    def _scene(self, restitution: float | None, smooth: bool) -> Scene:
        H, W = len(self.solids), len(self.walls)
        counts = [len(s[2]) for s in self.solids]
        centre = np.array([0.5 * (s[2].min(axis=0) + s[2].max(axis=0)) for s in self.solids]).reshape(H, 3)
        reach = [np.linalg.norm(s[2] - c, axis=1).max() + s[3] for s, c in zip(self.solids, centre, strict=True)]
        pairs, walls = np.zeros((H, H), dtype=np.int64), np.zeros((H, W), dtype=np.int64)
        bounce, bounce_wall = np.zeros((H, H)), np.zeros((H, W))
        allowed = {frozenset(pair) for pair in touching(self.model)}
        owners = [s[0] for s in self.solids]
        for i, (a, shape, *_) in enumerate(self.solids):
            for w, (plane, *_) in enumerate(self.walls):
                if a != WORLD and frozenset((a, WORLD)) in allowed:
                    walls[i, w], bounce_wall[i, w] = 1, self._law(a, WORLD, shape, plane, restitution, smooth)
            for j in range(i + 1, H):
                if frozenset((a, owners[j])) in allowed:
                    pairs[i, j] = pairs[j, i] = 1
                    bounce[i, j] = bounce[j, i] = self._law(a, owners[j], shape, self.solids[j][1], restitution, smooth)
        number = {name: k for k, name in enumerate(self.names)} | {WORLD: -1}
        return Scene(
            link=self.links,
            part=np.array([number[a] for a in owners], dtype=np.int64),
            first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            points=np.concatenate([np.zeros((0, 3)), *(s[2] for s in self.solids)]),
            radius=np.array([s[3] for s in self.solids], dtype=float),
            centre=centre,
            reach=np.array(reach, dtype=float),
            normal=np.array([w[1] for w in self.walls], dtype=float).reshape(W, 3),
            offset=np.array([w[2] for w in self.walls], dtype=float),
            pairs=pairs,
            walls=walls,
            bounce=bounce,
            bounce_wall=bounce_wall,
        )

    def _law(self, a: str, b: str, one: Any, other: Any, restitution: float | None, smooth: bool) -> float:
        """Restitution of two shapes; UnsupportedError where they have friction."""
        law = self.model._contacts.get(frozenset((a, b)))
        friction = max(one.friction, other.friction) if law is None or law.friction is None else np.max(law.friction)
        if friction > 0.0 and not smooth:
            raise UnsupportedError(
                f"stepper 'collision': {a!r} and {b!r} touch with friction {friction:g}; its impacts are along normals alone. Give shapes "
                "friction=0, or smooth=True to leave all friction out; 'spook' handles friction."
            )
        if restitution is not None:
            return restitution
        return max(one.restitution, other.restitution) if law is None or law.restitution is None else law.restitution

    @property
    def size(self) -> float:
        """A length of the scene: tolerances are relative to it."""
        scene = self.scene
        far = [*np.abs(scene.offset), *(2.0 * scene.reach), 1e-6]
        return float(np.max(far))

    def contact_name(self, a: int, b: int, k: int) -> str:
        """A contact in words."""
        one = self.solids[a][0]
        return f"{one!r} and wall {-1 - b}" if b < 0 else f"{one!r} and {self.solids[b][0]!r}"
