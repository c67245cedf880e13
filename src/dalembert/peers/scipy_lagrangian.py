"""The equations of motion of a system given by a Lagrangian, for SciPy: y = (q, v), accelerations from the formulas.

Constraints are differentiated to accelerations (index reduction), so they drift with the error of the method.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.lagrangian.index_reduced import RightHandSide


class LagrangianMotion:
    """Right-hand side for y = (q, v), by machine code."""

    def __init__(self, model: Lagrangian):
        self.n, self._motion = model.n, RightHandSide(model)

    def start(self, q: Array, v: Array) -> Array:
        """y of q, v."""
        return np.concatenate([q, v])

    def nodes(self, y: Array) -> tuple[Array, Array]:
        """q, v of rows of y."""
        return y[:, : self.n], y[:, self.n :]

    def __call__(self, t: float, y: Array) -> Array:
        return self._motion.unchecked(t, y)
