"""Collada files (.dae) as coloured triangles, for pictures alone. pycollada reads a text that was looked at, and opens no file.

Lengths are in units of the file (<unit meter=...>), here m. <up_axis> is left alone, as in RViz and Pinocchio: axes of a mesh are those of
its link, whatever the file calls up. Parts of one diffuse colour are one; textures are not read, what has one among other colours is grey.
"""

from __future__ import annotations

import io
import math
import warnings
import xml.etree.ElementTree as ET
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.errors import ModelError
from dalembert.importers import xmlguard
from dalembert.importers.coarse import coarse

Colour = tuple[float, ...]
GREY: Colour = (0.6, 0.6, 0.6, 1.0)
MAX_NODES = 20_000  # of the scene, those that others stand for counted each time
MAX_CHAIN = 100  # nodes that stand for nodes
MAX_CORNERS = 30_000_000
MOST = 30_000  # triangles of one part
LEFT_OUT = ("library_images", "library_animations", "library_controllers", "library_cameras", "library_lights", "extra")
SHADERS = ("phong", "lambert", "blinn", "constant")


class Part(NamedTuple):
    """Triangles of one colour: points (n, 3), m; triangles (m, 3); red, green, blue, opacity from 0 to 1, None where the file has none."""

    points: Array
    triangles: AnyArray
    colour: Colour | None


def library() -> Any:
    """The module `collada`; None where it is not installed."""
    try:
        import collada
    except ImportError:
        return None
    return collada


def parts_of(data: bytes, owner: str) -> list[Part]:
    """All triangles of the scene of a file, by colour; ModelError says what is wrong with it."""
    root = xmlguard.parse(data, owner)
    _leave_out(root)
    _bound(root, owner)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)  # pycollada works with numpy.matrix
            return _parts(ET.tostring(root, encoding="utf-8"), owner)
    except ModelError:
        raise
    except Exception as problem:  # whatever a malformed file makes of it
        raise ModelError(f"{owner}: no sound Collada file ({type(problem).__name__}: {str(problem)[:80]}).") from None


def _parts(data: bytes, owner: str) -> list[Part]:
    collada = library()
    document = collada.Collada(io.BytesIO(data), ignore=[collada.DaeError])
    unit = document.assetInfo.unitmeter
    unit = 1.0 if unit is None else float(unit)
    if not 0.0 < unit < 1e6:
        raise ModelError(f"{owner}: its unit is {unit} m.")
    found: dict[Colour | None, list[Array]] = {}
    room = MAX_CORNERS
    for bound in document.scene.objects("geometry") if document.scene is not None else ():
        for given in bound.primitives():
            corners = _corners(given)
            room -= len(corners)
            if room < 0:
                raise ModelError(f"{owner}: more than {MAX_CORNERS} corners of triangles.")
            if len(corners):
                found.setdefault(_colour(given), []).append(corners)
    plain = GREY if any(found) else None
    parts = [_part(unit * np.concatenate(corners), colour or plain) for colour, corners in found.items()]
    if not parts or not all(np.isfinite(part.points).all() for part in parts):
        raise ModelError(f"{owner}: {'numbers that are not finite' if parts else 'no triangles in its scene'}.")
    return parts


def _corners(given: Any) -> Array:
    """(3 n, 3): corners of triangles, one after the other; none of lines."""
    if hasattr(given, "triangleset"):
        given = given.triangleset()
    index = getattr(given, "vertex_index", None)
    if index is None or given.vertex is None or index.ndim != 2 or index.shape[1] != 3:
        return np.zeros((0, 3))
    return np.asarray(given.vertex, dtype=float)[index].reshape(-1, 3)


def _colour(given: Any) -> Colour | None:
    """Diffuse colour of the material."""
    effect = getattr(given.material, "effect", None)
    diffuse = getattr(effect, "diffuse", None)
    if not isinstance(diffuse, tuple) or len(diffuse) not in (3, 4) or not all(math.isfinite(x) for x in diffuse):
        return None
    red, green, blue = (min(max(float(x), 0.0), 1.0) for x in diffuse[:3])
    return red, green, blue, 1.0


def _part(corners: Array, colour: Colour | None) -> Part:
    """Points are not yet shared between triangles."""
    return Part(*coarse(corners, np.arange(len(corners)).reshape(-1, 3), MOST), colour)


def as_stl(part: Part) -> bytes:
    """The triangles of a part as a binary STL file."""
    rows = np.zeros(len(part.triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = part.points[part.triangles]
    return bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


# before pycollada sees it -----------------------------------------------------------------------------------------------------------


def _tag(e: ET.Element) -> str:
    return e.tag.rpartition("}")[2]


def _leave_out(root: ET.Element) -> None:
    """Images and what names them, motions, cameras, lights."""
    for parent in root.iter():
        for e in [e for e in parent if _tag(e) in LEFT_OUT or (_tag(parent).startswith("profile_") and _tag(e) in ("newparam", "image"))]:
            parent.remove(e)
        for e in [e for e in parent if any(_tag(x) in ("texture", "param") for x in e) and _tag(parent) in SHADERS]:
            parent.remove(e)


def _bound(root: ET.Element, owner: str) -> None:
    """Refuse a small text that stands for a huge scene: counts of corners without corners, nodes that stand for each other many times."""
    for e in root.iter():
        if _tag(e) == "polylist":
            counts, corners = (" ".join(x.text or "" for x in e if _tag(x) == what) for what in ("vcount", "p"))
            if not all(x.isdigit() and len(x) < 10 for x in counts.split()) or sum(map(int, counts.split())) > len(corners):
                raise ModelError(f"{owner}: polygons with more corners than the file has.")
    _Nodes(root).check(owner)


class _Nodes:
    """How many nodes a scene has, those that an <instance_node> stands for counted each time."""

    def __init__(self, root: ET.Element):
        self.tops = [e for e in root.iter() if _tag(e) in ("node", "visual_scene")]
        self.named = {e.get("id", ""): e for e in self.tops}
        self.known: dict[int, int] = {}

    def check(self, owner: str) -> None:
        if any(self._count(e, 0) > MAX_NODES for e in self.tops):
            raise ModelError(f"{owner}: more than {MAX_NODES} nodes in its scene, or nodes within themselves.")

    def _count(self, e: ET.Element, depth: int) -> int:
        if depth > MAX_CHAIN:
            return MAX_NODES + 1
        if id(e) not in self.known:
            self.known[id(e)] = MAX_NODES + 1  # of a node within itself
            inner = [c for child in e if (c := self._meant(child)) is not None]
            total = 1 + sum(_tag(child) == "instance_geometry" for child in e) + sum(self._count(c, depth + 1) for c in inner)
            self.known[id(e)] = min(total, MAX_NODES + 1)
        return self.known[id(e)]

    def _meant(self, child: ET.Element) -> ET.Element | None:
        if _tag(child) == "instance_node":
            return self.named.get(child.get("url", "").lstrip("#"))
        return child if _tag(child) == "node" else None
