"""Lemke's method: see `dalembert.complementarity.lemke`."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.lcp.codes import FEASIBILITY, FREE, LIMIT, LOWER, PIVOT_LIMIT, PIVOTS, RAY, SINGULAR, SOLVED, UPPER, WARM
from dalembert.kernels.lcp.dictionary import build, sides, values
from dalembert.kernels.lcp.judge import residuals
from dalembert.kernels.lcp.lemke_steps import column_of_parameter, enter_parameter, exchange, first_column, ratio, ray, row_bounds
from dalembert.kernels.lcp.polish import polish, size, worst

_ATTEMPTS = 8


@kernel
def _follow(T, x, lo, hi, sign, lower, upper, side, entering, direction, limit, w, I, info):
    """Follow the path from a vertex until the parameter leaves. Returns SOLVED, RAY or PIVOT_LIMIT.

    entering: the column that moves, direction: +1 up, -1 down.
    """
    n = x.shape[0]
    row_var, col_var, place, ties = I[0], I[1], I[2], I[3]
    while True:
        if info[PIVOTS] >= limit:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        var = col_var[entering]
        width = upper[var] - lower[var] if var < n else (1.0 if var == 2 * n else float("inf"))
        theta, r = ratio(T, entering, direction, width, x, lo, hi, sign, row_var, col_var, place, ties)
        if r == -2:
            ray(T, entering, direction, row_var, var, w)
            return RAY
        column = T[entering]
        for i in range(n):
            x[i] += theta * direction * column[i]
        if r == -1:  # the moving variable has reached its other bound
            if var == 2 * n:
                return SOLVED
            side[var] = UPPER if direction > 0.0 else LOWER
            entering = place[n + var]
            direction = -direction
            continue
        left = row_var[r]
        at_upper = direction * column[r] > 0.0
        start = 0.0 if var >= n else (lower[var] if side[var] == LOWER else upper[var])
        if var == 2 * n:
            start = 1.0
        exchange(T, entering, r)
        row_var[r], col_var[entering] = var, left
        place[var], place[left] = r, entering
        x[r] = start + theta * direction
        if var < n:
            side[var] = FREE
        if left == 2 * n:
            return SOLVED
        row_bounds(r, var, side, lower, upper, lo, hi)
        if left < n:
            side[left] = UPPER if at_upper else LOWER
            direction = -1.0 if at_upper else 1.0
            entering = place[n + left]
        else:
            direction = 1.0 if side[left - n] == LOWER else -1.0
            entering = place[left - n]


@kernel
def _once(M, q, lower, upper, side, z, w, warm, attempt, options, A, B, V, I, info):
    """One path: from the sides at hand (warm) or from the bounds. A fresh factorisation begins and ends it."""
    n, x, lo, hi, sign = q.shape[0], V[2], V[3], V[4], V[5]
    if not build(M, lower, upper, side, A, 1e-14):
        return SINGULAR
    if not polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
        return SINGULAR
    values(side, z, w, x)
    tol = options[FEASIBILITY] * size(z)
    if worst(side, z, w, lower, upper) <= tol:
        return SOLVED
    row_var, col_var, place = I[0], I[1], I[2]
    for i in range(n):
        free = side[i] == FREE
        row_var[i], col_var[i] = (i, n + i) if free else (n + i, i)
        place[i] = place[n + i] = i
        sign[i] = -1.0 if side[i] == UPPER else 1.0
        row_bounds(i, row_var[i], side, lower, upper, lo, hi)
    row_var[n], col_var[n], place[2 * n] = -1, 2 * n, n
    if warm:
        column_of_parameter(A[n], x, lo, hi)
        for i in range(n):
            x[i] += A[n, i]
        entering, direction = n, -1.0
    else:
        r = first_column(A[n], x, lo, hi, sign, row_var, attempt)
        enter_parameter(A, r, x, lo, hi, row_var, col_var, place)
        info[PIVOTS] += 1.0
        entering, direction = r, sign[r]
    return _follow(A, x, lo, hi, sign, lower, upper, side, entering, direction, options[LIMIT], w, I, info)


@kernel
def _accept(M, q, lower, upper, side, z, w, options, V):
    """Whether the sides are right to round-off, row by row."""
    if worst(side, z, w, lower, upper) > options[FEASIBILITY] * size(z):
        return False
    for i in range(z.shape[0]):
        V[6, i] = min(max(z[i], lower[i]), upper[i])
    _, relative = residuals(M, q, lower, upper, V[6], V[7])
    return relative <= 1e-11


@kernel
def lemke(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Paths until the sides at the end of one are right to round-off; more than one is rare.

    The second continues where the first ended, others start from the bounds with another covering vector. A ray counts when met twice.
    """
    warm, rays = options[WARM] != 0.0, 0
    if not warm:
        sides(lower, upper, side)
    status = SINGULAR
    for attempt in range(_ATTEMPTS):
        status = _once(M, q, lower, upper, side, z, w, warm, attempt, options, A, B, V, I, info)
        if status == PIVOT_LIMIT:
            return status
        if status == RAY and not warm:
            rays += 1
            if rays == 2:
                return status
        if status == SOLVED:
            if not polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
                status = SINGULAR
            elif _accept(M, q, lower, upper, side, z, w, options, V):
                return SOLVED
        warm = status == SOLVED and attempt == 0
        if not warm and attempt < _ATTEMPTS - 1:
            sides(lower, upper, side)
    return status
