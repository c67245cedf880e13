"""Systems given by a Lagrangian: all steppers share one compiled step, which calls machine code made from the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnsupportedError
from dalembert.families import Family
from dalembert.kernels._jit import NODAL, address_of, first_class
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian import node
from dalembert.kernels.loop import NODAL_ROWS, nodal_rows
from dalembert.kernels.many import NODES_OF_MANY, nodes_of_many


def features(model: Any) -> set[str]:
    """What a stepper has to handle."""
    return set(model.formulas.features)


def system(model: Any, options: dict[str, Any], stepper: Any = None) -> Array:
    """Machine code of the stepper's program (made once per system and options), and the values of the parameters."""
    from dalembert.lagrangian.program import CompiledProgram

    if stepper is None or stepper.program is None:
        raise UnsupportedError(f"{model!r}: stepper {getattr(stepper, 'name', None)!r} has no program for Lagrangians.")
    built = {k: tuple(x) if isinstance(x, list) else x for k, x in options.items() if k not in ("tol", "max_iterations")}
    key = (stepper.name, id(stepper.program), tuple(sorted(built.items())))
    found = model._programs.get(key)
    if found is None:  # two threads may ask at once: both take the program that is kept, whose machine code lives as long as the model
        found = model._programs.setdefault(key, CompiledProgram(stepper.program(model.formulas, built)))
    return found.system(model.parameter_vector, options["tol"], options["max_iterations"])


def start(system: Array, q: Array, v: Array) -> Array:
    """The flat state at t = 0."""
    params = system[len(system) - int(system[at.PARAMS]) :]
    state = np.zeros(int(system[at.STATE]))
    node.evaluate(int(system[at.START]), np.concatenate([q, v, params]), state)
    found = np.empty((2, 1, len(q)))
    _nodes(system, state[None, :], found[0], found[1])
    if not np.isfinite(found[1]).all():
        raise OptionError("the Lagrangian is singular or not finite at q0, v0: no velocity belongs to the momentum there.")
    return state


def starts(model: Any, systems: Array, q: Array, v: Array) -> Array | None:
    """`start` of many starts of a system without constraints, (n, size); None where one of them has to be looked at by itself."""
    from dalembert.lagrangian.consistency import all_regular

    first, count, size = int(systems[0, at.START]), int(systems[0, at.PARAMS]), int(systems[0, at.STATE])
    params = systems[:, systems.shape[1] - count :]
    if not all_regular(model, q, v, params):
        return None
    states, inputs = np.zeros((len(q), size)), np.concatenate([q, v, np.broadcast_to(params, (len(q), count))], axis=1)
    for state, each in zip(states, np.ascontiguousarray(inputs), strict=True):
        node.evaluate(first, each, state)
    found = np.empty((2, *q.shape))
    if len(systems) == 1:
        _nodes(systems[0], states, found[0], found[1])
    else:
        nodes = first_class(nodes_of_many, NODES_OF_MANY)
        nodes(address_of(node.nodal, NODAL), np.array(systems), states, np.zeros(work_size(systems[0])), found[0], found[1])
    return states if np.isfinite(found[1]).all() else None


def energies(model: Any, systems: Array, q: Array, v: Array, values: Any) -> Array:
    """(n, nodes): (E(q, v) - E(q, 0)) + E(q, 0), each system with its own parameters."""
    params = np.repeat(systems[:, systems.shape[1] - int(systems[0, at.PARAMS]) :], q.shape[1], axis=0)
    numbers, flat = model.numbers.of(params), (q.reshape(-1, model.n), v.reshape(-1, model.n))
    rest = numbers.energy(flat[0], np.zeros_like(flat[0]))
    return ((numbers.energy(*flat) - rest) + rest).reshape(q.shape[:2])


def _nodes(system: Array, states: Array, q: Array, v: Array) -> None:
    work = np.zeros(work_size(system))
    first_class(nodal_rows, NODAL_ROWS)(address_of(node.nodal, NODAL), system, np.ascontiguousarray(states), work, q, v)


def work_size(system: Array) -> int:
    """Numbers in the workspace."""
    return int(system[at.WORK_SIZE])


def unpack(model: Any, system: Array, states: Array) -> dict[str, Array]:
    """q, v at the nodes, velocity of the interval before each, multipliers, control, work, and impulse along each symmetry so far."""
    n, size = model.n, int(system[at.STATE])
    known = states.shape[1] == size  # files of versions before kept no control
    states = states if known else np.concatenate([states, np.zeros((len(states), n))], axis=1)
    q, v = np.empty((len(states), n)), np.empty((len(states), n))
    _nodes(system, states, q, v)
    tail = int(system[at.AT_LEDGER])
    first = tail - int(system[at.MULTIPLIERS])
    return {
        "q": q,
        "v": v,
        "v_interval": states[:, 2 * n : 3 * n],
        "multipliers": states[:, first:tail],
        "control": states[:, size - n :] if known else np.full((len(states), n), np.nan),
        "work": states[:, tail],
        "impulse": states[:, tail + 1 : size - n],
    }


def advise(model: Any, q: Array, v: Array, stepper: str) -> Any:
    """Nothing is proved for these."""
    raise UnsupportedError(f"no step sizes are proved for stepper {stepper!r} on a Lagrangian.")


FAMILY = Family(
    name="lagrangian",
    kind="lagrangian",
    fits=lambda system: True,
    features=features,
    system=system,
    start=start,
    starts=starts,
    energies=energies,
    nodal=node.nodal,
    hold=node.hold,
    ledger=node.ledger,
    work_size=work_size,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    accounted=frozenset({"force", "damping"}),
    of="lagrangian",
)
