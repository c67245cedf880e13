"""From what the user gives (a path or a text) to a checked XML tree."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from dalembert.errors import ModelError
from dalembert.importers import xmlguard
from dalembert.importers.paths import Folders, read

FORMATS = {"mujoco": "mjcf", "robot": "urdf"}


@dataclass(frozen=True)
class Source:
    """An XML tree, what to call it in messages, and the directories that it may read from."""

    root: ET.Element
    owner: str
    stem: str
    folders: Folders

    @property
    def format(self) -> str:
        """ "mjcf" or "urdf"."""
        return FORMATS[self.root.tag]


def open_source(source: str | os.PathLike[str], package_dirs: tuple[str | os.PathLike[str], ...]) -> Source:
    """A file, or an XML text (it begins with '<')."""
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f"load_model: source is {type(source).__name__}; expected a path or an XML text.")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        owner, stem, home = "XML text", "", None
        data = source.lstrip("\ufeff \t\r\n").encode("utf-8", errors="replace")
        data = _drop_declared_encoding(data)
    else:
        path = _existing(source)
        owner, stem, home = str(source), path.stem, path.parent
        data = read(path, owner, xmlguard.MAX_BYTES)
    root = xmlguard.parse(data, owner)
    if root.tag not in FORMATS:
        raise ModelError(f"{owner}: the root element is <{root.tag[:50]}>; expected <mujoco> (MJCF) or <robot> (URDF).")
    return Source(root, owner, stem, Folders(owner, home, package_dirs))


def _existing(source: str | os.PathLike[str]) -> Path:
    text = os.fspath(source)
    if "\0" in str(text) or len(str(text)) > 4096:
        raise ModelError(f"load_model: source {str(text)[:60]!r}... is neither a path nor an XML text (which begins with '<').")
    path = Path(text).expanduser()
    try:
        if path.is_file():
            return path.resolve()
    except (OSError, ValueError) as problem:
        raise ModelError(f"{source}: {problem}.") from None
    what = "is a directory" if path.is_dir() else "does not exist"
    raise ModelError(f"{source}: {what}; expected a URDF or MJCF file, or an XML text that begins with '<'.")


def _drop_declared_encoding(data: bytes) -> bytes:
    """A text is UTF-8 by now, whatever its declaration says."""
    if data.startswith(b"<?xml"):
        return data[data.find(b"?>") + 2 :] if b"?>" in data else data
    return data
