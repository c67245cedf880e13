"""One call for M x - G^T y = b, G x + E y = c: chooses the method by structure and size, and says what it did.

    dense       LAPACK, where the matrix has few rows
    tree        `tree_ldl`, where constraints close no loop
    loops       `loops`, where few rows close loops
    qdldl       sparse L D L^T with QDLDL, where E > 0 makes the matrix quasi-definite
    superlu     sparse LU with SciPy's SuperLU

Where one method finds a zero pivot the next one is tried. Each solution takes one step of refinement if its residual asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from dalembert.errors import UnknownNameError
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg.blocks import Floats, vector
from dalembert.linalg.loops import LoopLDL
from dalembert.linalg.saddle import Saddle
from dalembert.linalg.tree_ldl import Forest, TreeLDL

#: unknowns up to which LAPACK is as fast as anything else called from Python
DENSE_LIMIT = 60
#: rows that close loops up to which the Schur complement on the tree pays
LOOP_LIMIT = 60
#: backward error in balanced units: refine above the first, give up above the second
REFINE, ACCEPT = 1e-14, 1e-6
#: condition of the balanced matrix from which it counts as singular
SINGULAR_CONDITION = 1e14

Apply = Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Solution:
    """x, y, their backward error (`Saddle.residual`), method, status (OK, or SINGULAR with x and y NaN), methods tried before in vain."""

    x: Floats
    y: Floats
    residual: float
    method: str
    status: int
    failed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is a solution."""
        return self.status == OK


def _tree(saddle: Saddle) -> Apply | None:
    if len(Forest(saddle.jacobian).loops):
        return None
    found = TreeLDL(saddle.jacobian)
    return found.solve if found.factor(saddle) == OK else None


def _loops(saddle: Saddle) -> Apply | None:
    found = LoopLDL(saddle.jacobian)
    return found.solve if found.factor(saddle) == OK else None


def _split(saddle: Saddle, apply: Callable[[Floats], Floats], sign: float) -> Apply:
    """x, y from a solver of the whole matrix; sign: -1 for the symmetric form H (x, -y)."""
    n = 6 * saddle.n_bodies

    def solve(b: Floats, c: Floats) -> tuple[Floats, Floats]:
        z = apply(np.concatenate([b, c]))
        return z[:n], sign * z[n:]

    return solve


def _dense(saddle: Saddle) -> Apply | None:
    s = saddle.units
    balanced = saddle.K().toarray() / s[:, None] / s[None, :]
    if not np.isfinite(balanced).all() or (len(s) and np.linalg.cond(balanced) > SINGULAR_CONDITION):
        return None
    factor = sl.lu_factor(balanced) if len(s) else None
    return _split(saddle, lambda r: sl.lu_solve(factor, r / s) / s if len(s) else r, 1.0)


def _qdldl(saddle: Saddle) -> Apply | None:
    try:
        import qdldl
    except ImportError:
        return None
    try:
        factor = qdldl.Solver(sp.csc_matrix(sp.triu(saddle.H(), format="csc")), upper=True)
    except RuntimeError:  # a zero pivot: not quasi-definite
        return None
    return _split(saddle, factor.solve, -1.0)


def _superlu(saddle: Saddle) -> Apply | None:
    s = saddle.units
    scaling = sp.diags_array(1.0 / s)
    try:
        factor = spl.splu(sp.csc_array(scaling @ saddle.K() @ scaling))
    except RuntimeError:  # exactly singular
        return None
    pivots = np.abs(factor.U.diagonal())
    if not pivots.min(initial=1.0) * SINGULAR_CONDITION > pivots.max(initial=0.0):
        return None
    return _split(saddle, lambda r: factor.solve(r / s) / s, 1.0)


METHODS: dict[str, Callable[[Saddle], Apply | None]] = {
    "dense": _dense,
    "tree": _tree,
    "loops": _loops,
    "qdldl": _qdldl,
    "superlu": _superlu,
}


def choose(saddle: Saddle) -> tuple[str, ...]:
    """Methods to try, best first."""
    if saddle.size <= DENSE_LIMIT:
        return ("dense",)
    g = saddle.jacobian
    if not len(Forest(g).loops):
        return ("tree", "loops", "qdldl", "superlu")
    rows = int(np.diff(g.rows)[Forest(g, one_anchor=True).loops].sum())
    return ("loops", "qdldl", "superlu") if rows <= LOOP_LIMIT else ("qdldl", "superlu")


def solve(saddle: Saddle, b: npt.ArrayLike, c: npt.ArrayLike, method: str | None = None) -> Solution:
    """Solve; method: None chooses, else only that one is tried."""
    if method is not None and method not in METHODS:
        raise UnknownNameError("method", method, METHODS)
    b, c = vector("b", b, 6 * saddle.n_bodies), vector("c", c, saddle.jacobian.n_rows)
    failed: list[str] = []
    for name in choose(saddle) if method is None else (method,):
        apply = METHODS[name](saddle) if saddle.positive_masses else None
        if apply is not None:
            x, y, residual = _refined(saddle, apply, b, c)
            if residual <= ACCEPT:
                return Solution(x, y, residual, name, OK, tuple(failed))
        failed.append(name)
    return Solution(np.full_like(b, np.nan), np.full_like(c, np.nan), float("inf"), failed[-1], SINGULAR, tuple(failed))


def _refined(saddle: Saddle, apply: Apply, b: Floats, c: Floats) -> tuple[Floats, Floats, float]:
    """The solution, after one step of refinement where that helps."""
    x, y = apply(b, c)
    residual = saddle.residual(x, y, b, c)
    if not REFINE < residual < np.inf:
        return x, y, residual
    top, bottom = saddle.multiply(x, y)
    dx, dy = apply(b - top, c - bottom)
    better = saddle.residual(x + dx, y + dy, b, c)
    return (x + dx, y + dy, better) if better < residual else (x, y, residual)
