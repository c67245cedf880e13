"""J x, J^T lam, M x, M^-1 y over the arrays of a step. Bodies by sixes in flat arrays."""

from dalembert.kernels._jit import NOT_NEGATIVE, inline, kernel
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6


@inline
def row6(J, r, at):
    """Six numbers of a row of J: at = 0 the first body, 6 the second."""
    return J[r, at], J[r, at + 1], J[r, at + 2], J[r, at + 3], J[r, at + 4], J[r, at + 5]


@inline
def times_rows(step, x, out):
    """out = J x"""
    for c in range(step.kind.shape[0]):
        a, b = step.bodies[c, 0], step.bodies[c, 1]
        for r in range(step.first[c], step.first[c + 1]):
            r = r & NOT_NEGATIVE
            s = 0.0
            if a >= 0:
                s += dot6(row6(step.J, r, 0), load6(x, 6 * (a & NOT_NEGATIVE)))
            if b >= 0:
                s += dot6(row6(step.J, r, 6), load6(x, 6 * (b & NOT_NEGATIVE)))
            out[r] = s


@inline
def add_transposed(step, lam, out):
    """out += J^T lam"""
    for c in range(step.kind.shape[0]):
        a, b = step.bodies[c, 0], step.bodies[c, 1]
        for r in range(step.first[c], step.first[c + 1]):
            r = r & NOT_NEGATIVE
            if lam[r] != 0.0:
                if a >= 0:
                    at = 6 * (a & NOT_NEGATIVE)
                    store6(out, at, axpy6(lam[r], row6(step.J, r, 0), load6(out, at)))
                if b >= 0:
                    at = 6 * (b & NOT_NEGATIVE)
                    store6(out, at, axpy6(lam[r], row6(step.J, r, 6), load6(out, at)))


@inline
def block_times(A, i, v):
    """A_i v for one body."""
    return (
        dot6((A[i, 0, 0], A[i, 0, 1], A[i, 0, 2], A[i, 0, 3], A[i, 0, 4], A[i, 0, 5]), v),
        dot6((A[i, 1, 0], A[i, 1, 1], A[i, 1, 2], A[i, 1, 3], A[i, 1, 4], A[i, 1, 5]), v),
        dot6((A[i, 2, 0], A[i, 2, 1], A[i, 2, 2], A[i, 2, 3], A[i, 2, 4], A[i, 2, 5]), v),
        dot6((A[i, 3, 0], A[i, 3, 1], A[i, 3, 2], A[i, 3, 3], A[i, 3, 4], A[i, 3, 5]), v),
        dot6((A[i, 4, 0], A[i, 4, 1], A[i, 4, 2], A[i, 4, 3], A[i, 4, 4], A[i, 4, 5]), v),
        dot6((A[i, 5, 0], A[i, 5, 1], A[i, 5, 2], A[i, 5, 3], A[i, 5, 4], A[i, 5, 5]), v),
    )


@inline
def times_blocks(A, x, out):
    """out = diag(A_i) x; out may be x."""
    for i in range(A.shape[0]):
        store6(out, 6 * i, block_times(A, i, load6(x, 6 * i)))


@kernel
def velocities(step, lam, x):
    """x = free + M^-1 J^T lam: momentum is exact whatever lam."""
    for i in range(step.free.shape[0]):
        x[i] = 0.0
    add_transposed(step, lam, x)
    times_blocks(step.inverse, x, x)
    for i in range(step.free.shape[0]):
        x[i] += step.free[i]


@kernel
def row_velocities(step, b, lam, x, out):
    """out = J x + b + sigma lam"""
    times_rows(step, x, out)
    for r in range(step.sigma.shape[0]):
        out[r] += b[r] + step.sigma[r] * lam[r]


@inline
def form(A, i, v):
    """v . A_i v for one body, A_i symmetric."""
    a, b, c, d, e, f = v
    s = a * (A[i, 0, 0] * a + 2.0 * (A[i, 0, 1] * b + A[i, 0, 2] * c + A[i, 0, 3] * d + A[i, 0, 4] * e + A[i, 0, 5] * f))
    s += b * (A[i, 1, 1] * b + 2.0 * (A[i, 1, 2] * c + A[i, 1, 3] * d + A[i, 1, 4] * e + A[i, 1, 5] * f))
    s += c * (A[i, 2, 2] * c + 2.0 * (A[i, 2, 3] * d + A[i, 2, 4] * e + A[i, 2, 5] * f))
    s += d * (A[i, 3, 3] * d + 2.0 * (A[i, 3, 4] * e + A[i, 3, 5] * f)) + e * (A[i, 4, 4] * e + 2.0 * A[i, 4, 5] * f)
    return s + f * A[i, 5, 5] * f


@kernel
def diagonal(step, out):
    """out = diag(J M^-1 J^T), never 0."""
    for c in range(step.kind.shape[0]):
        a, b = step.bodies[c, 0], step.bodies[c, 1]
        for r in range(step.first[c], step.first[c + 1]):
            s = 0.0
            if a >= 0:
                s += form(step.inverse, a & NOT_NEGATIVE, row6(step.J, r, 0))
            if b >= 0:
                s += form(step.inverse, b & NOT_NEGATIVE, row6(step.J, r, 6))
            out[r] = s if s > 0.0 else 1.0
