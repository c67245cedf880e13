"""Projection: a step that knows nothing of the constraints, and then the nearest point that meets them.

    w~ = w_k + h a(q_k, w_k, t_k)  without constraints,   q~ = q_k + h w~
    M(q_k) (q_k+1 - q~) = G(q_k+1)^T mu,   g(q_k+1, t_k+1) = 0,   w_k+1 = (q_k+1 - q_k) / h

which minimises (q - q~) . M(q_k) (q - q~) on g = 0: the projection is orthogonal in the metric of the kinetic energy, so it does not
depend on the coordinates, and for a pendulum it is q~ scaled to its length. Nodes report the velocity of the interval before them.
For comparison: the projection takes energy nearly always, more at higher speed; a pendulum comes to rest.

References: lacoursiere2007 (6.15; (6.17) corrected), hairer1996.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas, solve_symmetric
from dalembert.lagrangian.program import Block, Move, Program, Scope
from dalembert.steppers.lagrangian._entry import CONSTRAINED, lagrangian


@lagrangian(
    name="projection",
    summary="Verlet's step, then projection onto the constraints, for comparison: loses energy",
    order=1,
    handles=CONSTRAINED,
    references=("lacoursiere2007", "hairer1996"),
    rank=85,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """The unknowns are w_k+1 and impulses mu / h."""
    s = Scope(formulas)
    q, t, h = s.q, s.t, s.h
    M = formulas.mass(q, s.y)
    free = s.y + h * solve_symmetric(M, formulas.inertial(q, s.y) + formulas.force(q, s.y, t, s.u))
    if not formulas.holonomic_rows:
        return Program(s, [Move(s.next(q + h * free, free, free))], velocity_start(s))
    w, impulse = ca.SX.sym("W", s.n), ca.SX.sym("impulse", formulas.holonomic_rows)
    new, end = q + h * w, t + h
    residual = ca.vertcat(M @ (w - free) - formulas.jacobian(new, end).T @ impulse, formulas.holonomic(new, end) / h)
    block = Block(ca.vertcat(w, impulse), residual, ca.vertcat(free, ca.SX(impulse.shape[0], 1)), s.floor(s.y), s.n, revealing=True)
    return Program(s, [Move(s.next(new, w, w, mu=impulse / h), block)], velocity_start(s))
