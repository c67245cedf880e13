"""Dense equations in flat arrays: elimination with pivots, and an orthonormal basis of what a few rows leave free."""

import math

from dalembert.kernels._jit import kernel


@kernel
def solve(a, A, n, b):
    """x with A x = b, by rows at a[A:] and a[b:], which both are overwritten. False where A is singular."""
    for c in range(n):
        pivot, large = c, abs(a[A + c * n + c])
        for r in range(c + 1, n):
            size = abs(a[A + r * n + c])
            if size > large:
                pivot, large = r, size
        if not large > 0.0:
            return False
        if pivot != c:
            for k in range(c, n):
                a[A + c * n + k], a[A + pivot * n + k] = a[A + pivot * n + k], a[A + c * n + k]
            a[b + c], a[b + pivot] = a[b + pivot], a[b + c]
        inverse = 1.0 / a[A + c * n + c]
        for r in range(c + 1, n):
            factor = a[A + r * n + c] * inverse
            if factor != 0.0:
                for k in range(c + 1, n):
                    a[A + r * n + k] -= factor * a[A + c * n + k]
                a[b + r] -= factor * a[b + c]
    for i in range(n):
        r = n - 1 - i
        total = a[b + r]
        for k in range(r + 1, n):
            total -= a[A + r * n + k] * a[b + k]
        a[b + r] = total / a[A + r * n + r]
    return True


@kernel
def null_space(a, R, m, n, Q, room):
    """Orthogonal n x n matrix at a[Q:] whose columns from the m-th on span { x: R x = 0 }, by Householder's reflections of R^T.

    R: m rows of n numbers, of full rank, overwritten; room: n numbers.
    """
    for i in range(n):
        for j in range(n):
            a[Q + i * n + j] = 1.0 if i == j else 0.0
    for c in range(m):
        size = 0.0
        for i in range(c, n):
            size += a[R + c * n + i] ** 2
        size = math.sqrt(size)
        if size == 0.0:
            continue
        first = a[R + c * n + c]
        size = -size if first > 0.0 else size
        norm = 0.0
        for i in range(c, n):
            a[room + i] = a[R + c * n + i] - (size if i == c else 0.0)
            norm += a[room + i] ** 2
        for r in range(c, m):
            along = 0.0
            for i in range(c, n):
                along += a[room + i] * a[R + r * n + i]
            for i in range(c, n):
                a[R + r * n + i] -= 2.0 * along / norm * a[room + i]
        for r in range(n):
            along = 0.0
            for i in range(c, n):
                along += a[room + i] * a[Q + r * n + i]
            for i in range(c, n):
                a[Q + r * n + i] -= 2.0 * along / norm * a[room + i]
