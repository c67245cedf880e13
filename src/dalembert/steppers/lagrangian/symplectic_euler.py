"""Symplectic Euler, of both kinds: one of q and v is updated first, and the other one uses its new value.

    first="velocity":  L_d = h L(q_0, w):  p_0 + h dL/dq(q_0, w) + h f(q_0, w, t_0) = dL/dv(q_0, w),   p_1 = dL/dv(q_0, w)
    first="position":  L_d = h L(q_1, w):  p_0 = dL/dv(q_1, w),   p_1 = p_0 + h dL/dq(q_1, w) + h f(q_1, w, t_1)

with q_1 = q_0 + h w. For a constant mass matrix and forces of the position this is v_1 = v_0 + h a(q_0), q_1 = q_0 + h v_1, or
q_1 = q_0 + h v_0, v_1 = v_0 + h a(q_1); otherwise it is implicit, and still symplectic. Of order 1; on an oscillator stable up to
h omega = 2, where x^2 + v^2 -+ h x v is constant.

References: lacoursiere2007 (2.4.4; signs of (2.29) corrected), hairer2006.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import Discrete, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.registry import Option
from dalembert.steppers.lagrangian._entry import SMOOTH, lagrangian

WORDS = ("velocity", "position")
FIRST = Option("first", "velocity", "what is updated first", valid=lambda x: x in WORDS, expected="'velocity' or 'position'")


@lagrangian(
    name="symplectic-euler",
    summary="symplectic Euler: order 1, bounded energy",
    order=1,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=SMOOTH,
    options=(FIRST,),
    references=("lacoursiere2007", "hairer2006"),
    rank=80,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """L_d with all of its weight on one end of the step, and the forces there too."""
    s = Scope(formulas)
    q, w, none = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n), ca.SX(s.n, 1)
    early = options["first"] == "velocity"
    x, t = (q, s.t) if early else (q + s.h * w, s.t + s.h)
    push = s.h * formulas.force(x, w, t, s.u)
    return canonical(s, [variational(s, Discrete(q, w, s.h * formulas.L(x, w), [push, none] if early else [none, push]))])
