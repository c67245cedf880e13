"""Between trajectories and files.

While a run is under way, `run.h5` holds its first nodes and `run.h5.journal` the rows since, each record checksummed and written straight
to the
system: a kill at any moment loses at most the record being written. When the run ends, or when a file of a killed run is loaded, both are
merged into
one new HDF5 file that replaces the old one as a whole. Rows carry their node index and both files the identity of the run, so merging
twice does no harm.
"""

from __future__ import annotations

import uuid
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import ArchiveError
from dalembert.families import find_family
from dalembert.io import Journal, Variable, file_path, is_locked, read_archive, read_journal, write_archive
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.model import Model
from dalembert.model.rotation import Array
from dalembert.registry import Stepper, describe, restore
from dalembert.trajectory import Trajectory

FORMAT = 1


def journal_path(path: Path) -> Path:
    """Where the rows of an unfinished run are."""
    return path.with_name(path.name + ".journal")


class Recording:
    """A run that is being written to a file."""

    def __init__(self, path: Path, journal: Journal, rows: int):
        self.path, self.journal, self.rows = path, journal, rows

    @classmethod
    def create(cls, path: Any, model: Model, meta: dict[str, Any], overwrite: bool) -> Recording:
        """Begin a new file; an existing one is refused unless `overwrite` is given."""
        path = file_path("save", path)
        for existing in (path, journal_path(path)):
            if existing.exists() and not overwrite:
                raise ArchiveError(f"{str(existing)!r} exists; overwrite=True replaces it, dal.resume({str(path)!r}, t_end) continues it.")
        if not path.parent.is_dir():
            raise ArchiveError(f"{str(path)!r}: the directory {str(path.parent)!r} does not exist.")
        meta["run_id"] = uuid.uuid4().hex
        return cls(
            path, Journal.create(journal_path(path), {"model": model.to_dict(drop_functions=True), "meta": meta}, overwrite=overwrite), 0
        )

    @classmethod
    def extend(cls, path: Path, traj: Trajectory, meta: dict[str, Any]) -> Recording:
        """Go on with a file that holds a trajectory."""
        meta.setdefault("run_id", uuid.uuid4().hex)
        header = {"model": traj.model.to_dict(drop_functions=True), "meta": meta}
        return cls(path, Journal.create(journal_path(path), header, overwrite=True), len(traj))

    def begin(self, traj: Trajectory) -> None:
        """Write what is known at the start: from here on the HDF5 file is always whole."""
        write_trajectory(traj, self.path, overwrite=True, with_report=False)

    def append(self, states: Array, log: Array) -> None:
        """Rows of recorded nodes."""
        self.journal.append({"index": np.arange(self.rows, self.rows + len(states)), "state": states, "log": log})
        self.rows += len(states)

    def close(self, traj: Trajectory) -> None:
        """Merge everything into the HDF5 file and remove the journal."""
        write_trajectory(traj, self.path, overwrite=True)
        self.journal.discard()


def variables(traj: Trajectory) -> list[Variable]:
    """Everything in a trajectory as named, labelled arrays."""
    model = traj.model
    unit = ", ".join(dict.fromkeys(model.momentum_units))
    found = [
        Variable("time", traj.t, ("time",), "s", "time of the node"),
        Variable("q_name", model.column_names("q"), ("q_name",), "", "columns of q"),
        Variable("q_unit", model.column_units("q"), ("q_name",), "", "units of the columns of q"),
        Variable("v_name", model.column_names("v"), ("v_name",), "", "columns of v"),
        Variable("v_unit", model.column_units("v"), ("v_name",), "", "units of the columns of v"),
        Variable("momentum_name", model.momentum_names, ("momentum_name",), "", model.momentum_meaning),
        Variable("q", traj.q, ("time", "q_name"), "see q_unit", "configuration at the node"),
        Variable("v", traj.v, ("time", "v_name"), "see v_unit", "velocity at the node"),
        Variable("v_interval", traj.v_interval, ("interval", "v_name"), "see v_unit", "velocity of the interval before the node"),
        Variable("kinetic", traj.kinetic, ("time",), "J", "kinetic energy"),
        Variable("potential", traj.potential, ("time",), "J", "potential energy"),
        Variable("energy", traj.energy, ("time",), "J", "total energy"),
        Variable("momentum", traj.momentum, ("time", "momentum_name"), unit, model.momentum_meaning),
        Variable("work", traj.work, ("time",), "J", "work of all forces but gravity so far"),
        Variable("impulse", traj.impulse, ("time", "momentum_name"), unit, "impulse of all known forces so far"),
        *_account(traj),
        Variable("state", traj.states, ("time", "state_entry"), "", "flat state of the stepper: the checkpoint"),
    ]
    if traj.is_lagrangian:
        found += _of_constraints(traj)
    solver = [Variable(f"solver_{name}", traj._log[:, i], ("time",), "1", f"Newton: {name}") for i, name in enumerate(LOG_COLUMNS)]
    return found + solver


def _account(traj: Trajectory) -> list[Variable]:
    """Work of each kind of force of a tree."""
    kinds = [name for name in traj._account if name not in ("push", "forces")]
    return [Variable(f"work_{name}", traj._account[name], ("time",), "J", f"work of the kind {name!r} so far") for name in kinds]


def _of_constraints(traj: Trajectory) -> list[Variable]:
    """Residuals and forces of the constraints of a Lagrangian; nothing where it has none."""
    found = []
    if traj.model.formulas.holonomic_rows:
        found.append(Variable("constraint", traj.constraint, ("time", "holonomic_row"), "", "residuals of the holonomic constraints"))
    if traj._multipliers is not None and traj._multipliers.shape[1]:
        what = "forces of the constraints (holonomic, Pfaffian) in the interval before the node"
        found.append(Variable("multipliers", traj._multipliers, ("time", "constraint_row"), "", what))
    return found


def write_trajectory(traj: Trajectory, path: Any, overwrite: bool = False, with_report: bool = True) -> None:
    """One HDF5 file with model, options, versions, trajectory, solver log, checkpoint and report."""
    path = file_path("save", path)
    meta = {**traj.meta, "stepper_description": describe(traj.stepper)}
    attributes: dict[str, Any] = {
        "title": f"{traj.model.name or 'model'}: {traj.meta['method']}, h = {traj.h:g} s",
        "source": "dalembert",
        "format": FORMAT,
        "model": traj.model.to_dict(drop_functions=True),
        "meta": meta,
    }
    if with_report and len(traj) > 1:
        attributes["report"] = traj.report().to_dict()
    write_archive(path, variables(traj), attributes, overwrite=overwrite)


def load(path: Any) -> Trajectory:
    """Read a saved run. The file of a killed run is put in order first; that of a run still under way is read as it is."""
    path = file_path("load", path)
    journal = journal_path(path)
    if not path.exists() and not journal.exists():
        raise ArchiveError(f"{str(path)!r} does not exist.")
    data, attributes = read_archive(path) if path.exists() else ({}, {})
    rows = _journal_rows(path, journal, attributes)
    if rows is None:
        return _build(attributes["model"], attributes["meta"], np.asarray(data["state"]), _log_of(data))
    model, meta, states, log = _merge(data, attributes, rows)
    alive = is_locked(journal)
    if meta["status"] == "running" and not alive:
        meta["status"] = "killed: the run ended without closing its file; dal.resume continues it"
    traj = _build(model, meta, states, log)
    if not alive:
        _tidy(path, journal, traj)
    return traj


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


def _merge(data: dict[str, Any], attributes: dict[str, Any], content: Any) -> tuple[dict, dict, Array, Array]:
    """Model, meta, states and log of file and journal together; rows that the file has already are skipped."""
    header = content.header
    meta = {**(attributes.get("meta") or {}), **header["meta"]}
    states, log = content.arrays["state"], content.arrays["log"]
    if data:
        have = len(data["state"])
        new = content.arrays["index"] >= have
        if not new.any():
            meta = attributes["meta"]
        states = np.concatenate([data["state"], states[new]])
        log = np.concatenate([_log_of(data), log[new]])
    return header["model"], meta, states, log


def _log_of(data: dict[str, Any]) -> Array:
    return np.stack([data[f"solver_{name}"] for name in LOG_COLUMNS], axis=-1)


def _build(model_data: dict[str, Any], meta: dict[str, Any], states: Array, log: Array) -> Trajectory:
    model = _system_from(model_data)
    meta = dict(meta)
    description = meta.pop("stepper_description", None) or {"name": meta["stepper"]}
    stepper = restore(description, meta["family"])
    t = (np.arange(len(states)) * meta["every"]) * meta["h"]
    return Trajectory(model, stepper, meta, t, states, log, unpack(model, stepper, meta, states))


def _system_from(data: dict[str, Any]) -> Any:
    """A Model, or a Lagrangian."""
    if data.get("kind") == "lagrangian":
        from dalembert.lagrangian import Lagrangian

        return Lagrangian.from_dict(data)
    return Model.from_dict(data).frozen()


def unpack(model: Model, stepper: Stepper, meta: dict[str, Any], states: Array) -> dict[str, Array]:
    """q, v and so on of recorded states."""
    from dalembert.engine import PythonEngine, system_of

    if stepper.engine is not None:
        return stepper.engine(model, stepper, meta["h"], meta["options"], None, (1.0,)).unpack(states)
    if stepper.python:
        return PythonEngine(model, stepper, meta["h"], {}).unpack(states)
    family, left = find_family(model, meta["family"]), model.without(meta.get("ignore", ()))
    kept = family.keeps_account(left, meta.get("control") is not None or bool(meta.get("functions")))
    return family.read(model, system_of(left, family, stepper, meta["options"]), states, kept)


def _tidy(path: Path, journal: Path, traj: Trajectory) -> None:
    """Merge the leftovers of a killed run for good; where the directory cannot be written, the files stay as they are."""
    try:
        write_trajectory(traj, path, overwrite=True)
        with Journal.reopen(journal) as leftover:
            leftover.discard()
    except ArchiveError as problem:
        warnings.warn(f"{path}: the journal of the killed run stays beside it ({problem})", stacklevel=3)
