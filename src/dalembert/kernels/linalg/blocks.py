"""Products with block Jacobians and block-diagonal masses (lacoursiere2007, 18.1-13).

Block t = (i, k) of constraint i on body k is r_i x 6 numbers by rows from data[6 lines[t]] on; the blocks of constraint i are
t = first[i] ... first[i + 1] - 1, those of body k are listed in body_blocks. Running over constraints, G x gathers and G^T y scatters;
running over bodies it is the other way round.
"""

from dalembert.kernels._jit import kernel


@kernel
def multiply(first, bodies, lines, rows, data, alpha, x, beta, y):
    """y <- alpha G x + beta y, over constraints."""
    for i in range(first.shape[0] - 1):
        for row in range(rows[i], rows[i + 1]):
            s = 0.0
            for t in range(first[i], first[i + 1]):
                at, k = 6 * (lines[t] + row - rows[i]), 6 * bodies[t]
                for j in range(6):
                    s += data[at + j] * x[k + j]
            y[row] = alpha * s + (beta * y[row] if beta != 0.0 else 0.0)


@kernel
def multiply_transposed(first, bodies, lines, rows, data, alpha, y, beta, x):
    """x <- alpha G^T y + beta x, over constraints."""
    for k in range(x.shape[0]):
        x[k] = beta * x[k] if beta != 0.0 else 0.0
    for i in range(first.shape[0] - 1):
        for t in range(first[i], first[i + 1]):
            at, k = 6 * lines[t], 6 * bodies[t]
            for row in range(rows[i], rows[i + 1]):
                s = alpha * y[row]
                for j in range(6):
                    x[k + j] += data[at + j] * s
                at += 6


@kernel
def gather_transposed(body_first, body_blocks, owner, lines, rows, data, alpha, y, beta, x):
    """x <- alpha G^T y + beta x, over bodies: no number is written twice."""
    for k in range(body_first.shape[0] - 1):
        for j in range(6):
            x[6 * k + j] = beta * x[6 * k + j] if beta != 0.0 else 0.0
        for u in range(body_first[k], body_first[k + 1]):
            t = body_blocks[u]
            at, i = 6 * lines[t], owner[t]
            for row in range(rows[i], rows[i + 1]):
                s = alpha * y[row]
                for j in range(6):
                    x[6 * k + j] += data[at + j] * s
                at += 6


@kernel
def multiply_blocks(blocks, size, alpha, x, beta, y):
    """y <- alpha diag(blocks) x + beta y for equal blocks of size x size numbers."""
    for k in range(x.shape[0] // size):
        for i in range(size):
            s = 0.0
            for j in range(size):
                s += blocks[(k * size + i) * size + j] * x[k * size + j]
            y[k * size + i] = alpha * s + (beta * y[k * size + i] if beta != 0.0 else 0.0)


@kernel
def multiply_compliance(rows, places, E, alpha, x, beta, y):
    """y <- alpha E x + beta y for the blocks r_i x r_i of constraints; that of constraint i begins at places[i]."""
    for i in range(rows.shape[0] - 1):
        r, at = rows[i + 1] - rows[i], places[i]
        for a in range(r):
            s = 0.0
            for b in range(r):
                s += E[at + a * r + b] * x[rows[i] + b]
            row = rows[i] + a
            y[row] = alpha * s + (beta * y[row] if beta != 0.0 else 0.0)


@kernel
def times_masses(first, bodies, lines, rows, data, masses, alpha, beta, out):
    """Blocks of K <- alpha G diag(masses) + beta K, in the format of G."""
    for i in range(first.shape[0] - 1):
        r = rows[i + 1] - rows[i]
        for t in range(first[i], first[i + 1]):
            at, m = 6 * lines[t], 36 * bodies[t]
            for a in range(r):
                for j in range(6):
                    s = 0.0
                    for k in range(6):
                        s += data[at + 6 * a + k] * masses[m + 6 * k + j]
                    old = out[at + 6 * a + j]
                    out[at + 6 * a + j] = alpha * s + (beta * old if beta != 0.0 else 0.0)
