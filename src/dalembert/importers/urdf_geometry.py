"""Geometry of URDF links: meshes are found and read here; what is missing, unreadable or degenerate is noted and left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from dalembert.errors import ModelError
from dalembert.importers.compiling import compile_xml
from dalembert.importers.notes import Notes
from dalembert.importers.paths import Folders, read
from dalembert.importers.urdf_tree import Tree, floats

READABLE = (".stl", ".obj", ".msh")
MISSING = "meshes that are missing (kinematics and inertia are complete; give package_dirs= to find them)"
SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}


@dataclass(frozen=True)
class Item:
    """One <visual> or <collision>, ready to be written."""

    role: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]
    kind: str
    attributes: dict[str, str]


class Geometry:
    """The geometry of all links, and the meshes that it needs (`assets`)."""

    def __init__(self, tree: Tree, folders: Folders, notes: Notes):
        self.folders, self.notes = folders, notes
        self.assets: dict[str, bytes] = {}
        self._labels: dict[str, str] = {}
        self._known: dict[Path, str] = {}
        self.items: dict[str, list[Item]] = {name: self._link(name, link) for name, link in tree.links.items()}

    def _link(self, name: str, link: ET.Element) -> list[Item]:
        """Collision geometry; visual geometry only where there is no other."""
        collisions, visuals = link.findall("collision"), link.findall("visual")
        found = [item for e in collisions if (item := self._item(name, "collision", e)) is not None]
        if found:
            if visuals:
                self.notes.add("geometry for pictures only, of links that have contact geometry", name)
            return found
        return [item for e in visuals if (item := self._item(name, "visual", e)) is not None]

    def _item(self, link: str, role: str, e: ET.Element) -> Item | None:
        owner = f"{self.folders.owner}: {role} of link {link!r}"
        origin, geometry = e.find("origin"), e.find("geometry")
        shape = geometry[0] if geometry is not None and len(geometry) else None
        if shape is None or shape.tag not in (*SIZES, "mesh"):
            self.notes.add("geometry of an unknown kind", f"{link} ({'none' if shape is None else shape.tag[:50]})")
            return None
        xyz, rpy = (floats(origin, k, 3, (0.0,) * 3, owner) for k in ("xyz", "rpy"))
        if shape.tag == "mesh":
            attributes = self._mesh(link, shape, owner)
        else:
            sizes = {a: floats(shape, a, n, (0.0,) * n, owner) for a, n in SIZES[shape.tag]}
            if min(x for values in sizes.values() for x in values) <= 0:
                self.notes.add("geometry without extent", f"{link} ({shape.tag})")
                return None
            attributes = {a: " ".join(map(repr, values)) for a, values in sizes.items()}
        return None if attributes is None else Item(role, xyz, rpy, shape.tag, attributes)

    def _mesh(self, link: str, e: ET.Element, owner: str) -> dict[str, str] | None:
        name = e.get("filename", "")
        scale = floats(e, "scale", 3, (1.0,) * 3, owner)
        if not name:
            self.notes.add(MISSING, f"{link} (no file name)")
            return None
        path = self.folders.find(name, climb=True)
        if path is None:
            self.notes.add(MISSING, name)
            return None
        if path.suffix.lower() not in READABLE:
            self.notes.add(f"meshes of a kind that MuJoCo does not read (it reads {', '.join(READABLE)})", name)
            return None
        if min(map(abs, scale)) == 0:
            self.notes.add("geometry without extent", f"{link} ({name})")
            return None
        if path not in self._known:
            self._known[path] = plain = f"mesh{len(self._known)}{path.suffix.lower()}"
            self.assets[plain] = read(path, owner)
            self._labels[plain] = name
        return {"filename": self._known[path], "scale": " ".join(map(repr, scale))}

    def write(self, link: str, element: ET.Element) -> None:
        """As children of a <link> of the plain copy."""
        for item in self.items[link]:
            e = ET.SubElement(element, item.role)
            ET.SubElement(e, "origin", xyz=" ".join(map(repr, item.xyz)), rpy=" ".join(map(repr, item.rpy)))
            ET.SubElement(ET.SubElement(e, "geometry"), item.kind, item.attributes)

    def drop_bad_meshes(self) -> bool:
        """Leave out the meshes that MuJoCo cannot compile by themselves; False if all of them are fine."""
        bad: dict[str, str] = {}
        for name, data in self.assets.items():
            xml = f'<mujoco><asset><mesh name="m" file="{name}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
            try:
                compile_xml(xml, {name: data}, name)
            except ModelError as problem:
                bad[name] = str(problem).partition("refuses it: ")[2][:120]
        for name, why in bad.items():
            self.notes.add("meshes that MuJoCo cannot use", f"{self._labels[name]} ({why})")
            del self.assets[name]
        for link, items in self.items.items():
            self.items[link] = [i for i in items if i.attributes.get("filename") not in bad]
        return bool(bad)
