"""The same linear program by HiGHS, through SciPy: the judge of the kernel."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.separation import layout as at

UNBOUNDED = 3  # status of scipy.optimize.linprog


def solve(X: Array, Y: Array, row: Array) -> None:
    """Solve with the beta of the row and write value, alpha and witnesses into it.

    Unknown (alpha, a1, a2): min a2 - a1, a1 - alpha.x <= 0, alpha.y - a2 <= 0, beta.alpha = 1. The multipliers of the rows, SciPy's
    marginals with their signs changed, are the weights of the witnesses. An unbounded program keeps the certificate of the kernel.
    """
    from scipy.optimize import linprog

    n1, n2 = len(X), len(Y)
    rows = np.zeros((n1 + n2, 5))
    rows[:n1, :3], rows[:n1, 3] = -X, 1.0
    rows[n1:, :3], rows[n1:, 4] = Y, -1.0
    beta = row[at.BETA : at.BETA + 3]
    found = linprog([0, 0, 0, -1, 1], rows, np.zeros(n1 + n2), [[*beta, 0, 0]], [1], bounds=[(None, None)] * 5, method="highs")
    if found.status == UNBOUNDED:
        row[at.RAY_STATUS] = at.SEPARATED
        return
    if found.status != 0:
        row[at.RAY_STATUS] = at.LIMIT
        return
    weights = -found.ineqlin.marginals
    row[at.G], row[at.ALPHA : at.ALPHA + 3], row[at.RAY_STATUS] = -found.fun, found.x[:3], at.SOLVED
    row[at.GX_AT : at.GX_AT + 3], row[at.GY_AT : at.GY_AT + 3] = weights[:n1] @ X, weights[n1:] @ Y
    row[at.STEPS] = found.nit
