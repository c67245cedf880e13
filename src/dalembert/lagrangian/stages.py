"""One step of a variational method as expressions: from (q, p) and the velocity v of the interval to the next node.

    x = h v,   q+ = q tau(x)
    p  = dtau_x^-T l - h f_left                     the equation of the step (discrete Legendre transform at the first node)
    p+ = Ad_tau^T dtau_x^-T l + h f_right           momentum at the second node

    method              l = dL/dv               forces f = dL/dq + damping + ... + tau
    midpoint            at q E(x)               at q E(x): (1 + Ad_E)^-T f to the first node, the rest to the second
    trapezoidal         mean of both nodes      f/2 of each node
    symplectic-euler    at the first node       f of the first node, all of it there
    null-space          of straight paths       f/2 of each node

null-space: every material point moves along the chord between its places at the nodes, as in director coordinates; the momenta are the
derivatives of 1/(2h) sum mu |x1 - x0|^2 along both nodes (kernels/tree/variational/chord.py).

tau (..., nv) is held over the step: tau^- = tau^+ = (h/2) tau where the rule is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca

from dalembert.errors import UnknownNameError


class Stage(NamedTuple):
    """Expressions at the end of a step: q+, p+, and what is 0: p of the equation less the momentum p that is there."""

    q: Any
    p: Any
    equation: Any


def midpoint(f: Any, q: Any, p: Any, v: Any, tau: Any, h: Any) -> Stage:
    """The midpoint rule; f: formulas with chart, both(q, v)."""
    chart, x = f.chart, h * v
    l, push = f.both(chart.middle(q, x), v)
    push += tau
    first = chart.share(x, push)
    left = chart.left(x, l)
    return Stage(chart.retract(q, x), chart.right(x, left) + h * (push - first), left - h * first - p)


def trapezoidal(f: Any, q: Any, p: Any, v: Any, tau: Any, h: Any) -> Stage:
    """The trapezoidal rule."""
    chart, x = f.chart, h * v
    after = chart.retract(q, x)
    l0, f0 = f.both(q, v)
    l1, f1 = f.both(after, v)
    left = chart.left(x, 0.5 * (l0 + l1))
    return Stage(after, chart.right(x, left) + 0.5 * h * (f1 + tau), left - 0.5 * h * (f0 + tau) - p)


def symplectic_euler(f: Any, q: Any, p: Any, v: Any, tau: Any, h: Any) -> Stage:
    """Symplectic Euler."""
    chart, x = f.chart, h * v
    l, push = f.both(q, v)
    left = chart.left(x, l)
    return Stage(chart.retract(q, x), chart.right(x, left), left - h * (push + tau) - p)


def null_space(f: Any, q: Any, p: Any, v: Any, tau: Any, h: Any) -> Stage:
    """The midpoint rule of director coordinates, on the joints."""
    chart, x, n = f.chart, h * v, f.chart.nv
    after, e0, e1 = chart.retract(q, x), ca.SX.sym("e0", n), ca.SX.sym("e1", n)
    a, b, size = ca.SX.sym("a", chart.nq), ca.SX.sym("b", chart.nq), ca.SX.sym("h")
    L, zero = f.straight(chart.retract(a, e0), chart.retract(b, e1), size), ca.SX.zeros(n)
    first, second = ca.gradient(L, e0), ca.gradient(L, e1)
    known = ca.Function("straight", [a, b, size], ca.substitute([first, second], [e0, e1], [zero, zero]))
    d0, d1 = known(q, after, h)
    rotor = chart.left(x, f.rotor(v))
    f0, f1 = f.push(q, v), f.push(after, v)
    left, right = rotor - d0, chart.right(x, rotor) + d1
    return Stage(after, right + 0.5 * h * (f1 + tau), left - 0.5 * h * (f0 + tau) - p)


STAGES: dict[str, Callable[..., Stage]] = {
    "midpoint": midpoint,
    "trapezoidal": trapezoidal,
    "symplectic-euler": symplectic_euler,
    "null-space": null_space,
}


def stage(name: str) -> Callable[..., Stage]:
    """The stage of a stepper."""
    if name not in STAGES:
        raise UnknownNameError("stepper of a plan", name, STAGES)
    return STAGES[name]


def discrete_lagrangian(f: Any, name: str, a: Any, b: Any, h: Any) -> Any:
    """L_d(a, b) itself: its derivatives along a tau(e), b tau(e) are what `stage` writes out."""
    x = f.chart.lift(a, b)
    v = x / h
    if name == "midpoint":
        return h * f.lagrangian(f.chart.middle(a, x), v)
    if name == "trapezoidal":
        return 0.5 * h * (f.lagrangian(a, v) + f.lagrangian(b, v))
    if name == "symplectic-euler":
        return h * f.lagrangian(a, v)
    raise UnknownNameError("stepper of a plan", name, STAGES)


def momenta(f: Any, name: str, a: Any, b: Any, h: Any) -> tuple[Any, Any]:
    """(-D1 L_d, D2 L_d) along body-fixed motions of both nodes: the discrete Legendre transforms without forces, by differentiation."""
    n = f.chart.nv
    e0, e1 = ca.SX.sym("e0", n), ca.SX.sym("e1", n)
    L = discrete_lagrangian(f, name, f.chart.retract(a, e0), f.chart.retract(b, e1), h)
    both, zero = ca.vertcat(e0, e1), ca.SX.zeros(2 * n)
    return ca.substitute(-ca.gradient(L, e0), both, zero), ca.substitute(ca.gradient(L, e1), both, zero)
