"""SPOOK: constraints as stiff springs with damping that are stepped implicitly; compliance epsilon, damping time tau, drag gamma >= 0.

linear (4.31), one linear solve per step, M = M(q_k), F the forces at (q_k, v_k), impulses Lambda and alpha:

    M v_1 - G^T Lambda - A^T alpha = M v_0 + h F
    G v_1 + Sigma Lambda  = -(4/h) Y g + Y G v_0 - (1 - Y) dg/dt         Y = 1 / (1 + 4 tau/h),  Sigma = 4 epsilon Y / h^2
    A v_1 + (gamma/h) alpha = -w                                         q_1 = q_0 + h v_1

regularized (4.11) and stabilized (4.27) keep the nonlinear constraints instead, with lambda = Lambda / h,

    epsilon lambda + (g_1 + 2 g_0 + g_-1)/4 [+ tau (G_1 v_1 + dg/dt)] = 0,        gamma alpha / h + A_1 v_1 + w_1 = 0

The velocity of a node is that of the interval before it, as in the thesis. Signs of (4.31), factors of (4.11) and (4.27) are corrected
here; the thesis has the term with dg/dt nowhere. Rayleigh functions act linearly implicitly. Never fails on redundant constraints as long
as epsilon > 0. Dissipates: the linear form with tau > 0 loses energy slowly; the stabilized one may gain some.

References: lacoursiere2007 (4.11, 4.21, 4.27, 4.31).
"""

from typing import Any

import casadi as ca
import numpy as np

from dalembert.errors import OptionError
from dalembert.lagrangian.discrete import velocity_start
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Block, Move, Program, Scope
from dalembert.registry import Option
from dalembert.steppers.lagrangian._entry import CONSTRAINED, lagrangian


class PerRow(Option):
    """A number >= 0 for all constraints, or one for each of them."""

    def check(self, stepper: str, value: Any) -> Any:
        """A number, or a tuple of numbers."""
        try:
            given = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            given = np.array(np.nan)
        if given.ndim > 1 or not given.size or not (np.isfinite(given) & (given >= 0.0)).all():
            raise OptionError(
                f"option {self.name!r} of stepper {stepper!r} is {value!r}; expected a number >= 0, or one per row ({self.meaning})."
            )
        return float(given) if given.ndim == 0 else tuple(float(x) for x in given)


def per_row(name: str, value: Any, rows: int) -> Any:
    """A column of `rows` numbers."""
    if isinstance(value, float | int):
        return ca.DM([float(value)] * rows)
    if len(value) != rows:
        raise OptionError(f"option {name!r} of stepper 'spook' has {len(value)} numbers; the system has {rows} such constraints.")
    return ca.DM(list(value))


OPTIONS = (
    PerRow("epsilon", 1e-6, "compliance of holonomic constraints, 1/stiffness", "m/N"),
    PerRow("tau", 2.0, "damping time of holonomic constraints, in steps (tau/h)"),
    PerRow("gamma", 0.0, "1/drag of Pfaffian constraints", "m/(N s)"),
    Option(
        "form",
        "linear",
        "of the constraints",
        valid=lambda x: x in ("linear", "regularized", "stabilized"),
        expected="'linear', 'regularized' or 'stabilized'",
    ),
)


@lagrangian(
    name="spook",
    summary="regularised, stabilised constraints in one linear solve per step; redundant and violated ones welcome",
    order=1,
    conserves=("momentum: exactly",),
    handles=(*CONSTRAINED, "nonholonomic", "inconsistent start"),
    limitations="dissipates; momenta only of symmetries of V and g with constant mass matrix",
    options=OPTIONS,
    references=("lacoursiere2007",),
    rank=30,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """One move, linear or not."""
    s = Scope(formulas)
    linear = options["form"] == "linear"
    v, mu = ca.SX.sym("v", s.n), ca.SX.sym("impulse", s.multipliers)
    J = ca.vertcat(formulas.jacobian(s.q, s.t), formulas.pfaffian(s.q, s.t))
    motion = formulas.mass(s.q, s.y) @ (v - s.y) - s.h * _push(s, v) - J.T @ mu
    lam, drag = mu[: formulas.holonomic_rows, :], mu[formulas.holonomic_rows :, :]
    rows = (_linear_rows if linear else _nonlinear_rows)(s, v, lam, drag, options)
    guess = ca.vertcat(s.y, ca.SX(s.multipliers, 1))
    block = Block(ca.vertcat(v, mu), ca.vertcat(motion, rows), guess, s.floor(s.y), s.n, revealing=s.multipliers > 0, linear=linear)
    return Program(s, [Move(s.next(s.q + s.h * v, v, v, mu=mu / s.h), block)], velocity_start(s))


def _push(s: Scope, v: Any) -> Any:
    """Forces at (q_k, v_k); the Rayleigh function's derivative is carried to v_k+1 to first order."""
    f = s.formulas
    total = f.inertial(s.q, s.y) + f.force(s.q, s.y, s.t, s.u)
    if "rayleigh" in f.functions:
        total -= ca.jtimes(f.friction(s.q, s.y), s.y, v - s.y)
    return total


def _linear_rows(s: Scope, v: Any, lam: Any, drag: Any, options: dict[str, Any]) -> Any:
    f, h = s.formulas, s.h
    Y = 1.0 / (1.0 + 4.0 * per_row("tau", options["tau"], f.holonomic_rows))
    sigma = 4.0 * per_row("epsilon", options["epsilon"], f.holonomic_rows) * Y / h**2
    gamma = per_row("gamma", options["gamma"], f.pfaffian_rows)
    G, g, rate = f.jacobian(s.q, s.t), f.holonomic(s.q, s.t), f.holonomic_rate(s.q, s.t)
    position = G @ v + sigma * lam + (4.0 / h) * Y * g - Y * (G @ s.y) + (1.0 - Y) * rate
    velocity = f.pfaffian(s.q, s.t) @ v + gamma / h * drag + f.drive(s.q, s.t)
    return ca.vertcat(position, velocity)


def _nonlinear_rows(s: Scope, v: Any, lam: Any, drag: Any, options: dict[str, Any]) -> Any:
    """Divided by h, the rows of the holonomic ones also by 1/4."""
    f, h = s.formulas, s.h
    tau = per_row("tau", options["tau"] if options["form"] == "stabilized" else 0.0, f.holonomic_rows)
    epsilon, gamma = per_row("epsilon", options["epsilon"], f.holonomic_rows), per_row("gamma", options["gamma"], f.pfaffian_rows)
    q, t = s.q + h * v, s.t + h
    g = f.holonomic(q, t) + 2.0 * f.holonomic(s.q, s.t) + f.holonomic(s.q - h * s.y, s.t - h)
    position = 4.0 * epsilon / h**2 * lam + g / h + 4.0 * tau * (f.jacobian(q, t) @ v + f.holonomic_rate(q, t))
    velocity = gamma / h * drag + f.pfaffian(q, t) @ v + f.drive(q, t)
    return ca.vertcat(position, velocity)
