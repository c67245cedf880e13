"""The one judge of all solvers, compiled: see `dalembert.complementarity.residual`."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.lcp.dense import absolute_dot, dot
from dalembert.kernels.status import TINY


@kernel
def residuals(M, q, lower, upper, z, w):
    """Sets w = M z + q. Returns (natural residual, relative residual):

    r_i = |z_i - clip(z_i - w_i, lower_i, upper_i)|,   max r_i   and   max r_i / s_i,
    s_i = |q_i| + sum_j |M_ij z_j| + 1e-8 max_j |M_ij| max |z_j| over the j with M_ij != 0
    """
    worst, relative = 0.0, 0.0
    for i in range(q.shape[0]):
        row = M[i]
        w[i] = q[i] + dot(row, z)
        r = abs(z[i] - min(max(z[i] - w[i], lower[i]), upper[i]))
        if r == 0.0:
            continue
        s = abs(q[i]) + absolute_dot(row, z)
        if not r <= worst:
            worst = r
        if not r <= relative * s:
            big, top = 0.0, 0.0
            for j in range(row.shape[0]):
                if row[j] != 0.0:
                    big, top = max(big, abs(row[j])), max(top, abs(z[j]))
            ratio = r / (s + 1e-8 * big * top + TINY)
            relative = relative if ratio <= relative else ratio
    return worst, relative
