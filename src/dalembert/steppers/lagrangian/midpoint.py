"""Midpoint rule: L_d(q_0, w) = h L(q_0 + h w / 2, w), forces h/2 f at the middle of the step on both sides.

Conserves momenta of symmetries that act linearly on q to round-off, is symplectic, self-adjoint, of order 2; energy stays in a band, and
on linear oscillators it is exact. Unconditionally stable on linear systems.

References: lacoursiere2007 (3.30), marsden2001.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import Discrete, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.steppers.lagrangian._entry import SMOOTH, lagrangian


@lagrangian(
    name="midpoint",
    summary="variational midpoint rule: implicit, stable on stiff springs",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=SMOOTH,
    references=("lacoursiere2007", "marsden2001"),
    rank=1,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """L_d and forces of the midpoint rule."""
    s = Scope(formulas)
    q, w = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n)
    middle = q + 0.5 * s.h * w
    push = 0.5 * s.h * formulas.force(middle, w, s.t + 0.5 * s.h, s.u)
    return canonical(s, [variational(s, Discrete(q, w, s.h * formulas.L(middle, w), [push, push]))])
