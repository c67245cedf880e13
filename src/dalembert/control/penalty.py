"""Contacts by a penalty: a stiff spring that acts at nodes where bodies overlap.

    p+ = p + w mu sum_i s(g_i) gamma_i,      s(g) = 0 for g > eps,   (eps - g)^2/(4 eps) for |g| <= eps,   -g for g < -eps

w = (h_k-1 + h_k)/2, half of it at both ends. Print has f = grad(mu g^2/2), which pulls bodies in and lacks the step; this is its negative,
and s is -g rounded off so that forces have a derivative. The depth is about v sqrt(m/mu), it lasts pi sqrt(m/mu); the rebound is right to
1 % where h sqrt(mu/m) <= 0.3. The guess has to touch: a plan that nothing pushes knows nothing of the wall.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.control.contacts import Ball, Gap, Touch, along, gap_expressions, points, target
from dalembert.errors import OptionError

EPS = 1e-4  # m


def soft(g: Any, eps: float) -> Any:
    """-g of what overlaps, with a derivative everywhere."""
    return ca.if_else(g > eps, 0, ca.if_else(g < -eps, -g, (eps - g) ** 2 / (4 * eps)))


def stored(g: Any, eps: float) -> Any:
    """Its integral: energy over mu."""
    return ca.if_else(g > eps, 0, ca.if_else(g < -eps, 0.5 * g**2 + eps**2 / 6, (eps - g) ** 3 / (12 * eps)))


class Penalty:
    """The pushes of all contacts of a plan, as functions of q."""

    def __init__(self, machine: Any, touches: list[Touch], stiffness: float, eps: float):
        if not 0.0 < stiffness < np.inf or not 0.0 < eps < np.inf:
            raise OptionError(f"dmocc: stiffness is {stiffness!r} N/m, eps {eps!r} m; expected positive numbers.")
        self.machine, self.stiffness, self.eps = machine, stiffness, eps
        q = ca.SX.sym("q", machine.nq)
        gaps = [g for touch in touches for g in _gaps(machine, q, touch)]
        energy = stiffness * sum((stored(g, eps) for g in gaps), ca.SX(0))
        pushes = [stiffness * soft(g, eps) for g in gaps]
        rows = ca.jacobian(ca.vertcat(*gaps), q) @ along(machine, q)
        self._all = ca.Function("penalty", [q], [ca.densify(rows.T @ ca.vertcat(*pushes)), energy, ca.vertcat(*gaps)])

    def force(self, q: Any) -> Any:
        """Generalised force."""
        return self._all(q)[0]

    def energy(self, q: Array) -> float:
        """J"""
        return float(self._all(q)[1])

    def gaps(self, q: Array) -> Array:
        """m"""
        return np.array(self._all(q)[2]).ravel()

    def add(self, made: Any) -> None:
        """The rows of all nodes."""
        machine, chain = made.machine, made.chain
        q, p, after, w = ca.SX.sym("q", machine.nq), ca.SX.sym("p", machine.nv), ca.SX.sym("r", machine.nv), ca.SX.sym("w")
        before, behind = ca.SX.sym("h0"), ca.SX.sym("h1")
        rows = after - p - (before + behind) / 2 * w * self.force(q)
        nodes = np.arange(chain.N + 1)
        left, right = np.maximum(nodes - 1, 0), np.minimum(nodes, chain.N - 1)
        part = made.numbers.add("penalty", [1.0 if 0 < k < chain.N else 0.5 for k in nodes])[:, None]
        index = [chain.q[chain.nodes], chain.p[chain.nodes], chain.p_after]
        x = [q, p, after]
        if chain.free:
            phase = chain.phase_of
            if len(chain.phases) > 1:
                raise OptionError("dmocc: contact='penalty' has one phase; expected N as a whole number.")
            rows, x, index = ca.substitute(rows, behind, before), [*x, before], [*index, chain.h[phase[left]][:, None]]
            given, numbers = w, part
        else:
            at = made.numbers.places["h"][chain.phase_of]
            given, numbers = ca.vertcat(w, before, behind), np.concatenate([part, at[left][:, None], at[right][:, None]], axis=1)
        names, places = [f"momentum of {n} after contact" for n in machine.v_names], [f"node {k}" for k in nodes]
        made.add(
            Block("contact", ca.vertcat(*x), np.concatenate(index, axis=1), rows=rows, p=given, numbers=numbers, names=names, places=places)
        )
        made.guesses.append(self._guess)

    def _guess(self, problem: Any, z: Array) -> None:
        """The momenta before and after of the guess; they need not belong together yet."""
        chain, machine = problem.chain, problem.machine
        for k in range(1, chain.N):
            row = chain.nodes[k]
            z[chain.p[row]] = machine.momentum(z[chain.q[row]], z[chain.v[row - 1]])


def _gaps(machine: Any, q: Any, touch: Touch) -> list[Any]:
    """Gaps of all points of a contact."""
    if touch.gap is not None:
        return [Gap(machine, touch).value(q)]
    model = machine.whole
    what = target(model, touch)
    ball = isinstance(what, Ball) and touch.point is None
    found = [Gap(machine, touch).value(q)] if ball else None
    return found or [g for g, _ in gap_expressions(machine, q, [(touch.body, x, r) for x, r in points(model, touch)], what)]
