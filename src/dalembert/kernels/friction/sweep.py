"""Block Gauss-Seidel: contact after contact is solved exactly, the others held."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.friction.local import contact
from dalembert.kernels.lcp.dense import dot


@kernel
def sweep(W, b, mu, c, r):
    """One sweep over all contacts; r in place."""
    for k in range(mu.shape[0]):
        i = 3 * k
        d_n, d_0, d_1 = b[i] + dot(W[i], r), b[i + 1] + dot(W[i + 1], r), b[i + 2] + dot(W[i + 2], r)
        for j in range(i, i + 3):
            d_n -= W[i, j] * r[j]
            d_0 -= W[i + 1, j] * r[j]
            d_1 -= W[i + 2, j] * r[j]
        r[i], r[i + 1], r[i + 2] = contact(W, i, d_n, d_0, d_1, c[k], mu[k])
