"""Lemke's method: see `dalembert.complementarity.lemke`."""

from dalembert.kernels._jit import apart, inline, kernel, packed
from dalembert.kernels.lcp.codes import (
    CYCLE,
    FEASIBILITY,
    FREE,
    KEPT,
    LIMIT,
    LOWER,
    PIVOT_LIMIT,
    PIVOTS,
    RAY,
    RUN,
    SINGULAR,
    SOLVED,
    UPPER,
    WARM,
)
from dalembert.kernels.lcp.dense import axpy
from dalembert.kernels.lcp.dictionary import build, sides, values
from dalembert.kernels.lcp.exchanges import GROUP, current, exchange, settle
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.judge import residuals
from dalembert.kernels.lcp.lemke_steps import (
    column_of_parameter,
    enter_parameter,
    first_column,
    lexicographic,
    ray,
    row_bounds,
    steps,
    stops,
)
from dalembert.kernels.lcp.polish import polish, size, worst
from dalembert.kernels.lcp.run import conclude, prepare

_ATTEMPTS = 8
_GOOD = 1e-9


@apart
def _follow(T, C, x, lo, hi, sign, lower, upper, side, entering, direction, waiting, tiny, limit, w, V, I, info):
    """Follow the path from a vertex until the parameter leaves. Returns SOLVED, RAY, CYCLE or PIVOT_LIMIT.

    No path meets a vertex twice but by round-off, in ties of a degenerate problem: looked for once the path is long, after 4 n pivots.
    entering: the column that moves, direction: +1 up, -1 down, waiting: exchanges that wait in C, tiny: see `steps`.
    """
    n, column, t = x.shape[0], C[GROUP], V[6]
    row_var, col_var, place, ties, P = I[0], I[1], I[2], I[3], I[4:6]
    usual = info[PIVOTS] + 4 * n
    forget(info)
    while True:
        if info[PIVOTS] >= limit:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        var = col_var[entering]
        if info[PIVOTS] > usual and repeats(side, var, info):
            return CYCLE
        width = upper[var] - lower[var] if var < n else (1.0 if var == 2 * n else float("inf"))
        current(T, C, P, waiting, entering, column)
        theta = min(width, steps(column, direction, x, lo, hi, tiny, t))
        r, count = stops(t, theta, width, row_var, ties)
        if r == -2:
            ray(column, direction, row_var, var, w)
            return RAY
        if count > 1:
            waiting = settle(T, C, P, waiting)
            r = lexicographic(T, column, direction, count, sign, row_var, place, ties)
        axpy(x, theta * direction, column)
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
        waiting = exchange(T, C, P, waiting, column, entering, r)
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


@inline
def _at_bounds(q, lower, upper, side, z, w):
    """True where all z are at bounds that are 0: then w = q."""
    for i in range(q.shape[0]):
        z[i] = lower[i] if side[i] == LOWER else upper[i]
        w[i] = q[i]
        if side[i] == FREE or z[i] != 0.0:
            return False
    return True


@inline
def _once(M, q, lower, upper, side, z, w, warm, attempt, options, A, B, V, I, info):
    """One path: from the sides at hand (warm) or from the bounds. A fresh factorisation begins and ends it."""
    n, x, lo, hi, sign = q.shape[0], V[2], V[3], V[4], V[5]
    C, waiting = B[n:], 0
    if not build(M, lower, upper, side, A, 1e-14):
        return SINGULAR
    if not _at_bounds(q, lower, upper, side, z, w) and not polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
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
        waiting = enter_parameter(A, C, I[4:6], r, x, lo, hi, row_var, col_var, place)
        info[PIVOTS] += 1.0
        entering, direction = r, sign[r]
    tiny = 1e-14 if attempt < 2 else 10.0 ** (attempt - 14)
    status = _follow(A, C, x, lo, hi, sign, lower, upper, side, entering, direction, waiting, tiny, options[LIMIT], w, V, I, info)
    for i in range(n):  # z at the end of the path, in the place of the signs
        sign[i] = lower[i] if side[i] == LOWER else upper[i]
    for i in range(n):
        if row_var[i] < n:
            sign[row_var[i]] = x[i]
    return status


@inline
def _clean(q, side, w):
    """Whether what is left of the equations is round-off beside q, row by row: then nothing else need be asked."""
    for i in range(q.shape[0]):
        if side[i] == FREE and not abs(w[i]) <= 1e-12 * abs(q[i]):
            return False
    return True


@kernel
def _better(M, q, lower, upper, z, V, known):
    """The relative residual of z put within its bounds; z becomes the answer so far, V[12], where that is below `known`."""
    for i in range(z.shape[0]):
        V[6, i] = min(max(z[i], lower[i]), upper[i])
    _, relative = residuals(M, q, lower, upper, V[6], V[7])
    if not relative < known:
        return known
    for i in range(z.shape[0]):
        V[12, i] = V[6, i]
    return relative


@inline
def lemke(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Paths until the sides at the end of one are right to round-off; more than one is rare.

    The second continues where the first ended, others start from the bounds with another covering vector and larger least pivots. A ray
    counts when met twice. The best point of all paths is the answer where none is right to round-off: sides of a degenerate problem may
    have a singular matrix M_aa, while the values at the end of the path solve it. A path that cycles ends its attempt.
    """
    warm, rays, best = options[WARM] != 0.0, 0, float("inf")
    if not warm:
        sides(lower, upper, side)
    status = SINGULAR
    for attempt in range(_ATTEMPTS):
        status = _once(M, q, lower, upper, side, z, w, warm, attempt, options, A, B, V, I, info)
        if status == PIVOT_LIMIT:
            break
        if status == RAY and not warm:
            rays += 1
            if rays == 2:
                break
        if status == SOLVED:
            status = SINGULAR
            if polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
                status = SOLVED
                right = worst(side, z, w, lower, upper) <= options[FEASIBILITY] * size(z)
                if right and _clean(q, side, w):
                    return SOLVED
                best = _better(M, q, lower, upper, z, V, best)
                if right and best <= 1e-11:
                    return SOLVED
            best = _better(M, q, lower, upper, V[5], V, best)
        warm = status == SOLVED and attempt == 0
        if not warm and attempt < _ATTEMPTS - 1:
            sides(lower, upper, side)
    if best <= _GOOD:
        for i in range(z.shape[0]):
            z[i] = V[12, i]
        return SOLVED
    return status


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(lemke(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
