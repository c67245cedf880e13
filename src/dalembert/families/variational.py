"""Trees of bodies under variational steppers: the state holds momenta at the nodes and velocities of the intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError, UnsupportedError
from dalembert.families import Family
from dalembert.families.ceiling import expect, expect_rows
from dalembert.families.tree import ACCOUNTED, call_functions, ending, energies, vary
from dalembert.kernels._jit import NODAL, address_of, first_class
from dalembert.kernels.loop import NODAL_ROWS, nodal_rows
from dalembert.kernels.many import NODES_OF_MANY, nodes_of_many
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.account_layout import DRIVE_BEFORE, SIZE
from dalembert.kernels.tree.energy import momenta
from dalembert.kernels.tree.kinematics import sweep
from dalembert.kernels.tree.variational import account, node
from dalembert.kernels.tree.variational.convergence import STALE
from dalembert.kernels.tree.variational.layout import HISTORY, STATE, state_places
from dalembert.kernels.tree.variational.starts import start_rows
from dalembert.model import Model
from dalembert.model import compile_tree as arrays
from dalembert.model.compile_constraints import is_driven

NOTES = STATE.names[STATE.names.index("known") : STATE.names.index("held")]  # of the prediction and of Newton's method
SHRINK = 0.8  # of h, from one trial of h="auto" to the next, where no node says by how much


def start(system: Array, q: Array, v: Array) -> Array:
    """q, p = M(q) v, the velocity as the only known one, at the time of the node. ModelError where M(q) is singular."""
    nq, nv = len(q), len(v)
    system, work = np.array(system), np.zeros(int(system[at.AT_FREE]))  # kernels called from Python take no array that is read-only
    at_q, at_v = int(system[at.AT_Q]), int(system[at.AT_V])
    work[at_q : at_q + nq], work[at_v : at_v + nv] = q, v
    sweep(system, work, at_q, at_v)
    out, gradient = int(system[at.AT_TAU]), int(system[at.AT_ACC])
    momenta(system, work, at_v, out, gradient)
    n, length = state_places(nq, nv, is_driven(system))
    state = np.zeros(length)
    state[n.q : n.p], state[n.p : n.history], state[n.history : n.history + nv] = q, work[out : out + nv], v
    found = np.empty((1, nv))
    _nodes(system, state[None, :], np.empty((1, nq)), found)
    if not (np.abs(found[0] - v) <= 1e-4 * (np.abs(v) + np.abs(v).max(initial=0.0))).all():
        raise ModelError(
            "the mass matrix is singular at q0: a joint moves nothing that has inertia. Give its body inertia, or it armature."
        )
    return state


def starts(model: Any, systems: Array, q: Array, v: Array) -> Array | None:
    """`start` and the ceiling of many starts, (n, size); None where one of them has to be looked at by itself."""
    count, nq, nv = len(q), model.nq, model.nv
    n, length = state_places(nq, nv, is_driven(systems[0]))
    states, found, systems = np.zeros((count, length)), np.empty((count, nv)), np.array(systems)
    start_rows(systems, np.zeros(int(systems[0, at.AT_FREE])), np.ascontiguousarray(q), np.ascontiguousarray(v), states, n.p, n.history)
    if len(systems) == 1:
        _nodes(systems[0], states, np.empty((count, nq)), found)
    else:
        nodes = first_class(nodes_of_many, NODES_OF_MANY)
        nodes(address_of(node.nodal, NODAL), systems, states, np.zeros(arrays.work_size(systems[0])), np.empty((count, nq)), found)
    if not (np.abs(found - v) <= 1e-4 * (np.abs(v) + np.abs(v).max(axis=1, initial=0.0, keepdims=True))).all():
        return None
    expect_rows(model, systems, q, v, states)
    return states


def usable(system: Array, state: Array) -> Array:
    """The state as it is, or without the notes of the prediction and of Newton's method where one of them cannot be one.

    q, p, the last interval velocity, the stage of a composition, the ceiling of energy, the control and the account stay. Without notes a
    step takes another correction or two.
    """
    nv = int(system[at.NV])
    n, _ = state_places(int(system[at.NQ]), nv)
    most = dict.fromkeys(NOTES, np.inf) | {"known": HISTORY, "rate": STALE, "noise": 1.0}
    note = {name: float(state[getattr(n, name)]) for name in NOTES}
    measured = note["rate"] == 0.0 or min(note["rate_misfit"], note["rate_step"]) > 0.0
    bounded = all(x <= most[name] and (x >= 0.0 or name == "base") for name, x in note.items())
    if np.isfinite(state[n.history + nv : n.held]).all() and bounded and measured:
        return state
    out = state.copy()
    out[n.history + nv : n.held] = 0.0
    for kept in (n.stage, n.ceiling):
        out[kept] = state[kept]
    return out


def _nodes(system: Array, states: Array, q: Array, v: Array) -> None:
    """Write q and v = M^-1 p of recorded states."""
    work = np.zeros(arrays.work_size(system))
    first_class(nodal_rows, NODAL_ROWS)(address_of(node.nodal, NODAL), system, np.ascontiguousarray(states), work, q, v)


def unpack(model: Model, system: Array, states: Array) -> dict[str, Array]:
    """q and v = M^-1 p at the nodes, velocity of the interval before each node, the control and the account."""
    nq, nv = model.nq, model.nv
    q, v = np.empty((len(states), nq)), np.empty((len(states), nv))
    _nodes(system, states, q, v)
    n, length = state_places(nq, nv, model.driven)
    held = n.held if states.shape[1] >= length else n.held - 1  # of a version that kept no ceiling
    return {"q": q, "v": v, "v_interval": states[:, n.history : n.history + nv], **ending(states, held, nv, model.driven)}


def compose(system: Array, weights: Array) -> Array:
    """The system array with the predictions of a composition."""
    from dalembert.steppers.variational._entry import compose

    return compose(system, weights)


def advise(model: Model, q: Array, v: Array, stepper: str) -> Any:
    """Provable step sizes at a state."""
    if stepper != "trapezoidal":
        raise UnsupportedError(f"no step sizes are proved for stepper {stepper!r} on trees; for 'trapezoidal' they are.")
    from dalembert.solvability.tree import advise_tree

    return advise_tree(model, q, v, stepper)


def limit(model: Any, q: Array, v: Array, stepper: str) -> float:
    """The certified step at one state; OptionError where nothing is proved."""
    advice = advise(model, q, v, stepper)
    if not advice.rigorous["h_newton"]:
        from dalembert.solvability.certify import unproved

        found = advice.h_newton
        such = (
            f"such as the estimate {found:.3g} s of dal.advise"
            if 0.0 < found < float("inf")
            else "in s; dal.advise estimates no limit here"
        )
        raise OptionError(f"h='auto': no step size of {model!r} is proved ({'; '.join(unproved(model))}); give h, {such}.")
    return float(min(advice.h_newton, advice.h_jacobian))


def limit_along(stepper: str, traj: Any) -> float:
    """The step of the run where Kantorovich's condition holds for every one of its steps, else a smaller one."""
    from dalembert.solvability.certify import certified_steps

    proved = certified_steps(traj._run_model, traj.h, traj.q, traj.v_interval) & (traj.solver["substeps"] == 0.0)
    return traj.h if bool(np.all(proved)) else SHRINK * traj.h


def remedy(advice: Any, h: float, stepper: str, rescue: str) -> str:
    """What to try when a step cannot be solved."""
    bound = min(advice.h_newton, advice.h_jacobian)  # the smaller one guarantees both
    if advice.rigorous.get("h_newton") and 0 < bound < h:
        return f"A step of h = {bound:.4g} s is provably solvable here{rescue}."
    return f"Try a smaller h{rescue}."


def account_of(model: Any, state: Array) -> Array:
    """The part of a state that is the account."""
    return state[len(state) - SIZE - (DRIVE_BEFORE if model.driven else 0) :]


FAMILY = Family(
    name="variational",
    kind="tree",
    fits=arrays.fits,
    features=arrays.features,
    system=arrays.system_array,
    start=start,
    nodal=node.nodal,
    hold=node.hold,
    ledger=account.ledger,
    work_size=arrays.work_size,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    accounted=ACCOUNTED,
    account=account_of,
    partial=True,
    compose=compose,
    usable=usable,
    expect=expect,
    starts=starts,
    vary=vary,
    energies=energies,
    call_functions=call_functions,
    limit=limit,
    limit_along=limit_along,
    remedy=remedy,
    rank=2,
    expects=True,
    promises=True,
)
