"""The one judge of all complementarity solvers: whatever a method claims, this decides.

    r_i = |z_i - clip(z_i - w_i, l_i, u_i)|,   w = M z + q                    0 for all i if and only if z is a solution
    s_i = |q_i| + sum_j |M_ij z_j| + 1e-8 max_j |M_ij| max_j |z_j|            the size of the terms that cancel in w_i (j: M_ij != 0)
    g   = max of |q_i| / max_j |M_ij| and of the |z_i| at bounds              the size of z that the data suggest

`residual` = max r_i. `relative` = max of r_i / s_i and of 1e-3 r_i / max(g max_j |M_ij|, |q_i|), or a bound of it below 1e-12.
"solved": relative <= tol (1e-9 unless given).

The first is nearly the smallest e such that changing every entry of M and q by the fraction e could explain what is left of w (Oettli and
Prager's backward error), row by row, so that rows of very different units are judged alike; its last term keeps round-off (1e-17 of the row
times the largest z that it meets) from counting where all else in a row is smaller. The second refuses what the first alone would accept: a
z that runs to infinity on a problem without solution, where a residual as large as q is small beside M z. Pivoting methods reach 1e-15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.problem import matrix, vector
from dalembert.kernels.lcp.judge import residuals

TOL = 1e-9


@dataclass(frozen=True, eq=False)
class Judgement:
    """Residuals of a point, and w = M z + q there."""

    residual: float
    relative: float
    w: Array

    def solved(self, tol: float = TOL) -> bool:
        """Whether the point is a solution to the tolerance."""
        return self.relative <= tol


def judge(M: Any, q: Any, z: Any, lower: Any = None, upper: Any = None) -> Judgement:
    """Judge a point. A z outside its bounds counts by as much as it is outside."""
    M = matrix(M)
    n = len(M)
    low = np.zeros(n) if lower is None else vector("lower", lower, n)
    high = np.full(n, np.inf) if upper is None else vector("upper", upper, n)
    w = np.empty(n)
    worst, relative = residuals(M, vector("q", q, n), low, high, vector("z", z, n), w)
    return Judgement(float(worst), float(relative), w)


def proves_infeasible(M: Array, q: Array, lower: Array, upper: Array, y: Array) -> bool:
    """Whether y proves that no z within the bounds makes w = M z + q feasible.

    w must be >= 0 where there is no upper bound (then y >= 0), <= 0 where there is no lower one (y <= 0), 0 where there is neither;
    where both are finite any w will do (y = 0). So y w >= 0 would hold, while sup over the bounds of y (M z + q) is negative.
    """
    y = np.where(np.isfinite(lower) & np.isfinite(upper), 0.0, y)
    y = np.where(np.isfinite(lower), np.maximum(y, 0.0), np.where(np.isfinite(upper), np.minimum(y, 0.0), y))
    size = np.abs(y).max(initial=0.0)
    if not 0.0 < size < np.inf:
        return False
    y = y / size
    slope = y @ M
    small = 1e-12 * (np.abs(y) @ np.abs(M))
    bound = np.where(slope > 0.0, upper, lower)
    moving = np.abs(slope) > small
    if not np.isfinite(bound[moving]).all():
        return False
    total = float(slope[moving] @ bound[moving] + q @ y)
    terms = float(np.abs(slope[moving] * bound[moving]).sum() + np.abs(q) @ np.abs(y))
    return total < -1e-12 * terms
