"""Explicit midpoint rule, the Runge-Kutta method of order 2 with the stage in the middle of the step.

On an oscillator |R|^2 = 1 + x^4 / 4, x = h omega: gains energy at any step size.

References: lacoursiere2007 (5.4), hairer1993.
"""

from typing import Any

from dalembert.lagrangian.classical import runge_kutta
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import ANY, lagrangian

A = ((0.5,),)
B = (0.0, 1.0)


@lagrangian(
    name="rk2",
    summary="explicit midpoint rule (Runge-Kutta, order 2), for comparison",
    order=2,
    handles=ANY,
    limitations="constraints are differentiated to accelerations, so errors in them grow",
    references=("lacoursiere2007", "hairer1993"),
    rank=84,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Two stages."""
    return runge_kutta(formulas, A, B)
