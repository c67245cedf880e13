"""Geoms of a compiled MuJoCo model as shapes.

MuJoCo gives half sizes where we give full lengths, keeps the vertices of a mesh in a frame of its own (geom_pos, geom_quat lead back to the
body), and mixes contact parameters of two geoms at run time (contact/materials.py does that for friction, by `condim`): they are kept in
`extra`, as they are in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.importers.coarse import light
from dalembert.importers.compiling import library
from dalembert.importers.notes import Notes
from dalembert.model.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere

EXTRA = ("friction", "contype", "conaffinity", "condim", "priority", "solmix", "solref", "solimp", "margin", "gap", "rgba", "group")
HIDDEN = 3  # geoms of this group and above are hidden in viewers of MuJoCo
ENOUGH, LEAST = 60_000, 400  # triangles of all meshes for pictures, and of one of them


class Looks:
    """Meshes for pictures alone of a compiled model, with so few triangles that all of them together have ENOUGH, or nearly."""

    def __init__(self, model: Any):
        self.model = model
        self._known: dict[int, tuple[Array, Array]] = {}
        geoms = [g for g in range(model.ngeom) if _is_mesh(model, g) and not _collides(model, g)]
        counts = [int(model.mesh_facenum[model.geom_dataid[g]]) for g in geoms]
        self.share = min(1.0, ENOUGH / max(sum(counts), 1))

    def triangles(self, mesh: int) -> tuple[Array, Array]:
        """Points and triangles of a mesh."""
        if mesh not in self._known:
            points, triangles = _triangles(self.model, mesh)
            self._known[mesh] = light(points, triangles, max(int(self.share * len(triangles)), LEAST))
        return self._known[mesh]


def shapes_of(model: Any, body: int, names: dict[int, str], notes: Notes, contact: bool = True, looks: Looks | None = None) -> list[Shape]:
    """The shapes of one body. contact: shapes may collide; looks: how meshes for pictures are.

    Meshes that touch nothing and that viewers of MuJoCo hide are kept only where a body has no geometry that touches.
    """
    looks = looks or Looks(model)
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = list(range(first, first + count)) if count else []
    touching = any(model.geom_contype[g] or model.geom_conaffinity[g] for g in geoms)
    found = []
    for g in geoms:
        name = shape_name(model, g, names)
        if touching and _is_mesh(model, g) and not _collides(model, g) and int(model.geom_group[g]) >= HIDDEN:
            notes.add("hidden meshes that touch nothing, of bodies that have contact geometry", name)
            continue
        shape = _shape(model, g, name, notes, contact, looks)
        if shape is not None:
            found.append(shape)
    return found


def shape_name(model: Any, g: int, names: dict[int, str]) -> str:
    """What a geom is called in `extra`."""
    return names.get(g) or model.geom(g).name or f"geom{g}"


def _is_mesh(model: Any, g: int) -> bool:
    return int(model.geom_type[g]) == int(library().mjtGeom.mjGEOM_MESH)


def _collides(model: Any, g: int) -> bool:
    """It has contact bits, or a pair of the file names it."""
    pairs = (model.pair_geom1, model.pair_geom2)
    return bool(model.geom_contype[g] or model.geom_conaffinity[g] or any(np.any(np.asarray(ids) == g) for ids in pairs))


def _shape(model: Any, g: int, name: str, notes: Notes, contact: bool, looks: Looks) -> Shape | None:
    kind, size = library().mjtGeom(int(model.geom_type[g])), model.geom_size[g].astype(float)
    T = library().mjtGeom
    if int(model.geom_plugin[g]) >= 0:
        notes.add("geometry of plugins", name)
        return None
    common: dict[str, Any] = {
        "position": model.geom_pos[g],
        "quaternion": model.geom_quat[g],
        **{what: float(x) for what, x in zip(("friction", "torsion", "rolling"), model.geom_friction[g], strict=True)},
        "collide": contact and _collides(model, g),
        "extra": {"name": name, **{what: _plain(getattr(model, f"geom_{what}")[g]) for what in EXTRA}},
    }
    if int(model.geom_matid[g]) >= 0:
        common["extra"]["rgba"] = _plain(model.mat_rgba[int(model.geom_matid[g])])
    try:
        if kind == T.mjGEOM_SPHERE:
            return Sphere(float(size[0]), **common)
        if kind == T.mjGEOM_BOX:
            return Box(2.0 * size, **common)
        if kind == T.mjGEOM_CAPSULE:
            return Capsule(float(size[0]), float(2.0 * size[1]), **common)
        if kind == T.mjGEOM_CYLINDER:
            return Cylinder(float(size[0]), float(2.0 * size[1]), **common)
        if kind == T.mjGEOM_PLANE:
            return Plane(**common)
        if kind == T.mjGEOM_ELLIPSOID:
            return Ellipsoid(size, **common)
        if kind == T.mjGEOM_HFIELD:
            return _height_field(model, int(model.geom_dataid[g]), common)
        if kind == T.mjGEOM_MESH:
            mesh = int(model.geom_dataid[g])
            return Mesh(*(_triangles(model, mesh) if _collides(model, g) else looks.triangles(mesh)), **common)
    except ModelError as problem:
        raise ModelError(f"geom {name!r}: {problem}") from None
    notes.add(f"geometry of the kind {kind.name.removeprefix('mjGEOM_').lower()}", name)
    return None


def _height_field(model: Any, field: int, common: dict[str, Any]) -> HeightField:
    """MuJoCo keeps heights from 0 to 1 and what to multiply them by."""
    rows, columns, first = (int(x[field]) for x in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
    x, y, top, depth = model.hfield_size[field].astype(float)
    heights = top * model.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns)
    return HeightField(heights, (2.0 * x, 2.0 * y), depth=float(depth), **common)


def _triangles(model: Any, mesh: int) -> tuple[Array, Array]:
    v, f = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    points = model.mesh_vert[v : v + int(model.mesh_vertnum[mesh])].astype(float)
    return points, model.mesh_face[f : f + int(model.mesh_facenum[mesh])].astype(int)


def _plain(value: Any) -> Any:
    """Numbers without the noise of float32."""
    a = np.asarray(value)
    if a.dtype == np.float32:
        return [float(f"{x:.7g}") for x in a.ravel()] if a.ndim else float(f"{a:.7g}")
    return a.tolist()
