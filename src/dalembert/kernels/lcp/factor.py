"""Factorisations of dense matrices in place: L U with partial pivoting, and U^T D^-1 U of symmetric positive definite ones."""

from dalembert.kernels._jit import ARRAY, BOOL, INT, VOID, apart, far, inline
from dalembert.kernels.lcp.codes import INTS, MATRIX
from dalembert.kernels.lcp.dense import axpy, axpy4, axpy4_twice, dot


@inline
def _pivot_row(A, c, k, order):
    """Bring the largest entry of column c at or below the diagonal to the diagonal. False where all are 0."""
    best, r = abs(A[c, c]), c
    for i in range(c + 1, k):
        if abs(A[i, c]) > best:
            best, r = abs(A[i, c]), i
    if not best > 0.0:
        return False
    if r != c:
        order[c], order[r] = order[r], order[c]
        a, b = A[c, :k], A[r, :k]
        for j in range(a.shape[0]):
            a[j], b[j] = b[j], a[j]
    return True


@far(BOOL(MATRIX, INT, INTS))
def lu_factor(A, k, order):
    """P A = L U in place for the leading k x k block of A, four columns at a time. order: rows of P. False where A is singular."""
    for i in range(k):
        order[i] = i
    c = 0
    while c < k:
        e = min(c + 4, k)
        for p in range(c, e):  # the panel: columns c ... e - 1 of all rows
            if not _pivot_row(A, p, k, order):
                return False
            inverse = 1.0 / A[p, p]
            for i in range(p + 1, k):
                f = A[i, p] * inverse
                A[i, p] = f
                for j in range(p + 1, e):
                    A[i, j] -= f * A[p, j]
        for p in range(c, e):  # the other columns of the panel's rows
            for i in range(p + 1, e):
                axpy(A[i, e:k], -A[i, p], A[p, e:k])
        if e == c + 4:
            for i in range(e, k):
                axpy4(A[i, e:k], -A[i, c], A[c, e:k], -A[i, c + 1], A[c + 1, e:k], -A[i, c + 2], A[c + 2, e:k], -A[i, c + 3], A[c + 3, e:k])
        c = e
    return True


@far(VOID(MATRIX, INT, INTS, ARRAY, ARRAY))
def lu_solve(A, k, order, b, x):
    """x[:k] = A^-1 b[:k] by the factors of `lu_factor`. b and x are two arrays."""
    for i in range(k):
        x[i] = b[order[i]] - dot(A[i, :i], x[:i])
    for m in range(k):
        i = k - 1 - m
        x[i] = (x[i] - dot(A[i, i + 1 : k], x[i + 1 : k])) / A[i, i]


@apart
def ldl_factor(A, k):
    """A = U^T D^-1 U in the upper triangle of the leading k x k block, D = diag U. False where A is not positive definite enough."""
    c = 0
    while c < k:
        m = min(4, k - c)
        for a in range(c, c + m):
            given = A[a, a]
            for p in range(c, a):
                axpy(A[a, a:k], -A[p, a] / A[p, p], A[p, a:k])
            if not A[a, a] > 1e-14 * given:
                return False
        if m == 4:
            d0, d1, d2, d3 = -1.0 / A[c, c], -1.0 / A[c + 1, c + 1], -1.0 / A[c + 2, c + 2], -1.0 / A[c + 3, c + 3]
            i = c + 4
            while i + 1 < k:  # two rows at once; what they leave below the diagonal is never read
                s, e = i - i % 4, i + 1
                axpy4_twice(
                    A[i, s:k], d0 * A[c, i], d1 * A[c + 1, i], d2 * A[c + 2, i], d3 * A[c + 3, i],
                    A[e, s:k], d0 * A[c, e], d1 * A[c + 1, e], d2 * A[c + 2, e], d3 * A[c + 3, e],
                    A[c, s:k], A[c + 1, s:k], A[c + 2, s:k], A[c + 3, s:k],
                )  # fmt: skip
                i += 2
            if i < k:
                A[i, i] += (d0 * A[c, i] ** 2 + d1 * A[c + 1, i] ** 2) + (d2 * A[c + 2, i] ** 2 + d3 * A[c + 3, i] ** 2)
        c += m
    return True


@apart
def ldl_solve(A, k, b, x):
    """x[:k] = A^-1 b[:k] by the factor of `ldl_factor`; b is used up. Forwards four rows at a time.

    x holds 1 / D until the way back: divisions that do not wait for each other.
    """
    for p in range(k):
        x[p] = 1.0 / A[p, p]
    p = 0
    while p + 4 <= k:
        f0 = -b[p] * x[p]
        b[p + 1] += f0 * A[p, p + 1]
        f1 = -b[p + 1] * x[p + 1]
        b[p + 2] += f0 * A[p, p + 2] + f1 * A[p + 1, p + 2]
        f2 = -b[p + 2] * x[p + 2]
        b[p + 3] += f0 * A[p, p + 3] + f1 * A[p + 1, p + 3] + f2 * A[p + 2, p + 3]
        f3 = -b[p + 3] * x[p + 3]
        s = p + 4
        axpy4(b[s:k], f0, A[p, s:k], f1, A[p + 1, s:k], f2, A[p + 2, s:k], f3, A[p + 3, s:k])
        p = s
    for r in range(p, k):
        axpy(b[r + 1 : k], -b[r] * x[r], A[r, r + 1 : k])
    for m in range(k):
        p = k - 1 - m
        x[p] = (b[p] - dot(A[p, p + 1 : k], x[p + 1 : k])) * x[p]
