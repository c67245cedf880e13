"""What all entries of this family have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.kernels.tree import account_layout as account
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree import load_layout
from dalembert.kernels.tree.variational import layout as here
from dalembert.kernels.tree.variational.both_layout import BOTH_SIZE
from dalembert.kernels.tree.variational.layout import MIDPOINT
from dalembert.kernels.tree.variational.step import step
from dalembert.model.rotation import Array
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
        *("forces", "loops", "nonholonomic", "limits"),
    ),
}


def enter(method: int, **description: Any) -> None:
    """Register a method by its number in the kernel."""

    def prepare(system: Array, options: dict[str, Any]) -> Array:
        return pack(system, method, options)

    register(prepare=prepare, **COMMON, **description)(step)


def pack(system: Array, method: int, options: dict[str, Any]) -> Array:
    """The system array with options and the layout of the workspace behind it."""
    n, nq, nv = int(system[at.LINKS]), int(system[at.NQ]), int(system[at.NV])
    data = np.zeros(here.DATA_SIZE)
    data[here.METHOD] = method
    data[here.TOL], data[here.MAX_ITERATIONS] = options["tol"], options["max_iterations"]
    data[here.RETRACTION], data[here.RESCUE] = options["retraction"] == "exp", options["rescue"]
    place = int(system[at.AT_FREE])
    vectors = (
        here.V,
        here.DV,
        here.E,
        here.L_BAR,
        here.F_LEFT,
        here.F_RIGHT,
        here.L_SIDE,
        here.F_SIDE,
        here.HV,
        here.P_OLD,
        here.TRIAL,
        here.DELTA,
    )
    sizes = [(slot, nv) for slot in vectors] + [(slot, nq) for slot in (here.Q_NEW, here.Q_MID, here.Q_OLD)]
    held = nq + (1 + here.HISTORY) * nv + here.STATE_TAIL
    sizes += [(here.SAVED, held + nv + account.SIZE)]
    sizes += [(slot, n * here.SIDE_SIZE) for slot in (here.SIDE_0, here.SIDE_1, here.SIDE_M)]
    data[here.SOFT] = sum(count for start, count in load_layout.groups(system) if system[start + load_layout.ROW] != 0.0)
    m = int(system[at.CONSTRAINTS] + data[here.SOFT])
    sizes += [(slot, m) for slot in (here.LAMBDA, here.GAP)] + [(here.ORDER, 3 * m + 1), (here.PUSH, 2 * m), (here.SCHUR, m * m)]
    sizes += [(here.ASIDE, here.ASIDE_SIZE)]
    sizes += [(slot, m * nv) for slot in (here.ROWS_OLD, here.ROWS_NEW, here.REPLY, here.SPARE_ROWS)]
    if method == MIDPOINT and nq == nv <= here.DENSE_MOST and m == int(system[at.LOADS]) == 0 and system[at.FUNCTION] == 0.0:
        sizes += [(here.DENSE, 2 * nv * nv)]
    for slot, size in [*sizes, (here.FACTOR, n * max(here.FACTOR_SIZE, BOTH_SIZE))]:
        data[slot] = place
        place += size
    data[here.HELD], data[here.TABLE] = data[here.SAVED] + held, len(system) + len(data)
    longer = np.concatenate([system, data])
    links = longer[at.HEADER : at.HEADER + n * at.LINK_SIZE].reshape(n, at.LINK_SIZE)
    limited = np.isfinite(links[:, at.LIMIT_LOW]) | np.isfinite(links[:, at.LIMIT_HIGH])
    links[limited, at.LIMIT_STIFFNESS] = options["limit_stiffness"]
    longer[at.STEPPER_DATA], longer[at.AT_HELD] = len(system), held
    longer[at.STEPPER_WORK] = place - int(system[at.AT_FREE])
    return compose(longer, (1.0,))


def compose(system: Array, weights: Any) -> Array:
    """The system array of a composition: the table that its predictions go by stands at the end."""
    data = int(system[at.STEPPER_DATA])
    out = np.concatenate([system[: int(system[data + here.TABLE])], table(tuple(float(w) for w in weights))])
    out[data + here.STAGES] = len(weights)
    return out
