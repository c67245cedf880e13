"""One step of a tree as functions of numbers: residual of the discrete equations, next node, and their derivatives.

The formulas are those of `lagrangian/stages.py`, which the kernels are held to; limits of joints, which plans leave out, are added as the
kernels have them (kernels/tree/limits.py). Configurations change by body-fixed motions: q tau(e), e small.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from dalembert.kernels.tree import layout as at
from dalembert.lagrangian.row_formulas import RowFormula
from dalembert.lagrangian.stages import stage
from dalembert.lagrangian.tree_formulas import TreeFormula
from dalembert.model import Model
from dalembert.sensitivity.packed import Packed


class StepFormula(TreeFormula):
    """A tree with the springs of its limits; half: half the step where the method takes their mean over the step, else 0."""

    def __init__(self, model: Model, limit_stiffness: float = 0.0, half: Any = 0.0):
        super().__init__(model)
        self.limit_stiffness, self.half = limit_stiffness, half

    @cached_property
    def function(self) -> Any:
        """(q, v) -> momentum and force; what is computed twice is taken together before it is differentiated, where that is quick."""
        q, v = ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        return ca.Function("tree", [q, v], ca.cse([*super().function(q, v)]))

    def both(self, q: Any, v: Any) -> tuple[Any, Any]:
        """(momentum, force)"""
        momentum, force = super().both(q, v)
        return momentum, force + self._stops(q, v)

    def push(self, q: Any, v: Any) -> Any:
        """All forces but those of inertia."""
        return super().push(q, v) + self._stops(q, v)

    def _stops(self, q: Any, v: Any) -> Any:
        """f = -k (b(x + d)^2 - b(x - d)^2)/(4 d), by how much x is beyond a limit being b(x); -k b(x) where the whole way is beyond."""
        found = ca.SX.zeros(self.nv)
        for link in self.tree.links:
            if self.limit_stiffness and link.kind <= at.PRISMATIC and link.joint.limits is not None:
                low, high = link.joint.limits
                x, d = q[link.q_at], self.half * v[link.v_at]
                ahead, middle, behind = (_beyond(y, low, high) for y in (x + d, x, x - d))
                mean = 0.25 * (ahead**2 - behind**2) / ca.if_else(d == 0, 1, d)
                found[link.v_at] = -self.limit_stiffness * ca.if_else(ca.logic_or(ahead * behind > 0, d == 0), middle, mean)
        return found


def _beyond(x: Any, low: float, high: float) -> Any:
    """By how much x is beyond a limit."""
    above = ca.fmax(0, x - high) if np.isfinite(high) else 0
    return above + (ca.fmin(0, x - low) if np.isfinite(low) else 0)


class TreeStep:
    """Functions of a stepper on a model.

    stage(q, w, tau, h)     E, the residual without the momentum p and impulses; q+, p+; derivatives by q, w and tau
    node(q, v, mu)          l = dL/dv; derivatives by q and v; G of constraints, derivatives of G^T mu and of G v by q
    hold(q, w, h)           residuals where the constraints have to hold, derivatives by q and w
    """

    def __init__(self, model: Model, stepper: str, options: dict[str, Any]):
        self.model, self.name = model, stepper
        self.h = ca.SX.sym("h")
        self.formula = StepFormula(model, options.get("limit_stiffness", 0.0), 0.5 * self.h if stepper == "midpoint" else 0.0)
        self.rows = RowFormula(self.formula) if model.loops or model.nonholonomic else None
        n, chart = model.nv, self.formula.chart
        self.q, self.w, self.tau = ca.SX.sym("q", model.nq), ca.SX.sym("w", n), ca.SX.sym("tau", n)
        found = stage(stepper)(self.formula, self.q, ca.SX.zeros(n), self.w, self.tau, self.h)
        self._along, e = self.formula._along(self.q), ca.SX.sym("e", model.nq)
        # tangents at the next node: how `lift` from there sees a change of its coordinates
        self._seen = ca.substitute(ca.jacobian(chart.lift(self.q, e), e), e, self.q)
        self.stage = self._stage(found)
        self.node = self._node()
        self.hold = None if self.rows is None else self._hold(found)

    def _by(self, expression: Any) -> tuple[Any, Any, Any]:
        """Derivatives by q (body-fixed), w and tau."""
        J = ca.jacobian(expression, ca.vertcat(self.q, self.w, self.tau))
        nq, n = self.model.nq, self.model.nv
        return J[:, :nq] @ self._along, J[:, nq : nq + n], J[:, nq + n :]

    def _stage(self, found: Any) -> Packed:
        by_q, by_w, by_tau = self._by(ca.vertcat(found.equation, found.p))
        seen = ca.substitute(self._seen, self.q, found.q)
        go_q, go_w, _ = self._by(found.q)
        # both of a column side by side: numbers that they share are not kept for long
        return Packed(
            "stage", [self.q, self.w, self.tau, self.h],
            {"E": found.equation, "p": found.p, "by_q": by_q, "by_w": by_w, "by_tau": by_tau, "q_q": seen @ go_q, "q_w": seen @ go_w},
            {"by_q": ("E_q", "p_q"), "by_w": ("E_w", "p_w"), "by_tau": ("E_tau", "p_tau")},
        )  # fmt: skip

    def _node(self) -> Packed:
        v = self.w
        l = self.formula.momentum(self.q, v)
        by_q, by_v, _ = self._by(l)
        outputs, inputs = {"l": l, "l_q": by_q, "M": by_v}, [self.q, v]
        if self.rows is not None:
            mu = ca.SX.sym("mu", self.rows.count)
            rate = self.rows.rate(self.q, v)
            by_q, by_v, _ = self._by(ca.vertcat(rate, self.rows.push(self.q, mu)))
            m = self.rows.count
            outputs |= {"G": by_v[:m, :], "slip": rate, "slip_q": by_q[:m, :], "push_q": by_q[m:, :]}
            inputs.append(mu)
        return Packed("node", inputs, outputs)

    def _hold(self, found: Any) -> Packed:
        """Loops hold at the second node, rolling and blades at the middle (symplectic Euler: at the first node)."""
        assert self.rows is not None
        middle = self.q if self.name == "symplectic-euler" else self.formula.chart.middle(self.q, self.h * self.w)
        loops = self.rows.residual(found.q) if self.rows.holonomic else ca.SX(0, 1)
        value = ca.vertcat(loops, self.rows.rate(middle, self.w)[self.rows.holonomic :, :])
        by_q, by_w, _ = self._by(value)
        return Packed("hold", [self.q, self.w, self.h], {"g": value, "g_q": by_q, "g_w": by_w})
