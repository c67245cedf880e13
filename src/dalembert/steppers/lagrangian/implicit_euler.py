"""Implicit Euler: q_1 = q_0 + h v_1, v_1 = v_0 + h a(q_1, v_1, t_1), with g(q_1, t_1) = 0 and A(q_1) v_1 + w = 0 for constraints.

    M(q_1) (v_1 - v_0) = h (b + f)(q_1, v_1, t_1) + (G; A)(q_1)^T impulses

Constraints hold at every node to round-off: nothing is differentiated. The velocity of a node then meets G v = 0 only to O(h). On an
oscillator the energy is divided by 1 + (h omega)^2 in every step: stable whatever h is, and motion dies.

References: lacoursiere2007 (2.4.2), hairer1996.
"""

from typing import Any

from dalembert.lagrangian.classical import implicit_euler
from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.steppers.lagrangian._entry import ANY, lagrangian


@lagrangian(
    name="implicit-euler",
    summary="implicit Euler, for comparison: stable on anything stiff, loses energy",
    order=1,
    handles=ANY,
    references=("lacoursiere2007", "hairer1996"),
    rank=86,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One implicit move."""
    s = Scope(formulas)
    return Program(s, [implicit_euler(s)], velocity_start(s))
