"""MJCF text and its files, gathered into memory: includes are put in place, other files get plain names, MuJoCo opens nothing itself.

What cannot matter to the mechanics is left out of the text (pictures, sensors, memory sizes, user data) and noted; numbers that would make
a small file huge (replicate, composite, height fields) are bounded.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import PurePosixPath

from dalembert.errors import ModelError
from dalembert.importers import xmlguard
from dalembert.importers.notes import Notes
from dalembert.importers.paths import MAX_FILE, Folders, read

MAX_INCLUDES = 1000
MAX_COPIES = 100_000
LEFT_OUT = {
    "visual": "settings of the viewer",
    "statistic": "settings of the viewer",
    "custom": "custom data",
    "sensor": "sensors",
    "size": "",
}
FILE_TAGS = {"mesh": "meshdir", "hfield": "meshdir", "flexcomp": "meshdir", "model": ""}


class Gathered:
    """The files of one MJCF model: `xml` and `assets` (name: contents)."""

    def __init__(self, root: ET.Element, folders: Folders, notes: Notes):
        self.folders, self.notes = folders, notes
        self.assets: dict[str, bytes] = {}
        self.includes = 0
        self._names: dict[str, str] = {}
        self.xml = self._text(root, "", ())

    def _text(self, root: ET.Element, home: str, chain: tuple[str, ...]) -> str:
        """The text of a model; `home` is its directory below the main one, `chain` the files that led to it."""
        self._include(root, home, home, chain)
        self._leave_out(root)
        _bound(root, self.folders.owner)
        self._files(root, home, chain)
        return ET.tostring(root, encoding="unicode")

    def _include(self, parent: ET.Element, home: str, here: str, chain: tuple[str, ...]) -> None:
        """Replace each <include> by the children of the file's root, as MuJoCo does: relative to the main file, or to the including one."""
        for i in range(len(parent) - 1, -1, -1):
            child = parent[i]
            if child.tag != "include":
                self._include(child, home, here, chain)
                continue
            name = child.get("file", "")
            path, data = self._read(name, (home, here), xmlguard.MAX_BYTES)
            root = self._parse(path, name, data, chain)
            self._include(root, home, str(PurePosixPath(here) / PurePosixPath(name).parent), (*chain, path))
            parent[i : i + 1] = list(root)

    def _parse(self, path: str, name: str, data: bytes, chain: tuple[str, ...]) -> ET.Element:
        self.includes += 1
        if path in chain or self.includes > MAX_INCLUDES:
            raise ModelError(f"{self.folders.owner}: file {name!r} includes itself, or more than {MAX_INCLUDES} files are included.")
        return xmlguard.parse(data, f"{self.folders.owner}: {name}")

    def _read(self, name: str, insides: tuple[str, ...], limit: int) -> tuple[str, bytes]:
        path = next((p for p in (self.folders.find(name, inside) for inside in dict.fromkeys(insides)) if p is not None), None)
        if path is None:
            where = ", ".join(map(str, self.folders.allowed)) or "nowhere: a text has no directory, give package_dirs="
            raise ModelError(f"{self.folders.owner}: file {name!r} is missing; looked in {where}.")
        return str(path), read(path, self.folders.owner, limit)

    def _leave_out(self, root: ET.Element) -> None:
        for section in [s for s in root if s.tag in LEFT_OUT]:
            if LEFT_OUT[section.tag]:
                self.notes.add(LEFT_OUT[section.tag], [] if section.tag in ("visual", "statistic") else [_label(e) for e in section])
            root.remove(section)
        for section in root.iter():
            for e in [e for e in section if e.tag == "skin" and section.tag in ("asset", "deformable")]:
                self.notes.add("skins", _label(e))
                section.remove(e)
            for e in section:
                if e.tag == "texture" and section.tag == "asset":
                    self.notes.add("textures", _label(e))
                    keep = {"name": e.get("name") or _stem(e.get("file", "")), "type": e.get("type", "cube")}
                    e.attrib.clear()
                    e.attrib.update({k: v for k, v in keep.items() if v}, builtin="flat", width="1", height="1")

    def _files(self, root: ET.Element, home: str, chain: tuple[str, ...]) -> None:
        """Read every other file and give it a plain name; the directories that the compiler section names are used up here."""
        folder = {"assetdir": "", "meshdir": "", "strippath": "false"}
        for compiler in root.findall("compiler"):
            folder.update({k: compiler.attrib.pop(k) for k in (*folder, "texturedir") if k in compiler.attrib})
        meshdir = folder["meshdir"] or folder["assetdir"]
        for e in root.iter():
            name = e.get("file")
            if name is None:
                continue
            if e.tag not in FILE_TAGS:
                raise ModelError(f"{self.folders.owner}: <{e.tag[:50]} file={name[:80]!r}>; files of this element are not supported.")
            if folder["strippath"] == "true":
                name = PurePosixPath(name.replace("\\", "/")).name
            inside = str(PurePosixPath(home) / (meshdir if FILE_TAGS[e.tag] else ""))
            if e.get("name") is None and e.tag in ("mesh", "hfield"):
                e.set("name", _stem(name))
            e.set("file", self._model(name, inside, chain) if e.tag == "model" else self._asset(name, inside))

    def _asset(self, name: str, inside: str) -> str:
        path, data = self._read(name, (inside,), MAX_FILE)
        if path not in self._names:
            self._names[path] = f"file{len(self._names)}{PurePosixPath(path).suffix.lower()}"
            self.assets[self._names[path]] = data
        return self._names[path]

    def _model(self, name: str, inside: str, chain: tuple[str, ...]) -> str:
        """A model that is attached: its own files are relative to its own directory."""
        path, data = self._read(name, (inside,), xmlguard.MAX_BYTES)
        root = self._parse(path, name, data, chain)
        plain = f"model{self.includes}.xml"
        self.assets[plain] = self._text(root, str(PurePosixPath(inside) / PurePosixPath(name).parent), (*chain, path)).encode()
        return plain


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem


def _label(e: ET.Element) -> str:
    return e.get("name") or _stem(e.get("file", "")) or f"<{e.tag[:50]}>"


def _numbers(e: ET.Element, attribute: str) -> list[float]:
    found = []
    for word in e.get(attribute, "").split():
        try:
            found.append(float(word))
        except ValueError:
            found.append(math.inf)
    return found


def _bound(element: ET.Element, owner: str, copies: float = 1.0) -> None:
    """Refuse texts whose few characters stand for a huge model."""
    if element.tag in ("replicate", "composite", "flexcomp"):
        copies *= math.prod(max(1.0, x) for x in _numbers(element, "count"))
    size = math.prod(max(1.0, x) for a in ("nrow", "ncol") for x in _numbers(element, a)) if element.tag == "hfield" else 1.0
    detail = max([0.0, *_numbers(element, "params")]) if element.tag == "mesh" else 0.0
    if not copies <= MAX_COPIES or not size <= 1e7 or not detail <= 1e3:
        raise ModelError(
            f"{owner}: <{element.tag[:50]} name={element.get('name', '')[:50]!r}> asks for too many parts (limit {MAX_COPIES})."
        )
    for child in element:
        _bound(child, owner, copies)
