"""Loops closed by the Schur complement of the spanning tree (lacoursiere2007, 18.29).

With K_0 the matrix of the tree, G_l and E_l the rows that close loops:  K_0 z - (G_l^T, 0) l = (b, c),  (G_l 0) z + E_l l = c_l,

    C = E_l + (G_l 0) K_0^-1 (G_l^T 0),    C l = c_l - (G_l 0) K_0^-1 (b, c),    z = K_0^-1 (b, c) + K_0^-1 (G_l^T 0) l

C is symmetric positive (semi)definite, as K_0^-1 is on the rows of bodies.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.linalg.dense import ldl
from dalembert.kernels.linalg.tree_ldl import solve
from dalembert.kernels.status import OK, SINGULAR


@kernel
def _times(first, bodies, lines, rows, data, x, at_x, out, at_out, step):
    """out[at_out + step row] = G x"""
    for i in range(first.shape[0] - 1):
        for row in range(rows[i], rows[i + 1]):
            s = 0.0
            for t in range(first[i], first[i + 1]):
                at, k = 6 * (lines[t] + row - rows[i]), at_x + 6 * bodies[t]
                for j in range(6):
                    s += data[at + j] * x[k + j]
            out[at_out + step * row] = s


@kernel
def close(table, leaves, f, first, bodies, lines, rows, data, places, E, n, m, z, X, Y, C, zero, tol):
    """Responses X (rows x n), Y (rows x m) of the tree to each row that closes a loop, and the factor of C. n, m: lengths of x and y."""
    loops = rows[rows.shape[0] - 1]
    for i in range(loops * n):
        X[i] = 0.0
    for i in range(loops * m):
        Y[i] = 0.0
    for i in range(first.shape[0] - 1):
        for t in range(first[i], first[i + 1]):
            for row in range(rows[i], rows[i + 1]):
                for j in range(6):
                    X[row * n + 6 * bodies[t] + j] = data[6 * (lines[t] + row - rows[i]) + j]
    for row in range(loops):
        solve(table, leaves, f, X, row * n, Y, row * m, z, X, row * n, Y, row * m)
        _times(first, bodies, lines, rows, data, X, row * n, C, row, loops)
    for i in range(first.shape[0] - 1):
        r = rows[i + 1] - rows[i]
        for a in range(r):
            for b in range(r):
                C[(rows[i] + a) * loops + rows[i] + b] += E[places[i] + a * r + b]
    return OK if ldl(C, 0, loops, zero, 0, tol) else SINGULAR


@kernel
def closing_forces(first, bodies, lines, rows, data, c, x, out):
    """out = c_l - G_l x, the right-hand side of C."""
    _times(first, bodies, lines, rows, data, x, 0, out, 0, 1)
    for row in range(out.shape[0]):
        out[row] = c[row] - out[row]


@kernel
def add_responses(X, Y, l, x, y):
    """x += X^T l, y += Y^T l"""
    n, m = x.shape[0], y.shape[0]
    for row in range(l.shape[0]):
        for i in range(n):
            x[i] += l[row] * X[row * n + i]
        for i in range(m):
            y[i] += l[row] * Y[row * m + i]
