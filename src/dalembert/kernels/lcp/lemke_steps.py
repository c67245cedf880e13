"""Parts of Lemke's method: the parameter's column, the ratio test and its lexicographic rule.

Variables: z_i is i, w_i is n + i, the parameter t is 2 n. Rows hold the basic ones, with values x and bounds lo, hi; columns the others.
T[j, i] is the derivative of row i by column j; column n is the parameter's at the start.
"""

from dalembert.kernels._jit import ARRAY, INT, REAL, disjoint, far, inline
from dalembert.kernels.lcp.codes import INTS, LOWER, MATRIX
from dalembert.kernels.lcp.dense import axpy, largest, least
from dalembert.kernels.lcp.exchanges import exchange

INFINITY = float("inf")


@inline
def row_bounds(r, var, side, lower, upper, lo, hi):
    """Bounds of the basic variable of row r: those of z; of w by the side of its z (none where lower = upper); t >= 0."""
    n = side.shape[0]
    if var == 2 * n:
        lo[r], hi[r] = 0.0, INFINITY
    elif var < n:
        lo[r], hi[r] = lower[var], upper[var]
    else:
        i = var - n
        at_lower = side[i] == LOWER
        fixed = lower[i] == upper[i]
        lo[r] = 0.0 if at_lower and not fixed else -INFINITY
        hi[r] = INFINITY if at_lower or fixed else 0.0


@inline
def first_column(column, x, lo, hi, sign, row_var, attempt):
    """Covering vector p: 1 at lower bounds, -1 at upper ones, 0 elsewhere; entries between 1 and 2 instead of 1 in later attempts.

    Returns the row that leaves first: the last of those with the largest violation by p.
    """
    n, r, most = x.shape[0], -1, 0.0
    for i in range(n):
        size = 1.0 if attempt == 0 else 1.0 + (0.618033988749895 * attempt * (i + 1)) % 1.0
        column[i] = size * sign[i] if row_var[i] >= n and (lo[i] == 0.0 or hi[i] == 0.0) else 0.0
        if column[i] != 0.0 and -x[i] / column[i] >= most:
            r, most = i, -x[i] / column[i]
    return r


@inline
def enter_parameter(T, C, P, r, x, lo, hi, row_var, col_var, place):
    """t enters at t0 = |x_r|, the variable of row r leaves to column n, and its partner's column r moves next. Returns how many wait."""
    n = x.shape[0]
    t0 = -x[r] / T[n, r]
    axpy(x, t0, T[n])
    waiting = exchange(T, C, P, 0, T[n], n, r)
    x[r], lo[r], hi[r] = t0, 0.0, INFINITY
    left = row_var[r]
    row_var[r], col_var[n] = 2 * n, left
    place[2 * n], place[left] = r, n
    return waiting


@inline
def column_of_parameter(column, x, lo, hi):
    """Warm start: a column with which every row lies within its bounds at t = 1, the violated ones inside by up to the worst violation."""
    most = 0.0
    for i in range(x.shape[0]):
        most = max(most, lo[i] - x[i], x[i] - hi[i])
    for i in range(x.shape[0]):
        inside = min(most, 0.5 * (hi[i] - lo[i]))
        column[i] = 0.0
        if x[i] < lo[i]:
            column[i] = lo[i] + inside - x[i]
        elif x[i] > hi[i]:
            column[i] = hi[i] - inside - x[i]


@inline
def ray(column, direction, row_var, var, w):
    """w = the direction of z along which the column moves without end."""
    n = column.shape[0]
    for i in range(n):
        w[i] = 0.0
    for i in range(n):
        if row_var[i] < n:
            w[row_var[i]] = direction * column[i]
    if var < n:
        w[var] = direction


@inline
def _perturbation(i, j, d, T, sign, row_var, place):
    """Change of row i's ratio by the perturbation e^(j+1) of q_j: q_j + e is the old problem with w_j - e for w_j."""
    n = T.shape[1]
    k = place[n + j]
    if row_var[k] == n + j:
        return -sign[j] / d if k == i else 0.0
    return sign[j] * T[k, i] / d


@far(INT(MATRIX, ARRAY, REAL, INT, ARRAY, INTS, INTS, INTS))
def lexicographic(T, column, direction, count, sign, row_var, place, ties):
    """The row among ties[:count] whose perturbed ratio is least; -1 stands for the moving variable's own bound, which is not perturbed."""
    n = T.shape[1]
    for j in range(n):
        least, kept = INFINITY, 0
        for k in range(count):
            i = ties[k]
            value = 0.0 if i < 0 else _perturbation(i, j, direction * column[i], T, sign, row_var, place)
            slack = 1e-11 * max(1.0, abs(value))
            if value < least - slack:
                least, kept = value, 0
            if value <= least + slack:
                ties[kept] = i
                kept += 1
        count = kept
        if count == 1:
            break
    return ties[0]


@disjoint
def steps(column, direction, x, lo, hi, tiny, t):
    """t_i = how far the column can move until row i reaches a bound; infinite where the row hardly moves, by less than tiny times the
    largest move. Returns the least.
    """
    small = tiny * max(1.0, largest(column))
    for i in range(x.shape[0]):
        d = direction * column[i]
        low, high = lo[i], hi[i]
        t[i] = ((low if d < 0.0 else high) - x[i]) / d if abs(d) > small else INFINITY
    return max(0.0, least(t))


@inline
def stops(t, theta, width, row_var, ties):
    """(r, count): the row that stops a step theta = min t or width; count > 1: the candidates are ties[:count], r is undecided.

    r = -1: the moving variable's own other bound, -2: nothing, a ray. The parameter goes before others.
    """
    n = t.shape[0]
    if theta == INFINITY:
        return -2, 1
    near, count = theta + 1e-15 * (1.0 + theta), 0
    if width <= near:
        ties[count] = -1
        count += 1
    for i in range(n):
        if t[i] <= near:
            if row_var[i] == 2 * n:
                return i, 1
            ties[count] = i
            count += 1
    return ties[0], count
