"""Where the variables of a plan are, and the block of its steps.

States (q, p) at nodes, the velocity v of each step, the inputs u, held over a step; of a composition each step has several stages, which
share u. One h for each phase, where time is free.

    q+ = q tau(h v),   p+ = right momentum (q, v, u),   p = left momentum (q, v, u)          (lagrangian/stages.py)

At a node where an impact is planned there are two momenta, before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block, Index
from dalembert.control.costs import stage_cost
from dalembert.control.galerkin import INNER, galerkin
from dalembert.lagrangian.stages import stage


class Chain:
    """Places in z: q (stages + 1, nq), p, v (stages, nv), u (N, inputs); the nodes of the plan are rows `nodes` of q and p.

    phases: steps of each phase. h: step sizes of the phases, fixed, or None where they are variables.
    """

    def __init__(
        self, machine: Any, phases: Sequence[int], weights: Sequence[float], free: bool, double: Sequence[int] = (), stepper: str = ""
    ):
        self.machine, self.weights, self.free = machine, tuple(weights), free
        self.N, self.phases = sum(phases), tuple(phases)
        self.phase_of = np.repeat(np.arange(len(phases)), phases)
        nq, nv, nu, s = machine.nq, machine.nv, machine.nu, len(self.weights)
        self._size, self._names = 0, list[str]()
        self.h = self.take(len(phases), [f"h of phase {i}" for i in range(len(phases))]) if free else np.zeros(0, dtype=int)
        self.q, self.p = np.empty((self.N * s + 1, nq), dtype=int), np.empty((self.N * s + 1, nv), dtype=int)
        self.p_after = np.empty((self.N + 1, nv), dtype=int)
        self.v, self.u = np.empty((self.N * s, nv), dtype=int), np.empty((self.N, nu), dtype=int)
        m = 0 if machine.rows is None else machine.rows.count
        self.impulse = np.empty((self.N * s, m), dtype=int)
        inside = nv * INNER.get(stepper, 0)
        self.inner = np.empty((self.N * s, inside), dtype=int)
        for i in range(self.N * s + 1):
            where = f"node {i // s}" if i % s == 0 else f"node {i // s} + {i % s}/{s}"
            self.q[i] = self.take(nq, [f"{n} at {where}" for n in machine.q_names])
            self.p[i] = self.take(nv, [f"momentum of {n} at {where}" for n in machine.v_names])
            if i % s == 0:
                k = i // s
                self.p_after[k] = self.take(nv, [f"momentum of {n} after {where}" for n in machine.v_names]) if k in double else self.p[i]
                if k < self.N:
                    self.u[k] = self.take(nu, [f"input {n} of step {k}" for n in machine.u_names])
            if i < self.N * s:
                self.v[i] = self.take(nv, [f"{n} of step {i // s}" for n in machine.v_names])
                self.inner[i] = self.take(inside, [f"inner velocity {r} of step {i // s}" for r in range(inside)])
                self.impulse[i] = self.take(m, [f"impulse of constraint {r} of step {i // s}" for r in range(m)])

    @property
    def size(self) -> int:
        """Number of variables so far."""
        return self._size

    def take(self, n: int, names: Sequence[str]) -> Index:
        """Places of n more variables."""
        self._size += n
        self._names += names
        return np.arange(self._size - n, self._size)

    def name(self, i: int) -> str:
        """A variable in words."""
        return self._names[i]

    @property
    def nodes(self) -> Index:
        """Rows of q and p that are nodes of the plan."""
        return np.arange(self.N + 1) * len(self.weights)

    def step_block(self, stepper: str, cost: list[Any], h: Array, numbers: Any) -> Block:
        """The steps. h: sizes of the phases; numbers: the store of parameters, with `add` and reference."""
        m, s = self.machine, len(self.weights)
        q, p, v, u = (ca.SX.sym(name, n) for name, n in (("q", m.nq), ("p", m.nv), ("v", m.nv), ("u", m.nu)))
        q1, p1, size = ca.SX.sym("q1", m.nq), ca.SX.sym("p1", m.nv), ca.SX.sym("h")
        weight, reference = ca.SX.sym("w"), ca.SX.sym("r", m.nq if numbers.reference is not None else 0)
        H = weight * size if s > 1 else size
        inner = ca.SX.sym("w", self.inner.shape[1])
        tau = ca.DM(m.B) @ u
        more = ca.SX(0, 1)
        if inner.numel():
            found, more = galerkin(m.formulas, q, p, v, inner, tau, H)
        else:
            found = stage(stepper)(m.formulas, q, p, v, tau, H)
        total = stage_cost(m, cost, q, v, u, H, reference)
        lam = ca.SX.sym("lam", self.impulse.shape[1])
        held, held_names = self._constraints(stepper, q, v, lam, found, H)
        rows = ca.vertcat(q1 - found.q, p1 - found.p, found.equation - held[0], held[1], more)
        names = [*(f"motion of {n}" for n in m.q_names), *(f"momentum of {n}" for n in m.v_names), *(f"force on {n}" for n in m.v_names)]
        names += [*held_names, *(f"inner force {i}" for i in range(more.numel()))]
        steps = np.arange(self.N * s)
        k, phase = steps // s, self.phase_of[steps // s]
        after = np.where((steps % s == 0)[:, None], self.p_after[k], self.p[steps])
        columns = [
            self.q[steps],
            after,
            self.v[steps],
            self.u[k],
            self.q[steps + 1],
            self.p[steps + 1],
            self.impulse[steps],
            self.inner[steps],
        ]
        given: list[tuple[Any, Array]] = []
        x = [q, p, v, u, q1, p1, lam, inner]
        if self.free:
            x.append(size)
            columns.append(self.h[phase][:, None])
        else:
            given.append((size, numbers.add("h", h)[phase][:, None]))
        if s > 1:
            given.append((weight, numbers.add("weights", self.weights)[steps % s][:, None]))
        if reference.numel():
            given.append((reference, numbers.add("reference", numbers.reference)[k]))
        places = [f"step {i // s}" for i in steps]
        return Block(
            "step", ca.vertcat(*x), np.concatenate(columns, axis=1), total, rows,
            ca.vertcat(*(symbol for symbol, _ in given)) if given else None,
            np.concatenate([where for _, where in given], axis=1) if given else None, names=names, places=places,
        )  # fmt: skip

    def _constraints(self, stepper: str, q: Any, v: Any, lam: Any, found: Any, h: Any) -> tuple[tuple[Any, Any], list[str]]:
        """((push at the first node, what is 0), names): loops at the second node, rolling and blades on the way."""
        rows = self.machine.rows
        if rows is None:
            return (ca.SX.zeros(self.machine.nv), ca.SX(0, 1)), []
        middle = q if stepper == "symplectic-euler" else self.machine.formulas.chart.middle(q, h * v)
        slip = rows.rate(middle, v)[rows.holonomic :, :]
        names = [f"loop {i}" for i in range(rows.holonomic)] + [f"rolling {i}" for i in range(rows.count - rows.holonomic)]
        return (rows.push(q, lam), ca.vertcat(rows.residual(found.q), slip)), names


class Numbers:
    """The parameters of a program, by name."""

    def __init__(self, reference: Array | None = None):
        self.values, self.places, self.reference = list[float](), dict[str, Index](), reference

    def add(self, name: str, values: Any) -> Index:
        """Places of new numbers, in their shape."""
        array = np.asarray(values, dtype=float)
        start = len(self.values)
        self.values += array.ravel().tolist()
        self.places[name] = np.arange(start, start + array.size).reshape(array.shape)
        return self.places[name]
