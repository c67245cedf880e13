"""Constraints as stiff springs, by implicit Euler.

    M(q_1) (v_1 - v_0) = h (b + f + (G; A)^T mu)(q_1, v_1, t_1),   q_1 = q_0 + h v_1,   mu = -(k g + c dg/dt; d (A v + w))

For comparison: stable for any stiffness, and damps the motion along the constraints as well, at a rate that h sets and k does not.

References: lacoursiere2007 (6.11; (6.12) corrected).
"""

from typing import Any

from dalembert.lagrangian.classical import implicit_euler
from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.penalty import damping, directions, drag, spring_forces, stiffness
from dalembert.lagrangian.program import Program, Scope
from dalembert.steppers.lagrangian._entry import ANY, lagrangian


@lagrangian(
    name="penalty-implicit",
    summary="stiff springs for constraints, implicit Euler, for comparison: loses energy",
    order=1,
    handles=(*ANY, "inconsistent start"),
    limitations="of order 1 as a solution of the system with springs; constraints are met to force / stiffness",
    options=(stiffness(), damping(0.0), drag()),
    references=("lacoursiere2007",),
    rank=89,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Implicit Euler without constraints and with springs."""
    s = Scope(formulas)
    k, c, d = options["stiffness"], options["damping"], options["drag"]

    def mu(q: Any, v: Any, t: Any) -> Any:
        return spring_forces(formulas, k, c, d, q, v, t)

    def push(q: Any, v: Any, t: Any) -> Any:
        return directions(formulas, q, t) @ mu(q, v, t)

    return Program(s, [implicit_euler(s, push, mu)], velocity_start(s))
