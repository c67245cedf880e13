"""Conjugate gradients on the Schur complement without forming it (lacoursiere2007, 18.39-46; formulas in `kernels/linalg/uzawa_cg.py`).

Without round-off at most as many iterations as S has distinct eigenvalues; the error in the norm of S falls at least like
2 ((sqrt(k) - 1) / (sqrt(k) + 1))^i, k the condition of S after preconditioning.

    uzawa_cg(..., preconditioner="blocks")   inverse diagonal blocks of S
    tree_cg                                  the constraints of the spanning tree are eliminated by `tree_ldl`, CG runs on the loops only:
                                             on E_2 + G_2 (M^-1 - M^-1 G_1^T (G_1 M^-1 G_1^T + E_1)^-1 G_1 M^-1) G_2^T (print omits E_2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.errors import UnknownNameError
from dalembert.kernels.linalg import uzawa_cg as kernels
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR
from dalembert.linalg.blocks import Floats, vector
from dalembert.linalg.loops import constraint_rows, restrict
from dalembert.linalg.saddle import Saddle
from dalembert.linalg.tree_ldl import Forest, TreeLDL


@dataclass(frozen=True)
class CGResult:
    """x, y, the status (kernels/status.py), iterations, and |g|, the residual of the rows that CG works on."""

    x: Floats
    y: Floats
    status: int
    iterations: int
    residual: float


def uzawa_cg(
    saddle: Saddle,
    b: npt.ArrayLike,
    c: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    tol: float = 1e-10,
    most: int | None = None,
    preconditioner: str = "none",
) -> CGResult:
    """Iterate until |g| <= tol |c - G M^-1 b| from y (None: 0); most: None allows 10 iterations per row."""
    if preconditioner not in ("none", "blocks"):
        raise UnknownNameError("preconditioner", preconditioner, ("none", "blocks"))
    g = saddle.jacobian
    n, m = 6 * g.n_bodies, g.n_rows
    b, c = vector("b", b, n), vector("c", c, m)
    x, lam = np.zeros(n), np.zeros(m) if y is None else vector("y", y, m).copy()
    if not saddle.positive_masses:
        return CGResult(x * np.nan, lam * np.nan, SINGULAR, 0, float("inf"))
    U, D, blocks = saddle.inverse_masses.reshape(-1), np.zeros_like(saddle.compliance), preconditioner == "blocks"
    if blocks:
        tall = int(np.max(np.diff(g.rows), initial=1))
        K = g.times_masses(saddle.inverse_masses).data
        if not kernels.diagonal_blocks(g.first, g.lines, g.rows, g.places, K, g.data, saddle.compliance, np.zeros(tall), 1e-14, D):
            return CGResult(x * np.nan, lam * np.nan, SINGULAR, 0, float("inf"))
    work = [np.zeros(m) for _ in range(4)] + [np.zeros(n) for _ in range(2)]
    info = np.zeros(2)
    limit = 10 * m + 10 if most is None else most
    status = kernels.solve(
        g.first, g.bodies, g.lines, g.rows, g.places, g.data, U, saddle.compliance, D, blocks, b, c, x, lam, *work, tol, limit, info
    )
    return CGResult(x, lam, int(status), int(info[0]), float(info[1]))


class TreeCG:
    """CG on the constraints that close loops, the others eliminated exactly."""

    def __init__(self, saddle: Saddle):
        g = saddle.jacobian
        self.saddle, self.forest = saddle, Forest(g, one_anchor=True)
        self.tree = TreeLDL(g, self.forest)
        self.rows = constraint_rows(g, self.forest.loops)
        self.loops = restrict(saddle, self.forest.loops)
        self.status = self.tree.factor(saddle)

    def multiply(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """S~ d, and the change of x and y of the tree that d makes."""
        h, k = self.tree.solve(self.loops.jacobian.multiply_transposed(d), np.zeros(self.saddle.jacobian.n_rows))
        return self.loops.jacobian.multiply(h) + self.loops.multiply_compliance(d), h, k

    def solve(self, b: npt.ArrayLike, c: npt.ArrayLike, tol: float = 1e-10, most: int | None = None) -> CGResult:
        """Iterate until the residual of the loops is tol times that of the open tree."""
        if self.status != OK:
            nan = np.full(self.saddle.size, np.nan)
            return CGResult(nan[: 6 * self.saddle.n_bodies], nan[6 * self.saddle.n_bodies :], self.status, 0, float("inf"))
        c = vector("c", c, self.saddle.jacobian.n_rows)
        x, y = self.tree.solve(b, c)
        lam = np.zeros(len(self.rows))
        g = self.loops.jacobian.multiply(x) - c[self.rows]
        d, w = -g, float(g @ g)
        goal, limit, status, k = tol * tol * w, 10 * len(lam) + 10 if most is None else most, NOT_CONVERGED, 0
        while w > goal and k < limit:
            Sd, h, dy = self.multiply(d)
            curvature = float(d @ Sd)
            if not curvature > 0.0:
                break
            a = w / curvature
            lam, x, y, g = lam + a * d, x + a * h, y + a * dy, g + a * Sd
            new = float(g @ g)
            d, w, k = -g + new / w * d, new, k + 1
        status = OK if w <= goal else (NOT_CONVERGED if np.isfinite(w) else NOT_FINITE)
        y[self.rows] = lam
        return CGResult(x, y, status, k, w**0.5)


def tree_cg(saddle: Saddle, b: npt.ArrayLike, c: npt.ArrayLike, tol: float = 1e-10, most: int | None = None) -> CGResult:
    """`TreeCG` for one right-hand side."""
    return TreeCG(saddle).solve(b, c, tol, most)
