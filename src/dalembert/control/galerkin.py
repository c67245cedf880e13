"""Steps of higher order of a Lagrangian: q moves on a polynomial of degree s within a step (steppers/lagrangian/_galerkin.py).

    q(x h) = q + h sum_j W_j l_j(x),   momenta P_i = dL/dv and forces F_i = dL/dq + f + tau at the s points of Gauss c_i with weights b_i

    A_j = sum_i b_i [h l_j(c_i) F_i + l_j'(c_i) P_i]          p = -A_0,   A_j = 0 (j = 1 ... s - 1),   p+ = A_s

W_s = v is the velocity of the interval; the others are variables of the step.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.lagrangian.stages import Stage
from dalembert.steppers.lagrangian._galerkin import basis, gauss

#: stepper: how many velocities a step has beside that of the interval
INNER = {"galerkin4": 1, "galerkin6": 2}


def galerkin(f: Any, q: Any, p: Any, v: Any, inner: Any, tau: Any, h: Any) -> tuple[Stage, Any]:
    """(stage, what is 0 within the step)."""
    n = v.numel()
    s = inner.numel() // n + 1
    W = ca.horzcat(ca.reshape(inner, n, s - 1), v)
    c, b = gauss(s)
    polynomials = basis(s)
    A = [ca.SX.zeros(n)] * (s + 1)
    for x, weight in zip(c, b, strict=True):
        at = q + h * (W @ ca.DM(np.array([l(x) for l in polynomials[1:]])))
        speed = W @ ca.DM(np.array([l.deriv()(x) for l in polynomials[1:]]))
        momentum, force = f.both(at, speed)
        force += tau
        A = [a + weight * (h * float(l(x)) * force + float(l.deriv()(x)) * momentum) for a, l in zip(A, polynomials, strict=True)]
    return Stage(q + h * v, A[s], -A[0] - p), ca.vertcat(*A[1:s])
