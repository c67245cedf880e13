"""Starts that meet the constraints: the check, and the nearest one that does."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError, OptionError
from dalembert.lagrangian.system import Lagrangian

START = 1e-8  # allowed residuals, of |row| max(|q|, 1) and |row| max(|v|, 1)


def check_consistent(s: Lagrangian, stepper: Any, q: Array, v: Array) -> None:
    """OptionError where a start is singular or violates constraints; steppers that pull a violation in do not mind it."""
    mass = s.mass_matrix(q, v)
    if not np.isfinite(mass).all() or not np.isfinite(s.energy(q, v)):
        raise OptionError(f"{s!r}: the Lagrangian or its derivatives are not finite at q0 = {q.tolist()}, v0 = {v.tolist()}.")
    size = np.abs(mass).max()
    if not size > 0.0 or np.linalg.svd(mass, compute_uv=False)[-1] < 1e-13 * size:
        raise OptionError(f"{s!r}: d2L/dv2 is singular at q0 = {q.tolist()}: a velocity has no inertia there.")
    if not s.any_numbers_start:
        _refuse_overlap(s, q)
    if s.any_numbers_start or "inconsistent start" in stepper.handles:
        return
    rows = s.numbers.rows(q)
    length = np.linalg.norm(rows, axis=1)
    g = np.abs(s.constraint_errors(q))
    _refuse(s, g, START * np.maximum(length[: len(g)], 1e-300) * max(1.0, float(np.linalg.norm(q))), "holonomic", "q0 violates it by")
    rates = np.abs(s.velocity_errors(q, v))
    allowed = START * np.maximum(length, 1e-300) * max(1.0, float(np.linalg.norm(v)))
    _refuse(s, rates[: len(g)], allowed[: len(g)], "holonomic", "v0 violates its derivative by")
    _refuse(s, rates[len(g) :], allowed[len(g) :], "pfaffian", "v0 violates it by")


def all_regular(s: Lagrangian, q: Array, v: Array, params: Array) -> bool:
    """True where the first check above finds nothing at any of many starts, (n, nq). params: of each (n, ...), or of all (1, ...)."""
    numbers = s.numbers.of(np.broadcast_to(params, (len(q), params.shape[1])))
    mass = numbers.mass(q, v)
    if not (np.isfinite(mass).all() and np.isfinite(numbers.energy(q, v)).all()):
        return False
    size, least = np.abs(mass).max(axis=(1, 2)), np.linalg.svd(mass, compute_uv=False)[:, -1]
    return bool(((size > 0.0) & (least >= 1e-13 * size)).all())


def _refuse_overlap(s: Lagrangian, q: Array) -> None:
    """OptionError where unilateral constraints are violated at the start, or are no numbers."""
    c = s.gaps(q)
    size = START * np.linalg.norm(s.numbers.unilateral_jacobian(q), axis=1) * max(1.0, float(np.linalg.norm(q)))
    for i in np.flatnonzero(~(c >= -size))[:1]:
        raise OptionError(f"{s!r}: constraint {i + 1} of unilateral is {c[i]:.6g} at q0 = {q.tolist()}; expected a start with c(q0) >= 0.")


def _refuse(s: Lagrangian, found: Array, allowed: Array, what: str, how: str) -> None:
    wrong = ~(found <= allowed)
    if not wrong.any():
        return
    i = int(np.argmax(np.where(wrong, found / allowed, 0.0)))
    raise OptionError(
        f"{s!r}: constraint {i + 1} of {what}: {how} {found[i]:.3g}; expected at most {allowed[i]:.2g}. "
        "q0, v0 = s.assemble(q0, v0) gives the nearest start that meets all constraints."
    )


def assemble(s: Lagrangian, q: Any, v: Any = None, fixed: tuple[str, ...] = (), t: float = 0.0) -> tuple[Array, Array]:
    """The nearest (q, v) that meets the constraints at time t; coordinates named in `fixed` stay.

    Gauss-Newton with least-norm steps, (G; A) of the free coordinates inverted by its singular values. AssemblyError where it fails.
    """
    q, v = s.check_q(q), s.check_v(v)
    for name in fixed:
        if name not in s.names:
            raise OptionError(f"fixed names {name!r}; coordinates are {', '.join(s.names)}.")
    free = np.array([name not in fixed for name in s.names])
    for _ in range(100):
        g = s.constraint_errors(q, t)
        if not len(g) or not np.isfinite(g).all():
            break
        rows = s.numbers.rows(q, t)[: len(g), free]
        dq = np.linalg.lstsq(rows, -g, rcond=1e-12)[0]
        q[free] += dq
        if np.abs(dq).max(initial=0.0) <= 1e-15 * max(1.0, float(np.abs(q).max())):
            break
    g = s.constraint_errors(q, t)
    limit = START * np.maximum(np.linalg.norm(s.numbers.rows(q, t)[: len(g)], axis=1), 1e-300) * max(1.0, float(np.linalg.norm(q)))
    if not (np.abs(g) <= limit).all():
        raise AssemblyError(f"{s!r}: the constraints cannot be met from here; the largest residual left is {np.abs(g).max():.3g}.", q, g)
    rows = s.numbers.rows(q, t)[:, free]
    v[free] += np.linalg.lstsq(rows, -s.velocity_errors(q, v, t), rcond=1e-12)[0] if len(rows) else 0.0
    return q, v
