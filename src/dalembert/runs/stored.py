"""Trajectories of runs that are longer than memory should be: rows stay in the file and are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.io import ArchiveReader
from dalembert.kernels.loop import SUBSTEPS
from dalembert.runs.plan import Plan
from dalembert.runs.ragged import COLUMNS, MEMORY, Columns, Table, Tables
from dalembert.runs.table_files import read_last, read_parts, read_table
from dalembert.runs.trajectory import Trajectory

BLOCK_BYTES = 2**22  # of states, read or written at a time


def blocks(count: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of stretches of rows that fit into a block."""
    size = max(1, BLOCK_BYTES // max(row_bytes, 1))
    for start in range(0, count, size):
        yield start, min(start + size, count)


class LaterRows(Trajectory):
    """Rows from the middle of a run: each has an interval before it."""

    @cached_property
    def v_interval(self) -> Array:
        return np.asarray(self._v_interval() if callable(self._v_interval) else self._v_interval)

    @property
    def control(self) -> Array:
        return np.zeros_like(self._held) if self.meta.get("control") is None else self._held


class StoredTrajectory(Trajectory):
    """A trajectory in a file that is kept open. What is asked for is read, and stays in memory from then on."""

    def __init__(self, plan: Plan, meta: dict[str, Any], reader: ArchiveReader):
        self.model = plan.system
        self.stepper, self.meta = plan.stepper, meta
        self._plan, self._reader = plan, reader
        self._found: dict[str, Table] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in _READERS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.__dict__[name] = _READERS[name](self)
        return found

    def __len__(self) -> int:
        return self._reader.rows("time")

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled with all its rows."""
        return _restored, (self.in_memory().__getstate__(),)

    def in_memory(self) -> Trajectory:
        """The same with all its rows in memory."""
        unpacked = self._unpacked(self.states)
        return Trajectory(self.model, self.stepper, self.meta, self.t, self.states, self._log, unpacked, self._tables)

    @cached_property
    def kinetic(self) -> Array:
        return self._reader.read("kinetic")

    @cached_property
    def potential(self) -> Array:
        return self._reader.read("potential")

    @cached_property
    def momentum(self) -> Array:
        return self._reader.read("momentum")

    def _find_mechanics(self) -> None:
        """They are in the file."""

    def log_rows(self, start: int = 0, stop: int | None = None) -> Array:
        """What the solver did, some rows of it."""
        return np.stack([self._reader.read(f"solver_{name}", start, stop) for name in self.log_columns], axis=-1)

    @property
    def _first(self) -> tuple[Array, Array]:
        return self._reader.read("q", 0, 1)[0], self._reader.read("v", 0, 1)[0]

    @property
    def _splits(self) -> int:
        return int(np.count_nonzero(self._reader.read(f"solver_{self.log_columns[SUBSTEPS]}")))

    @property
    def _blocks(self) -> Iterator[tuple[Array, Array, Array, Tables]]:
        read, parts = self._reader.read, list(blocks(len(self), 8 * self._reader.places["state"].shape[1]))
        for (start, stop), tables in zip(parts, read_parts(self._reader, self._columns, parts), strict=True):
            yield read("time", start, stop), read("state", start, stop), self.log_rows(start, stop), tables

    @property
    def _columns(self) -> Columns:
        return self.meta.get("tables", {})  # type: ignore[no-any-return]

    @property
    def _last_tables(self) -> Tables:
        return read_last(self._reader, self._columns)

    @property
    def _table_rows(self) -> dict[str, int]:
        return {name: self._reader.rows(name) for name in self._columns if name != MEMORY}

    def _table(self, name: str) -> Table:
        """One is read without the others."""
        if name not in self._found:
            known = name in self._columns
            self._found[name] = read_table(self._reader, name, self._columns[name]) if known else Table.empty(COLUMNS[name], len(self))
        return self._found[name]

    @property
    def _last_state(self) -> Array:
        return self._reader.read("state", len(self) - 1)[0]

    def _unpacked(self, states: Array) -> dict[str, Any]:
        return self._plan.read(states, self.meta.get("control") is not None or bool(self.meta.get("functions")))

    def _gathered(self, pick: Callable[[dict[str, Any]], Any]) -> Any:
        """What the states tell, of which a part is kept."""
        width = 8 * self._reader.places["state"].shape[1]
        return [pick(self._unpacked(self._reader.read("state", a, b))) for a, b in blocks(len(self), width)]

    def _column(self, name: str) -> Array:
        return np.concatenate(self._gathered(lambda found: _values(found[name]).copy()))

    def _accounts(self) -> dict[str, Array]:
        found = self._gathered(lambda found: {k: x.copy() for k, x in found.get("account", {"forces": found["work"]}).items()})
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def _restored(state: dict[str, Any]) -> Trajectory:
    traj = Trajectory.__new__(Trajectory)
    traj.__dict__.update(state)
    return traj


def _values(found: Any) -> Array:
    return np.asarray(found() if callable(found) else found)


#: variables without which a file is read as a whole: those of old versions
NEEDED = frozenset(("time", "state", "q", "v", "kinetic", "potential", "momentum", "work", "impulse"))
_READERS: dict[str, Callable[[StoredTrajectory], Any]] = {
    "t": lambda traj: traj._reader.read("time"),
    "states": lambda traj: traj._reader.read("state"),
    "q": lambda traj: traj._reader.read("q"),
    "v": lambda traj: traj._reader.read("v"),
    "work": lambda traj: traj._reader.read("work"),
    "impulse": lambda traj: traj._reader.read("impulse"),
    "_log": StoredTrajectory.log_rows,
    "_tables": lambda traj: {name: traj._table(name) for name in traj._columns},
    "_v_interval": lambda traj: traj._column("v_interval"),
    "_held": lambda traj: traj._column("control"),
    "_account": StoredTrajectory._accounts,
    "_multipliers": lambda traj: traj._reader.read("multipliers") if "multipliers" in traj._reader else None,
}
