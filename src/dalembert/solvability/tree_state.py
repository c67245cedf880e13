"""A tree at one state: what the bounds of `kantorovich.py` need to know of it, and the bounds that hold for every smaller step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.errors import OptionError, UnsupportedError
from dalembert.solvability import kantorovich as bounds
from dalembert.solvability.certify import limits
from dalembert.solvability.tree_chart import chart_tree
from dalembert.solvability.tree_constants import Constants, all_constants, default_reach
from dalembert.solvability.tree_loads import with_drag
from dalembert.solvability.tree_step import Array, DenseTree, Terms, acceleration_force, dense_tree, terms

if TYPE_CHECKING:
    from dalembert.model import Model

NEWTON = ("(41)", "sharper", "local")
FASTEST = 1e60  # cubes of velocities are formed
MOST = 50  # velocities: bounds of all second derivatives of the mass matrix are n^4 numbers, 5 s and 0.4 GB for 50, 47 s and 3.4 GB for 100
REGULAR = ("(32)", "regular")


@dataclass(frozen=True)
class State:
    """A tree at one state, with the constants of all coordinates tried."""

    tree: DenseTree
    q: Array
    v: Array
    control: Array
    here: Terms
    reach: Array
    constants: list[Constants]


def refuse_large(model: Model) -> None:
    """UnsupportedError where the bounds would take too much memory and time."""
    if model.nv > MOST:
        raise UnsupportedError(
            f"{model!r} has {model.nv} velocities; step sizes are bounded for machines of at most {MOST} (the bounds take n^4 numbers)."
        )


def fixed_constants(model: Model) -> list[Constants] | None:
    """Constants that hold at all states; None if the model has joints other than hinges."""
    refuse_large(model)
    if any(j.kind not in ("fixed", "revolute", "universal") for j in model.joints):
        return None
    tree = dense_tree(model)
    return list(all_constants(tree, np.zeros(tree.n)))


def state_of(model: Model, q: Array, v: Array, control: Array, constants: list[Constants] | None = None) -> State:
    """Free and spherical joints are unfolded near q. constants: if known."""
    refuse_large(model)
    if np.max(np.abs(v), initial=0.0) > FASTEST:
        raise OptionError(
            f"v has an entry of size {np.max(np.abs(v)):.3g}; expected at most {FASTEST:g}, so that energies are finite numbers."
        )
    chart = any(j.kind in ("free", "spherical") for j in model.joints)
    tree, place = chart_tree(model, q) if chart else (dense_tree(model), q)
    here = with_drag(model, terms(tree, place), q)
    values = np.linalg.eigvalsh(here.M)
    if values[0] <= 1e-13 * values[-1]:
        raise UnsupportedError(f"{model!r}: the mass matrix is singular at this state (a joint moves no mass), so no step can be solved.")
    reach = default_reach(tree, place, [None] * tree.n if chart else limits(model))
    return State(tree, place, v, control, here, reach, constants or list(all_constants(tree, reach)))


def numbers(state: State, c: Constants) -> bounds.Numbers:
    """What the bounds need to know of a state."""
    tree, v = state.tree, state.v
    C = state.here.columns(v)
    bias = -0.5 * C.T @ v + state.here.gradient - state.control + state.here.drag @ v
    slide = ~tree.revolute
    room = bounds.Room((state.reach - np.abs(state.q))[slide], np.abs(v)[slide], np.linalg.norm(c.T_inv, axis=1)[slide])
    return bounds.Numbers(
        speed=float(np.linalg.norm(c.T @ v)),
        bias=float(np.linalg.norm(c.T_inv.T @ bias)),
        force=float(np.linalg.norm(c.T_inv.T @ acceleration_force(state.here, v, state.control))),
        M=c.T_inv.T @ state.here.M @ c.T_inv,
        growth=c.T_inv.T @ (state.here.along(v) + state.here.drag) @ c.T_inv,
        drag=float(np.linalg.norm(c.T_inv.T @ state.here.drag @ c.T_inv, 2)),
        room=room,
    )


def a_priori(state: State) -> dict[str, dict[str, float]]:
    """Bounds that hold for every smaller step, by coordinates and name; "regular" is the local bound of h_jacobian."""
    table = {}
    for c in state.constants:
        x = numbers(state, c)
        table[c.name] = {
            "(32)": bounds.regular_32(c, x.speed, x.room),
            "(38)": bounds.iterates_38(c, x),
            "(41)": bounds.newton_41(c, x),
            "sharper": bounds.newton_sharper(c, x),
            "local": bounds.newton_local(c, x),
            "regular": bounds.regular_local(c, x),
        }
    return table
