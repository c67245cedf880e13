"""Small dense matrices by rows in flat arrays: A = L d L^T without pivoting for positive definite A, and what is done with L and d.

A factor keeps L below the diagonal, 1/d on it, and leaves what is above untouched. The helpers are copied into their callers, so a
size that is a constant there gives loops without branches.
"""

from dalembert.kernels._jit import inline, kernel


@inline
def ldl(a, at, n, slack, at_slack, tol):
    """Factor the n x n matrix a[at:] in place (its lower half is read). False where it is not positive definite.

    A pivot counts as zero if it is at most tol times the diagonal entry that it is left of; slack[at_slack:] is what had been
    subtracted from the diagonal before.
    """
    for i in range(n):
        row = at + i * n
        whole = a[row + i]
        for j in range(i):
            s = a[row + j]
            for k in range(j):
                s -= a[row + k] * a[at + j * n + k]
            a[row + j] = s
        d = whole
        for j in range(i):
            u = a[row + j]
            scaled = u * a[at + j * n + j]
            d -= u * scaled
            a[row + j] = scaled
        if not d > tol * (whole + slack[at_slack + i]):
            return False
        a[row + i] = 1.0 / d
    return True


@inline
def lower(a, at, n, y, at_y, m):
    """Y <- L^-1 Y for n x m numbers y[at_y:] by rows."""
    for i in range(1, n):
        for k in range(i):
            l = a[at + i * n + k]
            for j in range(m):
                y[at_y + i * m + j] -= l * y[at_y + k * m + j]


@inline
def scale(a, at, n, x, at_x):
    """x <- d^-1 x"""
    for i in range(n):
        x[at_x + i] *= a[at + i * n + i]


@inline
def upper(a, at, n, x, at_x):
    """x <- L^-T x"""
    for r in range(n):
        i = n - 1 - r
        s = x[at_x + i]
        for k in range(i + 1, n):
            s -= a[at + k * n + i] * x[at_x + k]
        x[at_x + i] = s


@kernel
def factor(a, at, n, zero, tol):
    """`ldl` for callers of any size; zero: n zeros."""
    return ldl(a, at, n, zero, 0, tol)


@kernel
def solve(a, at, n, x, at_x):
    """x <- (L d L^T)^-1 x"""
    lower(a, at, n, x, at_x, 1)
    scale(a, at, n, x, at_x)
    upper(a, at, n, x, at_x)
