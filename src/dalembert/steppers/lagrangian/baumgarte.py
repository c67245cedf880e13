"""Baumgarte's stabilisation with a Runge-Kutta method: constraints become damped oscillators.

    [ M  -G^T ] [ a ]   [ b + f                     ]
    [ G    0  ] [ mu] = [ -alpha g' - beta g - rest ]         g'' = G a + rest,   g'' + alpha g' + beta g = 0

and A v + w decays with the rate alpha. By default alpha = 1/h and beta = (alpha / 2)^2, the critical one. A violation at the start, or
by round-off, dies out; the price is a drift of the energy, and stiffness. With alpha = 1/h the errors of stages act on the constraints,
and the order falls: measured 2 in q and 1 in v for rk=4, 1 for rk=2. A fixed alpha keeps the order of the method.
rk=2 is the explicit midpoint rule, rk=4 the classical method. alpha=0, beta=0 gives `rk2` and `rk4` with their drift.

References: baumgarte1972, lacoursiere2007 (6.24; ||v||^2 and dG/dt v corrected).
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.classical import runge_kutta
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.registry import Option
from dalembert.steppers.lagrangian import rk2, rk4
from dalembert.steppers.lagrangian._entry import ANY, lagrangian

METHODS = {2: rk2, 4: rk4}
RK = Option("rk", 4, "order of the Runge-Kutta method", valid=lambda n: n in METHODS, expected="2 or 4")
FINITE = (lambda x: abs(x) < float("inf"), "a number")
ALPHA = Option("alpha", -1.0, "damping of the constraints; negative: 1/h", "1/s", *FINITE)
BETA = Option("beta", -1.0, "stiffness of the constraints; negative: (alpha / 2)^2", "1/s^2", *FINITE)


@lagrangian(
    name="baumgarte",
    summary="Runge-Kutta with Baumgarte's stabilisation of the constraints, for comparison",
    order=4,
    handles=(*ANY, "inconsistent start"),
    limitations="energy drifts; order 2 with rk=2; with constraints and alpha = 1/h the order falls to 2 (rk=4) or 1 (rk=2)",
    options=(RK, ALPHA, BETA),
    references=("baumgarte1972", "lacoursiere2007"),
    rank=87,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """The Runge-Kutta method with feedback in the rows of the constraints."""

    def feedback(h: Any, g: Any, rate: Any, pfaffian: Any) -> Any:
        alpha = options["alpha"] if options["alpha"] >= 0 else 1 / h
        beta = options["beta"] if options["beta"] >= 0 else alpha**2 / 4
        return ca.vertcat(-alpha * rate - beta * g, -alpha * pfaffian)

    method = METHODS[options["rk"]]
    return runge_kutta(formulas, method.A, method.B, feedback)
