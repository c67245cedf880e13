"""Formulas as functions of arrays, one row per node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian.formulas import Formulas


class Numbers:
    """Values at states q, v (n,) or (N, n), times t (scalar or (N,)), with the parameters put in: (k,), or (N, k) of each state."""

    def __init__(self, formulas: Formulas, params: Array):
        self.formulas, self.params = formulas, params
        self.n = formulas.n
        self._made: dict[str, Any] = {}

    def of(self, params: Array) -> Numbers:
        """The same formulas with other parameters; nothing is made anew."""
        other = Numbers(self.formulas, params)
        other._made = self._made
        return other

    def _call(self, name: str, make: Callable[..., Any], q: Any, v: Any, t: Any = 0.0, u: Any = None) -> Array:
        if name not in self._made:
            x = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n), ca.SX.sym("t"), ca.SX.sym("u", self.n)
            self._made[name] = ca.Function(name, [*x, self.formulas.p], [ca.densify(ca.SX(make(*x)))])
        function = self._made[name]
        q = np.asarray(q, dtype=float)
        rows = np.atleast_2d(q)
        N = len(rows)
        v, u = (np.zeros_like(rows) if a is None else np.broadcast_to(np.asarray(a, dtype=float), rows.shape) for a in (v, u))
        t = np.broadcast_to(np.asarray(t, dtype=float), (N,))
        shape = function.size_out(0)
        p = self.params.T if self.params.ndim == 2 else np.repeat(self.params[:, None], N, axis=1)
        found = np.array(function.map(N)(rows.T, v.T, t[None, :], u.T, p)) if N else np.zeros((shape[0], 0))
        found = found.reshape(shape[0], N, shape[1]).transpose(1, 0, 2)
        found = found[..., 0] if shape[1] == 1 else found
        return found[0] if q.ndim == 1 else found

    def energy(self, q: Array, v: Array) -> Array:
        """E = v . dL/dv - L."""
        return self._call("energy", lambda q, v, t, u: self.formulas.energy(q, v), q, v)[..., 0]

    def momentum(self, q: Array, v: Array) -> Array:
        """p = dL/dv."""
        return self._call("momentum", lambda q, v, t, u: self.formulas.momentum(q, v), q, v)

    def noether(self, q: Array, v: Array) -> Array:
        """dL/dv . xi, one column per symmetry."""
        if not self.formulas.symmetries:
            return np.zeros((*np.shape(q)[:-1], 0))
        return self._call("noether", lambda q, v, t, u: self.formulas.generators(q).T @ self.formulas.momentum(q, v), q, v)

    def mass(self, q: Array, v: Array) -> Array:
        """M = d2L/dv2."""
        found = self._call("mass", lambda q, v, t, u: ca.vec(self.formulas.mass(q, v)), q, v)
        return found.reshape(*np.shape(q)[:-1], self.n, self.n)

    def acceleration(self, q: Array, v: Array, t: Any = 0.0, u: Any = None) -> Array:
        """Accelerations under forces and differentiated constraints."""
        return self._call("acceleration", lambda q, v, t, u: self.formulas.acceleration(q, v, t, u)[0], q, v, t, u)

    def multipliers(self, q: Array, v: Array, t: Any = 0.0, u: Any = None) -> Array:
        """Multipliers (holonomic, Pfaffian) of the same equations, forces."""
        if not (self.formulas.holonomic_rows or self.formulas.pfaffian_rows):
            return np.zeros((*np.shape(q)[:-1], 0))
        return self._call("multipliers", lambda q, v, t, u: self.formulas.acceleration(q, v, t, u)[1], q, v, t, u)

    def holonomic(self, q: Array, t: Any = 0.0) -> Array:
        """g(q, t)."""
        if not self.formulas.holonomic_rows:
            return np.zeros((*np.shape(q)[:-1], 0))
        return self._call("holonomic", lambda q, v, t, u: self.formulas.holonomic(q, t), q, None, t)

    def unilateral(self, q: Array) -> Array:
        """c(q)."""
        if not self.formulas.unilateral_rows:
            return np.zeros((*np.shape(q)[:-1], 0))
        return self._call("unilateral", lambda q, v, t, u: self.formulas.unilateral(q), q, None)

    def unilateral_jacobian(self, q: Array) -> Array:
        """C(q) = dc/dq, (k, n)."""
        k = self.formulas.unilateral_rows
        if not k:
            return np.zeros((*np.shape(q)[:-1], 0, self.n))
        found = self._call("unilateral_jacobian", lambda q, v, t, u: ca.vec(self.formulas.unilateral_jacobian(q).T), q, None)
        return found.reshape(*np.shape(q)[:-1], k, self.n)

    def rows(self, q: Array, t: Any = 0.0) -> Array:
        """(G; A), (m, n)."""
        f = self.formulas
        m = f.holonomic_rows + f.pfaffian_rows
        if not m:
            return np.zeros((*np.shape(q)[:-1], 0, self.n))
        found = self._call("rows", lambda q, v, t, u: ca.vec(ca.vertcat(f.jacobian(q, t), f.pfaffian(q, t)).T), q, None, t)
        return found.reshape(*np.shape(q)[:-1], m, self.n)

    def rates(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """(G v + dg/dt, A v + w)."""
        f = self.formulas
        if not (f.holonomic_rows or f.pfaffian_rows):
            return np.zeros((*np.shape(q)[:-1], 0))
        make = lambda q, v, t, u: ca.vertcat(f.jacobian(q, t) @ v + f.holonomic_rate(q, t), f.pfaffian(q, t) @ v + f.drive(q, t))  # noqa: E731
        return self._call("rates", make, q, v, t)

    def rest(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """rest of J a + rest, the constraints differentiated until accelerations appear."""
        return self._call("rest", lambda q, v, t, u: self.formulas._rows(q, v, t)[1], q, v, t)

    def push(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """b + f of M a = b + f + J^T mu, without control."""
        return self._call("push", lambda q, v, t, u: self.formulas.inertial(q, v) + self.formulas.force(q, v, t, u), q, v, t)

    def force(self, q: Array, v: Array, t: Any = 0.0, u: Any = None) -> Array:
        """All forces outside the Lagrangian."""
        return self._call("force", lambda q, v, t, u: self.formulas.force(q, v, t, u), q, v, t, u)

    def invariance(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Derivative of L along each symmetry, and the sum of the sizes of its terms."""
        f = self.formulas

        def make(q: Any, v: Any, t: Any, u: Any) -> Any:
            xi = f.generators(q)
            found = []
            for i in range(f.symmetries):
                rate = ca.jtimes(xi[:, i], q, v)
                terms = ca.vertcat(f.slope(q, v) * xi[:, i], f.momentum(q, v) * rate)
                found += [ca.sum1(terms), ca.sum1(ca.fabs(terms))]
            return ca.vertcat(*found)

        found = self._call("invariance", make, q, v)
        return found[:, 0::2], found[:, 1::2]
