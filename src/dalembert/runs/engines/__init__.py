"""Engines: what advances a state. One file each; a plan makes the one that its stepper needs.

compiled.py    the one compiled loop over the steps of a family
python.py      a user's plain Python step
scipy.py       SciPy's adaptive solvers on Lagrangians

Other packages add theirs by `add_engine`; a stepper names it: engine="name".

What an engine finds in numbers that differ from node to node (contacts, events, warm starts) goes into ragged tables (`runs/ragged.py`)
beside the rows. An engine that has any also has
    table_columns: {"contacts": (...), "memory": (...)}     names and columns of its tables; constant
    checkpoint_tables() -> {name: Table of one node}        those of the current node; with the flat state all that the next step depends on
    restart(state, step, tables=None)                       from both; None: nothing is remembered
and gives one count per recorded node in `Chunk.tables`; a table without rows may be left out. With every > 1 it decides what an interval
leaves behind: all its events, the contacts of its last step. Of "memory", what later steps depend on, the last recorded node of a chunk
is kept: other counts may be 0. A chunk that ends between recorded nodes must give the memory of the node that was recorded.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError
from dalembert.runs.ragged import NO_TABLES, Columns, Tables

#: (states, log) with room for so many rows
Into = Callable[[int], tuple[Array, Array]]
#: what a user's code raises to end a run, and what is kept of the run then: everything
Stopping = Exception | KeyboardInterrupt


class Chunk(NamedTuple):
    """What one call computed: status of the last step, recorded rows, an exception of the user's own code that ended it, ragged tables."""

    status: int
    t: Array
    states: Array
    log: Array
    error: Stopping | None = None
    tables: Tables = NO_TABLES


class Engine(Protocol):
    """What a run asks of an engine.

    state: one flat array, the checkpoint, with the control of the last step in it. steps, time: of the current node. log_columns: what a
    row of the log tells of an interval. info: numbers of the last step, (iterations, residual, ...). t0: time of step 0.
    """

    h: float
    t0: float
    state: Array
    info: Array
    log_columns: tuple[str, ...]

    @property
    def steps(self) -> int: ...

    @property
    def time(self) -> float: ...

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""

    def restart(self, state: Array, step: int) -> None:
        """Begin from a checkpoint: the flat state after `step` steps."""

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node; arrays of the engine, to be copied by who keeps them."""

    def node(self) -> tuple[Array, Array]:
        """The same as new arrays."""

    def advance(self, n: int, every: int, stop: Callable[[], bool] = ..., into: Into | None = None) -> Chunk:
        """Up to n steps. Ends early on failure, and between steps on request of `stop` where Python takes part in each step.

        into(rows): (states, log) with room for so many rows, for engines that can write there.
        """

    def unpack(self, states: Array) -> dict[str, Any]:
        """q, v, v_interval, control, work, impulse of recorded states, and what else the engine knows."""


def times(first: int, last: int, every: int, h: float, t0: float = 0.0) -> Array:
    """Times of the nodes that are kept after `first` steps, up to `last`: every so many. t0: time of step 0."""
    return np.asarray(t0 + np.arange(first // every + 1, last // every + 1) * every * h, dtype=np.float64)


_added: dict[str, Any] = {}


def add_engine(name: str, engine: Any) -> None:
    """Enter an engine that is no file of this package: a class engine(plan, control) with `Engine` and the class method `read`."""
    _added[name] = engine


def find_engine(name: str) -> Any:
    """The class of that name: one that was added, or of a file of this package."""
    if name in _added:
        return _added[name]
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module).ENGINE
    except ModuleNotFoundError as problem:
        if problem.name != module:
            raise
    raise UnknownNameError("engine", name, {found.name for found in pkgutil.iter_modules(__path__)} | _added.keys())


def table_columns(engine: Any) -> Columns:
    """Names and columns of the ragged tables of an engine; most have none."""
    return getattr(engine, "table_columns", {})


def checkpoint_tables(engine: Any) -> Tables:
    """Ragged tables of the current node of an engine."""
    return engine.checkpoint_tables() if table_columns(engine) else NO_TABLES


def restart(engine: Any, state: Array, step: int, tables: Tables) -> None:
    """Begin from a checkpoint: flat state and ragged tables after `step` steps."""
    if tables:
        engine.restart(state, step, tables)
    else:
        engine.restart(state, step)
