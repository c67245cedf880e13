"""From a discrete Lagrangian to a step: position-momentum form of the discrete Euler-Lagrange equations with forces and constraints.

A step is described by q_0 and W_1, ..., W_s with Q_j = q_0 + h W_j; Q_s = q_1, so w = W_s is the velocity of the interval. Unknowns that
are velocities keep the digits that differences of positions lose. For L_d(q_0, W) and forces f_0, ..., f_s,

    0   = p_0 + dL_d/dq_0 - (1/h) sum_j dL_d/dW_j + f_0 + constraint impulses
    0   = (1/h) dL_d/dW_j + f_j            j = 1, ..., s - 1
    p_1 = (1/h) dL_d/dW_s + f_s

which for s = 1 is p_0 = -D_1 L_d - f_d^-, p_1 = D_2 L_d + f_d^+ (lacoursiere2007, 3.22, 3.82, 3.117).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from dalembert.lagrangian.program import Block, Move, Program, Scope


@dataclass
class Discrete:
    """A discrete Lagrangian of (q_0, W), an expression, and the forces f_0 ... f_s, which have the unit of momentum."""

    q0: Any
    W: Any  # n x s
    Ld: Any
    forces: list[Any]


@dataclass
class Rows:
    """Constraints on a step: equations, and the directions in which their impulses push at q_0. Equations are in units of velocity.

    guess: of the impulses; 0 unless given.
    """

    equations: Any
    directions: Any  # n x m
    guess: Any = None


def variational(scope: Scope, d: Discrete, rows: Rows | None = None) -> Move:
    """The move (q, p) -> (q_1, p_1). Multipliers are kept as forces, impulse over h."""
    n, s = d.W.shape
    impulse = ca.SX.sym("impulse", rows.directions.shape[1]) if rows is not None else ca.SX(0, 1)
    by_W = [ca.gradient(d.Ld, d.W[:, j]) / scope.h for j in range(s)]
    first = scope.y + ca.gradient(d.Ld, d.q0) - sum(by_W) + d.forces[0]
    equations = [by_W[j] + d.forces[j + 1] for j in range(s - 1)]
    if rows is not None:
        first += rows.directions @ impulse
        equations.append(rows.equations)
    unknowns = ca.vertcat(ca.vec(d.W), impulse)
    first_impulse = ca.SX(impulse.shape[0], 1) if rows is None or rows.guess is None else rows.guess
    guess = ca.vertcat(*_first_guess(scope, s), first_impulse)
    block = Block(unknowns, ca.vertcat(first, *equations), guess, scope.floor(), n * s, revealing=rows is not None)
    w = d.W[:, s - 1]
    update = scope.next(scope.q + scope.h * w, by_W[-1] + d.forces[-1], w, mu=impulse / scope.h)
    return Move(_at(d, scope, update), _block_at(d, scope, block))


def _first_guess(scope: Scope, s: int) -> list[Any]:
    """All W_j move on with the velocity of the last interval."""
    return [scope.w * (j + 1) / s for j in range(s)]


def _at(d: Discrete, scope: Scope, expression: Any) -> Any:
    return ca.substitute(expression, d.q0, scope.q)


def _block_at(d: Discrete, scope: Scope, block: Block) -> Block:
    return Block(block.unknowns, _at(d, scope, block.residual), block.guess, block.floor, block.main, block.revealing, block.linear)


def momentum_start(scope: Scope) -> tuple[Any, Any, Any]:
    """At the start p = dL/dv (q, v), and the velocity is the only known one."""
    q, v = ca.SX.sym("q0", scope.n), ca.SX.sym("v0", scope.n)
    return q, v, fresh_state(scope, q, scope.formulas.momentum(q, v), v)


def velocity_start(scope: Scope, extra: Any = None) -> tuple[Any, Any, Any]:
    """At the start y = v. extra: a function of the symbols (q, v)."""
    q, v = ca.SX.sym("q0", scope.n), ca.SX.sym("v0", scope.n)
    return q, v, fresh_state(scope, q, v, v, None if extra is None else extra(q, v))


def fresh_state(scope: Scope, q: Any, y: Any, w: Any, extra: Any = None) -> Any:
    """A state at time 0 without multipliers, work, impulse and control."""
    tail = ca.SX(scope.multipliers + scope.ledger_size + scope.n, 1)
    return ca.densify(ca.vertcat(q, y, w, 0.0, ca.SX(scope.extra_size, 1) if extra is None else extra, tail))


def nodal_velocity(scope: Scope) -> Block:
    """v of a node from dL/dv (q, v) = p + J^T mu, J v + rates = 0: the momentum, less what the constraints at the node take of it."""
    f = scope.formulas
    v, mu = ca.SX.sym("v", scope.n), ca.SX.sym("nu", scope.multipliers)
    J = ca.vertcat(f.jacobian(scope.q, scope.time), f.pfaffian(scope.q, scope.time))
    rates = ca.vertcat(f.holonomic_rate(scope.q, scope.time), f.drive(scope.q, scope.time))
    residual = ca.vertcat(f.momentum(scope.q, v) - scope.y - J.T @ mu, J @ v + rates)
    guess = ca.vertcat(scope.w, ca.SX(scope.multipliers, 1))
    size = ca.fmax(ca.norm_inf(scope.w), ca.norm_inf(scope.y / ca.fmax(ca.fabs(ca.diag(f.mass(scope.q, scope.w))), 1e-300)))
    linear = not f.depends(f.mass(scope.q, v), v)
    return Block(ca.vertcat(v, mu), residual, guess, 4e-15 * size, scope.n, revealing=scope.multipliers > 0, linear=linear)


def canonical(scope: Scope, moves: list[Move]) -> Program:
    """A program whose state holds momenta."""
    return Program(scope, moves, momentum_start(scope), nodal_velocity(scope))
