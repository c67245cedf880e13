"""Closing loops: the configuration near a given one that meets all constraints on positions, and the velocity that meets all of them.

Configuration: steps q <- q exp(dq), with dq the smallest solution of  G dq = -g  in the least-squares sense, damped as Levenberg and
Marquardt do when a step does not reduce |g|; joints that are to stay are left out of dq. A start where all steps vanish though g does not
(stretched arms) is left by a small turn of every joint, always the same. From the closed configuration, steps along the null space of G
towards the start, each closed again, lead to the nearest one (smallest |difference|, rad and m alike) on this branch of the mechanism.

Velocity: the nearest one in the metric of the mass matrix,  min (v' - v) . M (v' - v)  with  G v' = 0  (of
drives f'(t)),  that is, the one that the machine would have after an impulse of its joints. Velocities of joints that are to stay are left
as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError, OptionError, UnknownNameError
from dalembert.model.reactions import row_units

if TYPE_CHECKING:
    from dalembert.model.constraint_functions import TreeConstraints
    from dalembert.model.redundancy import Redundancy

ROUND_OFF = 64.0 * float(np.finfo(float).eps)  # of positions, for a distance of 1 m from the world origin
CLOSED = 1e-10  # residuals below this times the size of the machine (at most 1 m) count as closed
LONGEST = 0.5  # longest step, rad or m
STEPS = 200
ATTEMPTS = 6
APPROACHES = 30


class Assembly:
    """The part of `Model` that closes loops. The compiled arrays are kept until a part of the model changes."""

    _rows: tuple[list[Any], TreeConstraints] | None = None

    def _constraints(self: Any) -> TreeConstraints:
        from dalembert.model.constraint_functions import TreeConstraints

        parts = [*self.bodies, *self.joints, *self.loops, *self.nonholonomic]
        found = self._rows
        if found is None or len(parts) != len(found[0]) or any(a is not b for a, b in zip(parts, found[0], strict=True)):
            found = self._rows = (parts, TreeConstraints(self))
        return found[1]

    def constraint_rows(self, q: Any, t: float = 0.0) -> tuple[Array, Array]:
        """(g (m,), G (m, nv)): residuals of all constraints, 0 for those on velocities alone, and d g/dt = G v. Rows: `constraint_labels`.

        Forces of multipliers are G^T lambda: lambda > 0 pushes the child of the joint towards a larger residual.
        Rows of drives have the residual q - f(t), and d g/dt = G v - f'(t).
        """
        return self._constraints().rows(q, t)

    @property
    def constraint_labels(self) -> list[tuple[str, str]]:
        """(joint, what is held to zero) of every row of `constraint_rows`."""
        return list(self._constraints().labels)

    def assemble(self: Any, q: Any, v: Any = None, fixed: Iterable[str] = (), t: float = 0.0) -> tuple[Array, Array]:
        """(q, v): the configuration near q that meets all constraints, and the velocity nearest to v (None: rest) that does.

        q, v: as check_q and check_v take them. fixed: names of joints whose coordinates and rates stay. t: time of the drives.
        """
        start, rates = self.check_q(q), self.check_v(v)
        fixed = (fixed,) if isinstance(fixed, str) else tuple(fixed)
        free = _free(self, fixed)
        start, rates = self.on_drives(start, rates, t, fixed)
        closed = _close(self, start, free, t)
        return closed, rates if v is None and not self.driven else _project(self, closed, rates, free, t)

    def redundant_constraints(self: Any, q: Any = None) -> Redundancy:
        """Which constraints follow from the others at a closed configuration q and near it; degrees of freedom. See model/redundancy.py."""
        from dalembert.model.redundancy import analyse

        return analyse(self, self.assemble(q)[0])


def _free(model: Any, fixed: tuple[str, ...]) -> Array:
    """Which velocities may change."""
    at = model.v_slices()
    free = np.ones(model.nv, dtype=bool)
    for name in fixed:
        if name not in at:
            raise UnknownNameError("joint in fixed", name, at)
        free[at[name]] = False
    return free


def _size(model: Any) -> float:
    """Extent of the machine at the reference configuration, at most 1 m."""
    points = _points(model)
    return min(1.0, float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0) or 1.0


def _points(model: Any) -> Array:
    """Origins and anchors at the reference configuration."""
    return np.array([b.position + 0.0 for b in model.bodies] + [x.anchor for x in (*model.joints, *model.loops)])


def allowed(model: Any, fraction: float) -> Array:
    """What rows may leave open: in rad a fraction, in m that fraction of the machine's size and the round-off of how far away it is."""
    shift = fraction * _size(model) + ROUND_OFF * float(np.abs(_points(model)).max(initial=0.0))
    return np.array([shift if unit == "m" else fraction for unit in row_units(model)])


def _close(model: Any, q: Array, free: Array, t: float) -> Array:
    if not model._has_rows:
        return q
    open_by = allowed(model, CLOSED)[: model._constraints().holonomic]
    best, worst = q, np.inf
    for attempt in range(ATTEMPTS):
        start = q if attempt == 0 else _shaken(model, q, free, attempt)
        found, excess = _descend(model, start, free, open_by, t)
        if excess <= 1.0:
            return _nearest(model, q, found, free, open_by, t)
        if excess < worst:
            best, worst = found, excess
    raise _unclosed(model, best, free, open_by, t)


def _shaken(model: Any, q: Array, free: Array, attempt: int) -> Array:
    rng = np.random.default_rng(attempt)
    return np.asarray(model.integrate(q, 0.1 * attempt * free * rng.uniform(-1.0, 1.0, model.nv)))


def _positions(model: Any, q: Array, free: Array, t: float) -> tuple[Array, Array]:
    """Residuals and Jacobian of the constraints on positions, for the velocities that may change."""
    n = model._constraints().holonomic
    g, G = model.constraint_rows(q, t)
    return g[:n], G[:n, free]


def _step(g: Array, G: Array, damping: float) -> Array:
    """Smallest dq with G dq = -g; with damping, the minimum of |G dq + g|^2 + damping |G|^2 |dq|^2."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    largest = s.max(initial=0.0)
    ok = s > 1e-9 * largest
    gain = s[ok] / (s[ok] ** 2 + damping * largest**2)
    return -Vt[ok].T @ (gain * (U.T @ g)[ok])


def _excess(g: Array, open_by: Array) -> float:
    """Largest residual, in parts of what is allowed: at most 1 where all rows are closed."""
    return float((np.abs(g) / open_by).max(initial=0.0))


def _descend(model: Any, q: Array, free: Array, open_by: Array, t: float) -> tuple[Array, float]:
    """(configuration, excess) where the steps end: at round-off, or where they no longer help."""
    g, G = _positions(model, q, free, t)
    damping = 0.0
    for _ in range(STEPS):
        dq = np.zeros(model.nv)
        dq[free] = _step(g, G, damping)
        length = float(np.linalg.norm(dq))
        if length == 0.0:
            break
        trial = np.asarray(model.integrate(q, dq * min(1.0, LONGEST / length)))
        g_new, G_new = _positions(model, trial, free, t)
        if np.linalg.norm(g_new) < np.linalg.norm(g):
            done = length < 1e-9 and _excess(g, open_by) <= 1.0
            q, g, G, damping = trial, g_new, G_new, damping / 10.0 if damping > 1e-9 else 0.0
            if done:
                break
        elif _excess(g, open_by) <= 1.0 or damping > 1e6:
            break
        else:
            damping = max(10.0 * damping, 1e-6)
    return q, _excess(g, open_by)


def _nearest(model: Any, start: Array, q: Array, free: Array, open_by: Array, t: float) -> Array:
    """The closed configuration nearest to the start, from one that is closed."""
    away = model.difference(q, start)
    for _ in range(APPROACHES):
        _, G = _positions(model, q, free, t)
        _, s, Vt = np.linalg.svd(G)
        N = Vt[int(np.sum(s > 1e-9 * s.max(initial=0.0))) :]
        step = np.zeros(model.nv)
        step[free] = N.T @ (N @ away[free])
        if np.linalg.norm(step) < 1e-6 * np.linalg.norm(away) + 1e-12:
            break
        trial, excess = _descend(model, np.asarray(model.integrate(q, step)), free, open_by, t)
        nearer = model.difference(trial, start)
        if excess > 1.0 or np.linalg.norm(nearer) >= np.linalg.norm(away):
            break
        q, away = trial, nearer
    return q


def _unclosed(model: Any, q: Array, free: Array, open_by: Array, t: float) -> AssemblyError:
    g, _ = _positions(model, q, free, t)
    names = {model.constraint_labels[r][0] for r in np.flatnonzero(np.abs(g) > open_by)}
    errors = {name: e for name, e in {**model.loop_errors(q), **model.drive_errors(q, t)}.items() if name in names}
    shown = "; ".join(f"{name!r} is off by {np.array2string(e, precision=3)}" for name, e in errors.items())
    stay = " with the joints that are to stay" if not free.all() else ""
    what = f"model {model.name!r}: the loops cannot be closed{stay}"
    most = ", ".join(f"{open_by[r]:.1g} {unit}" for unit, r in {u: r for r, u in enumerate(row_units(model)[: len(open_by)])}.items())
    return AssemblyError(f"{what}. Nearest configuration found: {shown}; expected at most {most}.", q=q, errors=errors)


def _project(model: Any, q: Array, v: Array, free: Array, t: float) -> Array:
    """Velocity on the constraints, nearest to v in the metric of the mass matrix."""
    if not model._has_rows:
        return v
    _, G = model.constraint_rows(q, t)
    wrong = G @ v - model._constraints().prescribed(t)[1]
    U, s, Vt = np.linalg.svd(G[:, free], full_matrices=True)
    rank = int(np.sum(s > 1e-9 * s.max(initial=0.0)))
    change = -Vt[:rank].T @ ((U.T @ wrong)[:rank] / s[:rank])
    left = G[:, free] @ change + wrong
    if np.abs(left).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(wrong).max(initial=0.0))):
        names = sorted({name for (name, _), x in zip(model.constraint_labels, left, strict=True) if abs(x) > 1e-9})
        raise OptionError(
            f"model {model.name!r}: no velocity meets the constraints {', '.join(map(repr, names))} with the rates of the joints that are "
            f"to stay; expected other rates, or fewer fixed joints."
        )
    N = Vt[rank:].T
    M = model.mass_matrix(q)[np.ix_(free, free)]
    change -= N @ np.linalg.lstsq(N.T @ M @ N, N.T @ (M @ change), rcond=None)[0]
    out = v.copy()
    out[free] += change
    return out
