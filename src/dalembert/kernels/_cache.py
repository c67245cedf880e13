"""Where compiled code is kept, and by which sources it is known.

Compiled code is kept in the user's cache directory (`DALEMBERT_CACHE_DIR` chooses another), in a folder per source file that is named by a
hash of that file and of all files of this package that it imports, directly or not: Numba itself notices an edit only in the file that
holds a function, not in those that it calls. An edit leaves alone whatever does not import it.

Where the directory cannot be written, code is compiled anew in every process, and that is said once.
"""

import functools
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

import numba

PACKAGE = "dalembert"
_IMPORT = re.compile(rf"^\s*(?:from\s+({PACKAGE}[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+({PACKAGE}[\w.]*))", re.MULTILINE)
# CPU seconds per line of kernels below a root, measured on `midpoint`, `mk4`, `cayley`, `lemke`: 5 to 9 ms on one core of a server
SECONDS_PER_LINE = 0.007
WORTH_SAYING = 2.0  # seconds


def sources_root() -> Path:
    """The folder that holds the package."""
    return Path(__file__).parent.parent.parent


def _file(root: Path, module: str) -> Path | None:
    path = root.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


@functools.cache
def _imports(path: Path, root: Path) -> tuple[Path, ...]:
    """Files of the package that a file imports: modules, and functions of modules."""
    found = set()
    for module, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        inner = [_file(root, f"{module}.{name}") for name in re.findall(r"\w+", re.sub(r"\bas\s+\w+", "", names))]
        if plain or None in inner:  # a package whose modules are imported gives nothing of its own
            inner.append(_file(root, module or plain))
        found |= {file for file in inner if file is not None}
    return tuple(sorted(found))


@functools.cache
def below(path: Path, root: Path) -> tuple[Path, ...]:
    """A file and all that it imports, directly or not; nothing for code that was typed and is in no file."""
    if not path.is_file():
        return ()
    seen, waiting = {path}, [path]
    while waiting:
        fresh = set(_imports(waiting.pop(), root)) - seen
        seen |= fresh
        waiting.extend(fresh)
    return tuple(sorted(seen))


@functools.cache
def sources_hash(path: Path, root: Path) -> str:
    """Hash of a file, of what it imports, and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for file in below(path, root):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def seconds(path: Path, root: Path) -> float:
    """About how long the code of a file takes to compile."""
    kernels = [file for file in below(path, root) if not file.name.startswith("_") and {"kernels", "steppers"} & set(file.parts)]
    return SECONDS_PER_LINE * sum(file.read_bytes().count(b"\n") for file in kernels)


def chosen_directory() -> Path:
    """The cache directory that was asked for, writable or not."""
    chosen = os.environ.get("DALEMBERT_CACHE_DIR")
    base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / PACKAGE
    return base / "numba"


@functools.cache
def directory() -> Path | None:
    """The cache directory, or None where it cannot be written."""
    try:
        folder = chosen_directory()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):
        return None


@functools.cache
def say(sentence: str) -> None:
    """A line on stderr, each sentence once; `DALEMBERT_QUIET=1` silences it."""
    if not os.environ.get("DALEMBERT_QUIET"):
        print(f"dalembert: {sentence}", file=sys.stderr, flush=True)


def announce(module: str, path: Path) -> None:
    """Say that a kernel is being compiled, if that takes long enough to wonder."""
    expected = seconds(path, sources_root())
    if expected < WORTH_SAYING:
        return
    where = module.removeprefix(f"{PACKAGE}.").removeprefix("kernels.")
    if directory() is None:
        say(f"the cache directory {chosen_directory()} cannot be written; DALEMBERT_CACHE_DIR chooses another.")
        say(f"compiling {where}, about {expected:.0f} s in every process ...")
    else:
        say(f"compiling {where}, once, about {expected:.0f} s ...")
