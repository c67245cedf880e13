"""Problems of steps in groups of HDF5 files, in the layout of FCLIB, the collection of frictional contact problems of Acary, Bremond,
Koziara and Perignon (global problems), with what it has no place for in a group of ours.

    /fclib_global/spacedim                      3: rows per contact, normal first
    /fclib_global/{M, H, G}/{nzmax, m, n, nz, p, i, x}    by columns (nz = -1). M: masses, H: J^T of cones, G: J^T of bilateral rows
    /fclib_global/vectors/{f, w, mu, b}         f = M free, w: b of cones, b: b of bilateral rows
    /fclib_global/info/{title, description, math_info}    text
    /solution/{v, u, r, l}                      of the run: x, u = H^T v + w, impulses of cones, of bilateral rows

    M v = H r + G l + f,   G^T v + b = 0,   u = H^T v + w,   (r, u) by Coulomb's law

    /dalembert_step/{bodies, kind, first, J, b, sigma, mu, masses, inverse, free, low, high, start, lam}
                                                the whole `StepProblem`, bit for bit: joints, limits, motors, the laws of all rows, sigma,
                                                bounds, start and warm start
    /dalembert_step/found/{lam, x}              what the run found
    attributes of it: options of the solver and facts of the step (JSON), crc32 of all its numbers

FCLIB's part has no sigma and no rows with bounds: it is the rigid problem of contacts and joints. Files of others, without our group, are
read where M has blocks of 6 on its diagonal and a contact joins at most two of them.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.contact.problem import BILATERAL, BOXED, CONE, UNILATERAL, StepProblem
from dalembert.contact.solver import SolverOptions
from dalembert.errors import ArchiveError, UnsupportedError

if TYPE_CHECKING:
    import h5py
    from scipy.sparse import csc_matrix

GLOBAL, STEP, FORMAT = "fclib_global", "dalembert_step", 1
PACKED = 1024  # numbers from which on they are compressed


@dataclass(frozen=True, eq=False)
class ArchivedProblem:
    """A problem of a step as it was met, and what was found.

    problem: with its start and, in lam, its warm start. options: of the solver of the run. lam, x: what it found, empty where the file
    tells of none. facts: step, t, h, residual, solved, branch, iterations, factorisations; of the run: machine, law,
    sides. path: of the file.
    """

    name: str
    problem: StepProblem
    options: SolverOptions
    lam: Array
    x: Array
    facts: dict[str, Any] = field(default_factory=dict)
    path: str = ""

    def fresh(self) -> StepProblem:
        """The problem with a warm start of its own, which solvers overwrite."""
        p = self.problem
        return replace(p, lam=p.impulses.copy(), start=np.array(p.start), check=False)


def arrays_of(problem: StepProblem) -> dict[str, AnyArray]:
    """All arrays of a problem by name."""
    values = {f.name: getattr(problem, f.name) for f in fields(problem)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


# writing -----------------------------------------------------------------------------------------------------------------------------


def write(group: h5py.Group, archived: ArchivedProblem) -> None:
    """Everything into an empty group, or the root of a file."""
    p = archived.problem
    arrays = arrays_of(p)
    _write_global(group.create_group(GLOBAL), archived)
    step = group.create_group(STEP)
    found = {"found/lam": archived.lam, "found/x": archived.x}
    for name, value in {**arrays, **found}.items():
        _put(step, name, value)
    step.attrs["format"] = FORMAT
    step.attrs["options"], step.attrs["facts"] = json.dumps(asdict(archived.options)), json.dumps(archived.facts)
    step.attrs["crc32"] = np.uint32(_checksum({**arrays, **found}))
    if len(archived.lam):
        _write_solution(group.create_group("solution"), archived)


def _put(group: h5py.Group, name: str, value: AnyArray) -> None:
    packed = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if np.size(value) >= PACKED else {}
    group.create_dataset(name, data=value, **packed)


def _rows(p: StepProblem, law: int) -> AnyArray:
    """Rows of the constraints of a law."""
    return np.flatnonzero(np.repeat(p.kind, np.diff(p.first)) == law)


def _columns(p: StepProblem, rows: AnyArray) -> csc_matrix:
    """J^T of some rows, sparse (6 n, rows)."""
    from scipy.sparse import coo_matrix

    n, ends = len(p.masses), p.ends()[rows]
    where = (6 * ends[:, :, None] + np.arange(6)).reshape(len(rows), 12)
    column = np.broadcast_to(np.arange(len(rows))[:, None], where.shape)
    values, kept = p.J[rows], (where < 6 * n) & (p.J[rows] != 0.0)
    return coo_matrix((values[kept], (where[kept], column[kept])), shape=(6 * n, len(rows))).tocsc()


def _write_matrix(group: h5py.Group, A: csc_matrix) -> None:
    for name, number in (("nzmax", A.nnz), ("m", A.shape[0]), ("n", A.shape[1]), ("nz", -1)):
        group[name] = np.array([number], dtype=np.int32)
    for name, numbers in (("p", A.indptr.astype(np.int32)), ("i", A.indices.astype(np.int32)), ("x", A.data)):
        _put(group, name, numbers)


def _write_global(main: h5py.Group, archived: ArchivedProblem) -> None:
    from scipy import sparse

    p = archived.problem
    cones, joints = _rows(p, CONE), _rows(p, BILATERAL)
    main["spacedim"] = np.array([3], dtype=np.int32)
    M = sparse.block_diag(list(p.masses), format="csc") if len(p.masses) else sparse.csc_matrix((0, 0))
    matrices = {"M": M, "H": _columns(p, cones)} | ({"G": _columns(p, joints)} if len(joints) else {})
    for name, A in matrices.items():
        _write_matrix(main.create_group(name), A)
    f = np.einsum("nij,nj->ni", p.masses, p.free.reshape(-1, 6)).reshape(-1)
    vectors = {"f": f, "w": p.b[cones], "mu": p.mu[p.kind == CONE]} | ({"b": p.b[joints]} if len(joints) else {})
    for name, value in vectors.items():
        _put(main, f"vectors/{name}", value)
    for name, text in _info(archived).items():
        main[f"info/{name}"] = np.bytes_(text.encode())


def _info(archived: ArchivedProblem) -> dict[str, str]:
    p, facts = archived.problem, archived.facts
    other = {"unilateral": len(_rows(p, UNILATERAL)), "boxed": len(_rows(p, BOXED))}
    more = "".join(f"; {count} {law} rows are in {STEP} alone" for law, count in other.items() if count)
    where = f", step {facts['step']}, t = {facts['t']:.9g} s" if "step" in facts else ""
    return {
        "title": f"{facts.get('machine') or 'machine'}{where}",
        "description": f"{int((p.kind == CONE).sum())} contacts, {len(p.masses)} bodies; velocities: angular (body axes), linear (world)",
        "math_info": f"law: {facts.get('law', 'coulomb')}; M positive definite; rows give way, u = H^T v + w + sigma r, see {STEP}{more}",
    }


def _write_solution(group: h5py.Group, archived: ArchivedProblem) -> None:
    p, x, lam = archived.problem, archived.x, archived.lam
    cones, joints = _rows(p, CONE), _rows(p, BILATERAL)
    group["v"], group["u"], group["r"] = x, _columns(p, cones).T @ x + p.b[cones], lam[cones]
    if len(joints):
        group["l"] = lam[joints]


def _checksum(arrays: dict[str, AnyArray]) -> int:
    crc = 0
    for name in sorted(arrays):
        crc = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), zlib.crc32(name.encode(), crc))
    return crc


# reading -----------------------------------------------------------------------------------------------------------------------------


def read(group: h5py.Group, name: str, path: str) -> ArchivedProblem:
    """The problem of a group. ArchiveError where its numbers are damaged, UnsupportedError where it is not one of rigid bodies."""
    if STEP not in group:
        return _read_foreign(group, name, path)
    step = group[STEP]
    arrays = {f.name: step[f.name][()] for f in fields(StepProblem) if f.name in step}
    found = {f"found/{key}": step[f"found/{key}"][()] for key in ("lam", "x")}
    if _checksum({**arrays, **found}) != int(step.attrs["crc32"]):
        raise ArchiveError(f"{path!r}, {name}: its numbers do not match their checksum.")
    known = {f.name for f in fields(SolverOptions)}
    options = SolverOptions(**{key: value for key, value in json.loads(step.attrs["options"]).items() if key in known})
    numbers = {key: np.nan_to_num(value) if key not in ("low", "high") else value for key, value in arrays.items()}
    StepProblem(**numbers, check=True)  # the problem of a run that failed may hold numbers that are not finite
    problem = StepProblem(**arrays, check=False)
    return ArchivedProblem(name, problem, options, found["found/lam"], found["found/x"], json.loads(step.attrs["facts"]), path)


def _matrix(group: h5py.Group, where: str) -> csc_matrix:
    from scipy import sparse

    m, n, nz = (int(np.ravel(group[k][()])[0]) for k in ("m", "n", "nz"))
    p, i, x = (group[k][()] for k in ("p", "i", "x"))
    if nz >= 0:
        return sparse.coo_matrix((x[:nz], (p[:nz], i[:nz])), shape=(m, n)).tocsc()
    if nz not in (-1, -2):
        raise ArchiveError(f"{where}: nz is {nz}; expected -1 (columns), -2 (rows), or the number of triplets.")
    made = (sparse.csc_matrix if nz == -1 else sparse.csr_matrix)((x[: p[-1]], i[: p[-1]], p), shape=(m, n))
    made.check_format()
    return made.tocsc()


def _read_foreign(group: h5py.Group, name: str, path: str) -> ArchivedProblem:
    """A global problem of someone else: rigid, Coulomb's law."""
    from scipy.sparse import csc_matrix

    main, where = group[GLOBAL], f"{path!r}, {name}"
    if int(np.ravel(main["spacedim"][()])[0]) != 3:
        raise UnsupportedError(f"{where}: contacts in the plane (spacedim 2) are not read.")
    M, H = _matrix(main["M"], f"{where}, M"), _matrix(main["H"], f"{where}, H")
    G = _matrix(main["G"], f"{where}, G") if "G" in main else csc_matrix((M.shape[0], 0))
    masses = _blocks(M, where)
    vectors = {k: np.asarray(main["vectors"][k][()], dtype=np.float64) for k in main["vectors"]}
    contacts, joints = H.shape[1] // 3, G.shape[1]
    pieces = [H[:, 3 * c : 3 * c + 3] for c in range(contacts)] + [G[:, c] for c in range(joints)]
    bodies, J = zip(*(_joined(piece, where) for piece in pieces), strict=True) if pieces else ((), ())
    counts = [3] * contacts + [1] * joints
    rows, inverse = sum(counts), np.asarray(np.linalg.inv(masses), dtype=np.float64)
    problem = StepProblem(
        np.array(bodies, dtype=np.int64).reshape(-1, 2), np.array([CONE] * contacts + [BILATERAL] * joints), np.cumsum([0, *counts]),
        np.concatenate(J) if J else np.zeros((0, 12)), np.concatenate([vectors["w"], vectors.get("b", np.zeros(0))]), np.zeros(rows),
        np.concatenate([vectors["mu"], np.zeros(joints)]), masses, inverse,
        np.einsum("nij,nj->ni", inverse, vectors["f"].reshape(-1, 6)).reshape(-1),
    )  # fmt: skip
    lam, x = np.zeros(0), np.zeros(0)
    if "solution" in group and "v" in group["solution"]:
        told = group["solution"]
        lam, x = np.concatenate([told["r"][()], told["l"][()] if joints else np.zeros(0)]), told["v"][()]
    return ArchivedProblem(name, problem, SolverOptions(law="coulomb", rounds_tol=1e-6), lam, x, {}, path)


def _blocks(M: csc_matrix, where: str) -> Array:
    """(n, 6, 6)"""
    A = M.tocoo()
    if M.shape[0] % 6 or M.shape[0] != M.shape[1] or (A.row // 6 != A.col // 6).any():
        raise UnsupportedError(f"{where}: M has shape {M.shape} and is not made of blocks of 6 on its diagonal: no rigid bodies in space.")
    out = np.zeros((M.shape[0] // 6, 6, 6))
    np.add.at(out, (A.row // 6, A.row % 6, A.col % 6), A.data)
    return out


def _joined(columns: csc_matrix, where: str) -> tuple[tuple[int, int], Array]:
    """(bodies, rows of J) of columns of J^T."""
    A = columns.tocoo()
    touched = np.unique(A.row // 6)
    if not 1 <= len(touched) <= 2:
        raise UnsupportedError(f"{where}: a constraint joins {len(touched)} bodies; expected one or two.")
    pair = (-1, int(touched[0])) if len(touched) == 1 else (int(touched[0]), int(touched[1]))
    J = np.zeros((columns.shape[1], 12))
    np.add.at(J, (A.col, 6 * (A.row // 6 == pair[1]) + A.row % 6), A.data)
    return pair, J
