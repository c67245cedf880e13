"""How far impulses are from the law, for the solvers themselves: the natural map, and its size relative to the terms that cancel.

F = `laws.coulomb_miss` with W_nn and the mean w_t of the tangential diagonal
relative = max over contacts of max(W_nn |F_n|, w_t |F_t|) / max over its rows of (|b_i| + sum_j |W_ij r_j|)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.laws import coulomb_miss
from dalembert.kernels.lcp.dense import absolute_dot, dot
from dalembert.kernels.status import TINY


@inline
def stiffness(W, i):
    """(W_nn, w_t) of the contact whose rows begin at i, never 0."""
    n, t = W[i, i], 0.5 * (W[i + 1, i + 1] + W[i + 2, i + 2])
    return (n if n > 0.0 else 1.0), (t if t > 0.0 else 1.0)


@kernel
def natural(W, b, mu, c, r, u, F):
    """Set u = W r + b and F; returns (relative residual, |F|^2 with rows in units of velocity relative to their terms)."""
    relative, merit = 0.0, 0.0
    for k in range(mu.shape[0]):
        i = 3 * k
        s = 0.0
        for j in range(i, i + 3):
            row = W[j]
            u[j] = b[j] + dot(row, r)
            s = max(s, abs(b[j]) + absolute_dot(row, r))
        w_n, w_t = stiffness(W, i)
        f_n, f_0, f_1 = coulomb_miss(r[i], r[i + 1], r[i + 2], u[i], u[i + 1], u[i + 2], w_n, w_t, c[k], mu[k])
        F[i], F[i + 1], F[i + 2] = f_n, f_0, f_1
        e = max(w_n * abs(f_n), w_t * math.hypot(f_0, f_1))
        if not e <= relative * s:
            relative = e / (s + TINY)
        merit += w_n * f_n * f_n + w_t * (f_0 * f_0 + f_1 * f_1)
    return relative, merit
