"""Contacts that MuJoCo finds: of capsules, cylinders, ellipsoids, height fields, large hulls (but on planes), of hulls with spheres.

A MjModel with one free body per body of the scene, frames at the centres of mass. Bits keep MuJoCo from pairs that our own kernels do:

    kind                        contype   conaffinity
    plane                       0         1
    sphere                      2         1
    box                         0         1 | 4
    hull                        0         1 | 2 | 4
    hull of many edges          4         1 | 2 | 4
    others                      1         1

What really touches is filtered afterwards. Contacts are listed where the distance is below the sum of the two geoms' `gap` (margins are 0:
they inflate the geoms). These contacts have no features; the nearest one of the last step is taken for the same. A height field is a set of
prisms to MuJoCo, with contacts at the inner edges of its cells, whose normals are corrected: kernels/contact/heights.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.scene import Placed, Scene
from dalembert.errors import UnsupportedError
from dalembert.importers.compiling import library
from dalembert.kernels.contact.heights import Heights, correct_normals
from dalembert.kernels.contact.others import add_on_planes, add_others
from dalembert.kernels.contact.tables import BOX, FOREIGN, HULL, LARGE_HULL, PLANE, SPHERE, Found, Settings, Work

TYPES = {PLANE: 0, SPHERE: 2, BOX: 0, HULL: 0, LARGE_HULL: 4, FOREIGN: 1}
AFFINITIES = {PLANE: 1, SPHERE: 1, BOX: 1 | 4, HULL: 1 | 2 | 4, LARGE_HULL: 1 | 2 | 4, FOREIGN: 1}
ROOM = 16 << 20  # bytes for contacts, and
ROOM_PER_SHAPE = 40 << 10


class Others:
    """MuJoCo's side of a detector."""

    def __init__(self, scene: Scene, room: int | None = None):
        self.scene = scene
        self.room = ROOM + ROOM_PER_SHAPE * len(scene.placed) if room is None else room
        self.heights = heights(scene)
        self.cylinder = np.array([p.shape.kind == "cylinder" for p in scene.placed], dtype=np.int64)
        self._build()

    @classmethod
    def of(cls, scene: Scene) -> Others | None:
        """None where our own kernels find everything."""
        kinds = scene.shapes.kind[scene.shapes.kind != PLANE]
        large = np.any(kinds == LARGE_HULL) and len(kinds) > 1
        round_ones = np.any(kinds == HULL) and np.any(kinds == SPHERE)
        return cls(scene) if np.any(kinds == FOREIGN) or large or round_ones else None

    def _build(self) -> None:
        mujoco = self._mujoco = library()
        self.model, self.shape_of = compile_scene(self.scene, self.room)
        self.data = mujoco.MjData(self.model)
        self.full = int(mujoco.mjtWarning.mjWARN_CONTACTFULL)
        self.owner = self.scene.shapes.owner[self.shape_of]
        self.scale = self.scene.shapes.scale[self.shape_of]

    def find(self, x: Array, q: Array, reach: Array, margin: float) -> int:
        """Run MuJoCo's pipeline; returns how many contacts it lists."""
        gaps = 0.5 * margin * self.scale + np.where(self.owner >= 0, reach[self.owner] if len(reach) else 0.0, 0.0)
        while True:
            model, data = self.model, self.data
            model.geom_gap[:] = gaps
            model.body_margin[:] = 0.0
            np.maximum.at(model.body_margin, model.geom_bodyid, gaps)
            qpos = data.qpos.reshape(-1, 7)
            qpos[:, :3], qpos[:, 3:] = x, q
            self._mujoco.mj_kinematics(model, data)
            self._mujoco.mj_collision(model, data)
            if data.warning[self.full].number == 0:
                return int(data.ncon)
            self.room *= 2
            self._build()

    def take(self, settings: Settings, reach: Array, way: Array, work: Work, found: Found, at: int) -> int:
        """Add what touches to the contacts, from `at` on, of shapes of which one is awake; returns how many there are then, also where
        there is no room for them. way (n, 6): see `Detector.detect`; work: places of the shapes."""
        c = self.data.contact
        geom = self.shape_of[np.ascontiguousarray(c.geom).reshape(-1, 2)]
        frame = np.array(c.frame, dtype=float).reshape(-1, 9)
        dist, pos = np.array(c.dist, dtype=float), np.array(c.pos, dtype=float).reshape(-1, 3)
        scene = self.scene
        if len(self.heights.z):
            correct_normals(self.heights, scene.shapes.kind, self.cylinder, work.c, work.R, geom, pos, frame, dist)
        at = add_on_planes(scene.shapes, scene.filters, settings, reach, work, self.cylinder, way, found, at)
        return int(add_others(scene.shapes, scene.filters, settings, reach, work, self.cylinder, way, geom, pos, frame, dist, found, at))


def heights(scene: Scene) -> Heights:
    """All height fields of a scene."""
    shapes: list[Any] = [p.shape for p in scene.placed]
    fields = [np.array(s.heights) if s.kind == "height-field" else np.zeros((0, 0)) for s in shapes]
    sizes = [s.size if s.kind == "height-field" else (0.0, 0.0) for s in shapes]
    counts = [z.size for z in fields]
    return Heights(
        first=np.where(np.array(counts, dtype=np.int64) > 0, np.cumsum([0, *counts], dtype=np.int64)[:-1], -1),
        grid=np.array([z.shape for z in fields], dtype=np.int64).reshape(-1, 2),
        size=np.array(sizes, dtype=float).reshape(-1, 2),
        z=np.concatenate([np.zeros(0), *(z.ravel() for z in fields)]),
    )


def compile_scene(scene: Scene, room: int) -> tuple[Any, Array]:
    """(MjModel, shape of each geom)."""
    mujoco = library()
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.alignfree = False
    spec.memory = room
    bodies = [spec.worldbody]
    for _ in scene.bodies:
        body = spec.worldbody.add_body(mass=1.0, ipos=np.zeros(3), inertia=np.ones(3), explicitinertial=True)
        body.add_freejoint()
        bodies.append(body)
    for i, p in enumerate(scene.placed):
        _add_geom(spec, bodies[p.owner + 1], i, p, int(scene.shapes.kind[i]))
    try:
        model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as problem:
        why = " ".join(str(problem).split())
        raise UnsupportedError(f"shapes that collide cannot be built in MuJoCo, which finds their contacts; it says: {why}") from None
    return model, np.array([int(model.geom(g).name) for g in range(model.ngeom)], dtype=np.int64)


def _add_geom(spec: Any, body: Any, i: int, p: Placed, kind: int) -> None:
    types = library().mjtGeom
    s: Any = p.shape
    common = {"name": str(i), "pos": p.position, "quat": p.quaternion, "contype": TYPES[kind], "conaffinity": AFFINITIES[kind]}
    sizes = {
        "plane": lambda: (types.mjGEOM_PLANE, (0.0, 0.0, 1.0)),
        "sphere": lambda: (types.mjGEOM_SPHERE, (s.radius, 0.0, 0.0)),
        "box": lambda: (types.mjGEOM_BOX, 0.5 * np.array(s.size)),
        "cylinder": lambda: (types.mjGEOM_CYLINDER, (s.radius, 0.5 * s.length, 0.0)),
        "capsule": lambda: (types.mjGEOM_CAPSULE, (s.radius, 0.5 * s.length, 0.0)),
        "ellipsoid": lambda: (types.mjGEOM_ELLIPSOID, s.radii),
    }
    if p.shape.kind in sizes:
        made, size = sizes[p.shape.kind]()
        body.add_geom(type=made, size=size, **common)
    elif p.shape.kind == "height-field":
        _add_heights(spec, body, s, p, common)
    else:
        _add_hull(spec, body, s, common)


def _add_hull(spec: Any, body: Any, s: Any, common: dict[str, Any]) -> None:
    """A mesh of the vertices of the hull; MuJoCo makes the faces."""
    from dalembert.contact.scene import hull_vertices

    mesh = spec.add_mesh(name=common["name"], uservert=hull_vertices(np.array(s.points)).ravel())
    mesh.inertia = library().mjtMeshInertia.mjMESH_INERTIA_CONVEX
    body.add_geom(type=library().mjtGeom.mjGEOM_MESH, meshname=common["name"], **common)


def _add_heights(spec: Any, body: Any, s: Any, p: Placed, common: dict[str, Any]) -> None:
    """MuJoCo's heights go from 0 to 1 times `top`, on a base."""
    from dalembert.model.rotation import rotate

    heights = np.array(s.heights)
    low, top = heights.min(), np.ptp(heights)
    depth = max(s.depth, s.depth + low)
    spec.add_hfield(
        name=common["name"],
        nrow=heights.shape[0],
        ncol=heights.shape[1],
        size=(0.5 * s.size[0], 0.5 * s.size[1], top if top > 0.0 else 1.0, depth),
        userdata=((heights - low) / top if top > 0.0 else np.zeros_like(heights)).ravel(),
    )
    pos = p.position + rotate(p.quaternion, np.array([0.0, 0.0, low]))
    body.add_geom(type=library().mjtGeom.mjGEOM_HFIELD, hfieldname=common["name"], **{**common, "pos": pos})
