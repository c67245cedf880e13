"""Geometry of URDF links: meshes are found and read here; what is missing, unreadable or degenerate is noted and left out.

<collision> is for contacts, <visual> for pictures alone; links that have both are drawn by the latter (view/seen.py), and nothing that is
wrong with it ends an import. Collada files are for pictures alone, whatever names them: what can touch does not depend on whether a reader
of them is installed. Their own colours come before that of the <material>.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalembert.errors import ModelError
from dalembert.importers import collada, xmlguard
from dalembert.importers.compiling import compile_xml, library
from dalembert.importers.notes import Notes
from dalembert.importers.paths import MAX_FILE, Folders, read
from dalembert.importers.urdf_colours import UNNAMED, Colour, Colours
from dalembert.importers.urdf_tree import Tree, floats

READABLE = (".stl", ".obj", ".msh")
COLLADA = ".dae"
MISSING = "meshes that are missing (kinematics and inertia are complete; give package_dirs= to find them)"
UNREADABLE = f"meshes of a kind that MuJoCo does not read (it reads {', '.join(READABLE)})"
NO_READER = "meshes in Collada files, for pictures (pip install 'dalembert[view]' to read them)"
UNSOUND = "meshes for pictures that cannot be read"
SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
LOOK = "look"  # how names of meshes for pictures begin in the plain copy
HIDDEN = 3  # the group of geometry that is not drawn (view/seen.py)


@dataclass(frozen=True)
class Item:
    """One <visual>, or a part of it that has a colour of its own, or one <collision>, ready to be written."""

    role: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]
    kind: str
    attributes: dict[str, str]
    colour: Colour = UNNAMED


class Geometry:
    """The geometry of all links, and the meshes that it needs (`assets`)."""

    def __init__(self, tree: Tree, folders: Folders, notes: Notes):
        self.folders, self.notes = folders, notes
        self.assets: dict[str, bytes] = {}
        self._labels: dict[str, str] = {}
        self._known: dict[tuple[Path, str], list[tuple[str, Colour | None]]] = {}
        self.colours = Colours(tree, notes)
        self.items: dict[str, list[Item]] = {name: self._link(name, link) for name, link in tree.links.items()}

    def _link(self, name: str, link: ET.Element) -> list[Item]:
        """Geometry for contacts, then that for pictures."""
        touching = [item for e in link.findall("collision") for item in self._items(name, "collision", e)]
        looks: list[Item] = []
        for e in link.findall("visual"):
            try:
                looks += self._items(name, "visual", e)
            except ModelError as problem:
                if not touching:
                    raise
                self.notes.add("geometry for pictures that cannot be used", f"{name} ({str(problem)[:160]})")
        return touching + looks

    def _items(self, link: str, role: str, e: ET.Element) -> list[Item]:
        owner = f"{self.folders.owner}: {role} of link {link!r}"
        origin, geometry = e.find("origin"), e.find("geometry")
        shape = geometry[0] if geometry is not None and len(geometry) else None
        if shape is None or shape.tag not in (*SIZES, "mesh"):
            self.notes.add("geometry of an unknown kind", f"{link} ({'none' if shape is None else shape.tag[:50]})")
            return []
        xyz, rpy = (floats(origin, k, 3, (0.0,) * 3, owner) for k in ("xyz", "rpy"))
        colour = (self.colours.of_visual(link, e) if role == "visual" else None) or UNNAMED
        if shape.tag == "mesh":
            found = self._mesh(link, role, shape, owner)
            return [Item(role, xyz, rpy, "mesh", attributes, own or colour) for attributes, own in found]
        sizes = {a: floats(shape, a, n, (0.0,) * n, owner) for a, n in SIZES[shape.tag]}
        if min(x for values in sizes.values() for x in values) <= 0:
            self.notes.add("geometry without extent", f"{link} ({shape.tag})")
            return []
        return [Item(role, xyz, rpy, shape.tag, {a: " ".join(map(repr, values)) for a, values in sizes.items()}, colour)]

    def _mesh(self, link: str, role: str, e: ET.Element, owner: str) -> list[tuple[dict[str, str], Colour | None]]:
        """Attributes and own colours of the parts of a mesh; none of what cannot be used."""
        name = e.get("filename", "")
        scale = floats(e, "scale", 3, (1.0,) * 3, owner)
        path = self.folders.find(name, climb=True) if name else None
        if path is None:
            self.notes.add(MISSING, name or f"{link} (no file name)")
            return []
        kind = path.suffix.lower()
        if kind not in READABLE and (kind != COLLADA or role == "collision"):
            self.notes.add(UNREADABLE, name)
            return []
        if min(map(abs, scale)) == 0:
            self.notes.add("geometry without extent", f"{link} ({name})")
            return []
        if (path, role) not in self._known:
            self._known[path, role] = self._collada(path, name, owner) if kind == COLLADA else self._file(path, role, name, owner)
        return [({"filename": plain, "scale": " ".join(map(repr, scale))}, colour) for plain, colour in self._known[path, role]]

    def _file(self, path: Path, role: str, name: str, owner: str) -> list[tuple[str, Colour | None]]:
        """A file that MuJoCo reads. Those for pictures are apart, so that contacts do not depend on them."""
        return [(self._asset(role, path.suffix.lower(), read(path, owner, MAX_FILE), name), None)]

    def _collada(self, path: Path, name: str, owner: str) -> list[tuple[str, Colour | None]]:
        if collada.library() is None:
            self.notes.add(NO_READER, name)
            return []
        try:
            parts = collada.parts_of(read(path, owner, xmlguard.MAX_BYTES), name)
        except ModelError as problem:
            self.notes.add(UNSOUND, str(problem)[:200])
            return []
        return [(self._asset("visual", ".stl", collada.as_stl(part), name), part.colour) for part in parts]

    def _asset(self, role: str, suffix: str, data: bytes, name: str) -> str:
        plain = f"{LOOK if role == 'visual' else 'mesh'}{len(self.assets)}{suffix}"
        self.assets[plain], self._labels[plain] = data, name
        return plain

    def write(self, link: str, element: ET.Element) -> None:
        """As children of a <link> of the plain copy."""
        for item in self.items[link]:
            e = ET.SubElement(element, item.role)
            ET.SubElement(e, "origin", xyz=" ".join(map(repr, item.xyz)), rpy=" ".join(map(repr, item.rpy)))
            ET.SubElement(ET.SubElement(e, "geometry"), item.kind, item.attributes)
            if item.role == "visual":
                rgba = " ".join(map(repr, item.colour))
                ET.SubElement(ET.SubElement(e, "material", name=f"rgba {rgba}"), "color", rgba=rgba)

    @staticmethod
    def edit(spec: Any) -> None:
        """Meshes for pictures need not enclose a volume."""
        for mesh in spec.meshes:
            if mesh.file.startswith(LOOK):
                mesh.inertia = library().mjtMeshInertia.mjMESH_INERTIA_SHELL

    def paint(self, mj: Any, names: list[str]) -> None:
        """Colours and groups of geometry for contacts in the compiled model, whose body L<i> is the link of that place in `names`."""
        for i, name in enumerate(names):
            body = mj.body(f"L{i}")
            both = {"collision", "visual"} <= {item.role for item in self.items[name]}
            for g in range(int(body.geomadr[0]), int(body.geomadr[0]) + int(body.geomnum[0])):
                if mj.geom_contype[g]:
                    mj.geom_rgba[g] = self.colours.of_link(name)
                    mj.geom_group[g] = HIDDEN if both else 0

    def drop_bad_meshes(self) -> bool:
        """Leave out the meshes that MuJoCo cannot compile by themselves; False if all of them are fine."""
        bad: dict[str, str] = {}
        for name, data in self.assets.items():
            bit = 0 if name.startswith(LOOK) else 1
            geom = f'<geom type="mesh" mesh="m" contype="{bit}" conaffinity="{bit}"/>'
            xml = f'<mujoco><asset><mesh name="m" file="{name}"/></asset><worldbody>{geom}</worldbody></mujoco>'
            try:
                compile_xml(xml, {name: data}, name, self.edit)
            except ModelError as problem:
                bad[name] = str(problem).partition("refuses it: ")[2][:120]
        for name, why in bad.items():
            self.notes.add("meshes that MuJoCo cannot use", f"{self._labels[name]} ({why})")
            del self.assets[name]
        for link, items in self.items.items():
            self.items[link] = [i for i in items if i.attributes.get("filename") not in bad]
        return bool(bad)
