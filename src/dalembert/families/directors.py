"""Machines in director coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.families import Family
from dalembert.kernels._jit import NODAL, address_of, first_class
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors import node
from dalembert.kernels.loop import NODAL_ROWS, nodal_rows
from dalembert.model.features import acting


def features(model: Any) -> set[str]:
    """What a stepper has to handle."""
    return {"tree"} | acting(model.model)


def system(model: Any, options: dict[str, Any]) -> Array:
    """The constants of a run."""
    from dalembert.directors.compile import system_array

    return system_array(model.compiled, options["tol"], options["max_iterations"], full=options.get("form") == "multipliers")


def work_size(system: Array) -> int:
    """Numbers in the workspace."""
    return int(system[-1])


def _numbers(system: Array) -> Any:
    return at.LAYOUT.named(system[at.HEADER : at.HEADER + at.LAYOUT.size])


def start(system: Array, q: Array, v: Array) -> Array:
    """p = M v"""
    s = _numbers(system)
    state = np.zeros(3 * s.n + 2 * s.k + s.rows + at.TAIL)
    state[: s.n], state[s.n : 2 * s.n] = q, system[s.at_mass : s.at_mass + s.n] * v
    return state


def unpack(model: Any, system: Array, states: Array) -> dict[str, Any]:
    """q, v at the nodes, the velocity of the interval before each (to first order P u/h), multipliers, control, work."""
    s = _numbers(system)
    q, v = np.empty((len(states), s.n)), np.empty((len(states), s.n))
    first_class(nodal_rows, NODAL_ROWS)(
        address_of(node.nodal, NODAL), system, np.ascontiguousarray(states), np.zeros(work_size(system)), q, v
    )
    tail = 3 * s.n + 2 * s.k + s.rows
    return {
        "q": q,
        "v": v,
        "v_interval": v,
        "multipliers": states[:, 3 * s.n + 2 * s.k : tail],
        "control": states[:, 2 * s.n : 3 * s.n],
        "work": states[:, tail + at.WORK],
        "impulse": states[:, tail + at.IMPULSE : tail + at.IMPULSE + 6],
    }


def advise(model: Any, q: Array, v: Array, stepper: str) -> Any:
    """Nothing is proved for these."""
    raise UnsupportedError(f"no step sizes are proved for stepper {stepper!r} in director coordinates.")


FAMILY = Family(
    name="directors",
    kind="directors",
    of="directors",
    fits=lambda model: True,
    features=features,
    system=system,
    start=start,
    nodal=node.nodal,
    hold=node.hold,
    ledger=node.ledger,
    work_size=work_size,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    partial=True,
    promises=True,
)
