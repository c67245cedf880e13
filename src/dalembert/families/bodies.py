"""Machines cut free: every body has its own coordinates, joints are constraints (model/cut.py). The engine is `runs/engines/spook.py`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.families import Family
from dalembert.model import Model
from dalembert.model.compile_tree import features as tree_features
from dalembert.model.cut import body_state, cut


def fits(model: Model) -> bool:
    """Any machine that can move, or part where a fixed joint gives way."""
    return bool(model.nv > 0) or any(j.kind == "fixed" and j.gives_way for j in model.joints)


def is_cut(model: Model) -> bool:
    """Whether all that moves is free already."""
    return all(j.kind == "free" or (j.kind == "fixed" and not j.gives_way) for j in model.joints)


def enter(model: Model) -> Any:
    """The machine cut free, frozen; one that is free stays as it is."""
    if is_cut(model):
        return model
    kept = model.kept("cut")
    if "cut" not in kept:
        whole = model.without("function")  # functions speak q and v of the machine, and are held
        free = cut(whole, lend=True)
        _tell(whole, free)
        kept["cut"] = free.frozen()
    return kept["cut"]


def _tell(model: Model, free: Model) -> None:
    """A warning that names the bodies that were lent inertia; that of particles matters to nobody."""
    lent = [b.name for b in model.bodies if not b.particle and np.trace(free.body(b.name).inertia) > np.trace(b.inertia)]
    if lent:
        warnings.warn(
            f"model {model.name!r} in body coordinates: bodies {', '.join(map(repr, lent))} have no inertia about some axis and take a "
            "small share of what they carry, see model/light.py.",
            stacklevel=5,
        )


def enter_state(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Its state from that of the machine."""
    return (q, v) if is_cut(model) else body_state(model, q, v)


def advise(model: Model, q: Array, v: Array, stepper: str) -> Any:
    """Each problem has a solution for every h."""
    raise UnsupportedError(f"stepper {stepper!r} can be solved at every step size; how large h may be is a matter of accuracy.")


def _no_loop(*_: Any) -> Any:
    raise UnsupportedError("machines cut free have no arrays of the compiled loop.")


FAMILY = Family(
    name="bodies",
    kind="bodies",
    fits=fits,
    features=tree_features,
    system=_no_loop,
    start=_no_loop,
    nodal=None,
    hold=None,
    ledger=None,
    work_size=lambda system: 0,
    info_size=2,
    unpack=lambda model, system, states: {"impulse": np.zeros((len(states), 6))},
    advise=advise,
    corrects=False,
    enter=enter,
    enter_state=enter_state,
    rank=9,
)
