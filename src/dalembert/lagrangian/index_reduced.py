"""The index-reduced equations of a Lagrangian as machine code: what SciPy's solvers integrate.

q' = v,  v' = a(q, v, t)         constraints differentiated to accelerations, J M^-1 J^T of full rank
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.machine_code import MachineCode


class NotFinite(ArithmeticError):
    """The right-hand side is infinite or not a number."""


class RightHandSide:
    """x = (t, u, p, q, v) -> (v, a), its derivative by (q, v), the multipliers, and (power, push along symmetries) of outer forces."""

    def __init__(self, model: Any):
        f, n = model.formulas, model.n
        self.n, self.first = n, 1 + n + len(model.parameter_vector)
        self.multiplier_count, self.ledger_count = f.holonomic_rows + f.pfaffian_rows, 1 + f.symmetries
        key = ("index-reduced",)
        if key not in model._programs:
            model._programs[key] = _machine_code(f)
        self._code = model._programs[key]
        self.x = np.zeros(self.first + 2 * n)
        self.x[1 + n : self.first] = model.parameter_vector
        self._out = {"rhs": np.zeros(2 * n), "jacobian": np.zeros(4 * n * n), "multipliers": np.zeros(self.multiplier_count)}
        self._out["ledger"] = np.zeros(self.ledger_count)
        plain = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._call = {name: (plain(self._code.addresses[name]), self.x.ctypes.data, out.ctypes.data) for name, out in self._out.items()}
        self._rhs = self._call["rhs"]
        self.evaluations = 0

    def hold(self, tau: Array) -> None:
        """Hold a generalised force."""
        self.x[1 : 1 + self.n] = tau

    @property
    def held(self) -> Array:
        """The generalised force that is held."""
        return self.x[1 : 1 + self.n]

    def __call__(self, t: float, y: Array) -> Array:
        """(v, a)."""
        self.x[0] = t
        self.x[self.first :] = y
        function, source, target = self._rhs
        function(source, target)
        found = self._out["rhs"]
        self.evaluations += 1
        if not finite(found):
            raise NotFinite
        return found.copy()

    def unchecked(self, t: float, y: Array) -> Array:
        """(v, a), whatever it is."""
        return self._at("rhs", t, y)

    def _at(self, name: str, t: float, y: Array) -> Array:
        self.x[0] = t
        self.x[self.first :] = y
        function, source, target = self._call[name]
        function(source, target)
        return self._out[name].copy()

    def jacobian(self, t: float, y: Array) -> Array:
        """d(v, a) / d(q, v)."""
        return self._at("jacobian", t, y).reshape(2 * self.n, 2 * self.n)

    def multipliers(self, t: float, y: Array) -> Array:
        """Forces of the constraints."""
        return self._at("multipliers", t, y)

    def ledger(self, t: float, y: Array) -> Array:
        """Power of the forces outside the Lagrangian, and their push along each symmetry."""
        return self._at("ledger", t, y)


def finite(a: Array) -> bool:
    """True if no entry is infinite or not a number. Quicker than NumPy on a dozen numbers."""
    return math.isfinite(sum(a.tolist()))


def _machine_code(f: Any) -> MachineCode:
    t, u, q, v = ca.SX.sym("t"), ca.SX.sym("u", f.n), ca.SX.sym("q", f.n), ca.SX.sym("v", f.n)
    x, y = ca.vertcat(t, u, f.p, q, v), ca.vertcat(q, v)
    a, mu = f.acceleration(q, v, t, u)
    rhs, force = ca.vertcat(v, a), f.force(q, v, t, u)
    outputs = {
        "rhs": rhs,
        "jacobian": ca.vec(ca.densify(ca.jacobian(rhs, y)).T),
        "multipliers": mu,
        "ledger": ca.vertcat(ca.dot(force, v), f.generators(q).T @ force),
    }
    return MachineCode({name: ca.Function("f", [x], [ca.cse(ca.densify(out))]) for name, out in outputs.items()})
