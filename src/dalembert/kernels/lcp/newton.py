"""Newton's method on a function whose zeros are the solutions: see `dalembert.complementarity.newton`."""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.codes import FEASIBILITY, FIRST, LIMIT, PIVOT_LIMIT, PIVOTS, SINGULAR, SOLVED, WARM
from dalembert.kernels.lcp.dense import lu_factor, lu_solve, product
from dalembert.kernels.lcp.guard import fingerprint
from dalembert.kernels.lcp.newton_functions import MINIMUM, SMOOTHING, evaluate
from dalembert.kernels.lcp.polish import guess, polish, size, worst


@inline
def _merit(kind, z, w, lower, upper, c, theta, step, M_step):
    """|F|^2 / 2 at z + theta step, where w = w + theta M step."""
    total = 0.0
    for i in range(z.shape[0]):
        f, _, _ = evaluate(kind, z[i] + theta * step[i], w[i] + theta * M_step[i], lower[i], upper[i], c)
        total += 0.5 * f * f
    return total


@kernel
def _direction(kind, M, z, w, lower, upper, c, A, V, I):
    """Solve (diag F_z + diag F_w M) step = -F into V[5]. False where the matrix is singular."""
    n, F, order = z.shape[0], V[2], I[1]
    for i in range(n):
        F[i], a, b = evaluate(kind, z[i], w[i], lower[i], upper[i], c)
        source, target = M[i], A[i]
        for j in range(n):
            target[j] = b * source[j]
        A[i, i] += a
        F[i] = -F[i]
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
def _search(kind, z, w, lower, upper, c, V):
    """Halve the step until |F|^2 falls (Armijo, 1e-4). Returns theta, 0 where that does not happen."""
    step, M_step, theta = V[5], V[7], 1.0
    old = _merit(kind, z, w, lower, upper, c, 0.0, step, M_step)
    for _ in range(30):
        if _merit(kind, z, w, lower, upper, c, theta, step, M_step) <= (1.0 - 2e-4 * theta) * old:
            return theta
        theta *= 0.5
    return 0.0


@inline
def _natural(z, w, lower, upper):
    most = 0.0
    for i in range(z.shape[0]):
        most = max(most, abs(z[i] - min(max(z[i] - w[i], lower[i]), upper[i])))
    return most


@inline
def _finish(M, q, lower, upper, side, z, w, feasibility, B, V, I):
    """True where the sides that z suggests are the right ones; z and w are then exact. Otherwise z and w are left alone."""
    n, z_kept, w_kept = z.shape[0], V[3], V[4]
    for i in range(n):
        z_kept[i], w_kept[i] = z[i], w[i]
    if polish(M, q, lower, upper, side, z, w, B, V, I) and worst(side, z, w, lower, upper) <= feasibility * size(z):
        return True
    for i in range(n):
        z[i], w[i] = z_kept[i], w_kept[i]
    return False


@kernel
def newton(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """options: FIRST the function, FIRST + 1 the first smoothing c relative to the natural residual, FIRST + 2 its reduction per step."""
    n, kind, step = q.shape[0], int(options[FIRST]), V[5]
    if options[WARM] == 0.0:
        for i in range(n):
            z[i] = min(max(0.0, lower[i]), upper[i])
    product(M, z, q, w)
    c = options[FIRST + 1] * _natural(z, w, lower, upper) if kind == SMOOTHING else 0.0
    last, failed = -1.0, -1.0
    while True:
        guess(side, z, w, lower, upper)
        mark = fingerprint(side)
        if (mark == last or kind == MINIMUM or options[WARM] != 0.0) and mark != failed:
            if _finish(M, q, lower, upper, side, z, w, options[FEASIBILITY], B, V, I):
                return SOLVED
            failed = mark
        last = mark
        if info[PIVOTS] >= options[LIMIT]:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        if not _direction(kind, M, z, w, lower, upper, c, A, V, I):
            return SINGULAR
        theta = _search(kind, z, w, lower, upper, c, V)
        if theta == 0.0 and kind != SMOOTHING:
            return PIVOT_LIMIT
        for i in range(n):
            z[i] += theta * step[i]
        product(M, z, q, w)
        if kind == SMOOTHING:
            c = min(c * (options[FIRST + 2] if theta > 0.1 else 0.9), _natural(z, w, lower, upper))
