"""Constraints as stiff springs, by the trapezoidal rule, which the thesis calls midpoint.

    q_1 = q_0 + h/2 (v_0 + v_1)
    M(q_m) (v_1 - v_0) = h/2 [F(q_0, v_0, t_0) + F(q_1, v_1, t_1)] - h c G(q_0)^T (G(q_0) v_1 + dg/dt) - h d A(q_0)^T (A(q_0) v_1 + w)
    F = b + f - k G^T g,   q_m = (q_0 + q_1) / 2

The dampers are implicit, of order 1; everything else is of order 2. For comparison: without dampers the springs ring on for ever, with
them energy is taken from the motion along the constraints too.

References: lacoursiere2007 (6.13; signs corrected).
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.penalty import damping, directions, drag, spring_forces, stiffness
from dalembert.lagrangian.program import Block, Move, Program, Scope
from dalembert.steppers.lagrangian._entry import ANY, lagrangian


@lagrangian(
    name="penalty-midpoint",
    summary="stiff springs for constraints, trapezoidal rule, for comparison",
    order=2,
    handles=(*ANY, "inconsistent start"),
    limitations="of order 2 as a solution of the system with springs, 1 in their dampers; constraints are met to force / stiffness",
    options=(stiffness(), damping(1.0), drag()),
    references=("lacoursiere2007",),
    rank=88,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One implicit move for v_1."""
    f, s = formulas, Scope(formulas)
    k, c, d, none = options["stiffness"], options["damping"], options["drag"], ca.SX(formulas.pfaffian_rows, 1)
    v = ca.SX.sym("v1", s.n)
    w = 0.5 * (s.y + v)
    q, t = s.q + s.h * w, s.t + s.h

    def push(q: Any, v: Any, t: Any) -> Any:
        springs = ca.vertcat(-k * f.holonomic(q, t), none)
        return f.inertial(q, v) + f.force(q, v, t, s.u) + directions(f, q, t) @ springs

    dampers = spring_forces(f, 0.0, c, d, s.q, v, s.t)
    total = 0.5 * (push(s.q, s.y, s.t) + push(q, v, t)) + directions(f, s.q, s.t) @ dampers
    residual = f.mass(s.q + 0.5 * s.h * w, w) @ (v - s.y) - s.h * total
    mean = ca.vertcat(-0.5 * k * (f.holonomic(s.q, s.t) + f.holonomic(q, t)), none) + dampers
    return Program(s, [Move(s.next(q, v, w, mu=mean), Block(v, residual, s.y, s.floor(s.y), s.n))], velocity_start(s))
