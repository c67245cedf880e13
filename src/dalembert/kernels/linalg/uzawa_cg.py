"""Conjugate gradients on S y = c - G M^-1 b, S = G M^-1 G^T + E, without S (lacoursiere2007, Alg. 18.6.1).

    x = M^-1 (b + G^T y),  g = G x + E y - c,  d = -P g,  w = g^T P g
    repeat   p = G^T d,  h = M^-1 p,  a = w / (p^T h + d^T E d),  y += a d,  x += a h,  g += a (G h + E d)
             w' = g^T P g,  d = -P g + (w'/w) d

P is the identity or the inverse of the diagonal blocks of S. Print has y^T E y in place of d^T E d, w/w' in place of w'/w, and H in
place of K. The recurrence for g replaces g = G x + E y - c; the caller judges the true residual.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.linalg.blocks import multiply, multiply_blocks, multiply_compliance, multiply_transposed
from dalembert.kernels.linalg.dense import ldl, lower, scale, upper
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK


@inline
def dot(a, b):
    """a . b"""
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


@kernel
def diagonal_blocks(first, lines, rows, places, K, G, E, zero, tol, D):
    """Factors of D_i = sum_k K_ik G_ik^T + E_i, K = G M^-1. False where one is not positive definite."""
    for i in range(first.shape[0] - 1):
        r, at = rows[i + 1] - rows[i], places[i]
        for a in range(r):
            for b in range(r):
                s = E[at + a * r + b]
                for t in range(first[i], first[i + 1]):
                    for j in range(6):
                        s += K[6 * (lines[t] + a) + j] * G[6 * (lines[t] + b) + j]
                D[at + a * r + b] = s
        if not ldl(D, at, r, zero, 0, tol):
            return False
    return True


@inline
def _precondition(rows, places, D, blocks, g, out):
    for i in range(g.shape[0]):
        out[i] = g[i]
    if blocks:
        for i in range(rows.shape[0] - 1):
            r, at = rows[i + 1] - rows[i], places[i]
            lower(D, at, r, out, rows[i], 1)
            scale(D, at, r, out, rows[i])
            upper(D, at, r, out, rows[i])


@kernel
def solve(first, bodies, lines, rows, places, G, U, E, D, blocks, b, c, x, y, g, d, e, q, p, h, tol, most, info):
    """Start from y; x, y hold the answer. U: inverse masses. g, d, e, q (rows), p, h (bodies): working space.

    Stops where |g| <= tol |c - G M^-1 b|. info: iterations, |g|.
    """
    multiply_blocks(U, 6, 1.0, b, 0.0, x)
    multiply(first, bodies, lines, rows, G, 1.0, x, 0.0, g)
    for i in range(g.shape[0]):
        g[i] -= c[i]
    goal = tol * dot(g, g) ** 0.5
    multiply_transposed(first, bodies, lines, rows, G, 1.0, y, 0.0, p)
    multiply_blocks(U, 6, 1.0, p, 1.0, x)
    multiply(first, bodies, lines, rows, G, 1.0, x, 0.0, g)
    multiply_compliance(rows, places, E, 1.0, y, 1.0, g)
    for i in range(g.shape[0]):
        g[i] -= c[i]
    _precondition(rows, places, D, blocks, g, q)
    for i in range(g.shape[0]):
        d[i] = -q[i]
    w = dot(g, q)
    for k in range(most + 1):
        info[0], info[1] = k, dot(g, g) ** 0.5
        if info[1] <= goal:
            return OK
        if not info[1] < 1e300:
            return NOT_FINITE
        if k == most:
            return NOT_CONVERGED
        multiply_transposed(first, bodies, lines, rows, G, 1.0, d, 0.0, p)
        multiply_blocks(U, 6, 1.0, p, 0.0, h)
        multiply_compliance(rows, places, E, 1.0, d, 0.0, e)
        curvature = dot(p, h) + dot(d, e)
        if not curvature > 0.0:
            return NOT_CONVERGED
        a = w / curvature
        multiply(first, bodies, lines, rows, G, 1.0, h, 1.0, e)
        for i in range(x.shape[0]):
            x[i] += a * h[i]
        for i in range(y.shape[0]):
            y[i] += a * d[i]
            g[i] += a * e[i]
        _precondition(rows, places, D, blocks, g, q)
        new = dot(g, q)
        for i in range(d.shape[0]):
            d[i] = -q[i] + new / w * d[i]
        w = new
    return NOT_CONVERGED
