"""SHAKE: the trapezoidal rule (Verlet's method) with holonomic constraints kept at the new node.

    p_0 + G(q_0)^T Lambda = -D_1 L_d - f_d^-,   g(q_1, t_1) = 0,   p_1 = D_2 L_d + f_d^+

The state's momentum misses what the constraints give at the node; velocities of nodes are made consistent when they are read. The
multiplier is Lambda / h, the force at the node where the step begins.

References: ryckaert1977, lacoursiere2007 (3.95).
"""

from typing import Any

from dalembert.lagrangian.discrete import Rows, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Move, Program, Scope
from dalembert.steppers.lagrangian._entry import CONSTRAINED, lagrangian
from dalembert.steppers.lagrangian.trapezoidal import trapezoid


def shaken(s: Scope) -> Move:
    """The move that keeps g = 0."""
    f, d = s.formulas, trapezoid(s)
    if not f.holonomic_rows:
        return variational(s, d)
    equations = f.holonomic(d.q0 + s.h * d.W, s.t + s.h) / s.h
    return variational(s, d, Rows(equations, f.jacobian(d.q0, s.t).T))


@lagrangian(
    name="shake",
    summary="trapezoidal rule with holonomic constraints kept at the nodes",
    order=2,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded", "constraint: exactly"),
    handles=CONSTRAINED,
    references=("ryckaert1977", "lacoursiere2007"),
    rank=11,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One implicit move."""
    s = Scope(formulas)
    return canonical(s, [shaken(s)])
