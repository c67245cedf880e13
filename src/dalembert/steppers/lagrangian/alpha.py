"""One quadrature point: L_d(q_0, w) = h L(q_a, w), q_a = q_0 + alpha h w, forces (1 - alpha) h f and alpha h f at q_a.

alpha = 1/2 is the midpoint rule, alpha = 0 the rectangle rule (symplectic Euler). Constraints by the discrete principle of d'Alembert and
Pontryagin (caltech2008slides, pages 14 and 15):

    Pfaffian     A(q_a) w + drive = 0, impulses along A(q_0)^T        holonomic     g(q_1) = 0, impulses along G(q_0)^T

Order 2 for alpha = 1/2, otherwise 1. Without constraints symplectic for every alpha. With Pfaffian constraints energy is not promised: on
a free rolling disk it is constant for alpha = 1/2, decays for smaller and grows for larger alpha.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import Discrete, Rows, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.registry import Option
from dalembert.steppers.lagrangian._entry import CONSTRAINED, lagrangian

ALPHA = Option("alpha", 0.5, "where in the step L and forces are evaluated", valid=lambda a: 0 <= a <= 1, expected="a number in [0, 1]")


@lagrangian(
    name="alpha",
    summary="one quadrature point anywhere in the step; nonholonomic constraints by d'Alembert and Pontryagin",
    order=2,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=(*CONSTRAINED, "nonholonomic"),
    limitations="order 1 unless alpha = 1/2; energy of nonholonomic systems is not promised",
    options=(ALPHA,),
    references=("caltech2008slides", "lacoursiere2007"),
    rank=5,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One implicit move with the rows of all constraints."""
    s, f, a = Scope(formulas), formulas, options["alpha"]
    q, w, h = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n), s.h
    at, time = q + a * h * w, s.t + a * h
    push = h * f.force(at, w, time, s.u)
    discrete = Discrete(q, w, h * f.L(at, w), [(1.0 - a) * push, a * push])
    rows = None
    if s.multipliers:
        equations = ca.vertcat(f.holonomic(q + h * w, s.t + h) / h, f.pfaffian(at, time) @ w + f.drive(at, time))
        rows = Rows(equations, ca.horzcat(f.jacobian(q, s.t).T, f.pfaffian(q, s.t).T))
    return canonical(s, [variational(s, discrete, rows)])
