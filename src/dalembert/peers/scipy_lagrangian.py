"""The equations of motion of a system given by a Lagrangian, for SciPy: y = (q, v), accelerations from the formulas.

Constraints are differentiated to accelerations (index reduction), so they drift with the error of the method.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.lagrangian import Lagrangian
from dalembert.model.rotation import Array


class LagrangianMotion:
    """Right-hand side for y = (q, v). One CasADi function reads and writes arrays in place: a call costs little more than SciPy itself."""

    def __init__(self, model: Lagrangian):
        self.n = model.n
        q, v, t = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n), ca.SX.sym("t")
        a = ca.substitute(model.formulas.acceleration(q, v, t)[0], model.formulas.p, ca.DM(model.parameter_vector))
        self._function = ca.Function("rate", [ca.vertcat(q, v), t], [ca.densify(ca.vertcat(v, a))])
        self._y, self._t, self._out = np.zeros(2 * self.n), np.zeros(1), np.zeros(2 * self.n)
        buffer: Any
        buffer, self._evaluate = self._function.buffer()
        buffer.set_arg(0, self._y.data)
        buffer.set_arg(1, self._t.data)
        buffer.set_res(0, self._out.data)
        self._buffer = buffer  # its memory must outlive the calls

    def start(self, q: Array, v: Array) -> Array:
        """y of q, v."""
        return np.concatenate([q, v])

    def nodes(self, y: Array) -> tuple[Array, Array]:
        """q, v of rows of y."""
        return y[:, : self.n], y[:, self.n :]

    def __call__(self, t: float, y: Array) -> Array:
        self._y[:], self._t[0] = y, t
        self._evaluate()
        return self._out.copy()
