"""The one judge of all solvers, compiled: see `dalembert.complementarity.residual`."""

import math

from dalembert.kernels._jit import ARRAY, REAL, apart, far, inline, kernel
from dalembert.kernels.lcp.codes import MATRIX
from dalembert.kernels.lcp.dense import absolute_dot, dot
from dalembert.kernels.status import TINY

ROUND_OFF = 1e-12


@inline
def _largest(row, z):
    """(max |M_ij|, max |z_j| over the j with M_ij != 0)."""
    big, top = 0.0, 0.0
    for j in range(row.shape[0]):
        if row[j] != 0.0:
            big, top = max(big, abs(row[j])), max(top, abs(z[j]))
    return big, top


@kernel
def _given(M, q, lower, upper, z):
    """g = max over i of |q_i| / max_j |M_ij| and of |z_i| at a bound: the size of z that the data suggest."""
    size = 0.0
    for i in range(q.shape[0]):
        big, _ = _largest(M[i], z)
        if big > 0.0:
            size = max(size, abs(q[i]) / big)
        if z[i] == lower[i] or z[i] == upper[i]:
            size = max(size, abs(z[i]))
    return size


@far(REAL(MATRIX, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY))
def _exact(M, q, lower, upper, z, w):
    """The relative residual, all of it; w = M z + q, residuals are numbers."""
    relative, given = 0.0, _given(M, q, lower, upper, z)
    for i in range(q.shape[0]):
        row = M[i]
        r = abs(z[i] - min(max(z[i] - w[i], lower[i]), upper[i]))
        if r != 0.0:
            big, top = _largest(row, z)
            ratio = r / (abs(q[i]) + absolute_dot(row, z) + 1e-8 * big * top + TINY)
            relative = relative if ratio <= relative else ratio
            ratio = 1e-3 * r / (max(given * big, abs(q[i])) + TINY)
            relative = relative if ratio <= relative else ratio
    return relative


@apart
def residuals(M, q, lower, upper, z, w):
    """Sets w = M z + q. Returns (natural residual, relative residual):

    r_i = |z_i - clip(z_i - w_i, lower_i, upper_i)|,   max r_i   and   max of r_i / s_i and of 1e-3 r_i / max(g max_j |M_ij|, |q_i|),
    s_i = |q_i| + sum_j |M_ij z_j| + 1e-8 max_j |M_ij| max |z_j| over the j with M_ij != 0,   g as in `_given`

    Both are at most r_i / |q_i|, which costs less: where that is at round-off, or r_i / (|q_i| + sum_j |M_ij z_j|) and 1e-3 r_i / |q_i|
    are, these bounds are the answer.
    """
    worst, bound = 0.0, 0.0
    for i in range(q.shape[0]):
        row, scale = M[i], abs(q[i]) + TINY
        w[i] = q[i] + dot(row, z)
        r = abs(z[i] - min(max(z[i] - w[i], lower[i]), upper[i]))
        if not r < math.inf:
            return math.inf, math.inf
        if r != 0.0:
            worst = max(worst, r)
            if r <= ROUND_OFF * scale:
                bound = max(bound, r / scale)
            else:
                bound = max(bound, r / (scale + absolute_dot(row, z)), 1e-3 * r / scale)
    return worst, bound if bound <= ROUND_OFF else _exact(M, q, lower, upper, z, w)
