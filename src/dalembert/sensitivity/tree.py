"""Derivatives of one step of a tree: the implicit function theorem on its discrete equations.

    p = dL/dv (q, v)                                   the momentum of the first node
    E(q, w, tau) - p - G(q)^T lambda = 0, g(q, w) = 0  w: velocity of the interval; g: loops at the second node, rolling on the way
    q+ = q tau(h w),  p+ = P(q, w, tau)
    dL/dv (q+, v+) = p+ + G(q+)^T mu,  G(q+) v+ = 0    the second node

Differentiated from top to bottom, with w, lambda, v+, mu as the simulator found them. Every block is a matrix of nv rows, so all columns
cost O(n^2) evaluations of the tree's formula and two dense factorisations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError, UnsupportedError
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.model.features import acting
from dalembert.sensitivity.linear import independent, saddle, solve
from dalembert.sensitivity.result import Derivatives
from dalembert.sensitivity.step import Start, take
from dalembert.sensitivity.tree_step import TreeStep
from dalembert.sensitivity.tree_values import TreeValues

MOST = 400  # velocities: the formulas of 300 take 1.8 GB and 11 s, and grow as n^2
#: features that have no formula, and why
UNKNOWN = {"function": "a force given as a function has no formula", "drive": "drives of joints have no formula"}


def build(plan: Any) -> TreeStep:
    """The formulas of a plan; UnsupportedError where the step has none."""
    unknown = sorted(acting(plan.acting) & UNKNOWN.keys())
    if unknown:
        raise UnsupportedError(
            f"derivatives of {plan.acting!r}: {'; '.join(UNKNOWN[x] for x in unknown)}; leave it out by ignore={tuple(unknown)!r}.",
            tuple(unknown),
        )
    if plan.acting.nv > MOST:
        raise UnsupportedError(f"derivatives: {plan.acting!r} has {plan.acting.nv} velocities; known are machines of at most {MOST}.")
    if plan.options.get("retraction", "cay") != "cay":
        raise UnsupportedError(f"derivatives: retraction = {plan.options['retraction']!r}; known is 'cay'.")
    return TreeStep(plan.acting, plan.stepper.name, plan.options)


def differentiate(plan: Any, at: Start, params: tuple[str, ...]) -> Derivatives:
    """Of one step of plan.h from `at`."""
    known: TreeStep = plan.once("derivatives", lambda: build(plan))
    values = [plan.once(("derivatives", name), lambda name=name: TreeValues(known, name)) for name in params]
    step = take(plan, at)
    n, _ = state_places(plan.acting.nq, plan.acting.nv)
    w = step.engine.state[n.history : n.history + plan.acting.nv].copy()
    found = Linear(known, plan.h, at, w, step.q, step.v, values).result()
    if not np.isfinite(found.A).all():
        raise SimulationError(f"derivatives: the discrete equations of {plan.stepper.name} are singular here (h = {plan.h:.6g} s).")
    return found


class Linear:
    """The blocks at one step, and their solution."""

    def __init__(self, known: TreeStep, h: float, at: Start, w: Array, q: Array, v: Array, values: list[TreeValues]):
        self.known, self.h, self.at, self.q, self.v, self.w = known, h, at, q, v, w
        self.n, self.values = len(at.v), values
        self.stage = known.stage(at.q, w, at.tau, h)
        self.bound = known.rows is not None

    def result(self) -> Derivatives:
        """All columns: of dq, dv, dtau and the parameters."""
        n, s = self.n, self.stage
        first = self._first()
        more = [value(self.at, self.w, self.q, self.v, self.h) for value in self.values]
        count = sum(x.width for x in self.values)
        columns = 3 * n + count
        right = np.empty((n, columns))
        right[:, :n], right[:, n : 2 * n], right[:, 2 * n : 3 * n] = first["l_q"] - s["E_q"], first["M"], -s["E_tau"]
        right[:, 3 * n :] = np.hstack([x["l0"] - x["E"] for x in more]) if more else 0.0
        dw = self._interval(first, right)
        dq = s["q_w"] @ dw
        dq[:, :n] += s["q_q"]
        dp = s["p_w"] @ dw
        dp[:, :n] += s["p_q"]
        dp[:, 2 * n : 3 * n] += s["p_tau"]
        if more:
            dp[:, 3 * n :] += np.hstack([x["p"] - x["l1"] for x in more])
        dv = self._second(dq, dp)
        whole = np.vstack([dq, dv])
        names = tuple(name for x in self.values for name in x.columns)
        return Derivatives(
            self.at.q, self.at.v, self.at.tau, self.h, self.q, self.v, whole[:, : 2 * n], whole[:, 2 * n : 3 * n], whole[:, 3 * n :],
            self._tangent(first), parameters=names,
        )  # fmt: skip

    # nodes and interval --------------------------------------------------------------------------------------------------------------

    def _first(self) -> dict[str, Array]:
        """Momentum of the first node; with constraints the impulses there, from the equation itself."""
        if not self.bound:
            return self.known.node(self.at.q, self.at.v)
        assert self.known.rows is not None
        G = self.known.rows.matrix(self.at.q)
        self.kept = independent(G)
        self.first_kept = self.kept
        node = self.known.node(self.at.q, self.at.v, np.zeros(len(G)))
        impulses = self._impulses(G, (self.stage["E"] - node["l"]).ravel())
        return node | {"push_q": self.known.node(self.at.q, self.at.v, impulses)["push_q"]}

    def _impulses(self, G: Array, force: Array) -> Array:
        """lambda with G^T lambda = force, on the rows that are kept."""
        found = np.zeros(len(G))
        found[self.kept] = np.linalg.lstsq(G[self.kept].T, force, rcond=None)[0]
        return found

    def _interval(self, first: dict[str, Array], right: Array) -> Array:
        """dw of E_w dw - G^T dlambda = right, g_w dw = -g_q dq."""
        if not self.bound:
            return solve(self.stage["E_w"], right)
        assert self.known.hold is not None
        g = self.known.hold(self.at.q, self.w, self.h)
        right[:, : self.n] += first["push_q"]
        below = np.zeros((len(self.kept), right.shape[1]))
        below[:, : self.n] = -g["g_q"][self.kept]
        return saddle(self.stage["E_w"], first["G"][self.kept], g["g_w"][self.kept], right, below)[: self.n]

    def _second(self, dq: Array, dp: Array) -> Array:
        """dv+ of M dv+ - G^T dmu = dp+ - (l_q - (G^T mu)_q) dq+, G dv+ = -(G v+)_q dq+."""
        if not self.bound:
            node = self.known.node(self.q, self.v)
            return solve(node["M"], dp - node["l_q"] @ dq)
        assert self.known.rows is not None
        G = self.known.rows.matrix(self.q)
        self.kept = independent(G)
        node = self.known.node(self.q, self.v, np.zeros(len(G)))
        mu = self._impulses(G, (node["l"] - self.stage["p"]).ravel())
        node |= {"push_q": self.known.node(self.q, self.v, mu)["push_q"]}
        if len(self.kept) != len(self.first_kept):
            raise UnsupportedError(
                "derivatives: a singular position of the loops: their rows lose rank there, and the step has no derivative."
            )
        G, below = G[self.kept], -node["slip_q"][self.kept] @ dq
        return saddle(node["M"], G, G, dp - (node["l_q"] - node["push_q"]) @ dq, below)[: self.n]

    def _tangent(self, first: dict[str, Array]) -> Array:
        """Changes of the first node that keep the constraints: G dq = 0 on positions, (G v)_q dq + G dv = 0 on all."""
        if not self.bound:
            return np.eye(2 * self.n)
        assert self.known.rows is not None
        loops = self.first_kept[self.first_kept < self.known.rows.holonomic]
        G, slip_q = first["G"], first["slip_q"][self.first_kept]
        rows = np.vstack([np.hstack([G[loops], np.zeros((len(loops), self.n))]), np.hstack([slip_q, G[self.first_kept]])])
        return np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :]
