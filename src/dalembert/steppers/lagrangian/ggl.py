"""The stabilised equations of index 2 (Gear, Gupta and Leimkuhler), by BDF formulas of fixed step.

    q' = v + M^-1 G^T eta,   M v' = b + f + (G; A)^T mu,   g(q, t) = 0,   G v + dg/dt = 0,   A v + w = 0

with x' replaced by (x_1 - x_0) / h, order=1, or (3 x_1 - 4 x_0 + x_-1) / 2h, order=2, whose first step is one of order 1. Both
constraints hold at every node to round-off; eta vanishes with the errors of a step. The state keeps the last change of v.
For comparison: BDF formulas lose energy.

References: gear1985, lacoursiere2007 (6.22), hairer1996.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Block, Move, Program, Scope
from dalembert.registry import Option
from dalembert.steppers.lagrangian._entry import ANY, lagrangian

ORDER = Option("order", 2, "of the BDF formula", valid=lambda n: n in (1, 2), expected="1 or 2")


@lagrangian(
    name="ggl",
    summary="BDF of fixed step on the stabilised index-2 equations, for comparison: loses energy",
    order=2,
    conserves=("constraint: exactly",),
    handles=ANY,
    limitations="a multistep method: a change of the system in the middle of a run lowers its order there",
    options=(ORDER,),
    references=("gear1985", "lacoursiere2007", "hairer1996"),
    rank=86,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Unknowns: (q_1 - q_0) / h, v_1, impulses of the forces, eta. Extra state: v_0 - v_-1, and 1 where there is a step before."""
    f, s = formulas, Scope(formulas, extra=formulas.n + 1)
    n, h, m = s.n, s.h, formulas.holonomic_rows
    w, v, impulse, eta = ca.SX.sym("W", n), ca.SX.sym("v1", n), ca.SX.sym("impulse", s.multipliers), ca.SX.sym("eta", m)
    q, t = s.q + h * w, s.t + h
    half = 0.5 * s.extra[n] if options["order"] == 2 else 0.0
    M, G, A = f.mass(q, v), f.jacobian(q, t), f.pfaffian(q, t)
    drift = M @ ((1 + half) * w - half * s.w - v) - G.T @ eta
    push = h * (f.inertial(q, v) + f.force(q, v, t, s.u)) + ca.vertcat(G, A).T @ impulse
    balance = M @ ((1 + half) * (v - s.y) - half * s.extra[:n]) - push
    rows = ca.vertcat(f.holonomic(q, t) / h, G @ v + f.holonomic_rate(q, t), A @ v + f.drive(q, t))
    unknowns = ca.vertcat(w, v, impulse, eta)
    guess = ca.vertcat(s.y, s.y, ca.SX(s.multipliers + m, 1))
    block = Block(unknowns, ca.vertcat(drift, balance, rows), guess, s.floor(s.y), 2 * n, revealing=s.multipliers > 0)
    update = s.next(q, v, w, extra=ca.vertcat(v - s.y, 1.0), mu=impulse / h)
    return Program(s, [Move(update, block)], velocity_start(s))
