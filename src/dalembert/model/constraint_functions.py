"""Constraints of a model: the compiled kernels behind plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.constraints import constraint_rows
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.model import compile_constraints, compile_tree
from dalembert.model.workspace import Workspaces

if TYPE_CHECKING:
    from dalembert.model.model import Model


class TreeConstraints:
    """Rows of one model. Every thread has a workspace of its own.

    labels: (joint, what the row holds to zero) of every row; holonomic: how many of them, the first ones, are on positions.
    drives: {row: function of time}.
    """

    def __init__(self, model: Model):
        self.nq, self.nv = model.nq, model.nv
        rows, self.holonomic = compile_constraints.constraint_rows(model, compile_tree.build_tree(model))
        self.labels = [(row.joint, row.what) for row in rows]
        self.drives = {r: row.drive for r, row in enumerate(rows) if row.drive is not None}
        self.system = compile_tree.system_array(model, {})
        self.q, self.v = int(self.system[at.AT_Q]), int(self.system[at.AT_V])
        self.g = compile_tree.work_size(self.system)
        self.G = self.g + len(rows)
        self._works = Workspaces(self.G + len(rows) * self.nv)

    def prescribed(self, t: float) -> Array:
        """(3, m): f, f', f'' of drives at a time, 0 of all other rows. Velocities have G v = f', accelerations G a + dG/dt v = f''."""
        out = np.zeros((3, len(self.labels)))
        for r, drive in self.drives.items():
            out[:, r] = drive(t)
        return out

    def rows(self, q: Any, t: float = 0.0) -> tuple[Array, Array]:
        """(residuals (m,), Jacobian (m, nv)) at a configuration and a time."""
        a = np.asarray(q, dtype=float)
        if a.shape != (self.nq,):
            raise OptionError(f"q has shape {a.shape}; expected ({self.nq},).")
        work = self._works.mine
        work[self.q : self.q + self.nq] = a
        work[int(self.system[at.AT_CALL]) + 1] = t
        sweep(self.system, work, self.q, self.v)
        world(self.system, work)
        constraint_rows(self.system, work, self.q, self.g, self.G)
        m = len(self.labels)
        return work[self.g : self.G].copy(), work[self.G : self.G + m * self.nv].reshape(m, self.nv).copy()
