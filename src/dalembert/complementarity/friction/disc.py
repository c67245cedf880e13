"""Contacts whose tangential impulses lie in discs of radius c + mu r_n: the compiled solver with its workspace."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.registry import Answer
from dalembert.kernels._jit import first_class
from dalembert.kernels.friction.run import NEWTONS, RUN, SWEEPS, run
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

_WORDS = {OK: "solved", NOT_CONVERGED: "iteration-limit", NOT_FINITE: "not-finite"}


def solve_discs(
    W: Array, b: Array, mu: Array, radius: Array, start: Array | None, tol: float, sweeps: int = 4, max_sweeps: int = 1000, newton: int = 50
) -> Answer:
    """Sweeps of block Gauss-Seidel and Newton by turns; iterations: Newton's, work: sweeps."""
    n = len(b)
    r, u, info = np.zeros(n) if start is None else start.copy(), np.empty(n), np.zeros(4)
    options = np.array([tol, sweeps, max_sweeps, newton], dtype=np.float64)
    code = first_class(run, RUN)(
        W, b, mu, np.ascontiguousarray(radius), r, u, options, np.empty((n, n)), np.empty((7, n)), np.empty(n, dtype=np.int64), info
    )
    return Answer(r, _WORDS[code], int(info[NEWTONS]), int(info[SWEEPS]))
