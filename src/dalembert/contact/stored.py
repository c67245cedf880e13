"""Files of problems of steps: `load_problem`, `load_problems`, `save_problem`. Layout: `contact/fclib.py`.

A file holds one problem at its root, as FCLIB does, or many, each in a group of its own. A folder holds files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.contact.fclib import GLOBAL, ArchivedProblem, read, write
from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import SolverOptions
from dalembert.errors import ArchiveError, DalembertError, OptionError, UnknownNameError
from dalembert.io.atomic import StrPath, explained, file_path, replacing

if TYPE_CHECKING:
    import h5py

SUFFIXES = (".h5", ".hdf5")
VERSIONS = ("v108", "v110")  # of HDF5, oldest and newest layout that are written
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def load_problems(path: StrPath) -> list[ArchivedProblem]:
    """All problems of a file, or of the files of a folder, by name."""
    place = Path(path)
    if place.is_dir():
        files = sorted(f for f in place.iterdir() if f.suffix in SUFFIXES and not f.name.startswith("."))
        return [problem for f in files for problem in load_problems(f)]
    return list(_problems(place, None))


def load_problem(path: StrPath, name: str | None = None) -> ArchivedProblem:
    """The problem of that name; the only one of a file needs none."""
    place = Path(path)
    known = [p.name for p in load_problems(place)] if place.is_dir() else _names(place)
    if name is None and len(known) != 1:
        raise OptionError(f"{os.fspath(path)!r} holds {len(known)} problems; expected the name of one: {', '.join(known[:8]) or 'none'}.")
    if name is not None and name not in known:
        raise UnknownNameError(f"problem in {os.fspath(path)!r}", name, known)
    wanted = known[0] if name is None else name
    if place.is_dir():
        return next(p for p in load_problems(place) if p.name == wanted)
    return next(_problems(place, wanted))


def save_problem(
    path: StrPath, problem: StepProblem | ArchivedProblem, options: SolverOptions | None = None, overwrite: bool = False
) -> None:
    """One problem into a file of its own; of a StepProblem lam is the warm start."""
    if isinstance(problem, StepProblem):
        none = np.zeros(0)
        problem = ArchivedProblem(Path(path).stem, problem, options or SolverOptions(law="coulomb", rounds_tol=1e-6), none, none)
    import h5py

    with replacing(file_path("save_problem", path), overwrite) as file, h5py.File(file, "w", libver=VERSIONS, track_order=True) as h5:
        write(h5, problem)


def _names(path: Path) -> list[str]:
    with _opened(path) as h5:
        return [name for name, _ in _groups(h5, path)]


def _problems(path: Path, wanted: str | None) -> Iterator[ArchivedProblem]:
    with _opened(path) as h5:
        for name, group in _groups(h5, path):
            if wanted is None or name == wanted:
                yield _read(group, name, path)


def _opened(path: Path) -> Any:
    """The file, or an ArchiveError that says what it is instead."""
    import h5py

    with explained(path, "read"), open(path, "rb") as file:
        start = file.read(8)
    if start != _SIGNATURE:
        raise ArchiveError(f"{str(path)!r} {'is not an HDF5 file' if start else 'is empty'}; problems of steps were expected.")
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        raise ArchiveError(f"{str(path)!r} is damaged: {error}") from error


def _groups(h5: h5py.File, path: Path) -> list[tuple[str, h5py.Group]]:
    if GLOBAL in h5:
        return [(path.stem, h5)]
    found = [(name, h5[name]) for name in sorted(h5) if GLOBAL in h5[name]]
    if not found and len(h5):
        other = " (local problems: dalembert.complementarity.archive.load_problem)" if "fclib_local" in h5 else ""
        raise ArchiveError(f"{str(path)!r} holds {sorted(h5)[:8]} and no problem of a step ({GLOBAL}){other}.")
    return found


def _read(group: h5py.Group, name: str, path: Path) -> ArchivedProblem:
    try:
        return read(group, name, str(path))
    except OptionError as error:
        raise ArchiveError(f"{str(path)!r}, {name}, holds a problem that cannot be: {error}") from error
    except DalembertError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError, TypeError, IndexError, AttributeError) as error:
        raise ArchiveError(f"{str(path)!r}, {name}, is damaged or incomplete: {error}") from error
