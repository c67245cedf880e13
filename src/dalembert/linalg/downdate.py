"""Factors that follow an active set (lacoursiere2007, 18.47-68).

`ActiveCholesky` keeps L L^T = S_aa as rows enter and leave a; each change costs O(|a|^2) (`kernels/linalg/cholesky.py`).
`solve_with_bounds` keeps the factor of all of S and treats the rows at bounds, the set f, as a correction: with S~ = S^-1

    z0 = -S^-1 q,   S~_ff y = z_f - z0_f,   z_a = z0_a + S~_af y        (Alg. 18.7.3: good where few rows are at bounds)

Print of Alg. 18.7.1 solves for e_f where it must be e_i, one column for each i in f.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dalembert.errors import OptionError
from dalembert.kernels.linalg import cholesky as kernels
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg.blocks import Floats, Ints, vector

PIVOT_TOLERANCE = 1e-14


class ActiveCholesky:
    """Cholesky factor of the rows and columns `active` of a symmetric positive definite S (n x n; regularised, so no pivoting)."""

    def __init__(self, S: npt.ArrayLike, active: npt.ArrayLike = (), tol: float = PIVOT_TOLERANCE):
        self.S = np.ascontiguousarray(S, dtype=float)
        if self.S.ndim != 2 or self.S.shape[0] != self.S.shape[1]:
            raise OptionError(f"active set: matrix {self.S.shape} given, a square one expected.")
        self.tol, self.n = tol, len(self.S)
        self.L, self.work = np.zeros(self.n * self.n), np.zeros(self.n)
        self.active: list[int] = []
        self.status = self.reset(active)

    def reset(self, active: npt.ArrayLike) -> int:
        """Factor anew."""
        self.active = [int(i) for i in np.asarray(active, dtype=np.int64)]
        k = len(self.active)
        if len(set(self.active)) < k or any(not 0 <= i < self.n for i in self.active):
            raise OptionError(f"active set {self.active}: different numbers 0 ... {self.n - 1} expected.")
        self.L.reshape(self.n, self.n)[:k, :k] = self.S[np.ix_(self.active, self.active)]
        self.status = OK if kernels.factor(self.L, k, self.n, self.tol) else SINGULAR
        return self.status

    def add(self, i: int) -> int:
        """Row i enters. SINGULAR, and nothing changes, where it depends on the others."""
        if i in self.active or not 0 <= i < self.n:
            raise OptionError(f"active set: row {i} cannot enter; it is active or not one of 0 ... {self.n - 1}.")
        row = self.S[i, [*self.active, i]]
        if not kernels.append(self.L, len(self.active), self.n, np.ascontiguousarray(row), self.tol):
            return SINGULAR
        self.active.append(i)
        return OK

    def remove(self, i: int) -> int:
        """Row i leaves."""
        if i not in self.active:
            raise OptionError(f"active set: row {i} cannot leave; active are {self.active}.")
        kernels.remove(self.L, self.active.index(i), len(self.active), self.n, self.work)
        self.active.remove(i)
        return OK

    def change(self, w: npt.ArrayLike, sign: int) -> int:
        """S_aa + sign w w^T for a vector w over the active rows, in their order. SINGULAR where that is not positive definite: reset then.

        `S` follows, so that later changes of the active set start from the new matrix.
        """
        k = len(self.active)
        v = vector("w", w, k)
        self.S[np.ix_(self.active, self.active)] += sign * np.outer(v, v)
        if sign > 0:
            kernels.update(self.L, 0, k, self.n, v.copy())
            return OK
        self.status = OK if kernels.downdate(self.L, k, self.n, v.copy(), self.tol) else SINGULAR
        return self.status

    def factor(self) -> Floats:
        """L, in the order of `active`."""
        k = len(self.active)
        return np.tril(self.L.reshape(self.n, self.n)[:k, :k])

    def solve(self, r: npt.ArrayLike) -> Floats:
        """S_aa^-1 r, in the order of `active`."""
        x = vector("r", r, len(self.active)).copy()
        kernels.solve(self.L, len(self.active), self.n, x)
        return x


def solve_with_bounds(
    solve: Callable[[Floats], Floats], q: npt.ArrayLike, fixed: npt.ArrayLike, values: npt.ArrayLike
) -> tuple[Floats, int]:
    """z with z_f = values and (S z + q)_a = 0, from any `solve`(r) = S^-1 r (a dense factor, `TreeLDL`, ...), and the status."""
    q = np.ascontiguousarray(q, dtype=float)
    which: Ints = np.asarray(fixed, dtype=np.int64)
    z = -solve(q)
    if not which.size:
        return z, OK
    columns = np.stack([solve(np.eye(1, len(q), i)[0]) for i in which], axis=1)
    at_bounds = vector("values", values, which.size)
    inner = ActiveCholesky(columns[which], np.arange(which.size))
    if inner.status != OK:
        return z * np.nan, SINGULAR
    z = z + columns @ inner.solve(at_bounds - z[which])
    z[which] = at_bounds
    return z, OK
