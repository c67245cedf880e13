"""One rigid body, free or turning about a fixed point."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.families import Family
from dalembert.kernels._jit import NODAL, address_of, first_class
from dalembert.kernels.loop import NODAL_ROWS, nodal_rows
from dalembert.kernels.rigid_body import layout as at
from dalembert.kernels.rigid_body import node
from dalembert.model import Model
from dalembert.model import compile_rigid_body as body_arrays
from dalembert.model.rotation import cross, quat_conj, rotate


def unpack(model: Model, system: Array, states: Array) -> dict[str, Any]:
    """q, v at the nodes, velocity of the interval before each node, control, work and impulse so far."""
    states = np.ascontiguousarray(states)
    q = np.empty((len(states), model.nq))
    v = np.empty((len(states), model.nv))
    known = states.shape[1] == at.STATE_SIZE  # files of versions before kept no control
    first_class(nodal_rows, NODAL_ROWS)(address_of(node.nodal, NODAL), system, states, np.zeros(at.WORK_SIZE), q, v)
    return {
        "q": q,
        "v": v,
        "v_interval": functools.partial(interval_velocity, system, states),
        "control": states[:, at.HELD : at.HELD + model.nv] if known else np.full_like(v, np.nan),
        "work": states[:, at.WORK],
        "impulse": states[:, at.IMPULSE : at.IMPULSE + 6],
    }


def interval_velocity(system: Array, states: Array) -> Array:
    """Velocity of the interval that ends at each node, in the axes of v; the linear part is that of the body-frame origin at the node's
    attitude."""
    q_BP = system[at.Q_BP : at.Q_BP + 4]
    omega = rotate(q_BP, states[:, at.RATE : at.RATE + 3])
    if system[at.PIVOTED] != 0:
        return omega
    drift_P = rotate(quat_conj(states[:, at.Q : at.Q + 4]), states[:, at.DRIFT : at.DRIFT + 3])
    return np.concatenate([omega, rotate(q_BP, drift_P) - cross(omega, system[at.COM : at.COM + 3])], axis=-1)


def starts(model: Any, systems: Array, q: Array, v: Array) -> Array:
    """`initial_state` of many starts."""
    return body_arrays.initial_states(systems, q, v)


def advise(model: Model, q: Array, v: Array, stepper: str):
    """Provable step sizes at a state, from the principal inertias about the reference point."""
    from dalembert.solvability.rigid_body import advise_rigid_body

    system = body_arrays.system_array(model, {})
    state = body_arrays.initial_state(system, q, v)
    J = system[at.INERTIA : at.INERTIA + 3]
    return advise_rigid_body(J, state[at.ANGULAR : at.ANGULAR + 3] / J, stepper)


def limit(model: Model, q: Array, v: Array, stepper: str) -> float:
    """The certified step at one state."""
    advice = advise(model, q, v, stepper)
    return float(min(advice.h_newton, advice.h_jacobian))


def limit_along(stepper: str, traj: Any) -> float:
    """The smallest certified step of all nodes."""
    return min(limit(traj._run_model, q, v, stepper) for q, v in zip(traj.q, traj.v, strict=True))


def remedy(advice: Any, h: float, stepper: str, rescue: str) -> str:
    """What to try when a step cannot be solved."""
    bound = min(advice.h_newton, advice.h_jacobian)  # the smaller one guarantees both
    if 0 < bound < np.inf:
        return f"The largest step that is provably solvable here is h = {bound:.4g} s."
    other = "" if stepper == "cayley" else ", or stepper 'cayley'"
    return f"No step size is provably safe for this method; try a smaller h{other}."


def account_of(model: Any, state: Array) -> Array:
    """The part of a state that is the account."""
    return state[at.IMPULSE : at.WORK + 1]


FAMILY = Family(
    name="rigid-body",
    kind="rigid-body",
    fits=body_arrays.fits,
    features=body_arrays.features,
    system=body_arrays.system_array,
    start=body_arrays.initial_state,
    starts=starts,
    nodal=node.nodal,
    hold=node.hold,
    ledger=node.ledger,
    work_size=lambda system: at.WORK_SIZE,
    info_size=at.INFO_SIZE,
    unpack=unpack,
    advise=advise,
    accounted=frozenset({"gravity", "wrench", "damping"}),
    account=account_of,
    corrects=False,
    limit=limit,
    limit_along=limit_along,
    remedy=remedy,
    rank=1,
)
