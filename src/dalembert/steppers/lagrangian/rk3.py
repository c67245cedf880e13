"""Kutta's method of order 3: stages at 0, 1/2 and 1, weights of Simpson's rule.

On an oscillator |R|^2 = 1 - x^4 / 12 + x^6 / 36, x = h omega: stable up to x = sqrt(3), and loses energy below.

References: lacoursiere2007 (5.4), hairer1993.
"""

from typing import Any

from dalembert.lagrangian.classical import runge_kutta
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import ANY, lagrangian

A = ((1 / 2,), (-1.0, 2.0))
B = (1 / 6, 2 / 3, 1 / 6)


@lagrangian(
    name="rk3",
    summary="Kutta's method of order 3, for comparison",
    order=3,
    handles=ANY,
    limitations="constraints are differentiated to accelerations, so errors in them grow",
    references=("lacoursiere2007", "hairer1993"),
    rank=83,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Three stages."""
    return runge_kutta(formulas, A, B)
