"""Explicit Euler: q_1 = q_0 + h v_0, v_1 = v_0 + h a(q_0, v_0, t_0).

For comparison: on an oscillator it multiplies the energy by 1 + (h omega)^2 in every step, whatever h is.

References: lacoursiere2007 (2.4.1), hairer1993.
"""

from typing import Any

from dalembert.lagrangian.classical import runge_kutta
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import ANY, lagrangian


@lagrangian(
    name="explicit-euler",
    summary="explicit Euler, for comparison: gains energy at any step size",
    order=1,
    handles=ANY,
    limitations="constraints are differentiated to accelerations, so errors in them grow",
    references=("lacoursiere2007", "hairer1993"),
    rank=90,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """A Runge-Kutta method of one stage."""
    return runge_kutta(formulas, a=(), b=(1.0,))
