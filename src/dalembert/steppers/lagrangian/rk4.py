"""The classical Runge-Kutta method of order 4.

On an oscillator |R|^2 = 1 - x^6 / 72 + x^8 / 576, x = h omega: stable up to x = sqrt(8), and loses energy below: a quarter of the
amplitude per step at x = 2.

References: lacoursiere2007 (5.4), hairer1993.
"""

from typing import Any

from dalembert.lagrangian.classical import runge_kutta
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import ANY, lagrangian

A = ((1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0))
B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


@lagrangian(
    name="rk4",
    summary="the classical Runge-Kutta method of order 4, for comparison",
    order=4,
    handles=ANY,
    limitations="constraints are differentiated to accelerations, so errors in them grow",
    references=("lacoursiere2007", "hairer1993"),
    rank=82,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Four stages."""
    return runge_kutta(formulas, A, B)
