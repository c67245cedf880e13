"""Galerkin discretisation: q moves on a polynomial of degree s, the action is integrated by quadrature.

    q(x h) = q_0 + h sum_j W_j l_j(x),   l_j the Lagrange polynomials of the control points 0 = d_0 < ... < d_s = 1 (those of Lobatto)
    L_d    = h sum_i b_i L(q(c_i h), q'(c_i h)),   f_j = h sum_i b_i l_j(c_i) f(q(c_i h), q'(c_i h), t + c_i h)

With s points of Gauss, or s + 1 of Lobatto, the order is 2 s.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import Legendre, leggauss

from dalembert.arrays import Array
from dalembert.lagrangian.discrete import Discrete, canonical, variational
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program, Scope
from dalembert.registry import Option
from dalembert.steppers.lagrangian._entry import SMOOTH

POINTS = Option(
    "points", "gauss", "of the quadrature", valid=lambda x: x in ("gauss", "lobatto"), expected="'gauss' (s points) or 'lobatto' (s + 1)"
)

COMMON: dict[str, Any] = {
    "self_adjoint": True,
    "symplectic": True,
    "conserves": ("momentum: exactly", "energy: bounded"),
    "handles": SMOOTH,
    "options": (POINTS,),
    "references": ("lacoursiere2007", "marsden2001", "oberbloebaum2015"),
}


def gauss(s: int) -> tuple[Array, Array]:
    """Points and weights on [0, 1], exact for polynomials of degree 2 s - 1."""
    x, b = leggauss(s)
    return 0.5 * (x + 1.0), 0.5 * b


def lobatto(s: int) -> tuple[Array, Array]:
    """s + 1 points and weights on [0, 1], ends included: the zeros of P_s' and b_i = 1 / (s (s + 1) P_s(x_i)^2)."""
    P = Legendre.basis(s)
    x = np.concatenate([[-1.0], np.sort(P.deriv().roots().real), [1.0]])
    return 0.5 * (x + 1.0), 1.0 / (s * (s + 1) * P(x) ** 2)


def basis(s: int) -> list[Polynomial]:
    """Lagrange polynomials of the s + 1 points of Lobatto."""
    d, _ = lobatto(s)
    return [Polynomial.fromroots(np.delete(d, j)) / np.prod(d[j] - np.delete(d, j)) for j in range(s + 1)]


def galerkin(formulas: Formulas, s: int, points: str) -> Program:
    """The program of degree s."""
    scope = Scope(formulas)
    q, W, h = ca.SX.sym("q0", scope.n), ca.SX.sym("W", scope.n, s), scope.h
    c, b = gauss(s) if points == "gauss" else lobatto(s)
    polynomials = basis(s)
    Ld, forces = ca.SX(0), [ca.SX(scope.n, 1)] * (s + 1)
    for x, weight in zip(c, b, strict=True):
        at = q + h * (W @ np.array([l(x) for l in polynomials[1:]]))
        speed = W @ np.array([l.deriv()(x) for l in polynomials[1:]])
        push = h * weight * formulas.force(at, speed, scope.t + x * h, scope.u)
        Ld += h * weight * formulas.L(at, speed)
        forces = [f + l(x) * push for f, l in zip(forces, polynomials, strict=True)]
    return canonical(scope, [variational(scope, Discrete(q, W, Ld, forces))])
