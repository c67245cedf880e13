"""Primal Newton with an exact line search, in increments, for all laws; proximal where sigma is below the floor.

About a base lam_p with x_p = free + M^-1 J^T lam_p and u_p = J x_p + b + sigma lam_p, unknown d = x - x_p:

    minimise 1/2 |d|_M^2 + 1/2 |P(y)|_R^2 - ...,     y = lam_p - (u_p + J d) / R,     lam = P(y)
    gradient M d - J^T (lam - lam_p),                 matrix M + J^T (P' / R) J

R = sigma where that is at least the floor: then lam_p drops out and this is the law itself. Elsewhere (R - sigma) (lam - lam_p) has been
added to u, and the base follows: lam_p <- lam, d <- M^-1 gradient, until the judge is content. All are increments about the base, so
round-off is that of u and not of u / R: joints without compliance are solved to round-off with the same factor.
The factor is kept while all constraints stay on the same piece of their laws and the gradient falls by 3 or more per correction. It is
not kept from step to step: the last digits of a run would depend on where it was resumed.
"""

from math import inf, sqrt

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.codes import CONE, FACTORS, INSIDE, REPAIRED, RESIDUAL, SLIDING, SOLVES, STEPS
from dalembert.kernels.contact.factor import assemble, decompose, solve
from dalembert.kernels.contact.laws import box, cone, cone_derivative
from dalembert.kernels.contact.products import add_transposed, block_times, row_velocities, times_blocks, times_rows, velocities
from dalembert.kernels.contact.residual import natural
from dalembert.kernels.linalg.six import dot6, load6, store6
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

# places in work.rows and work.bodies
UP, JD, Y, JDD, LAM, MINUS = 0, 1, 2, 3, 4, 5
XP, DX, G, DD = 0, 1, 2, 3

# A correction with an old factor must bring the gradient below this part, else the factor is made anew.
SLOW = 0.3
PIVOT = 1e-15


@kernel
def evaluate(step, work):
    """y, lam = P(y), states and the gradient at d. Returns the largest entry of M^-1 gradient."""
    rows, base, R = work.rows, work.base, work.R
    up, jd, y, lam, minus, g = rows[UP], rows[JD], rows[Y], rows[LAM], rows[MINUS], work.bodies[G]
    for c in range(step.kind.shape[0]):
        i, end = step.first[c], step.first[c + 1]
        for r in range(i, end):
            y[r] = base[r] - (up[r] + jd[r]) / R[r]
        if step.kind[c] == CONE:
            k = sqrt(R[i + 1] / R[i])
            lam[i], lam[i + 1], lam[i + 2], work.state[c] = cone(y[i], y[i + 1], y[i + 2], step.mu[c], k)
        else:
            work.state[c] = INSIDE
            for r in range(i, end):
                lam[r], state = box(y[r], work.lo[r], work.hi[r])
                if state != INSIDE:
                    work.state[c] = state
        for r in range(i, end):
            minus[r] = base[r] - lam[r]
    times_blocks(step.masses, work.bodies[DX], g)
    add_transposed(step, minus, g)
    worst = 0.0
    for i in range(step.inverse.shape[0]):
        v = block_times(step.inverse, i, load6(g, 6 * i))
        most = max(max(abs(v[0]), abs(v[1]), abs(v[2])), max(abs(v[3]), abs(v[4]), abs(v[5])))
        if not most <= worst:
            worst = most
    return worst


@kernel
def weights(step, work):
    """W = P' / R at y."""
    W, R, y = work.W, work.R, work.rows[Y]
    for c in range(step.kind.shape[0]):
        i, state = step.first[c], work.state[c]
        if step.kind[c] != CONE:
            for r in range(i, step.first[c + 1]):
                W[r, 0] = 1.0 / R[r] if state == INSIDE else 0.0
            continue
        for r in range(i, i + 3):
            W[r, 0], W[r, 1], W[r, 2] = 0.0, 0.0, 0.0
        if state == INSIDE:
            W[i, 0], W[i + 1, 1], W[i + 2, 2] = 1.0 / R[i], 1.0 / R[i + 1], 1.0 / R[i + 1]
        elif state == SLIDING:
            k = sqrt(R[i + 1] / R[i])
            nn, n1, n2, a, m, b = cone_derivative(y[i], y[i + 1], y[i + 2], step.mu[c], k, 1.0 / R[i])
            W[i, 0], W[i, 1], W[i, 2] = nn, n1, n2
            W[i + 1, 0], W[i + 1, 1], W[i + 1, 2] = n1, a, m
            W[i + 2, 0], W[i + 2, 1], W[i + 2, 2] = n2, m, b


@kernel
def refactor(step, pattern, factor, work, info):
    """U of H = M + J^T W J, counted."""
    assemble(step, pattern, factor, work.W)
    info[REPAIRED] += decompose(pattern, factor.diagonal, factor.blocks, factor.vector, factor.at, PIVOT)
    info[FACTORS] += 1.0
    factor.kept[0] = 0


@inline
def _serves(step, factor, work):
    """Whether U was made for these states."""
    if factor.kept[0] == 0 or factor.kept[1] != step.kind.shape[0]:
        return False
    for c in range(step.kind.shape[0]):
        if factor.state[c] != work.state[c]:
            return False
    return True


@inline
def _remember(step, factor, work):
    factor.kept[0], factor.kept[1] = 1, step.kind.shape[0]
    for c in range(step.kind.shape[0]):
        factor.state[c] = work.state[c]


@kernel
def slope(step, work, a):
    """Sum of (P(y - a J dd / R) - lam_p) . J dd"""
    y, jdd, R, base = work.rows[Y], work.rows[JDD], work.R, work.base
    total = 0.0
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            k = sqrt(R[i + 1] / R[i])
            n, t1, t2 = y[i] - a * jdd[i] / R[i], y[i + 1] - a * jdd[i + 1] / R[i + 1], y[i + 2] - a * jdd[i + 2] / R[i + 2]
            n, t1, t2, _ = cone(n, t1, t2, step.mu[c], k)
            total += (n - base[i]) * jdd[i] + (t1 - base[i + 1]) * jdd[i + 1] + (t2 - base[i + 2]) * jdd[i + 2]
        else:
            for r in range(i, step.first[c + 1]):
                p, _ = box(y[r] - a * jdd[r] / R[r], work.lo[r], work.hi[r])
                total += (p - base[r]) * jdd[r]
    return total


@kernel
def line_search(step, work, rtol, longest):
    """The zero of the slope along dd, by the Illinois rule between brackets; 1 where the slope there is below rtol of that at 0."""
    d, dd = work.bodies[DX], work.bodies[DD]
    at_d, square = 0.0, 0.0
    for i in range(step.masses.shape[0]):
        v = block_times(step.masses, i, load6(dd, 6 * i))
        for k in range(6):
            at_d += v[k] * d[6 * i + k]
            square += v[k] * dd[6 * i + k]
    begin, end = at_d - slope(step, work, 0.0), at_d + square - slope(step, work, 1.0)
    if abs(end) <= rtol * abs(begin) or not begin < 0.0:
        return 1.0
    low, high, f_low, f_high = 0.0, 1.0, begin, end
    while f_high < 0.0 and high < longest:
        low, f_low = high, f_high
        high *= 2.0
        f_high = at_d + high * square - slope(step, work, high)
    a = high
    for _ in range(60):
        a = (low * f_high - high * f_low) / (f_high - f_low) if f_high != f_low else 0.5 * (low + high)
        if not low < a < high:
            a = 0.5 * (low + high)
        f = at_d + a * square - slope(step, work, a)
        if abs(f) <= rtol * abs(begin) or high - low < 1e-12:
            break
        if f < 0.0:
            low, f_low = a, f
            f_high *= 0.5
        else:
            high, f_high = a, f
            f_low *= 0.5
    return a


@kernel
def _base(step, work, lam):
    """lam_p = lam, x_p, u_p. Returns its residual by the associated law."""
    for r in range(step.sigma.shape[0]):
        work.base[r] = lam[r]
    velocities(step, work.base, work.bodies[XP])
    row_velocities(step, work.b, work.base, work.bodies[XP], work.rows[UP])
    return natural(step, work, inf, work.base, work.rows[UP])


@inline
def _move(step, work, a):
    """d += a dd"""
    d, dd, jd, jdd = work.bodies[DX], work.bodies[DD], work.rows[JD], work.rows[JDD]
    for i in range(step.free.shape[0]):
        d[i] += a * dd[i]
    for r in range(step.sigma.shape[0]):
        jd[r] += a * jdd[r]


@kernel
def _correct(step, pattern, factor, work, info):
    """One correction with the factor at hand."""
    g = work.bodies[G]
    for i in range(step.free.shape[0]):
        g[i] = -g[i]
    solve(pattern, factor.diagonal, factor.blocks, factor.vector, g, work.bodies[DD])
    times_rows(step, work.bodies[DD], work.rows[JDD])
    _move(step, work, line_search(step, work, 1e-3, 64.0))
    info[SOLVES] += 1.0
    info[STEPS] += 1.0


@kernel
def _follow(step, work):
    """The base goes to lam; d <- M^-1 gradient, so that x stays. Returns the residual at the new base."""
    d, g = work.bodies[DX], work.bodies[G]
    for i in range(step.inverse.shape[0]):
        store6(d, 6 * i, block_times(step.inverse, i, load6(g, 6 * i)))
    times_rows(step, d, work.rows[JD])
    return _base(step, work, work.rows[LAM])


@kernel
def _merit(step, work):
    """1/2 |d|_M^2 + 1/2 |P(y)|_R^2 + lam_p . J d after `evaluate`."""
    d, lam, total = work.bodies[DX], work.rows[LAM], 0.0
    for i in range(step.masses.shape[0]):
        v = load6(d, 6 * i)
        total += 0.5 * dot6(v, block_times(step.masses, i, v))
    for r in range(step.sigma.shape[0]):
        total += 0.5 * work.R[r] * lam[r] * lam[r] + work.base[r] * work.rows[JD, r]
    return total


@kernel
def _begin(step, pattern, work, compare):
    """d of work.start, or 0, the velocities of the base, where they are compared and that is better: at rest the first is, in motion often
    the second. Bodies without constraints are at x = free already."""
    d, jd = work.bodies[DX], work.rows[JD]
    for i in range(step.free.shape[0]):
        d[i] = work.start[i] - work.bodies[XP, i] if pattern.place[i // 6] >= 0 else 0.0
    times_rows(step, d, jd)
    if not compare:
        return
    evaluate(step, work)
    started = _merit(step, work)
    for i in range(step.free.shape[0]):
        work.bodies[DD, i], d[i] = d[i], 0.0
    for r in range(step.sigma.shape[0]):
        work.rows[JDD, r], jd[r] = jd[r], 0.0
    evaluate(step, work)
    if not _merit(step, work) < started:
        _move(step, work, 1.0)


@inline
def _keep(step, work, lam):
    for r in range(step.sigma.shape[0]):
        work.best[r] = lam[r]


@kernel
def _finish(step, work, residual, info):
    """lam = best, x = x(lam)."""
    for r in range(step.sigma.shape[0]):
        work.lam[r] = work.best[r]
    velocities(step, work.lam, work.x)
    info[RESIDUAL] = residual


@kernel
def newton(step, pattern, factor, work, tol, most, from_zero, compare, info):
    """From velocities work.start and impulses work.lam, at most `most` new factors.

    The best impulses found are left in work.lam, work.x follows from them; work.start is where another call would go on.

    from_zero: base 0, kept there: the minimisation with sigma = R whatever that is, for continuation; ends where its gradient is below tol.
    """
    if from_zero:
        for r in range(step.sigma.shape[0]):
            work.lam[r] = 0.0
    residual = _base(step, work, work.lam)
    _keep(step, work, work.lam)
    best = residual
    _begin(step, pattern, work, compare)
    made, stalls, last, inner, size, fresh = 0, 0, inf, tol, inf, False
    for _ in range(8 * int(most) + 40):
        size = evaluate(step, work)
        if not size < inf:
            break
        serves = _serves(step, factor, work)
        floor = fresh and serves and size > SLOW * last and size < 1e3 * tol  # an exact correction changed nothing: round-off
        if size <= inner or floor:
            if from_zero:
                break
            residual = _follow(step, work)
            if residual < 0.5 * best:
                stalls = 0
            else:
                stalls += 1
                inner *= 0.2
            if residual < best:
                best = residual
                _keep(step, work, work.base)
            if best <= tol or stalls >= 4:
                break
            last, fresh = inf, False
            continue
        fresh = not serves or size > SLOW * last
        if fresh:
            if made == int(most):
                break
            made += 1
            weights(step, work)
            refactor(step, pattern, factor, work, info)
            _remember(step, factor, work)
        last = size
        _correct(step, pattern, factor, work, info)
    for i in range(step.free.shape[0]):
        work.start[i] = work.bodies[XP, i] + work.bodies[DX, i]
    if from_zero:
        return OK
    if best > tol and size < inf:
        residual = _base(step, work, work.rows[LAM])
        if residual < best:
            best = residual
            _keep(step, work, work.base)
    _finish(step, work, best, info)
    if not best < inf:
        return NOT_FINITE
    return OK if best <= tol else NOT_CONVERGED
