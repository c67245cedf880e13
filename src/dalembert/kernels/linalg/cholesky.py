"""A = L L^T, L lower triangular in the first n rows and columns of an array of `wide` numbers per row, as rows come and go.

    A + w w^T      rank-one update: rotations that carry w into L
    A - w w^T      down-date: hyperbolic rotations; fails where the result is not positive definite
    row and column added last, or any one removed: the rest of L below it takes a rank-one update

All of them cost O(n^2).
"""

from math import sqrt

from dalembert.kernels._jit import kernel


@kernel
def factor(L, n, wide, tol):
    """Factor in place, lower half. False where a pivot is at most tol times its diagonal entry."""
    for i in range(n):
        row = i * wide
        whole = L[row + i]
        for j in range(i + 1):
            s = L[row + j]
            for k in range(j):
                s -= L[row + k] * L[j * wide + k]
            if j < i:
                L[row + j] = s / L[j * wide + j]
            elif s > tol * whole:
                L[row + i] = sqrt(s)
            else:
                return False
    return True


@kernel
def solve(L, n, wide, x):
    """x <- A^-1 x"""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= L[i * wide + k] * x[k]
        x[i] = s / L[i * wide + i]
    for r in range(n):
        i = n - 1 - r
        x[i] /= L[i * wide + i]
        for k in range(i):
            x[k] -= L[i * wide + k] * x[i]


@kernel
def update(L, start, n, wide, w):
    """Rows start ... n - 1 become the factor of A + w w^T; w[start:n] is used up."""
    for k in range(start, n):
        d, x = L[k * wide + k], w[k]
        r = sqrt(d * d + x * x)
        c, s = r / d, x / d
        L[k * wide + k] = r
        for i in range(k + 1, n):
            at = i * wide + k
            L[at] = (L[at] + s * w[i]) / c
            w[i] = c * w[i] - s * L[at]


@kernel
def downdate(L, n, wide, w, tol):
    """The factor of A - w w^T; w is used up. False, with L spoilt, where that is not positive definite."""
    for k in range(n):
        d, x = L[k * wide + k], w[k]
        square = (d - x) * (d + x)
        if not square > tol * d * d:
            return False
        r = sqrt(square)
        c, s = r / d, x / d
        L[k * wide + k] = r
        for i in range(k + 1, n):
            at = i * wide + k
            L[at] = (L[at] - s * w[i]) / c
            w[i] = c * w[i] - s * L[at]
    return True


@kernel
def append(L, n, wide, a, tol):
    """Row and column n of A, given as a[0 : n + 1], come last. False, with the factor of n rows intact, where the pivot is zero."""
    row = n * wide
    s = a[n]
    for i in range(n):
        t = a[i]
        for k in range(i):
            t -= L[row + k] * L[i * wide + k]
        t /= L[i * wide + i]
        L[row + i] = t
        s -= t * t
    if not s > tol * a[n]:
        return False
    L[row + n] = sqrt(s)
    return True


@kernel
def remove(L, p, n, wide, w):
    """Row and column p of A go; the rows below move up. w: working space of n numbers."""
    for i in range(p + 1, n):
        w[i - 1] = L[i * wide + p]
        for j in range(p):
            L[(i - 1) * wide + j] = L[i * wide + j]
        for j in range(p + 1, i + 1):
            L[(i - 1) * wide + j - 1] = L[i * wide + j]
    update(L, p, n - 1, wide, w)
