"""Null-space matrix, nodal reparametrisation and constraints of a machine in director coordinates, for one configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.directors.compile import Compiled
from dalembert.errors import OptionError
from dalembert.kernels.directors import node as kernels
from dalembert.model import validate

NEAR, ROUNDS = 1e-13, 30


class Motions:
    """The part of `Directors` that knows how configurations move."""

    compiled: Compiled
    name: str
    nq: int
    _work: Array

    def _one(self, what: str, x: Any, size: int) -> Array:
        return np.array(validate.vector(f"directors of model {self.name!r}", what, x, size, OptionError))

    def constraints(self, q: Any) -> Array:
        """g(q), (rows,): `constraint_labels`."""
        out = np.empty((1, len(self.compiled.rows)))
        kernels.constraint_rows(self.compiled.system, self._one("q", q, self.nq)[None, :], self._work.copy(), out)
        return out[0]

    def gradients(self, q: Any) -> Array:
        """G = dg/dq, (rows, n)."""
        out = np.empty((len(self.compiled.rows), self.nq))
        kernels.constraint_gradients(self.compiled.system, self._one("q", q, self.nq), self._work.copy(), out)
        return out

    def potential_gradient(self, q: Any) -> Array:
        """dV/dq, (n,)."""
        out = np.empty(self.nq)
        kernels.potential_slope(self.compiled.system, self._one("q", q, self.nq), self._work.copy(), out)
        return out

    def tree_null_space(self, q: Any) -> Array:
        """P(q), (n, k): the explicit null-space matrix of all constraints but those that close loops; columns: `motions`."""
        out = np.empty((self.nq, self.compiled.k))
        kernels.null_matrix(self.compiled.system, self._one("q", q, self.nq), self._work.copy(), out)
        return out

    def null_space(self, q: Any) -> Array:
        """Null-space matrix of all constraints, (n, n - rows): P, with loops P Z, Z an orthonormal basis of { x: G_l P x = 0 }."""
        P = self.tree_null_space(q)
        if not self.compiled.loops:
            return P
        R = self.gradients(q)[-self.compiled.loops :] @ P
        Q, _ = np.linalg.qr(R.T, mode="complete")
        return np.asarray(P @ Q[:, len(R) :])

    def reparametrise(self, u: Any, q: Any) -> Array:
        """F(u, q), (n,): the configuration reached from q along the coordinates of motion u (k,) of the tree; it meets its joints."""
        return self.moved(u, q)[0]

    def moved(self, u: Any, q: Any) -> tuple[Array, Array, Array]:
        """(F(u, q), its increment formed without differences, dF/du)."""
        out, dq, slope = np.empty(self.nq), np.empty(self.nq), np.empty((self.nq, self.compiled.k))
        u, q = self._one("u", u, self.compiled.k), self._one("q", q, self.nq)
        kernels.reparametrise(self.compiled.system, q, u, self._work.copy(), out, dq, slope)
        return out, dq, slope

    def integrate(self, q: Any, dq: Any) -> Array:
        """q moved along a tangent vector: F(u, q) with P u = dq."""
        q, dq = np.asarray(q, dtype=float), np.asarray(dq, dtype=float)
        if q.ndim > 1:
            return np.array([self.integrate(a, b) for a, b in zip(q, dq, strict=True)])
        return self.reparametrise(np.linalg.lstsq(self.tree_null_space(q), dq, rcond=None)[0], q)

    def difference(self, q0: Any, q1: Any) -> Array:
        """The tangent vector P u at q0 with F(u, q0) = q1, by Newton's method."""
        q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
        if q0.ndim > 1:
            return np.array([self.difference(a, b) for a, b in zip(q0, q1, strict=True)])
        P, u = self.tree_null_space(q0), np.zeros(self.compiled.k)
        for _ in range(ROUNDS):
            there, _, slope = self.moved(u, q0)
            step = np.linalg.lstsq(slope, q1 - there, rcond=None)[0]
            u += step * min(1.0, 1.0 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            if np.abs(step).max(initial=0.0) < NEAR:
                break
        return np.asarray(P @ u)
