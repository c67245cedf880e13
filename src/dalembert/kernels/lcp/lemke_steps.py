"""Parts of Lemke's method: the parameter's column, the lexicographic ratio test, the exchange of two variables.

Variables: z_i is i, w_i is n + i, the parameter t is 2 n. Rows hold the basic ones, with values x and bounds lo, hi; columns the others.
T[j, i] is the derivative of row i by column j; column n is the parameter's at the start.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.codes import LOWER
from dalembert.kernels.lcp.dense import axpy

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
        size = 1.0 + (0.618033988749895 * attempt * (i + 1)) % 1.0
        column[i] = size * sign[i] if row_var[i] >= n and (lo[i] == 0.0 or hi[i] == 0.0) else 0.0
        if column[i] != 0.0 and -x[i] / column[i] >= most:
            r, most = i, -x[i] / column[i]
    return r


@inline
def enter_parameter(T, r, x, lo, hi, row_var, col_var, place):
    """t enters at t0 = |x_r|, the variable of row r leaves to column n, and its partner's column r moves next."""
    n = x.shape[0]
    t0 = -x[r] / T[n, r]
    axpy(x, t0, T[n])
    exchange(T, n, r)
    x[r], lo[r], hi[r] = t0, 0.0, INFINITY
    left = row_var[r]
    row_var[r], col_var[n] = 2 * n, left
    place[2 * n], place[left] = r, n


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
def ray(T, s, direction, row_var, var, w):
    """w = the direction of z along which column s moves without end."""
    n = T.shape[1]
    for i in range(n):
        w[i] = 0.0
    for i in range(n):
        if row_var[i] < n:
            w[row_var[i]] = direction * T[s, i]
    if var < n:
        w[var] = direction


@kernel
def exchange(T, s, r):
    """The variable of column s becomes basic in row r; that of row r goes to column s."""
    column = T[s]
    inverse = 1.0 / column[r]
    for i in range(column.shape[0]):
        column[i] *= inverse
    column[r] = inverse
    for j in range(T.shape[0]):
        if j != s:
            f = T[j, r]
            if f != 0.0:
                T[j, r] = 0.0
                axpy(T[j], -f, column)


@inline
def _perturbation(i, j, d, T, sign, row_var, col_var, place):
    """Change of row i's ratio by the perturbation e^(j+1) of q_j: q_j + e is the old problem with w_j - e for w_j."""
    n = T.shape[1]
    k = place[n + j]
    if row_var[k] == n + j:
        return -sign[j] / d if k == i else 0.0
    return sign[j] * T[k, i] / d


@kernel
def _lexicographic(T, s, direction, count, sign, row_var, col_var, place, ties):
    """The row among ties[:count] whose perturbed ratio is least; -1 stands for the moving variable's own bound, which is not perturbed."""
    n = T.shape[1]
    for j in range(n):
        least, kept = INFINITY, 0
        for k in range(count):
            i = ties[k]
            value = 0.0 if i < 0 else _perturbation(i, j, direction * T[s, i], T, sign, row_var, col_var, place)
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


@inline
def ratio(T, s, direction, width, x, lo, hi, sign, row_var, col_var, place, ties):
    """(theta, r): how far column s can move and which row stops it; r = -1: its own other bound, r = -2: nothing, a ray.

    Ties go to the parameter, then to the lexicographic rule.
    """
    n, column, big = x.shape[0], T[s], 0.0
    for i in range(n):
        big = max(big, abs(column[i]))
    small = 1e-14 * max(1.0, big)
    theta = width
    for i in range(n):
        d = direction * column[i]
        if abs(d) > small:
            t = ((lo[i] if d < 0.0 else hi[i]) - x[i]) / d
            if t < theta:
                theta = max(t, 0.0)
    if theta == INFINITY:
        return theta, -2
    near, count = theta + 1e-15 * (1.0 + theta), 0
    if width <= near:
        ties[count] = -1
        count += 1
    for i in range(n):
        d = direction * column[i]
        if abs(d) > small and ((lo[i] if d < 0.0 else hi[i]) - x[i]) / d <= near:
            if row_var[i] == 2 * n:
                return theta, i
            ties[count] = i
            count += 1
    if count == 1:
        return theta, ties[0]
    return theta, _lexicographic(T, s, direction, count, sign, row_var, col_var, place, ties)
