"""Dense rows: the loops in which the solvers spend their time. Written so that they vectorise without unsafe arithmetic."""

from dalembert.kernels._jit import inline, kernel


@inline
def axpy(y, factor, x):
    """y += factor x."""
    for j in range(y.shape[0]):
        y[j] += factor * x[j]


@inline
def dot(x, y):
    """x . y with eight partial sums: a single one would wait for itself at every addition."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for k in range(n // 8):
        j = 8 * k
        a0 += x[j] * y[j]
        a1 += x[j + 1] * y[j + 1]
        a2 += x[j + 2] * y[j + 2]
        a3 += x[j + 3] * y[j + 3]
        a4 += x[j + 4] * y[j + 4]
        a5 += x[j + 5] * y[j + 5]
        a6 += x[j + 6] * y[j + 6]
        a7 += x[j + 7] * y[j + 7]
    for j in range(8 * (n // 8), n):
        a0 += x[j] * y[j]
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@inline
def absolute_dot(x, y):
    """sum |x_j y_j|, with eight partial sums."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for k in range(n // 8):
        j = 8 * k
        a0 += abs(x[j] * y[j])
        a1 += abs(x[j + 1] * y[j + 1])
        a2 += abs(x[j + 2] * y[j + 2])
        a3 += abs(x[j + 3] * y[j + 3])
        a4 += abs(x[j + 4] * y[j + 4])
        a5 += abs(x[j + 5] * y[j + 5])
        a6 += abs(x[j + 6] * y[j + 6])
        a7 += abs(x[j + 7] * y[j + 7])
    for j in range(8 * (n // 8), n):
        a0 += abs(x[j] * y[j])
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@inline
def largest_product(x, y):
    """max |x_j| y_j, with four partial maxima."""
    n = x.shape[0]
    a0 = a1 = a2 = a3 = 0.0
    for k in range(n // 4):
        j = 4 * k
        b0, b1, b2, b3 = abs(x[j]) * y[j], abs(x[j + 1]) * y[j + 1], abs(x[j + 2]) * y[j + 2], abs(x[j + 3]) * y[j + 3]
        a0 = b0 if b0 > a0 else a0
        a1 = b1 if b1 > a1 else a1
        a2 = b2 if b2 > a2 else a2
        a3 = b3 if b3 > a3 else a3
    for j in range(4 * (n // 4), n):
        a0 = max(a0, abs(x[j]) * y[j])
    return max(max(a0, a1), max(a2, a3))


@kernel
def product(M, z, q, w):
    """w = M z + q."""
    for i in range(M.shape[0]):
        w[i] = q[i] + dot(M[i], z)


@kernel
def lu_factor(A, k, order):
    """P A = L U in place for the leading k x k block of A, partial pivoting. order: rows of P. False where A is singular."""
    for i in range(k):
        order[i] = i
    for c in range(k):
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
        inverse = 1.0 / A[c, c]
        for i in range(c + 1, k):
            f = A[i, c]
            if f != 0.0:
                f *= inverse
                A[i, c] = f
                axpy(A[i, c + 1 : k], -f, A[c, c + 1 : k])
    return True


@kernel
def lu_solve(A, k, order, b, x):
    """x[:k] = A^-1 b[:k] by the factors of `lu_factor`. b and x are two arrays."""
    for i in range(k):
        x[i] = b[order[i]] - dot(A[i, :i], x[:i])
    for m in range(k):
        i = k - 1 - m
        x[i] = (x[i] - dot(A[i, i + 1 : k], x[i + 1 : k])) / A[i, i]
