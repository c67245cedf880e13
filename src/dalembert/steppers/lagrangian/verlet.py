"""Verlet's method, for constant mass matrices: L_d(q_0, w) = h/2 w . M w - h/2 [V(q_0) + V(q_0 + h w)].

    w   = M^-1 (p_0 + h/2 F(q_0)),   q_1 = q_0 + h w,   p_1 = M w + h/2 F(q_1),   F = dL/dq + forces

Explicit, unless forces depend on velocities: then w is solved for. Symplectic, self-adjoint, of order 2; on an oscillator stable for
h omega < 2. From a start with p_0 = M v_0 this is the velocity form, which does not lose the digits that 2 q_k - q_k-1 does.

References: lacoursiere2007 (3.27), hairer2006.
"""

from typing import Any

import casadi as ca

from dalembert.lagrangian.discrete import canonical, variational
from dalembert.lagrangian.formulas import Formulas, solve_symmetric
from dalembert.lagrangian.program import Move, Program, Scope
from dalembert.steppers.lagrangian._entry import lagrangian
from dalembert.steppers.lagrangian.trapezoidal import trapezoid


@lagrangian(
    name="verlet",
    summary="Verlet's method: explicit, for constant mass matrices",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=("force", "damping", "control"),
    references=("lacoursiere2007", "hairer2006"),
    rank=3,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Explicit where no force depends on a velocity."""
    s = Scope(formulas)
    v = ca.SX.sym("v", s.n)
    if formulas.depends(formulas.force(s.q, v, s.t, s.u), v):
        return canonical(s, [variational(s, trapezoid(s))])
    rest = ca.SX(s.n, 1)

    def push(q: Any, t: Any) -> Any:
        return 0.5 * s.h * (formulas.slope(q, rest) + formulas.force(q, rest, t, s.u))

    half = s.y + push(s.q, s.t)
    w = solve_symmetric(formulas.mass(s.q, rest), half)
    q = s.q + s.h * w
    return canonical(s, [Move(s.next(q, half + push(q, s.t + s.h), w))])
