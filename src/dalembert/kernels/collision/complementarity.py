"""0 <= z - lower  perp  A z + q >= 0 for few contacts: A symmetric, not negative, of full rank or not.

Gauss-Seidel finds out which contacts push, and settles bodies that rest on more contacts than they need. It is slow where contacts depend
on each other: so now and then the equations of those that push are solved by Cholesky's factors (contacts that the ones before determine
keep their impulses). What that gives is taken if all push, and judged by the next sweep.
"""

import math

from dalembert.kernels._jit import kernel

SWEEPS = 100000  # of Gauss-Seidel, at most
FIRST = 16  # sweeps before the first direct solution; twice as many before each that follows
SOLVED = 1e-15  # last change, of the largest q
DIRECT = 1e-13  # and after a direct solution, which has its own round-off
DEPENDENT = 1e-11  # of a diagonal entry


@kernel
def _factor(A, m, L, free):
    """Cholesky's factors of the first m free rows and columns of A; rows that depend on those before have a zero on the diagonal."""
    for a in range(m):
        for b in range(a + 1):
            total = A[free[a], free[b]]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if b < a:
                L[a, b] = total / L[b, b] if L[b, b] > 0.0 else 0.0
            else:
                L[a, a] = math.sqrt(total) if total > DEPENDENT * A[free[a], free[a]] else 0.0


@kernel
def solve_free(A, q, z, lower, n, L, free):
    """z of the rows above the bound such that A z + q = 0 there. False, and nothing changed, where one would fall below it."""
    m = 0
    for i in range(n):
        if z[i] > lower:
            free[m] = i
            m += 1
    _factor(A, m, L, free)
    y = L[n]
    for a in range(m):
        total = -q[free[a]]
        for j in range(n):
            total -= A[free[a], j] * z[j]
        for c in range(a):
            total -= L[a, c] * y[c]
        y[a] = total / L[a, a] if L[a, a] > 0.0 else 0.0
    for a in range(m - 1, -1, -1):
        total = y[a]
        for c in range(a + 1, m):
            total -= L[c, a] * y[c]
        y[a] = total / L[a, a] if L[a, a] > 0.0 else 0.0
    for a in range(m):
        if not z[free[a]] + y[a] > lower:
            return False
    for a in range(m):
        z[free[a]] += y[a]
    return True


@kernel
def complementarity(A, q, z, lower, n, L, free):
    """Solve from z; L (n + 1, n) and free (n,) are workspace. Returns the last change of A z."""
    change, direct, next_direct = 0.0, False, FIRST
    for k in range(SWEEPS):
        change, size = 0.0, 0.0
        for i in range(n):
            if A[i, i] <= 0.0:
                continue
            total = q[i]
            for j in range(n):
                total += A[i, j] * z[j]
            new = max(lower, z[i] - total / A[i, i])
            change = max(change, abs(A[i, i] * (new - z[i])))
            size = max(size, abs(q[i]))
            z[i] = new
        if change <= (DIRECT if direct else SOLVED) * size:
            break
        direct = False
        if k == next_direct:
            direct, next_direct = solve_free(A, q, z, lower, n, L, free), 2 * k
    return change
