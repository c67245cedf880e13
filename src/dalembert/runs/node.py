"""A node of a `Simulation`, what else it knows of it, and room for the nodes to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from numpy import empty

from dalembert.arrays import Array

BLOCK = 2**12  # numbers of a block of nodes; a state that is kept keeps its block


class State(NamedTuple):
    """Time, configuration, velocity. The arrays cannot be written to; copy them to change them."""

    t: float
    q: Array
    v: Array


class Gauges(NamedTuple):
    """What only the engine knows: work done on the machine since the start, J (NaN: not kept); largest violation of a constraint."""

    work: float = float("nan")
    violation: float = float("nan")


def rooms(nq: int, nv: int) -> Iterator[tuple[Array, Array, Array]]:
    """Room for some nodes: an array to be written, and its parts q and v, which cannot be written to. Views of rows are made in less than
    half the time of an array and its slices."""
    block = empty((max(1, BLOCK // max(1, nq + nv)), nq + nv))
    seen = block.view()
    seen.setflags(write=False)
    return zip(block, seen[:, :nq], seen[:, nq:], strict=True)
