"""Small dense systems, with and without rows of constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs, qr

from dalembert.arrays import Array

(gesv,) = get_lapack_funcs(("gesv",))  # one call of getrs took 2,000 us of two busy cores, whatever the size: its threads wait. gesv: 1 us
#: rows of constraints whose part beside the others is below this are redundant; the kernels have 1e-10 of squares
REDUNDANT = 1e-7


def solve(matrix: Array, right: Array) -> Array:
    """matrix^-1 right; not finite where the matrix is singular."""
    factor, _, found, status = gesv(matrix, right)
    return found if status == 0 and np.isfinite(factor).all() else np.full_like(right, np.nan)


def saddle(matrix: Array, push: Array, rows: Array, right: Array, below: Array) -> Array:
    """x, y of matrix x - push^T y = right, rows x = below."""
    m = len(rows)
    return solve(np.block([[matrix, -push.T], [rows, np.zeros((m, m))]]), np.vstack([right, below]))


def independent(G: Array) -> Any:
    """Places of rows that do not depend on each other, as many as there are."""
    if not len(G):
        return np.zeros(0, dtype=int)
    _, R, order = qr(G.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    return np.sort(order[: int((sizes > REDUNDANT * sizes.max(initial=0.0)).sum())])
