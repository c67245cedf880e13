"""Classical methods on q' = v, v' = a(q, v, t): Runge-Kutta on the index-reduced equations, and implicit Euler with constraints.

Where there are constraints, a and the multipliers mu solve

    [ M  -J^T ] [ a  ]   [ b + f         ]        J = (G; A),  J a + rest: the constraints differentiated until a appears
    [ J    0  ] [ mu ] = [ wanted - rest ]        wanted = 0, or Baumgarte's feedback

by elimination with full pivoting, so that redundant constraints are left out, as far as round-off shows that they are. Without
constraints a is an expression, and a step one piece of straight-line code. The states of these methods hold velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Block, Move, Program, Scope

Stabilise = Callable[..., Any]  # of (h, g, dg/dt, A v + w): what the rows J a + rest shall equal


def runge_kutta(formulas: Formulas, a: Sequence[Sequence[float]], b: Sequence[float], stabilise: Stabilise | None = None) -> Program:
    """An explicit Runge-Kutta method: a, the rows of its tableau below the first; b, its weights.

        v_i = v + h sum_j a_ij a_j,  q_i = q + h sum_j a_ij v_j,  a_i = a(q_i, v_i, t + c_i h)
        q_1 = q + h sum_i b_i v_i,   v_1 = v + h sum_i b_i a_i

    The multipliers reported are their means over the step, sum_i b_i mu_i.
    """
    n, m, stages = formulas.n, formulas.holonomic_rows + formulas.pfaffian_rows, len(b)
    scope = Scope(formulas, extra=(stages - 1) * (n + m) if m else 0)
    rows = ((), *a)
    found: list[Any] = [ca.reshape(scope.extra, n + m, stages - 1)[:, i] for i in range(stages - 1)] if m else []
    moves = []
    for i in range(stages):
        point = _stage(scope, rows, found, i)
        if not m:
            found.append(formulas.acceleration(*point, scope.u)[0])
            continue
        block = _accelerations(scope, *point, stabilise)
        if i < stages - 1:
            keep = ca.vertcat(*(block.unknowns if j == i else found[j] for j in range(stages - 1)))
            moves.append(Move(scope.next(scope.q, scope.y, scope.w, extra=keep, mu=scope.mu, time=scope.time), block))
        else:
            moves.append(Move(_end(scope, rows, [*found, block.unknowns], b), block))
    return Program(scope, moves if m else [Move(_end(scope, rows, found, b))], velocity_start(scope))


def _stage(scope: Scope, rows: Sequence[Sequence[float]], found: Sequence[Any], i: int) -> tuple[Any, Any, Any]:
    """(q_i, v_i, t_i)."""
    v = scope.y + scope.h * _sum(rows[i], [x[: scope.n] for x in found], scope.n)
    q = scope.q + scope.h * _sum(rows[i], [_stage(scope, rows, found, j)[1] for j in range(i)], scope.n)
    return q, v, scope.t + sum(rows[i]) * scope.h


def _end(scope: Scope, rows: Sequence[Sequence[float]], found: Sequence[Any], b: Sequence[float]) -> Any:
    """The next state from the accelerations and multipliers of all stages."""
    w = _sum(b, [_stage(scope, rows, found, i)[1] for i in range(len(b))], scope.n)
    v = scope.y + scope.h * _sum(b, [x[: scope.n] for x in found], scope.n)
    mu = _sum(b, [x[scope.n :] for x in found], scope.multipliers) if scope.multipliers else None
    return scope.next(scope.q + scope.h * w, v, w, mu=mu)


def _sum(weights: Sequence[float], terms: Sequence[Any], size: int) -> Any:
    return sum((c * x for c, x in zip(weights, terms, strict=False) if c), start=ca.SX(size, 1))


def _accelerations(scope: Scope, q: Any, v: Any, t: Any, stabilise: Stabilise | None) -> Block:
    """The equations of the module's head, linear in (a, mu)."""
    f, h = scope.formulas, scope.h
    a, mu = ca.SX.sym("a", scope.n), ca.SX.sym("nu", scope.multipliers)
    J, rest = f._rows(q, v, t)
    wanted = ca.SX(scope.multipliers, 1) if stabilise is None else stabilise(h, *f._violations(q, v, t))
    balance = f.mass(q, v) @ a - f.inertial(q, v) - f.force(q, v, t, scope.u) - J.T @ mu
    unknowns = ca.vertcat(a, mu)
    residual = ca.vertcat(balance, J @ a + rest - wanted)
    return Block(unknowns, residual, ca.SX(unknowns.shape[0], 1), ca.SX(0), scope.n, revealing=True, linear=True)


def implicit_euler(scope: Scope, push: Callable[..., Any] | None = None, reported: Callable[..., Any] | None = None) -> Move:
    """M(q_1) (v_1 - v_0) = h (b + f)(q_1, v_1, t_1) + J(q_1)^T impulses,  q_1 = q_0 + h v_1,  g(q_1, t_1) = 0,  A v_1 + w = 0.

    With `push`, a force of (q, v, t) that stands for the constraints, these are left out; `reported`: the multipliers it stands for.
    """
    f, h, n = scope.formulas, scope.h, scope.n
    m = 0 if push is not None else scope.multipliers
    v, impulse = ca.SX.sym("v1", n), ca.SX.sym("impulse", m)
    q, t = scope.q + h * v, scope.t + h
    total = f.inertial(q, v) + f.force(q, v, t, scope.u) + (0.0 if push is None else push(q, v, t))
    residual = f.mass(q, v) @ (v - scope.y) - h * total
    if m:
        G, A = f.jacobian(q, t), f.pfaffian(q, t)
        residual = ca.vertcat(residual - ca.vertcat(G, A).T @ impulse, f.holonomic(q, t) / h, A @ v + f.drive(q, t))
    block = Block(ca.vertcat(v, impulse), residual, ca.vertcat(scope.y, ca.SX(m, 1)), scope.floor(scope.y), n, revealing=m > 0)
    mu = impulse / h if m else (None if reported is None else reported(q, v, t))
    return Move(scope.next(q, v, v, mu=mu), block)
