"""Scale a problem so that its numbers are of order 1: tolerances of the solvers need no units then.

    z = g D z',   w = g D^-1 w',   M' = D M D,   q' = D q / g        with D diagonal, all factors powers of two: scaling is exact

D M D keeps every class that a guarantee rests on: symmetric, definite, P, P0, copositive (-plus). D brings the largest entry of each row
and column near 1 (three passes of Ruiz' iteration with the root of the maximum; one common factor where they are already alike).
"""

import math

from dalembert.kernels._jit import apart, disjoint, inline, kernel
from dalembert.kernels.lcp.codes import BAD_BOUNDS, BAD_MATRIX, BAD_VECTOR, PLACE, SOLVED
from dalembert.kernels.lcp.dense import largest_product


@inline
def power_of_two(x):
    """The power of two next below x, within the range in which its square is a number."""
    if not x > 1e-150:
        return 1.0
    return math.ldexp(0.5, math.frexp(min(x, 1e150))[1])


@disjoint
def _largest(M, d, alike, big):
    """big_i = max_j d_i d_j max(|M_ij|, |M_ji|). alike: M is symmetric."""
    n = M.shape[0]
    for i in range(n):
        big[i] = 0.0
    for i in range(n):
        row, f = M[i], d[i]
        for j in range(n):
            x = abs(row[j]) * f
            big[j] = x if x > big[j] else big[j]
    for i in range(n):
        big[i] *= d[i]
    if not alike:
        for i in range(n):
            big[i] = max(big[i], d[i] * largest_product(M[i], d))


@kernel
def _not_finite(row):
    bad = False
    for j in range(row.shape[0]):
        bad |= not abs(row[j]) < math.inf
    return bad


@disjoint
def _zeros(M, big):
    """big_j = sum_i 0 M_ij: not 0 where column j holds what is no number."""
    for j in range(big.shape[0]):
        big[j] = 0.0
    for i in range(M.shape[0]):
        row = M[i]
        for j in range(big.shape[0]):
            big[j] += 0.0 * row[j]


@disjoint
def _times(row, f, d, target):
    """target_j = f d_j row_j"""
    for j in range(target.shape[0]):
        target[j] = row[j] * f * d[j]


@apart
def check(M, q, lower, upper, big, info):
    """Numbers everywhere, lower <= upper, bounds on the right side of infinity. big: workspace; 0 times what is no number is none."""
    n, wrong = q.shape[0], False
    _zeros(M, big[:n])
    for i in range(n):
        wrong |= big[i] != 0.0
    for i in range(n):
        info[PLACE] = i
        if wrong and _not_finite(M[i]):
            return BAD_MATRIX
        if not abs(q[i]) < math.inf:
            return BAD_VECTOR
        if not lower[i] <= upper[i] or lower[i] == math.inf or upper[i] == -math.inf:
            return BAD_BOUNDS
    return SOLVED


@apart
def symmetric(M):
    """Whether M equals its transpose, entry by entry."""
    for i in range(M.shape[0]):
        row = M[i]
        for j in range(i):
            if row[j] != M[j, i]:
                return False
    return True


@apart
def scale(M, q, lower, upper, alike, d, big, S, q_s, lower_s, upper_s):
    """Fill d (the diagonal of D) and the scaled problem. Returns g. alike: M is symmetric."""
    n = q.shape[0]
    for i in range(n):
        d[i] = 1.0
    _largest(M, d, alike, big)
    top, low = 0.0, math.inf
    for i in range(n):
        top = max(top, big[i])
        low = min(low, big[i])
    if low > 0.0 and top <= 64.0 * low:
        common = power_of_two(1.0 / math.sqrt(top))
        for i in range(n):
            d[i] = common
    elif top > 0.0:
        for _ in range(3):
            for i in range(n):
                if big[i] > 0.0:
                    d[i] *= power_of_two(1.0 / math.sqrt(big[i]))
            _largest(M, d, alike, big)
    g = 0.0
    for i in range(n):
        _times(M[i], d[i], d, S[i])
        q_s[i] = q[i] * d[i]
        g = max(g, abs(q_s[i]))
    if g == 0.0:  # only the bounds set a scale
        for i in range(n):
            for x in (lower[i], upper[i]):
                if abs(x) < math.inf:
                    g = max(g, abs(x) / d[i])
    g = power_of_two(g) if g > 0.0 else 1.0
    for i in range(n):
        f = g * d[i]
        q_s[i] = q_s[i] / g
        lower_s[i] = lower[i] / f
        upper_s[i] = upper[i] / f
    return g
