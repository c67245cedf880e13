"""Complementarity problems in HDF5 files; contacts in the layout of FCLIB, the collection of frictional contact problems of Acary, Bremond,
Koziara and Perignon, so that other solvers read ours and we read theirs.

    /fclib_local/spacedim                         2 or 3: rows per contact, normal first
    /fclib_local/W/{nzmax, m, n, nz, p, i, x}     sparse: nz = -1 compressed columns, -2 compressed rows, >= 0 triplets (p rows, i columns)
    /fclib_local/vectors/{q, mu}             q is our b: u = W r + q
    /fclib_local/info/{title, description, math_info}         text, each may be missing
    /solution/{u, r}                         velocities and impulses, may be missing

Linear complementarity problems, boxed and mixed, in the same way (ours):

    /dalembert_lcp/M/{nzmax, m, n, nz, p, i, x}   /dalembert_lcp/vectors/{q, lower, upper}   /dalembert_lcp/info/...   /solution/{z, w}

Bounds are IEEE infinities where there are none. Numbers are int32 and float64 in arrays, text has fixed length: as FCLIB writes. Our files
carry a checksum of all numbers in the attribute `crc32` of the main group, which is checked where it is present. Files appear whole or not
at all. Problems in two dimensions get a second tangent that is coupled to nothing: its impulse is 0 in every model.
Global problems (/fclib_global) and those with constraints beside the contacts (V, R, s) are refused.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import AnyArray
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.problem import matrix, vector
from dalembert.errors import ArchiveError, DalembertError, OptionError, UnsupportedError
from dalembert.io.atomic import StrPath, explained, replacing

if TYPE_CHECKING:
    import h5py

CONTACTS, LINEAR = "fclib_local", "dalembert_lcp"
INFO = ("title", "description", "math_info")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LARGEST = 20_000  # rows: a dense matrix of 3.2 GB


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """w = M z + q, lower <= z <= upper, complementary. Bounds are 0 and infinity unless given."""

    M: AnyArray
    q: AnyArray
    lower: Any = None
    upper: Any = None

    def __post_init__(self) -> None:
        M = matrix(self.M)
        n = len(M)
        low = np.zeros(n) if self.lower is None else vector("lower", self.lower, n)
        high = np.full(n, np.inf) if self.upper is None else vector("upper", self.upper, n)
        for name, value in (("M", M), ("q", vector("q", self.q, n)), ("lower", low), ("upper", high)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class StoredProblem:
    """What a file holds: the problem, its words (title, description, math_info), and a solution (u, r or z, w) if there is one."""

    problem: ContactProblem | LinearProblem
    info: dict[str, str] = field(default_factory=dict)
    solution: dict[str, AnyArray] = field(default_factory=dict)


def save_problem(
    path: StrPath,
    problem: Any,
    *,
    title: str = "",
    description: str = "",
    math_info: str = "",
    solution: Any = None,
    overwrite: bool = False,
) -> None:
    """Write a ContactProblem, a LinearProblem or a tuple (M, q), (M, q, lower, upper).

    solution: impulses (m, 3) of contacts, or z; velocities or w are computed from it.
    """
    import h5py

    problem = _given(problem)
    contacts = isinstance(problem, ContactProblem)
    name, letter, A = (CONTACTS, "W", problem.W) if contacts else (LINEAR, "M", problem.M)
    vectors = {"q": problem.b, "mu": problem.mu} if contacts else {"q": problem.q, "lower": problem.lower, "upper": problem.upper}
    sparse = _compressed(A)
    texts = {k: v for k, v in zip(INFO, (title, description, math_info), strict=True) if v}
    with replacing(path, overwrite) as file, h5py.File(file, "w", libver=("v108", "v110"), track_order=True) as h5:
        main = h5.create_group(name)
        if contacts:
            main["spacedim"] = np.array([3], dtype=np.int32)
        for group, members in ((letter, sparse), ("vectors", vectors)):
            for key, value in members.items():
                main[f"{group}/{key}"] = value
        for key, text in texts.items():
            main[f"info/{key}"] = np.bytes_(text.encode())
        main.attrs["crc32"] = np.uint32(_checksum({**sparse, **vectors}))
        if solution is not None:
            _write_solution(h5, problem, solution)


def _given(problem: Any) -> ContactProblem | LinearProblem:
    if isinstance(problem, (ContactProblem, LinearProblem)):
        return problem
    if isinstance(problem, tuple) and len(problem) in (2, 4):
        return LinearProblem(*problem)
    raise OptionError(
        f"problem is of type {type(problem).__name__}; expected a ContactProblem, a LinearProblem, (M, q) or (M, q, lower, upper)."
    )


def _write_solution(h5: h5py.File, problem: ContactProblem | LinearProblem, solution: Any) -> None:
    if isinstance(problem, ContactProblem):
        r = np.array(solution, dtype=np.float64).reshape(-1)
        h5["solution/r"], h5["solution/u"] = vector("solution", r, len(problem.b)), problem.velocities(r)
    else:
        z = vector("solution", solution, len(problem.q))
        h5["solution/z"], h5["solution/w"] = z, problem.M @ z + problem.q


def _compressed(A: AnyArray) -> dict[str, AnyArray]:
    """A by compressed columns; a column of zeros is empty."""
    columns, rows = np.nonzero(A.T)
    n = len(A)
    p = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n))]) if n else np.zeros(1)
    one = {"nzmax": len(rows), "m": n, "n": n, "nz": -1}
    numbers = {k: np.array([v], dtype=np.int32) for k, v in one.items()}
    return {**numbers, "p": p.astype(np.int32), "i": rows.astype(np.int32), "x": np.ascontiguousarray(A[rows, columns])}


def _checksum(members: dict[str, AnyArray]) -> int:
    crc = 0
    for key in sorted(members):
        crc = zlib.crc32(np.ascontiguousarray(members[key]).tobytes(), zlib.crc32(key.encode(), crc))
    return crc


def load_problem(path: StrPath) -> ContactProblem | LinearProblem:
    """The problem in a file; see `read_problem` for its words and its solution."""
    return read_problem(path).problem


def read_problem(path: StrPath) -> StoredProblem:
    """Everything that a file holds. ArchiveError where it cannot be read, is damaged, or holds something else."""
    import h5py

    name = os.fspath(path)
    with explained(path, "read"), open(path, "rb") as file:
        start = file.read(8)
    if start != _SIGNATURE:
        raise ArchiveError(f"{name!r} {'is not an HDF5 file' if start else 'is empty'}; a complementarity problem was expected.")
    try:
        with h5py.File(path, "r", locking=False) as h5:
            return _read(h5, str(name))
    except DalembertError as error:
        if isinstance(error, OptionError):
            raise ArchiveError(f"{name!r} holds a problem that cannot be: {error}") from error
        raise
    except (OSError, KeyError, ValueError, RuntimeError, TypeError, IndexError) as error:
        raise ArchiveError(f"{name!r} is damaged or incomplete: {error}") from error


def _read(h5: h5py.File, name: str) -> StoredProblem:
    if CONTACTS in h5:
        main, letter, wanted = h5[CONTACTS], "W", ["q", "mu"]
        if "V" in main or "R" in main:
            raise UnsupportedError(f"{name!r} holds constraints beside its contacts (V, R); only contacts alone are read.")
    elif LINEAR in h5:
        main, letter, wanted = h5[LINEAR], "M", ["q", "lower", "upper"]
    elif "fclib_global" in h5:
        raise UnsupportedError(
            f"{name!r} holds a global problem (fclib_global), and local ones (fclib_local) are read here: dal.contact.load_problems reads "
            "those of rigid bodies; or form W = H^T M^-1 H."
        )
    else:
        raise ArchiveError(f"{name!r} holds {sorted(h5)}; expected a group {CONTACTS!r} or {LINEAR!r}.")
    sparse = {k: np.atleast_1d(main[letter][k][()]) for k in ("nzmax", "m", "n", "nz", "p", "i", "x")}
    vectors = {k: np.asarray(main["vectors"][k][()], dtype=np.float64) for k in wanted}
    if "crc32" in main.attrs and _checksum({**sparse, **vectors}) != int(main.attrs["crc32"]):
        raise ArchiveError(f"{name!r} is damaged: its numbers do not match their checksum.")
    A = _dense(sparse, f"{name!r}, {letter}")
    info = {k: _text(main["info"][k][()]) for k in INFO if "info" in main and k in main["info"]}
    keys = ("r", "u") if letter == "W" else ("z", "w")
    solution = {k: np.asarray(h5["solution"][k][()], dtype=np.float64) for k in keys if "solution" in h5 and k in h5["solution"]}
    if letter == "M":
        return StoredProblem(LinearProblem(A, vectors["q"], vectors["lower"], vectors["upper"]), info, solution)
    dimension = int(np.asarray(main["spacedim"][()]).reshape(-1)[0])
    if dimension not in (2, 3) or len(A) % dimension:
        raise ArchiveError(f"{name!r} has {len(A)} rows and spacedim {dimension}; expected 2 or 3 rows per contact.")
    if dimension == 2:
        A, vectors["q"], solution = *_widened(A, vectors["q"]), {k: _wide(v) for k, v in solution.items()}
    return StoredProblem(ContactProblem(A, vectors["q"], vectors["mu"]), info, solution)


def _dense(sparse: dict[str, AnyArray], where: str) -> AnyArray:
    """The matrix; ArchiveError where its parts do not fit together."""
    m, n, nz = (int(sparse[k][0]) for k in ("m", "n", "nz"))
    p, i, x = sparse["p"], sparse["i"], np.asarray(sparse["x"], dtype=np.float64)
    if not (0 <= m == n <= _LARGEST):
        raise ArchiveError(f"{where} has {m} rows and {n} columns; expected a square matrix of at most {_LARGEST} rows.")
    if nz in (-1, -2):
        if len(p) != n + 1 or p[0] != 0 or (np.diff(p) < 0).any() or not p[-1] <= min(len(i), len(x)):
            raise ArchiveError(f"{where}: p is not a list of {n + 1} growing positions within i and x.")
        outer, inner = np.repeat(np.arange(n), np.diff(p)), i[: p[-1]]
        rows, columns = (inner, outer) if nz == -1 else (outer, inner)
    elif 0 <= nz <= min(len(p), len(i), len(x)):
        rows, columns = p[:nz], i[:nz]
    else:
        raise ArchiveError(f"{where}: nz is {nz}; expected -1 (columns), -2 (rows), or the number of triplets, at most {len(x)}.")
    if len(rows) and not (min(rows.min(), columns.min()) >= 0 and max(rows.max(), columns.max()) < n):
        raise ArchiveError(f"{where}: indices outside of 0 ... {n - 1}.")
    A = np.zeros((n, n))
    np.add.at(A, (rows, columns), x[: len(rows)])
    return A


def _widened(A: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Contacts in the plane with a second tangent of their own: W = 1, b = 0."""
    m = len(q) // 2
    place = (3 * np.arange(m)[:, None] + np.arange(2)).reshape(-1)
    W = np.eye(3 * m)
    W[np.ix_(place, place)] = A
    return W, _wide(q)


def _wide(x: AnyArray) -> AnyArray:
    return np.column_stack([x.reshape(-1, 2), np.zeros(len(x) // 2)]).reshape(-1)


def _text(value: Any) -> str:
    value = np.asarray(value).reshape(-1)[0]
    return value.decode(errors="replace").rstrip("\0") if isinstance(value, bytes) else str(value)
