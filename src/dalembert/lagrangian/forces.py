"""Forces of the constraints of a run.

At the nodes (`Trajectory.reaction`, N + 1 rows): the multipliers mu of

    M a = b + f + J^T mu,     J a + rest = 0,     J = (G; A), the constraints differentiated until a appears

at the nodal q, v, t, so they have the order of the run, whatever the stepper, and with a composition its order. The push on the
coordinates is G^T mu of the holonomic rows and A^T mu of the Pfaffian ones: a positive multiplier drives its row towards larger values.
Where rows are redundant only J^T mu is determined, and mu is the shortest one. Under a control: that of
`Trajectory.reaction`.

In the intervals (`Trajectory.multipliers`, N rows): what the discrete equations themselves hold as unknowns, impulse over h, of the last
step of a recorded interval. They approximate mu at the middle of that step (`rattle`, `midpoint`; methods of Runge-Kutta: the mean), at
its first node (`shake`, `alpha`, which push half at the start: their first ones are half as large), or at its end (implicit methods;
SciPy's). The substeps of a composition have multipliers of their own, with negative substeps among them, which are not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.model.multipliers import RANK, shortest

if TYPE_CHECKING:
    from dalembert.lagrangian.system import Lagrangian

KINDS = ("holonomic", "pfaffian")


def constraint_forces(traj: Any, kind: str) -> Array:
    """Multipliers (N + 1, rows) of the "holonomic" or the "pfaffian" constraints at the nodes."""
    if kind not in KINDS:
        raise UnknownNameError("kind of constraint of a Lagrangian", kind, KINDS)
    if len(traj) > 1 and np.isnan(traj.control).any():
        raise UnsupportedError(
            f"reaction({kind!r}): the run had a control, whose values its file, of an earlier version, does not hold, so the accelerations "
            f"at the nodes are not known; traj.multipliers[{kind!r}] has what the steps found in each interval."
        )
    return _of_kind(traj, kind, nodal_multipliers(traj._run_model, traj.q, traj.v, traj.t, traj._nodal_control))


def interval_multipliers(traj: Any) -> dict[str, Array]:
    """Multipliers (N, rows) of the discrete equations, by kind."""
    if traj._multipliers is None:
        raise UnsupportedError(f"stepper {traj.stepper.name!r} keeps no forces of constraints.")
    if traj.meta.get("compose"):
        raise UnsupportedError(
            f"compose={traj.meta['compose']!r}: each substep has multipliers of its own, which are not kept; traj.reaction(kind) has "
            "those of the nodes."
        )
    return {kind: _of_kind(traj, kind, traj._multipliers[1:]) for kind in KINDS}


def _of_kind(traj: Any, kind: str, rows: Array) -> Array:
    first = traj._run_model.formulas.holonomic_rows
    return rows[:, :first] if kind == "holonomic" else rows[:, first:]


def nodal_multipliers(system: Lagrangian, q: Array, v: Array, t: Array, u: Array) -> Array:
    """mu of the module's head at states (N, n) under a control (N, n); the shortest one where rows are redundant. NaN where u is."""
    known = np.asarray(np.isfinite(u).all(axis=1))
    M, J = system.numbers.mass(q, v), system.numbers.rows(q, t)
    if not J.shape[1]:
        return np.zeros((len(q), 0))
    wanted = -system.numbers.rest(q, v, t)
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise UnsupportedError(f"reactions of {system!r}: its mass matrix is not positive definite.") from None
    W = np.swapaxes(np.linalg.solve(L, np.swapaxes(J, 1, 2)), 1, 2)
    push: Array = system.numbers.push(q, v, t) + np.where(known[:, None], u, 0.0)
    free = np.linalg.solve(L, push[:, :, None])[:, :, 0]
    b = wanted - np.einsum("kij,kj->ki", W, free)
    found = _solved(W, b)
    found[~known] = np.nan
    return found


def _solved(W: Array, b: Array) -> Array:
    """x of W W^T x = b for every node: by elimination where the rows of W, of unit length, are independent."""
    length = np.linalg.norm(W, axis=2)
    unit = W / np.where(length > 0.0, length, 1.0)[:, :, None]
    s = np.linalg.svd(unit, compute_uv=False)
    regular = (s[:, -1] > RANK * s[:, 0]) & (W.shape[1] <= W.shape[2])
    out = np.empty_like(b)
    S = unit[regular] @ np.swapaxes(unit[regular], 1, 2)
    out[regular] = np.linalg.solve(S, (b / np.where(length > 0.0, length, 1.0))[regular][:, :, None])[:, :, 0] / length[regular]
    for k in np.flatnonzero(~regular):
        out[k] = shortest(W[k], b[k])
    return out
