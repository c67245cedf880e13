"""`Feedback`: a control for `dal.simulate` that brings a machine back to a point or to a motion.

    tau = B u,   u = u_k - K_k (q_k -> q, v - v_k),   within the limits of the inputs

q_k -> q is the tangent at q_k that leads to q, `m.difference(q_k, q)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array


@dataclass(frozen=True, eq=False)
class Feedback:
    """Gains K (N, nu, 2 nv) about nodes t (N + 1,), q (N + 1, nq), v (N + 1, nv) with inputs (N, nu); N = 1 for a point, at all times.

    B (nv, nu): tau = B u. limits (nu, 2). P (N + 1, 2 nv, 2 nv): x . P x is the cost from a node on. names: of the inputs. steps: the
    derivatives of each step. hold: what acts behind the last node, a feedback about it; None: its last gain, without an input of its own;
    `notes` say why.
    eigenvalues: of A - B K on the changes that constraints allow, of a point.
    """

    system: Any = field(repr=False)
    t: Array
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    inputs: Array = field(repr=False)
    K: Array = field(repr=False)
    P: Array = field(repr=False)
    B: Array = field(repr=False)
    limits: Array = field(repr=False)
    names: tuple[str, ...] = ()
    steps: tuple[Any, ...] = field(default=(), repr=False)
    hold: Feedback | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def point(self) -> bool:
        """True where it is about a point."""
        return len(self.t) == 1

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The generalised force at a node, (nv,)."""
        return np.asarray(self.B @ self.input(t, q, v), dtype=float)

    def input(self, t: float, q: Array, v: Array) -> Array:
        """u (nu,), within the limits."""
        if self.point:
            return self._at(0, 0, self.inputs[0], q, v)
        N = len(self.K)
        k = int(np.searchsorted(self.t, t + 1e-6 * (self.t[1] - self.t[0]), side="right")) - 1
        if k < N:
            return self._at(max(k, 0), max(k, 0), self.inputs[max(k, 0)], q, v)
        if self.hold is not None:
            return self.hold.input(t, q, v)
        return self._at(N - 1, N, np.zeros(len(self.names)), q, v)

    def _at(self, k: int, node: int, u: Array, q: Array, v: Array) -> Array:
        return np.asarray(np.clip(u - self.K[k] @ self.error(node, q, v), self.limits[:, 0], self.limits[:, 1]))

    def error(self, k: int, q: Array, v: Array) -> Array:
        """(2 nv,): from node k to (q, v)."""
        way = np.asarray(self.system.difference(self.q[k], np.asarray(q, dtype=float)), dtype=float)
        return np.concatenate([way, np.asarray(v, dtype=float) - self.v[k]])

    def limited(self, machine: Any) -> Feedback:
        """The same with names and limits of the inputs of a machine."""
        return replace(self, limits=machine.u_limits, names=tuple(machine.u_names))

    @property
    def A(self) -> Array:
        """(2 nv, 2 nv) of a point: changes over one step without feedback."""
        found: Array = self.steps[0].A
        return found

    @property
    def closed(self) -> Array:
        """A - B K of a point: changes over one step with feedback."""
        return self.A - self.steps[0].B @ self.B @ self.K[0]

    @property
    def eigenvalues(self) -> Any:
        """Of the closed loop of a point, on the changes that constraints allow; the largest first."""
        T = self.steps[0].tangent
        values = np.linalg.eigvals(T.T @ self.closed @ T)
        return values[np.argsort(-np.abs(values), kind="stable")]

    def __repr__(self) -> str:
        where = "a point" if self.point else f"{len(self.K)} steps"
        return f"Feedback({'; '.join((f'about {where} of {self.system!r}, inputs ' + ', '.join(self.names), *self.notes))})"
