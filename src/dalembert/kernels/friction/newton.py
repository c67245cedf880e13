"""Semismooth Newton on the natural map of `residual.py` (Alart and Curnier's function), with a line search on its weighted square.

    F = r - Q(r - D^-1 u),   u = W r + b        step: (F_r + F_u (W + 1e-12 diag W)) dr = -F

Rows of F_r and F_u by the state of the contact, y = r - D^-1 u, radius R = c + mu max(0, y_n), e = y_t / |y_t|:

    apart     y_n <= 0     F_n = r_n                        closed   F_n = u_n / W_nn
    stick     |y_t| <= R   F_t = u_t / w_t
    slip      |y_t| > R    dF_t = dr_t - (R / |y_t|) (1 - e e^T) dy_t - mu e dy_n [closed]

The small multiple of diag W in the matrix, not in F, lets impulses of redundant contacts be found, which W does not determine.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.friction.residual import natural, stiffness
from dalembert.kernels.lcp.factor import lu_factor, lu_solve

SHIFT = 1e-12


@inline
def _row(G, W, i, row, a_n, a_0, a_1, f_n, f_0, f_1):
    """Row `row` of F_r + F_u (W + shift): a on the unknowns, f on the velocities of the contact that begins at i."""
    target, x, y, z = G[row], W[i], W[i + 1], W[i + 2]
    for j in range(target.shape[0]):
        target[j] = f_n * x[j] + f_0 * y[j] + f_1 * z[j]
    target[i] += a_n + f_n * SHIFT * x[i]
    target[i + 1] += a_0 + f_0 * SHIFT * y[i + 1]
    target[i + 2] += a_1 + f_1 * SHIFT * z[i + 2]


@kernel
def matrix(W, mu, c, r, u, G):
    """G = F_r + F_u W at r, u."""
    for k in range(mu.shape[0]):
        i = 3 * k
        w_n, w_t = stiffness(W, i)
        n, t = 1.0 / w_n, 1.0 / w_t
        y_n, y_0, y_1 = r[i] - n * u[i], r[i + 1] - t * u[i + 1], r[i + 2] - t * u[i + 2]
        closed = y_n > 0.0
        if closed:
            _row(G, W, i, i, 0.0, 0.0, 0.0, n, 0.0, 0.0)
        else:
            _row(G, W, i, i, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        radius, length = c[k] + mu[k] * max(0.0, y_n), math.hypot(y_0, y_1)
        if length <= radius and radius > 0.0:
            _row(G, W, i, i + 1, 0.0, 0.0, 0.0, 0.0, t, 0.0)
            _row(G, W, i, i + 2, 0.0, 0.0, 0.0, 0.0, 0.0, t)
        elif length > 0.0:
            e_0, e_1, f = y_0 / length, y_1 / length, radius / length
            m = mu[k] if closed else 0.0
            p00, p01, p11 = f * e_1 * e_1, -f * e_0 * e_1, f * e_0 * e_0
            _row(G, W, i, i + 1, -m * e_0, 1.0 - p00, -p01, m * e_0 * n, p00 * t, p01 * t)
            _row(G, W, i, i + 2, -m * e_1, -p01, 1.0 - p11, m * e_1 * n, p01 * t, p11 * t)
        else:
            _row(G, W, i, i + 1, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
            _row(G, W, i, i + 2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@kernel
def newton(W, b, mu, c, r, u, tol, limit, G, V, order):
    """Newton from r; r, u are the best point found. Returns (relative residual, iterations). V (5, 3 m): workspace."""
    n = b.shape[0]
    F, step, trial, rhs, u_trial = V[0], V[1], V[2], V[3], V[4]
    relative, merit = natural(W, b, mu, c, r, u, F)
    count, stalled = 0, 0
    while count < limit and stalled < 3:
        if relative <= tol:
            stalled += 1  # one more step, to the floor of round-off
            if stalled > 1:
                break
        count += 1
        matrix(W, mu, c, r, u, G)
        for i in range(n):
            rhs[i] = -F[i]
        if not lu_factor(G, n, order):
            break
        lu_solve(G, n, order, rhs, step)
        length, taken, new_relative, new_merit = 1.0, False, relative, merit
        for _ in range(12):
            finite = True
            for i in range(n):
                trial[i] = r[i] + length * step[i]
                finite = finite and abs(trial[i]) < 1e300
            if finite:
                new_relative, new_merit = natural(W, b, mu, c, trial, u_trial, F)
                if new_merit <= (1.0 - 1e-4 * length) * merit or new_relative <= 0.5 * relative:
                    taken = True
                    break
            length *= 0.5
        if not taken:
            relative, merit = natural(W, b, mu, c, r, u, F)
            break
        relative, merit = new_relative, new_merit
        for i in range(n):
            r[i], u[i] = trial[i], u_trial[i]
    return relative, count
