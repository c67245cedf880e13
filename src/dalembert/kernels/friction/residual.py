"""How far impulses are from the law, for the solvers themselves: the natural map, and its size relative to the terms that cancel.

F_n = r_n - max(0, y_n),            y_n = r_n - u_n / W_nn
F_t = r_t - P(y_t; c + mu max(0, y_n)),   y_t = r_t - u_t / w_t       P: projection onto the disc, w_t: mean of the tangential diagonal
relative = max over contacts of max(W_nn |F_n|, w_t |F_t|) / max over its rows of (|b_i| + sum_j |W_ij r_j|)
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.dense import absolute_dot, dot
from dalembert.kernels.status import TINY


@inline
def stiffness(W, i):
    """(W_nn, w_t) of the contact whose rows begin at i, never 0."""
    n, t = W[i, i], 0.5 * (W[i + 1, i + 1] + W[i + 2, i + 2])
    return (n if n > 0.0 else 1.0), (t if t > 0.0 else 1.0)


@inline
def contact_map(W, i, r, u, c, mu):
    """(F_n, F_0, F_1) of one contact."""
    w_n, w_t = stiffness(W, i)
    y_n = r[i] - u[i] / w_n
    y_0, y_1 = r[i + 1] - u[i + 1] / w_t, r[i + 2] - u[i + 2] / w_t
    radius, length = c + mu * max(0.0, y_n), math.hypot(y_0, y_1)
    f = 1.0 if length <= radius else radius / length
    return r[i] - max(0.0, y_n), r[i + 1] - f * y_0, r[i + 2] - f * y_1


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
        f_n, f_0, f_1 = contact_map(W, i, r, u, c[k], mu[k])
        F[i], F[i + 1], F[i + 2] = f_n, f_0, f_1
        e = max(w_n * abs(f_n), w_t * math.hypot(f_0, f_1))
        if not e <= relative * s:
            relative = e / (s + TINY)
        merit += w_n * f_n * f_n + w_t * (f_0 * f_0 + f_1 * f_1)
    return relative, merit
