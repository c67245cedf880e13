"""Trees of bodies in joint coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import UnsupportedError
from dalembert.families import Family
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree import node
from dalembert.model import Model
from dalembert.model import compile_tree as arrays
from dalembert.model.rotation import Array


def unpack(model: Model, system: Array, states: Array) -> dict[str, Array]:
    """q and v at the nodes; these methods are not staggered, and no ledger is kept."""
    nq, nv = model.nq, model.nv
    nan = np.full(len(states), np.nan)
    v = states[:, nq : nq + nv]
    return {"q": states[:, :nq], "v": v, "v_interval": v, "work": nan, "impulse": np.tile(nan[:, None], (1, 6))}


def advise(model: Model, q: Array, v: Array, stepper: str) -> Any:
    """Explicit methods have no equation whose solvability could be proved."""
    raise UnsupportedError(f"no step sizes are proved for stepper {stepper!r} on trees: it solves no equation.")


FAMILY = Family(
    name="tree",
    kind="tree",
    fits=arrays.fits,
    features=arrays.features,
    system=arrays.system_array,
    start=arrays.initial_state,
    nodal=node.nodal,
    hold=node.hold,
    ledger=node.ledger,
    work_size=arrays.work_size,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    keeps_ledger=False,
)
