"""Engines: what advances a state. One file each; a plan makes the one that its stepper needs.

compiled.py    the one compiled loop over the steps of a family
python.py      a user's plain Python step
scipy.py       SciPy's adaptive solvers on Lagrangians
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.arrays import Array

#: (states, log) with room for so many rows
Into = Callable[[int], tuple[Array, Array]]
#: what a user's code raises to end a run, and what is kept of the run then: everything
Stopping = Exception | KeyboardInterrupt


class Chunk(NamedTuple):
    """What one call computed: status of the last step, recorded rows, and an exception of the user's own code that ended it."""

    status: int
    t: Array
    states: Array
    log: Array
    error: Stopping | None = None


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
