"""Trapezoidal rule: L_d(q_0, w) = h/2 [L(q_0, w) + L(q_0 + h w, w)], forces h/2 f at both ends.

For a constant mass matrix this is Verlet's method; otherwise it is implicit. Symplectic, self-adjoint, of order 2.

References: lacoursiere2007 (3.86 with tau = 1), marsden2001.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import Discrete, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.steppers.lagrangian._entry import SMOOTH, lagrangian


def trapezoid(s: Scope) -> Discrete:
    """L_d and forces of the trapezoidal rule."""
    f, h = s.formulas, s.h
    q, w = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n)
    end = q + h * w
    forces = [0.5 * h * f.force(q, w, s.t, s.u), 0.5 * h * f.force(end, w, s.t + h, s.u)]
    return Discrete(q, w, 0.5 * h * (f.L(q, w) + f.L(end, w)), forces)


@lagrangian(
    name="trapezoidal",
    summary="variational trapezoidal rule: Verlet's method for any mass matrix",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=SMOOTH,
    references=("lacoursiere2007", "marsden2001"),
    rank=2,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One implicit move."""
    s = Scope(formulas)
    return canonical(s, [variational(s, trapezoid(s))])
