"""What is drawn over a machine: paths of points, forces of contacts, frames of bodies, links and edges of the room.

Each is a list of meshes in the world. Parts of it that are behind bodies show through them a little (scene.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.view.canvas import rgb
from dalembert.view.meshes import Mesh, mesh_of
from dalembert.view.solids import tapered
from dalembert.view.sphere import com_paths
from dalembert.view.stage import AXES_COLOURS

PATH_POINTS = 600
THICK = 0.0045  # radius of a path, of the extent of the picture
LONGEST = 0.22  # arrow, of the extent
WEAK = 0.02  # forces below this part of the largest are not drawn
CROWD = 12  # of more contacts arrows are shorter and thinner
SECTORS = 10
_ANGLES = 2.0 * np.pi * np.arange(SECTORS) / SECTORS


def tube(path: Array, radii: Array, colour: Array) -> list[Mesh]:
    """A tube along points (n, 3) with radii (n,); parts between points that are not finite are left out."""
    moved = np.concatenate([[True], np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-9 * max(float(radii.max(initial=0.0)), 1e-300)])
    some = moved & np.isfinite(path).all(axis=1)
    path, radii = path[some], radii[some]
    if len(path) < 2:
        return []
    along = np.gradient(path, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    across = _carried(along)
    ring = np.cos(_ANGLES)[:, None] * across[:, None] + np.sin(_ANGLES)[:, None] * np.cross(along, across)[:, None]
    points = (path[:, None] + radii[:, None, None] * ring).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(len(path) - 1), np.arange(SECTORS), indexing="ij")
    a, b = i * SECTORS + j, i * SECTORS + (j + 1) % SECTORS
    quads = np.stack([a, b, b + SECTORS, a + SECTORS], axis=-1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int64)
    return [Mesh(-1, points, triangles, np.tile(colour, (len(triangles), 1)), 1.0, False)]


def _carried(along: Array) -> Array:
    """(n, 3): a direction across the path, carried along it with as little turn as there can be."""
    out = np.empty_like(along)
    first = np.linalg.svd(along[:1])[2][1]
    for k, e in enumerate(along):
        side = first - (first @ e) * e
        size = np.linalg.norm(side)
        first = side / size if size > 1e-6 else np.linalg.svd(e[None])[2][1]
        out[k] = first
    return out


def arrow(start: Array, along: Array, radius: float, colour: Array) -> list[Mesh]:
    """A shaft and a tip; the tip is 4.5 radii long at most."""
    length = float(np.linalg.norm(along))
    tip = min(4.5 * radius, 0.6 * length)
    neck = start + along * (1.0 - tip / length)
    return tube(np.stack([start, neck]), np.full(2, radius), colour) + tube(
        np.stack([start + along * (1.0 - 1.001 * tip / length), neck, start + along]), np.array([0.0, 2.4 * radius, 0.0]), colour
    )


def trail_points(model: Any, trails: Any) -> list[tuple[int, Array, str]]:
    """(number of the body, place in its frame, name) of what leaves a path: names of bodies, or (name, point in the body frame)."""
    names = [b.name for b in model.bodies]
    out = []
    for given in [trails] if isinstance(trails, str) else list(_listed(trails)):
        name, place = (given, None) if isinstance(given, str) else _pair(given)
        if name not in names:
            raise UnknownNameError("body of a trail", name, names)
        body = model.bodies[names.index(name)]
        out.append((names.index(name), np.array(body.com) if place is None else place, name))
    return out


def _listed(trails: Any) -> Any:
    try:
        return iter(trails)
    except TypeError:
        raise OptionError(f"trails = {trails!r}; expected names of bodies, or pairs (name, point in the body frame).") from None


def _pair(given: Any) -> tuple[Any, Array]:
    try:
        name, place = given
        point = np.array(place, dtype=float).reshape(3)
    except (TypeError, ValueError):
        raise OptionError(f"trails: {given!r} is neither a name of a body nor a pair (name, point in the body frame, 3 numbers).") from None
    if not np.isfinite(point).all():
        raise OptionError(f"trails: the point {place!r} of body {name!r} is not finite.")
    return name, point


def trail(path: Array, extent: float, colour: Array) -> list[Mesh]:
    """The path (n, 3) of a point so far, thinner where it is older."""
    return tube(path, THICK * extent * np.linspace(0.35, 1.0, len(path)), colour)


def contact_forces(rows: Any, extent: float, colour: str) -> list[Mesh]:
    """Arrows along the impulses on the second body of each contact, at its point.

    The largest force is LONGEST long, of n > CROWD contacts sqrt(CROWD/n) of that.
    """
    place, impulse = (np.stack([rows[c] for c in names], axis=-1) for names in (("px", "py", "pz"), ("jx", "jy", "jz")))
    size = np.linalg.norm(impulse, axis=1)
    most = float(size.max(initial=0.0))
    if not most > 0.0:
        return []
    drawn = (size > WEAK * most) & np.isfinite(place).all(axis=1)
    scale = extent * float(np.sqrt(min(CROWD / int(drawn.sum()), 1.0)))
    along, paint = impulse[drawn] / most * LONGEST * scale, rgb(colour) / 255.0
    arrows = [arrow(p, a, 0.0045 * scale, paint) for p, a in zip(place[drawn], along, strict=True)]
    return [mesh for made in arrows for mesh in made]


def body_frames(poses: Array, extent: float) -> list[Mesh]:
    """Axes x, y, z of frames (n, 4, 4) in red, green and blue."""
    length = 0.11 * extent
    return [
        mesh
        for pose in poses
        for i, colour in enumerate(AXES_COLOURS)
        for mesh in arrow(pose[:3, 3], length * pose[:3, i], 0.004 * extent, rgb(colour) / 255.0)
    ]


def rods(lines: Array, radius: float, colour: Array) -> list[Mesh]:
    """Straight lines (n, 2, 3)."""
    return [mesh_of(-1, tapered(a, b, radius, radius), colour) for a, b in lines if np.linalg.norm(b - a) > 0.0]


def point_paths(model: Any, q: Array, points: list[tuple[int, Array, str]]) -> list[Array]:
    """Paths (n, 3) of points of bodies over configurations (n, nq)."""
    if not points:
        return []
    poses = model.poses(q)
    return [poses[:, i, :3, :3] @ place + poses[:, i, :3, 3] for i, place, _ in points]


def centres_of(model: Any, q: Array) -> Array:
    """Centres of mass (n, bodies, 3)."""
    return np.stack(com_paths(model, q), axis=1)
