"""Elimination with full pivoting: reveals the rank, and solves what can be solved where rows are redundant."""

from dalembert.kernels._jit import kernel


@kernel
def eliminate(work, a, order, m, tol):
    """Factor the m x m matrix work[a:] by rows in place, P A Q = L U. Returns its rank.

    work[order : order + m] and work[order + m : order + 2 m] are the orders of rows and columns. Pivots below tol times the first are 0.
    """
    for i in range(m):
        work[order + i] = i
        work[order + m + i] = i
    first = 0.0
    for k in range(m):
        pr, pc, best = k, k, -1.0
        for i in range(k, m):
            for j in range(k, m):
                x = abs(work[a + i * m + j])
                if x > best:
                    pr, pc, best = i, j, x
        if k == 0:
            first = best
        if not best > tol * first:
            return k
        if pr != k:
            for j in range(m):
                work[a + k * m + j], work[a + pr * m + j] = work[a + pr * m + j], work[a + k * m + j]
            work[order + k], work[order + pr] = work[order + pr], work[order + k]
        if pc != k:
            for i in range(m):
                work[a + i * m + k], work[a + i * m + pc] = work[a + i * m + pc], work[a + i * m + k]
            work[order + m + k], work[order + m + pc] = work[order + m + pc], work[order + m + k]
        inverse = 1.0 / work[a + k * m + k]
        for i in range(k + 1, m):
            factor = work[a + i * m + k] * inverse
            work[a + i * m + k] = factor
            if factor != 0.0:
                for j in range(k + 1, m):
                    work[a + i * m + j] -= factor * work[a + k * m + j]
    return m


@kernel
def apply(work, a, order, m, rank, b, out):
    """work[out : out + m] solves the first `rank` independent equations A x = work[b : b + m]; the other unknowns are 0.

    work[b:] is used up.
    """
    for i in range(m):
        work[out + i] = 0.0
    for k in range(rank):
        total = work[b + int(work[order + k])]
        for j in range(k):
            total -= work[a + k * m + j] * work[out + j]
        work[out + k] = total
    for r in range(rank):
        k = rank - 1 - r
        total = work[out + k]
        for j in range(k + 1, rank):
            total -= work[a + k * m + j] * work[out + j]
        work[out + k] = total / work[a + k * m + k]
    for k in range(m):
        work[b + k] = work[out + k]
    for k in range(m):
        work[out + int(work[order + m + k])] = work[b + k]
