"""Direct solution for constraints with loops: spanning tree by `tree_ldl`, loops by its Schur complement (`kernels/linalg/loops.py`).

The world counts as a body, so that a chain held at both ends has a loop. Costs one tree solution per row that closes a loop, and the
cube of the number of these rows: good for few loops on many bodies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.errors import OptionError
from dalembert.kernels.linalg import loops as kernels
from dalembert.kernels.linalg.dense import solve as dense_solve
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg.blocks import BlockJacobian, Floats, Ints, runs, vector
from dalembert.linalg.saddle import Saddle
from dalembert.linalg.tree_ldl import PIVOT_TOLERANCE, Forest, TreeLDL


def constraint_rows(g: BlockJacobian, which: Ints) -> Ints:
    """Rows of these constraints."""
    return runs(g.rows[which], np.diff(g.rows)[which])


def restrict(saddle: Saddle, which: Ints) -> Saddle:
    """The system with these constraints only."""
    g = saddle.jacobian
    blocks = runs(g.places[which], np.diff(g.places)[which])
    return Saddle(saddle.masses, g.subset(which), saddle.compliance[blocks])


class LoopLDL:
    """Factor once per set of numbers, solve often."""

    def __init__(self, jacobian: BlockJacobian):
        self.jacobian = jacobian
        self.forest = Forest(jacobian, one_anchor=True)
        self.tree = TreeLDL(jacobian, self.forest)  # rows of loops are not in its table and stay 0
        self.rows = constraint_rows(jacobian, self.forest.loops)
        n, m, k = 6 * jacobian.n_bodies, jacobian.n_rows, len(self.rows)
        self.X, self.Y, self.C = np.zeros(k * n), np.zeros(k * m), np.zeros(k * k)
        self.zero, self.force = np.zeros(k), np.zeros(k)
        self.closing: BlockJacobian | None = None
        self.status = SINGULAR

    @property
    def loop_rows(self) -> int:
        """Rows that close loops."""
        return len(self.rows)

    def factor(self, saddle: Saddle, tol: float = PIVOT_TOLERANCE) -> int:
        """OK or SINGULAR: of the tree, or because the loops repeat what the tree says (redundant, E = 0)."""
        self.status = self.tree.factor(saddle, tol)
        if self.status != OK or not len(self.rows):
            return self.status
        part = restrict(saddle, self.forest.loops)
        g, t = part.jacobian, self.tree
        self.closing = g
        n, m = 6 * g.n_bodies, self.jacobian.n_rows
        structure = (g.first, g.bodies, g.lines, g.rows, g.data, g.places, part.compliance)
        self.status = int(
            kernels.close(t.table, t.leaves, t.f, *structure, n, m, t.z, self.X, self.Y, self.C, self.zero, _loop_tolerance(tol))
        )
        return self.status

    def solve(self, b: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Floats, Floats]:
        """x, y"""
        if self.status != OK:
            raise OptionError("loops: the matrix has not been factored, or is singular.")
        c = vector("c", c, self.jacobian.n_rows)
        x, y = self.tree.solve(b, c)
        if self.closing is not None:
            g = self.closing
            kernels.closing_forces(g.first, g.bodies, g.lines, g.rows, g.data, c[self.rows], x, self.force)
            dense_solve(self.C, 0, len(self.rows), self.force, 0)
            kernels.add_responses(self.X, self.Y, self.force, x, y)
            y[self.rows] = self.force
        return x, y


def _loop_tolerance(tol: float) -> float:
    """C carries the round-off of the tree's solutions, which its own pivots do not have."""
    return 100.0 * tol
