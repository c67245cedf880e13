"""Between trajectories and files.

While a run is under way, `run.h5` holds its first nodes and `run.h5.journal` the rows since, each record checksummed and written straight
to the
system: a kill at any moment loses at most the record being written. When the run ends, or when a file of a killed run is loaded, both are
merged into
one new HDF5 file that replaces the old one as a whole. Rows carry their node index and both files the identity of the run, so merging
twice does no harm. Ragged tables of the nodes are beside the rows in each record and in the file: see table_files.py.
"""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ArchiveError
from dalembert.io import Journal, Json, Variable, file_path, is_locked, open_archive, read_archive, read_journal, streaming, write_archive
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.registry import Stepper, describe, restore, steppers
from dalembert.runs.plan import Plan
from dalembert.runs.ragged import MEMORY, NO_TABLES, Tables, join_tables, nodes_of
from dalembert.runs.stored import NEEDED, LaterRows, StoredTrajectory
from dalembert.runs.table_files import from_archive, from_journal, journal_arrays, table_variables
from dalembert.runs.trajectory import Trajectory, since_first
from dalembert.systems import System, system_from

FORMAT = 1
LONG_FILE = 2**25  # bytes: rows of a larger one are read when they are asked for
KILLED = "killed: the run ended without closing its file; dal.resume continues it"


class Rows(NamedTuple):
    """Time, flat state, log and ragged tables of the recorded nodes. sums: crc32 of variables of the file that is written, where known."""

    t: Array
    states: Array
    log: Array
    tables: Tables
    sums: Mapping[str, int] = MappingProxyType({})


def journal_path(path: Path) -> Path:
    """Where the rows of an unfinished run are."""
    return path.with_name(path.name + ".journal")


class Recording:
    """A run that is being written to a file."""

    def __init__(self, path: Path, journal: Journal, columns: dict[str, list[str]], before: Trajectory | None = None):
        self.path, self.journal, self.before = path, journal, before
        self._columns = columns  # of its tables, as the header of the journal has them: that of a robot takes ten milliseconds to read
        self.rows = 0 if before is None else len(before)
        self._table_rows: dict[str, int] = {} if before is None else before._table_rows  # of each table so far
        self._memory: Tables = NO_TABLES  # the newest
        self._sums: list[dict[str, int]] = []  # of each record that this process wrote
        if before is not None and MEMORY in before.meta.get("tables", ()):
            self._memory = {MEMORY: before._last_tables[MEMORY]}

    @classmethod
    def create(cls, path: Any, model: System, stepper: Stepper, meta: dict[str, Any], overwrite: bool) -> Recording:
        """Begin a new file; an existing one is refused unless `overwrite` is given."""
        path = file_path("save", path)
        for existing in (path, journal_path(path)):
            if existing.exists() and not overwrite:
                raise ArchiveError(f"{str(existing)!r} exists; overwrite=True replaces it, dal.resume({str(path)!r}, t_end) continues it.")
        if not path.parent.is_dir():
            raise ArchiveError(f"{str(path)!r}: the directory {str(path.parent)!r} does not exist.")
        meta["run_id"] = uuid.uuid4().hex
        return cls(path, Journal.create(journal_path(path), _header(model, stepper, meta), overwrite=overwrite), _columns(meta))

    @classmethod
    def extend(cls, path: Path, traj: Trajectory, meta: dict[str, Any]) -> Recording:
        """Go on with a file that holds a trajectory."""
        meta.setdefault("run_id", uuid.uuid4().hex)
        return cls(path, Journal.create(journal_path(path), _header(traj.model, traj.stepper, meta), overwrite=True), _columns(meta), traj)

    def begin(self, traj: Trajectory) -> None:
        """Write the first node: from here on the HDF5 file is always whole. What follows from its state is written at the end."""
        write_archive(self.path, checkpoints(traj), _attributes(traj.model, traj.stepper, traj.meta), overwrite=True)

    def append(self, t: Array, states: Array, log: Array, tables: Tables = NO_TABLES) -> None:
        """Rows of recorded nodes, and their ragged tables."""
        index = np.arange(self.rows, self.rows + len(states))
        sums = self.journal.append({"index": index, "time": t, "state": states, "log": log, **journal_arrays(tables)})
        self._sums.append({name: sums[name] for name in ("time", "state")})
        self.rows += len(states)
        self.count(tables)

    def count(self, tables: Tables) -> None:
        """What a file must know of its tables before it is written block by block."""
        for name, table in tables.items():
            if name == MEMORY:
                self._memory = {MEMORY: table}
            else:
                self._table_rows[name] = self._table_rows.get(name, 0) + len(table.rows)

    def close(self, traj: Trajectory) -> None:
        """Merge everything into the HDF5 file and remove the journal."""
        write_trajectory(traj, self.path, overwrite=True)
        self.journal.discard()

    def written(self) -> Iterator[Rows]:
        """All rows so far, block by block, read back from the files."""
        have = 0
        for rows in () if self.before is None else self.before._blocks:
            have += len(rows[0])
            yield Rows(*rows)
        for k, found in enumerate(self.journal.rows()):
            known = int(np.count_nonzero(found["index"] < have))  # those of a run that was killed may be in the file already
            if known < len(found["index"]):
                t, states, log = (found[name][known:] for name in ("time", "state", "log"))
                sums = {} if known or not self._sums else self._sums[k]
                yield Rows(t, states, log, nodes_of(from_journal(found, self._columns), known), sums)

    def close_long(self, plan: Plan, meta: dict[str, Any]) -> Trajectory:
        """The same for rows that are not in memory: they go from the journal to the file block by block, and stay there."""
        lengths = {"time": self.rows, "interval": self.rows - 1, **{f"{name}_row": n for name, n in self._table_rows.items()}}
        whole = (rows._replace(tables={**rows.tables, **self._memory}) for rows in self.written())
        parts = ((_part(plan, meta, rows, k), rows.sums) for k, rows in enumerate(whole))
        part, sums = next(parts)
        first = variables(part)
        with streaming(self.path, first, lengths, overwrite=True) as out:
            out.append(first, sums)
            for part, sums in parts:
                out.append(rows_of(part), sums)
            out.finish(_attributes(plan.system, plan.stepper, meta))
            reader = out.reader()
        self.journal.discard()
        return StoredTrajectory(plan, meta, reader)


def _columns(meta: dict[str, Any]) -> dict[str, list[str]]:
    """Names of the columns of each ragged table."""
    return meta.get("tables", {})  # type: ignore[no-any-return]


def _text(model: System) -> Json:
    """A model as JSON, found once: that of a robot takes ten milliseconds."""
    frozen: Any = model.frozen()
    kept = frozen.kept("text")
    if "json" not in kept:
        kept["json"] = Json(json.dumps(frozen.data_for_file()))
    return kept["json"]  # type: ignore[no-any-return]


def _header(model: System, stepper: Stepper, meta: dict[str, Any]) -> Json:
    """What a journal says of its run: enough to be read alone, as it is until the first node is in the file."""
    return Json(f'{{"model": {_text(model)}, "meta": {json.dumps(_described(stepper, meta))}}}')


def _described(stepper: Stepper, meta: dict[str, Any]) -> dict[str, Any]:
    """What a file says of a run, the method included."""
    return {**meta, "stepper_description": describe(stepper)}


def variables(traj: Trajectory) -> list[Variable]:
    """Everything in a trajectory as named, labelled arrays."""
    time, *rest = rows_of(traj)
    return [time, *labels(traj.model), *rest]


def labels(model: Any) -> list[Variable]:
    """Names and units of columns."""
    return [
        Variable("q_name", model.column_names("q"), ("q_name",), "", "columns of q"),
        Variable("q_unit", model.column_units("q"), ("q_name",), "", "units of the columns of q"),
        Variable("v_name", model.column_names("v"), ("v_name",), "", "columns of v"),
        Variable("v_unit", model.column_units("v"), ("v_name",), "", "units of the columns of v"),
        Variable("momentum_name", model.momentum_names, ("momentum_name",), "", model.momentum_meaning),
    ]


def _control_name(traj: Trajectory) -> str:
    """The dimension of controls: that of v, or joints of the machine as its user knows it, meta["coordinates"]."""
    return "v_name" if traj.control.shape[1] == traj.v.shape[1] else "control_name"


def rows_of(traj: Trajectory) -> list[Variable]:
    """What has a row for each node or interval."""
    model = traj.model
    traj._find_mechanics()
    unit = ", ".join(dict.fromkeys(model.momentum_units))
    time, state, *solver = checkpoints(traj)
    found = [
        time,
        Variable("q", traj.q, ("time", "q_name"), "see q_unit", "configuration at the node"),
        Variable("v", traj.v, ("time", "v_name"), "see v_unit", "velocity at the node"),
        Variable("v_interval", traj.v_interval, ("interval", "v_name"), "see v_unit", "velocity of the interval before the node"),
        Variable(
            "control", traj.control, ("interval", _control_name(traj)), "dual to v", "generalised force that was held over the interval"
        ),
        Variable("kinetic", traj.kinetic, ("time",), "J", "kinetic energy"),
        Variable("potential", traj.potential, ("time",), "J", "potential energy"),
        Variable("energy", traj.energy, ("time",), "J", "total energy"),
        Variable("momentum", traj.momentum, ("time", "momentum_name"), unit, model.momentum_meaning),
        Variable("work", traj.work, ("time",), "J", "work of all forces but gravity so far"),
        Variable("impulse", traj.impulse, ("time", "momentum_name"), unit, "impulse of all known forces so far"),
        *_account(traj),
        state,
    ]
    found += [Variable(name, rows, ("time", columns), "", what) for name, rows, columns, what in model.extra_variables(traj)]
    return found + solver


def checkpoints(traj: Trajectory) -> list[Variable]:
    """What a run can be continued from, and all else be computed."""
    solver = [Variable(f"solver_{name}", traj._log[:, i], ("time",), "1", f"Newton: {name}") for i, name in enumerate(traj.log_columns)]
    return [
        Variable("time", traj.t, ("time",), "s", "time of the node"),
        Variable("state", traj.states, ("time", "state_entry"), "", "flat state of the stepper: the checkpoint"),
        *solver,
        *table_variables(traj._tables),
    ]


def _account(traj: Trajectory) -> list[Variable]:
    """Work of each kind of force of a tree."""
    kinds = [name for name in traj._account if name not in ("push", "forces")]
    return [Variable(f"work_{name}", traj._account[name], ("time",), "J", f"work of the kind {name!r} so far") for name in kinds]


def write_trajectory(traj: Trajectory, path: Any, overwrite: bool = False) -> None:
    """One HDF5 file with model, options, versions, trajectory, solver log, checkpoint and report."""
    path = file_path("save", path)
    attributes = _attributes(traj.model, traj.stepper, traj.meta)
    found = variables(traj)
    if len(traj) > 1:
        attributes["report"] = traj.report().to_dict()
    write_archive(path, found, attributes, overwrite=overwrite)


def _attributes(model: System, stepper: Stepper, meta: dict[str, Any]) -> dict[str, Any]:
    """What a file says of a run beside its numbers."""
    return {
        "title": f"{model.name or 'model'}: {meta['method']}, h = {float(meta['h']):g} s",
        "source": "dalembert",
        "format": FORMAT,
        "model": _text(model),
        "meta": _described(stepper, meta),
    }


def _part(plan: Plan, meta: dict[str, Any], rows: Rows, k: int) -> Trajectory:
    """Some rows of a run as a trajectory."""
    unpacked = plan.read(rows.states, meta.get("control") is not None or bool(meta.get("functions")))
    part = (LaterRows if k else Trajectory)(plan.system, plan.stepper, meta, rows.t, rows.states, rows.log, unpacked, rows.tables)
    part.__dict__["_run_model"] = plan.acting
    return part


def load(path: Any) -> Trajectory:
    """Read a saved run. The file of a killed run is put in order first; that of a run still under way is read as it is."""
    path = file_path("load", path)
    journal = journal_path(path)
    if not path.exists() and not journal.exists():
        raise ArchiveError(f"{str(path)!r} does not exist.")
    if path.exists() and sum(p.stat().st_size for p in (path, journal) if p.exists()) > LONG_FILE:
        stored = _load_long(path, journal)
        if stored is not None:
            return stored
    data, attributes = read_archive(path) if path.exists() else ({}, {})
    if path.exists() and not {"model", "meta"} <= attributes.keys():
        raise ArchiveError(f"{str(path)!r} holds no run; dal.load_study reads studies.")
    rows = _journal_rows(path, journal, attributes)
    if rows is None:
        return _build(attributes["model"], attributes["meta"], _rows_of(data, attributes["meta"]))
    model, meta, found = _merge(data, attributes, rows)
    alive = is_locked(journal)
    if meta["status"] == "running" and not alive:
        meta["status"] = KILLED
    traj = _build(model, meta, found)
    if not alive:
        _tidy(path, journal, traj)
    return traj


def _load_long(path: Path, journal: Path) -> Trajectory | None:
    """A trajectory whose rows stay in the file; None where the file is to be read as a whole."""
    if is_locked(journal):
        return None
    reader, attributes = open_archive(path)
    if "time" not in reader or "state" not in reader:
        return None
    plan, meta = _plan(attributes["model"], attributes["meta"])
    before = StoredTrajectory(plan, meta, reader)
    if not journal.exists():
        return before if reader.places.keys() >= NEEDED else None
    try:
        with Journal.reopen(journal) as leftover:
            return _close_killed(path, leftover, before, attributes["meta"])
    except ArchiveError:
        return None  # a journal without a header, a folder that cannot be written: told by who reads it as a whole


def _close_killed(path: Path, journal: Journal, before: Trajectory, meta: dict[str, Any]) -> Trajectory | None:
    """Put the file of a killed run in order."""
    header = journal.header
    recording = Recording(path, journal, _columns(header["meta"]), before)
    old = recording.rows
    if header["meta"].get("run_id") != meta.get("run_id"):
        return None
    last = 0
    for found in journal.rows():
        if not {"index", "time", "state", "log"} <= found.keys():
            return None  # of an old version
        last = int(found["index"][-1]) + 1
        if last > old:
            known = int(np.count_nonzero(found["index"] < old))
            recording.count(nodes_of(from_journal(found, recording._columns), known))
    if last <= old:
        return None
    recording.rows = last
    plan, merged = _plan(header["model"], {**meta, **header["meta"]})
    if merged["status"] == "running":
        merged["status"] = KILLED
    return recording.close_long(plan, merged)


def _journal_rows(path: Path, journal: Path, attributes: dict[str, Any]) -> Any:
    """Content of the journal if it belongs to this file and holds rows, else None."""
    if not journal.exists():
        return None
    content = read_journal(journal)
    if content.header is None or "state" not in content.arrays:
        if not attributes:
            raise ArchiveError(f"{str(journal)!r} holds no rows and {str(path)!r} does not exist: nothing was recorded.")
        return None
    if attributes and attributes["meta"].get("run_id") != content.header["meta"]["run_id"]:
        warnings.warn(f"{journal} belongs to another run than {path} and is left alone.", stacklevel=3)
        return None
    return content


def _merge(data: dict[str, Any], attributes: dict[str, Any], content: Any) -> tuple[dict, dict, Rows]:
    """Model, meta and rows of file and journal together; rows that the file has already are skipped."""
    header, arrays = content.header, content.arrays
    meta = {**(attributes.get("meta") or {}), **header["meta"]}
    t = arrays["time"] if "time" in arrays else arrays["index"] * meta["every"] * meta["h"]  # journals of old versions have none
    rows = Rows(t, arrays["state"], arrays["log"], from_journal(arrays, meta.get("tables", {})))
    if data:
        have, new = _rows_of(data, meta), arrays["index"] >= len(data["state"])
        if not new.any():
            return header["model"], attributes["meta"], have
        t, states, log = (np.concatenate([a, b[new]]) for a, b in zip(have[:3], rows[:3], strict=True))
        rows = Rows(t, states, log, join_tables([have.tables, nodes_of(rows.tables, int(np.count_nonzero(~new)))]))
    return header["model"], meta, rows


def _rows_of(data: dict[str, Any], meta: dict[str, Any]) -> Rows:
    log = np.stack([data[f"solver_{name}"] for name in meta.get("log_columns", LOG_COLUMNS)], axis=-1)
    return Rows(np.asarray(data["time"]), np.asarray(data["state"]), log, from_archive(data, meta.get("tables", {})))


def _plan(model_data: dict[str, Any], meta: dict[str, Any]) -> tuple[Plan, dict[str, Any]]:
    """What ran, as a file tells it, and the rest of what it tells."""
    system = system_from(model_data)
    meta = dict(meta)
    description = meta.pop("stepper_description", None)
    stepper = restore(description, meta["family"]) if description else _named(meta["stepper"], meta["family"])
    return Plan.from_meta(system, stepper, meta), meta


def _named(name: str, family: str) -> Stepper:
    """The method of that name and family: of journals and files of versions that described none."""
    found = [s for s in steppers(name=name) if family in (s.family_name, s.system)] or steppers(name=name, system="any")
    if not found:
        raise ArchiveError(f"the file tells of stepper {name!r} of family {family!r}, which is not installed, and does not describe it.")
    return found[0]


def _build(model_data: dict[str, Any], meta: dict[str, Any], rows: Rows) -> Trajectory:
    plan, meta = _plan(model_data, meta)
    controlled = meta.get("control") is not None or bool(meta.get("functions"))
    unpacked = since_first(plan.read(rows.states, controlled))
    return Trajectory(plan.system, plan.stepper, meta, rows.t, rows.states, rows.log, unpacked, rows.tables)


def _tidy(path: Path, journal: Path, traj: Trajectory) -> None:
    """Merge the leftovers of a killed run for good; where the directory cannot be written, the files stay as they are."""
    try:
        write_trajectory(traj, path, overwrite=True)
        with Journal.reopen(journal) as leftover:
            leftover.discard()
    except ArchiveError as problem:
        warnings.warn(f"{path}: the journal of the killed run stays beside it ({problem})", stacklevel=3)
