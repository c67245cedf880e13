"""Newton's method on a function whose zeros are the solutions: see `dalembert.complementarity.newton`."""

from dalembert.kernels._jit import inline, kernel, packed
from dalembert.kernels.lcp.codes import FEASIBILITY, FIRST, KEPT, LIMIT, PIVOT_LIMIT, PIVOTS, RUN, SINGULAR, SOLVED, WARM
from dalembert.kernels.lcp.dense import product
from dalembert.kernels.lcp.factor import lu_factor, lu_solve
from dalembert.kernels.lcp.guard import fingerprint
from dalembert.kernels.lcp.newton_functions import MINIMUM, SMOOTHING, evaluate
from dalembert.kernels.lcp.polish import guess, polish, size, worst
from dalembert.kernels.lcp.run import conclude, prepare


@inline
def _weight(M, fraction):
    """1 / (fraction times the mean of |M_ii|): F weighs w by it."""
    total = 0.0
    for i in range(M.shape[0]):
        total += abs(M[i, i])
    return M.shape[0] / (fraction * total) if total > 0.0 else 1.0


@inline
def _merit(kind, z, w, lower, upper, c, r, theta, step, M_step):
    """|F|^2 / 2 and max |F| at z + theta step, where w is w + theta M step."""
    total, most = 0.0, 0.0
    for i in range(z.shape[0]):
        f, _, _ = evaluate(kind, z[i] + theta * step[i], r * (w[i] + theta * M_step[i]), lower[i], upper[i], c)
        total += 0.5 * f * f
        most = max(most, abs(f))
    return total, most


@kernel
def _direction(kind, M, z, w, lower, upper, c, r, A, V, I):
    """Solve (diag F_z + diag F_w r M) step = -F into V[5], M step into V[7]. False where the matrix is singular."""
    n, F, order = z.shape[0], V[2], I[1]
    for i in range(n):
        f, a, b = evaluate(kind, z[i], r * w[i], lower[i], upper[i], c)
        source, target = M[i], A[i]
        b *= r
        for j in range(n):
            target[j] = b * source[j]
        target[i] += a
        F[i] = -f
    if not lu_factor(A, n, order):
        return False
    lu_solve(A, n, order, F, V[5])
    for i in range(n):
        if not abs(V[5, i]) < 1e150:
            return False
        V[6, i] = 0.0
    product(M, V[5], V[6], V[7])
    return True


@inline
def _search(kind, z, w, lower, upper, c, r, V):
    """Halve the step until |F|^2 falls (Armijo, 1e-4). Returns theta, 0 where that does not happen, and max |F| there."""
    step, M_step, theta = V[5], V[7], 1.0
    old, most = _merit(kind, z, w, lower, upper, c, r, 0.0, step, M_step)
    for _ in range(30):
        new, there = _merit(kind, z, w, lower, upper, c, r, theta, step, M_step)
        if new <= (1.0 - 2e-4 * theta) * old:
            return theta, there
        theta *= 0.5
    return 0.0, most


@inline
def _finish(M, q, lower, upper, side, z, w, options, B, V, I, info):
    """True where the sides that z suggests are the right ones; z and w are then exact. Otherwise z and w are left alone."""
    n, z_kept, w_kept = z.shape[0], V[3], V[4]
    for i in range(n):
        z_kept[i], w_kept[i] = z[i], w[i]
    if polish(M, q, lower, upper, side, z, w, options, B, V, I, info) and worst(side, z, w, lower, upper) <= options[FEASIBILITY] * size(z):
        return True
    for i in range(n):
        z[i], w[i] = z_kept[i], w_kept[i]
    return False


@kernel
def newton(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """options: FIRST the function, FIRST + 1 the weight's fraction, FIRST + 2 the reduction of c per step."""
    n, kind, step = q.shape[0], int(options[FIRST]), V[5]
    r = _weight(M, options[FIRST + 1])
    if options[WARM] == 0.0:
        for i in range(n):
            z[i] = min(max(0.0, lower[i]), upper[i])
    product(M, z, q, w)
    _, most = _merit(MINIMUM, z, w, lower, upper, 0.0, r, 0.0, z, w)
    c = most if kind == SMOOTHING else 0.0
    last, failed = -1.0, -1.0
    while True:
        guess(side, z, w, lower, upper, r)
        mark = fingerprint(side)
        if (mark == last or kind == MINIMUM or options[WARM] != 0.0) and mark != failed:
            if _finish(M, q, lower, upper, side, z, w, options, B, V, I, info):
                return SOLVED
            failed = mark
        last = mark
        if info[PIVOTS] >= options[LIMIT]:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        if not _direction(kind, M, z, w, lower, upper, c, r, A, V, I):
            return SINGULAR
        theta, most = _search(kind, z, w, lower, upper, c, r, V)
        if theta == 0.0 and (kind != SMOOTHING or c < 1e-300):
            return PIVOT_LIMIT
        for i in range(n):
            z[i] += theta * step[i]
        product(M, z, q, w)
        if most <= c or theta == 0.0:  # near the path of zeros for this c: on to a smaller one
            c *= options[FIRST + 2] if theta == 1.0 else 0.5


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(newton(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
