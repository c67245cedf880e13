"""What all entries of this family have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree import load_layout
from dalembert.kernels.tree.account_layout import SIZE as ACCOUNT_SIZE
from dalembert.kernels.tree.variational.both_layout import BOTH_SIZE
from dalembert.kernels.tree.variational.layout import CHORD_SIZE, DENSE_MOST, FACTOR_SIZE, FIRST, MIDDLE, SECOND, SIDE_SIZE, STATE, STEP
from dalembert.kernels.tree.variational.step import step
from dalembert.kernels.tree.variational.trust import TURN
from dalembert.model.compile_constraints import is_driven
from dalembert.registry import Option, register
from dalembert.steppers.variational._prediction import table

OPTIONS = (
    Option(
        "tol",
        1e-13,
        "size of the last Newton correction relative to the velocity",
        valid=lambda x: 0 < x < 1,
        expected="a number in (0, 1)",
    ),
    Option("max_iterations", 50, "Newton iterations per step", valid=lambda n: n >= 1, expected="a whole number >= 1"),
    Option(
        "retraction",
        "cay",
        "map from velocities to motions of free and spherical joints",
        valid=lambda s: s in ("cay", "exp"),
        expected="'cay' or 'exp'",
    ),
    Option(
        "limit_stiffness",
        1e4,
        "joint limits are springs of this stiffness beyond the limit",
        units="N m/rad, N/m",
        valid=lambda k: 0 < k < float("inf"),
        expected="a positive number",
    ),
    Option("rescue", True, "repeat a step that did not converge with smaller steps (flagged: this breaks symplecticity)"),
)

COMMON: dict[str, Any] = {
    "system": "tree",
    "family": "variational",
    "symplectic": True,
    "options": OPTIONS,
    "handles": (
        *("free", "pivot", "tree", "gravity", "wrench", "damping", "control", "spring", "stiffness", "armature", "function"),
        *("forces", "loops", "nonholonomic", "limits", "drive"),
    ),
}


#: part of h with which forces at these sides enter the first node
LEFT = {(FIRST,): 1.0, (MIDDLE,): 0.5, (SECOND,): 0.0, (FIRST, SECOND): 0.5}


def enter(*sides: int, chord: bool = False, **description: Any) -> None:
    """Register the method that evaluates the Lagrangian at these sides; chord: the kinetic energy is that of straight paths."""

    def prepare(system: Array, options: dict[str, Any]) -> Array:
        return pack(system, sides, options, TURN if description["order"] > 1 else float("inf"), chord)

    register(prepare=prepare, **{**COMMON, **description})(step)


def pack(system: Array, sides: tuple[int, ...], options: dict[str, Any], turn: float, chord: bool = False) -> Array:
    """The system array with options and the layouts of workspace and state behind it."""
    n, nq, nv, m = (int(system[k]) for k in (at.LINKS, at.NQ, at.NV, at.CONSTRAINTS))
    total = m + sum(count for start, count in load_layout.groups(system) if system[start + load_layout.ROW] != 0.0)
    small = sides == (MIDDLE,) and nq == nv <= DENSE_MOST and total == int(system[at.LOADS]) == 0 and system[at.FUNCTION] == 0.0
    sizes = {
        "links": n,
        "nq": nq,
        "nv": nv,
        "m": m,
        "total": total,
        "small": int(small),
        "driven": int(is_driven(system)),
        "account": ACCOUNT_SIZE,
    }
    state, length = STATE.lay(0, {}, sizes)
    sizes |= {"side": SIDE_SIZE, "factor": max(FACTOR_SIZE, BOTH_SIZE), "state": length, "chords": CHORD_SIZE if chord else 0}
    numbers = {
        **{name: sizes[name] for name in ("links", "nq", "nv", "m", "total", "small")},
        **{"holonomic": system[at.HOLONOMIC], "first": sides[0], "end": sides[-1] + 1, "inside": MIDDLE in sides, "chord": chord},
        **{"left": LEFT[sides], "turn": turn, "tol": options["tol"], "max_iterations": options["max_iterations"]},
        **{"exponential": options["retraction"] == "exp", "rescue": options["rescue"]},
        **{"side": 0, "held": 0, "stages": 1, "table": len(system) + STEP.size + STATE.size},
    }
    step_data, end = STEP.lay(int(system[at.AT_FREE]), numbers, sizes)
    s, held = STEP.named(step_data), STATE.named(state).held
    step_data[STEP.names.index("side")] = {FIRST: s.side_0, SECOND: s.side_1, MIDDLE: s.side_m}[sides[0]]
    step_data[STEP.names.index("held")] = s.saved + held
    longer = np.concatenate([system, step_data, state])
    links = longer[at.HEADER : at.HEADER + n * at.LINK_SIZE].reshape(n, at.LINK_SIZE)
    limited = np.isfinite(links[:, at.LIMIT_LOW]) | np.isfinite(links[:, at.LIMIT_HIGH])
    links[limited, at.LIMIT_STIFFNESS] = options["limit_stiffness"]
    longer[at.STEPPER_DATA], longer[at.AT_HELD] = len(system), held
    longer[at.STEPPER_WORK] = end - int(system[at.AT_FREE])
    return compose(longer, (1.0,))


def compose(system: Array, weights: Any) -> Array:
    """The system array of a composition: the table that its predictions go by stands at the end."""
    data = int(system[at.STEPPER_DATA])
    before = int(system[data + STEP.names.index("table")])
    out = np.concatenate([system[:before], table(tuple(float(w) for w in weights))])
    out[data + STEP.names.index("stages")] = len(weights)
    return out
