"""The solution that belongs to given sides, by a fresh factorisation: what every pivoting method ends with.

    M_aa z_a = -q_a - M_ab z_b,    z_b at its bounds,    w = M z + q        (a free, b at bounds; lacoursiere2007 (16.33-34))

Pivoted dictionaries carry the round-off of all their pivots; this carries that of one factorisation and one refinement.
"""

from dalembert.kernels._jit import apart, inline, kernel
from dalembert.kernels.lcp.codes import FREE, LOWER, SYMMETRIC
from dalembert.kernels.lcp.dense import add_product
from dalembert.kernels.lcp.factor import ldl_factor, ldl_solve, lu_factor, lu_solve

_FACTOR = 4  # place in info: 1 where B holds the factor of a symmetric matrix


@inline
def _gather(M, B, index, k, first):
    """B = M_aa, its upper triangle only where `first` is 1."""
    for a in range(k):
        source, target = M[index[a]], B[a]
        for b in range(a * first, k):
            target[b] = source[index[b]]


@inline
def _solve(B, k, V, I, info):
    if info[_FACTOR] != 0.0:
        ldl_solve(B, k, V[0], V[1])
    else:
        lu_solve(B, k, I[1], V[0], V[1])


@inline
def solve_sides(M, q, lower, upper, side, z, w, options, B, V, I, info):
    """Set z and w by side. False where M_aa is singular. Uses B, V[0], V[1], I[0], I[1], I[4]."""
    n, k, index, rhs = q.shape[0], 0, I[0], V[0]
    symmetric = info[SYMMETRIC] != 0.0
    for i in range(n):
        w[i] = q[i]
        z[i] = lower[i] if side[i] == LOWER else upper[i]
        if side[i] == FREE:
            z[i] = 0.0
            index[k] = i
            k += 1
    info[_FACTOR] = 0.0
    if k == 0:
        add_product(M, symmetric, z, I[4], w)
        return True
    if symmetric:
        _gather(M, B, index, k, 1)
        info[_FACTOR] = 1.0 if ldl_factor(B, k) else 0.0
    if info[_FACTOR] == 0.0:
        _gather(M, B, index, k, 0)
        if not lu_factor(B, k, I[1]):
            return False
    add_product(M, symmetric, z, I[4], w)
    for a in range(k):
        rhs[a] = -w[index[a]]
    _solve(B, k, V, I, info)
    return _add(M, symmetric, z, w, k, V, I)


@inline
def _add(M, symmetric, z, w, k, V, I):
    """z_a += step, w += M_.a step. False where the step is not a number."""
    n, index, step, full = z.shape[0], I[0], V[1], V[0]
    for i in range(n):
        full[i] = 0.0
    for a in range(k):
        if not abs(step[a]) < 1e300:
            return False
        z[index[a]] += step[a]
        full[index[a]] = step[a]
    add_product(M, symmetric, full, I[4], w)
    return True


@inline
def refine(M, q, side, z, w, options, B, V, I, info):
    """One step of iterative refinement with the factor that `solve_sides` left in B."""
    n, k, symmetric = q.shape[0], 0, info[SYMMETRIC] != 0.0
    for i in range(n):
        w[i] = q[i]
    add_product(M, symmetric, z, I[4], w)
    for i in range(n):
        if side[i] == FREE:
            V[0, k] = -w[i]
            k += 1
    _solve(B, k, V, I, info)
    return _add(M, symmetric, z, w, k, V, I)


@apart
def polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
    """`solve_sides`, then `refine` while something is left: once, twice where M is not symmetric (rows of very different size need it)."""
    if not solve_sides(M, q, lower, upper, side, z, w, options, B, V, I, info):
        return False
    for _ in range(1 if info[SYMMETRIC] != 0.0 else 2):
        if _nothing_left(q, side, w):
            return True
        if not refine(M, q, side, z, w, options, B, V, I, info):
            return False
    return True


@inline
def _nothing_left(q, side, w):
    """Whether the equations of all free indices are solved to a hundred units in the last place of q."""
    left = 0.0
    for i in range(side.shape[0]):
        x = abs(w[i]) - 1e-14 * abs(q[i]) if side[i] == FREE else 0.0
        left = left if left >= x else x  # also what is no number
    return left <= 0.0


@inline
def size(z):
    """max(1, |z|): the scale of w = M z + q where entries of M and q are of order 1."""
    big = 1.0
    for i in range(z.shape[0]):
        if abs(z[i]) > big:
            big = abs(z[i])
    return big


@inline
def violation(i, side, z, w, lower, upper):
    """By how much index i breaks what its side promises, 0 if it keeps it."""
    if side[i] == FREE:
        return max(0.0, lower[i] - z[i], z[i] - upper[i])
    if lower[i] == upper[i]:
        return 0.0
    return max(0.0, -w[i]) if side[i] == LOWER else max(0.0, w[i])


@inline
def worst(side, z, w, lower, upper):
    """Largest violation."""
    most = 0.0
    for i in range(side.shape[0]):
        most = max(most, violation(i, side, z, w, lower, upper))
    return most


@kernel
def guess(side, z, w, lower, upper, r):
    """Sides suggested by a point: free where z - r w lies strictly between the bounds (the natural map's own choice), r > 0."""
    for i in range(side.shape[0]):
        x = z[i] - r * w[i]
        side[i] = FREE
        if x <= lower[i] or lower[i] == upper[i]:
            side[i] = -1
        elif x >= upper[i]:
            side[i] = 1
