"""Trees of bodies in joint coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.families import Family
from dalembert.kernels import lie_rk_account
from dalembert.kernels.tree import account_layout as account
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree import node
from dalembert.kernels.tree.rows_of_many import energies_of_many
from dalembert.model import Model, patch_many
from dalembert.model import compile_tree as arrays

ACCOUNTED = frozenset({"forces", "damping", "limits", "drive"})  # gravity and springs have a potential, and momenta that they keep


def unpack(model: Model, system: Array, states: Array) -> dict[str, Array]:
    """q and v at the nodes; these methods are not staggered. And the control and the account."""
    nq, nv = model.nq, model.nv
    v = states[:, nq : nq + nv]
    return {"q": states[:, :nq], "v": v, "v_interval": v, **ending(states, nq + nv + 1, nv)}


def starts(model: Any, systems: Array, q: Array, v: Array) -> Array:
    """`initial_state` of many starts."""
    return np.concatenate([q, v, np.zeros((len(q), 1 + model.nv + account.SIZE))], axis=1)


def vary(model: Any, columns: dict[str, Array]) -> list[tuple[Array, Array]]:
    """Records of the links whose masses differ."""
    return patch_many.masses(model, columns)


def energies(model: Any, systems: Array, q: Array, v: Array, values: Any) -> Array | None:
    """(n, nodes): kinetic and potential energy; None where what is fixed to the world has other weight."""
    constant = patch_many.constant(model, values)
    if constant is None:
        return None
    machines, nodes = q.shape[:2]
    flat = np.ascontiguousarray(q.reshape(machines * nodes, -1)), np.ascontiguousarray(v.reshape(machines * nodes, -1))
    kinetic, potential = np.empty(machines * nodes), np.empty(machines * nodes)
    energies_of_many(np.array(systems), nodes, *flat, np.zeros(arrays.work_size(systems[0]) + 6), kinetic, potential, np.zeros((0, 6)))
    return (kinetic + (potential + constant)).reshape(machines, nodes)


def call_functions(system: Array, address: int) -> None:
    """Let the steps call the machine code at an address for the forces that are functions."""
    system[at.FUNCTION], system[at.PASSIVE] = address, 1.0


def ending(states: Array, before: int, nv: int, driven: bool = False) -> dict[str, Any]:
    """What the state of a tree ends with, behind `before` numbers of the method: the control that was held over the interval, then work,
    impulse and the account by kinds of force so far. NaN in files of versions that kept none. driven: the work of drives is there too."""
    drives: dict[str, Array] = {}
    if driven:
        at_drives = states.shape[1] - account.SIZE - account.DRIVE_BEFORE
        drives, states = {"drive": states[:, at_drives]}, np.delete(states, at_drives, axis=1)
    size = states.shape[1]
    control = states[:, before : before + nv] if size == before + nv + account.SIZE else np.full((len(states), nv), np.nan)
    columns = states[:, size - account.SIZE :] if size >= before + account.SIZE else np.full((len(states), account.SIZE), np.nan)
    works = {**{name: columns[:, i] for i, name in enumerate(account.WORKS)}, **drives}
    return {
        "control": control,
        "work": columns[:, : len(account.WORKS)].sum(axis=1) + drives.get("drive", 0.0),
        "impulse": columns[:, account.IMPULSE : account.IMPULSE + 6],
        "account": {**works, "push": columns[:, account.PUSH]},
    }


def advise(model: Model, q: Array, v: Array, stepper: str) -> Any:
    """Explicit methods have no equation whose solvability could be proved."""
    raise UnsupportedError(f"no step sizes are proved for stepper {stepper!r} on trees: it solves no equation.")


def account_of(model: Any, state: Array) -> Array:
    """The part of a state that is the account."""
    return state[len(state) - account.SIZE :]


FAMILY = Family(
    name="tree",
    kind="tree",
    fits=arrays.fits,
    features=arrays.features,
    system=arrays.system_array,
    start=arrays.initial_state,
    nodal=node.nodal,
    hold=node.hold,
    ledger=lie_rk_account.ledger,
    work_size=arrays.work_size,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    accounted=ACCOUNTED,
    account=account_of,
    call_functions=call_functions,
    starts=starts,
    vary=vary,
    energies=energies,
    partial=True,
    rank=3,
)
