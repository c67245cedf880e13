"""The solution that belongs to given sides, by a fresh factorisation: what every pivoting method ends with.

    M_aa z_a = -q_a - M_ab z_b,    z_b at its bounds,    w = M z + q        (a free, b at bounds; lacoursiere2007 (16.33-34))

Pivoted dictionaries carry the round-off of all their pivots; this carries that of one LU factorisation and one refinement.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.codes import FREE, LOWER
from dalembert.kernels.lcp.dense import dot, lu_factor, lu_solve, product


@inline
def gather(M, side, B, index):
    """B = M_aa, index = a. Returns the size of a."""
    k = 0
    for i in range(side.shape[0]):
        if side[i] == FREE:
            index[k] = i
            k += 1
    for a in range(k):
        source, target = M[index[a]], B[a]
        for b in range(k):
            target[b] = source[index[b]]
    return k


@kernel
def polish(M, q, lower, upper, side, z, w, B, V, I):
    """Set z and w by side. False where M_aa is singular (z and w are then as they were, but z is within its bounds).

    Uses B, V[0], V[1], I[0], I[1].
    """
    n = M.shape[0]
    index, order, rhs, step = I[0], I[1], V[0], V[1]
    for i in range(n):
        if side[i] == FREE:
            z[i] = min(max(z[i], lower[i]), upper[i])
        else:
            z[i] = lower[i] if side[i] == LOWER else upper[i]
    k = gather(M, side, B, index)
    if not lu_factor(B, k, order):
        return False
    for _ in range(2):  # the second pass refines
        for a in range(k):
            i = index[a]
            rhs[a] = -(q[i] + dot(M[i], z))
        lu_solve(B, k, order, rhs, step)
        for a in range(k):
            if not abs(step[a]) < 1e300:
                return False
            z[index[a]] += step[a]
    product(M, z, q, w)
    return True


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


@kernel
def worst(side, z, w, lower, upper):
    """Largest violation."""
    most = 0.0
    for i in range(side.shape[0]):
        most = max(most, violation(i, side, z, w, lower, upper))
    return most


@kernel
def guess(side, z, w, lower, upper):
    """Sides suggested by a point: free where z - w lies strictly between the bounds (the natural map's own choice)."""
    for i in range(side.shape[0]):
        x = z[i] - w[i]
        side[i] = FREE
        if x <= lower[i] or lower[i] == upper[i]:
            side[i] = -1
        elif x >= upper[i]:
            side[i] = 1
