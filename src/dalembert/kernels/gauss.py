"""Gaussian elimination with partial pivoting for systems of up to a few dozen unknowns, in place, in flat work arrays."""

from dalembert.kernels._jit import kernel


@kernel
def solve_in_place(work, a, b, n):
    """Solve A x = r with A = work[a : a + n n] by rows and r = work[b : b + n]; x replaces r, A is destroyed. False if singular."""
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(work[a + i * n + k]) > abs(work[a + p * n + k]):
                p = i
        pivot = work[a + p * n + k]
        if not abs(pivot) > 0.0:
            return False
        if p != k:
            for j in range(k, n):
                work[a + k * n + j], work[a + p * n + j] = work[a + p * n + j], work[a + k * n + j]
            work[b + k], work[b + p] = work[b + p], work[b + k]
        for i in range(k + 1, n):
            factor = work[a + i * n + k] / pivot
            for j in range(k + 1, n):
                work[a + i * n + j] -= factor * work[a + k * n + j]
            work[b + i] -= factor * work[b + k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            work[b + i] -= work[a + i * n + j] * work[b + j]
        work[b + i] /= work[a + i * n + i]
    return True
