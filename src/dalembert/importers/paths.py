"""Where files of a model may come from: its own directory, the package that holds it, and the package directories, nothing else.

The package that holds a model is the nearest folder above it with a package.xml. Meshes of a URDF are also looked for on the way up from
the file: package://NAME/PATH in folders above that are called NAME or hold a folder NAME, FOLDER/PATH in folders above that hold FOLDER.
Never in the root of the file system, and no link leads out of NAME or FOLDER.

Every path is resolved (symbolic links, "..") before it is compared with the allowed directories, and files are read here, not by
MuJoCo: the compiler gets their contents in memory and never opens a file by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from dalembert.errors import ModelError

MAX_FILE = 2**29
PACKAGE = "package://"
MANIFEST = "package.xml"  # what makes a folder a package


class Folders:
    """The directories that a model may read from."""

    def __init__(self, owner: str, home: Path | None, package_dirs: Iterable[str | os.PathLike[str]] = ()):
        self.owner = owner
        self.home = home
        if isinstance(package_dirs, (str, os.PathLike)):
            package_dirs = (package_dirs,)
        self.packages = [_directory(d) for d in package_dirs]
        self.above = [p for p in home.parents if p != p.parent] if home else []
        own = [p for p in ([home, *self.above] if home else []) if _is_file(p / MANIFEST)]
        self.own = own[:1]
        self.environment = [Path(p).resolve() for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p and os.path.isdir(p)]

    @property
    def allowed(self) -> list[Path]:
        """Everything below these may be read."""
        return [*([self.home] if self.home else []), *self.own, *self.packages, *self.environment]

    def find(self, name: str, inside: str = "", climb: bool = False) -> Path | None:
        """The file that a model means by `name` (below `inside`, e.g. a mesh directory), None if there is none.

        climb: look on the way up from the model too, where none of the directories has it.
        ModelError if the path leads out of the allowed directories, whether or not something is there.
        """
        name = name.strip()
        if not name or "\0" in name or len(name) > 4096:
            raise ModelError(f"{self.owner}: file name {name[:80]!r}; expected a path.")
        if name.startswith(PACKAGE):
            return self._package(unquote(name[len(PACKAGE) :]).lstrip("/"), climb)
        if name.startswith("file://"):
            name = unquote(name[len("file://") :])
        if "://" in name:
            raise ModelError(f"{self.owner}: file {name!r}; expected a path or {PACKAGE}...")
        relative = Path(inside) / name.replace("\\", "/")
        homes = [self.home] if self.home else []
        found = self._first([base / relative for base in (*homes, *self.own, *self.packages)], name)
        if found or not climb or relative.is_absolute() or ".." in relative.parts or len(relative.parts) < 2:
            return found
        first, *others = relative.parts
        return _climb([p / first for p in self.above], Path(*others))

    def _package(self, rest: str, climb: bool) -> Path | None:
        """package://NAME/PATH: NAME is a folder below a package directory, or such a directory, or one that holds the model."""
        package, _, path = rest.partition("/")
        if not package or not path:
            raise ModelError(f"{self.owner}: file {PACKAGE + rest!r}; expected {PACKAGE}NAME/PATH.")
        if ".." in Path(rest).parts:
            raise self._outside(PACKAGE + rest)
        candidates = []
        for base in (*self.packages, *self.environment):
            candidates.append(base / package / path)
            if base.name == package:
                candidates.append(base / path)
        if self.home:
            candidates.append(self.home / package / path)
            candidates += [p / path for p in (self.home, *self.home.parents) if p.name == package and self._may(p)]
            candidates += [p / path for p in (self.home, *self.own)]
        found = self._first(candidates, PACKAGE + rest) if candidates else None
        if found or not climb:
            return found
        return _climb([p if p.name == package else p / package for p in self.above], Path(path))

    def _may(self, path: Path) -> bool:
        return any(path == a or a in path.parents for a in self.allowed)

    def _first(self, candidates: list[Path], name: str) -> Path | None:
        inside = []
        for c in candidates:
            try:
                real = c.resolve()
            except (OSError, RuntimeError, ValueError):
                continue
            if self._may(real):
                inside.append(real)
        if candidates and not inside:
            raise self._outside(name)
        return next((p for p in inside if _is_file(p)), None)

    def _outside(self, name: str) -> ModelError:
        where = ", ".join(map(str, self.allowed)) or "none"
        text = f"file {name!r} is outside of the directories that may be read ({where}); allow more by package_dirs=."
        return ModelError(f"{self.owner}: {text}")


def _climb(folders: list[Path], path: Path) -> Path | None:
    """The first of the files below these folders that is there and does not lead out of its folder."""
    for folder in folders:
        try:
            real = (folder / path).resolve()
        except (OSError, RuntimeError, ValueError):
            continue
        if folder.resolve() in real.parents and _is_file(real):
            return real
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _directory(given: str | os.PathLike[str]) -> Path:
    path = Path(given).expanduser()
    if not path.is_dir():
        raise ModelError(f"package_dirs: {str(given)!r} is not a directory.")
    return path.resolve()


def read(path: Path, owner: str, limit: int = MAX_FILE) -> bytes:
    """The bytes of a regular file."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise ModelError(f"{owner}: file {path} has {size} bytes; expected at most {limit}.")
        return path.read_bytes()
    except OSError as problem:
        raise ModelError(f"{owner}: file {path} cannot be read ({problem.strerror or problem}).") from problem
