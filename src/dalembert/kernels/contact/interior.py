"""Interior point of Nesterov and Todd with centrality correctors, cold, for cones and bounded rows; bilateral rows stand in H.

    cones    T = diag(1, mu, mu), lam = T l, s = T u, both in the Lorentz cone (`jordan.py`);  r_s = T (J x + b) + S l - s,  S = T sigma T
    rows     p = lam - lo, q = hi - lam with multipliers: u = p_s - q_s;  r_s = J x + b + sigma lam - p_s + q_s
    both     r_1 = M (x - free) - J^T lam,   mean m = sum of products / sum of w,  w = 1 / D

    t = W (lambda \\ rc) - r_s,   Q = W^2 + S      (rows: rc_p / p - rc_q / q - r_s,  p_s / p + q_s / q + sigma; bilateral -r_s and R)
    (M + J^T T Q^-1 T J) dx = J^T T Q^-1 t - r_1,   dl = Q^-1 (t - T J dx),   ds = r_s + T J dx + S dl

Predictor rc = -lambda o lambda, centring sigma = (m after it / m)^5, corrector with the second-order terms, then up to three correctors that
move products into 0.1 ... 10 of their target (Gondzio), one factor for all. Steps are 0.99 of the longest.
Exact Coulomb: mu |u_t| joins r_s and its change along the direction is followed with the same factor.
"""

from math import inf, sqrt

from dalembert.kernels._jit import apart, inline, kernel
from dalembert.kernels.contact import jordan
from dalembert.kernels.contact.codes import CONE, COULOMB, INTERIOR_STEPS, MEAN, MORE, RESIDUAL, SOLVES, STEPS
from dalembert.kernels.contact.factor import solve
from dalembert.kernels.contact.newton import refactor
from dalembert.kernels.contact.products import add_transposed, row_velocities, times_blocks, times_rows, velocities
from dalembert.kernels.contact.residual import natural
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

# places in work.rows, work.bodies, work.turns, work.pairs
JX, U, LAM, DL0, SHIFT, SHIFT2 = 0, 1, 2, 3, 4, 5
X, R1, RHS, DX, DX2 = 0, 1, 2, 3, 4
RS, RC, POINT, DL, DS, DL2, DS2, RC2 = 0, 1, 2, 3, 4, 5, 6, 7
P_RC, P_DS, P_RC2, P_DS2 = 0, 1, 2, 3
ETA, WIDE, E1, E2, QPP, QPM, QMM, QF = 0, 1, 2, 3, 4, 5, 6, 7

# measured on heaps: see the head
FRACTION, CENTRING, LEAST_CENTRING, CORRECTORS, ENOUGH = 0.99, 5.0, 1e-6, 3, 0.95
LOW, HIGH, STRETCH, ADD, GAIN = 0.1, 10.0, 1.1, 0.3, 0.1
SMALLEST_MEAN = 1e-17
RELAX, BALANCE, COULOMB_SOLVES = 0.7, 0.1, 3


@inline
def get3(v, i):
    """Three numbers."""
    return v[i], v[i + 1], v[i + 2]


@inline
def put3(v, i, a):
    """v[i : i + 3] = a"""
    v[i], v[i + 1], v[i + 2] = a[0], a[1], a[2]


@inline
def is_fixed(work, r):
    """Bounds that leave one value."""
    return not work.hi[r] > work.lo[r]


@kernel
def impulses(step, work, l, lam):
    """lam = T l"""
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        for r in range(i, step.first[c + 1]):
            lam[r] = l[r]
        if step.kind[c] == CONE:
            lam[i + 1] *= step.mu[c]
            lam[i + 2] *= step.mu[c]


@inline
def _start_row(work, r, z, m):
    """lam, gaps and multipliers of a row from z = -u / D: products are m / D."""
    lo, hi, gaps, w = work.lo[r], work.hi[r], work.gaps, 1.0 / work.D[r]
    for k in range(4):
        gaps[r, k] = 0.0
    if is_fixed(work, r):
        work.l[r] = lo
    elif lo > -inf and hi < inf:
        wide = hi - lo
        p = min(max(z - lo, 0.1 * wide), 0.9 * wide)
        gaps[r, 0], gaps[r, 2] = p, wide - p
        gaps[r, 1], gaps[r, 3] = m * w / p, m * w / (wide - p)
        work.l[r] = lo + p
    elif lo > -inf:
        gaps[r, 0], gaps[r, 1] = jordan.positive(z - lo, m * w * w), jordan.positive(lo - z, m * w * w) / w
        work.l[r] = lo + gaps[r, 0]
    elif hi < inf:
        gaps[r, 2], gaps[r, 3] = jordan.positive(hi - z, m * w * w), jordan.positive(z - hi, m * w * w) / w
        work.l[r] = hi - gaps[r, 2]
    else:
        work.l[r] = 0.0


@kernel
def start(step, work, info):
    """Cold: from the free velocities, smoothed by (0.3 of the largest speed of a row)^2."""
    u, l, s = work.rows[U], work.l, work.s
    for r in range(step.sigma.shape[0]):
        work.rows[LAM, r] = 0.0
    row_velocities(step, work.b, work.rows[LAM], step.free, u)
    fastest = 1e-9
    for r in range(step.sigma.shape[0]):
        fastest = max(fastest, abs(u[r]))
    m = 0.09 * fastest * fastest
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            w = 1.0 / work.D[i]
            z = (-w * u[i], -w * mu * u[i + 1], -w * mu * u[i + 2])
            put3(l, i, jordan.smooth(z, m * w * w))
            a = jordan.smooth((-z[0], -z[1], -z[2]), m * w * w)
            put3(s, i, (a[0] / w, a[1] / w, a[2] / w))
        else:
            for r in range(i, step.first[c + 1]):
                _start_row(work, r, -u[r] / work.D[r], m)
    impulses(step, work, l, work.rows[LAM])
    velocities(step, work.rows[LAM], work.bodies[X])
    info[RESIDUAL], info[MEAN], info[INTERIOR_STEPS] = inf, m, 0.0


@kernel
def residuals(step, work, law, on):
    """r_s, r_1, u and lam at the iterate. Returns (mean product, largest |r_s|, sum of w)."""
    rows, l, s, rs, u = work.rows, work.l, work.s, work.turns[RS], work.rows[U]
    impulses(step, work, l, rows[LAM])
    row_velocities(step, work.b, rows[LAM], work.bodies[X], u)
    total, weight, worst = 0.0, 0.0, 0.0
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            n = u[i]
            if law == COULOMB and on:
                n += mu * sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
            put3(rs, i, (n - s[i], mu * u[i + 1] - s[i + 1], mu * u[i + 2] - s[i + 2]))
            total += l[i] * s[i] + l[i + 1] * s[i + 1] + l[i + 2] * s[i + 2]
            weight += 1.0 / work.D[i]
            worst = max(worst, max(abs(rs[i]), abs(rs[i + 1]), abs(rs[i + 2])))
        else:
            for r in range(i, step.first[c + 1]):
                p, ps, q, qs = work.gaps[r, 0], work.gaps[r, 1], work.gaps[r, 2], work.gaps[r, 3]
                rs[r] = 0.0 if is_fixed(work, r) else u[r] - ps + qs
                total += p * ps + q * qs
                weight += ((1.0 if p > 0.0 else 0.0) + (1.0 if q > 0.0 else 0.0)) / work.D[r]
                worst = max(worst, abs(rs[r]))
    r1 = work.bodies[R1]
    for k in range(step.free.shape[0]):
        work.bodies[RHS, k] = work.bodies[X, k] - step.free[k]
    times_blocks(step.masses, work.bodies[RHS], r1)
    for r in range(step.sigma.shape[0]):
        rows[DL0, r] = -rows[LAM, r]
    add_transposed(step, rows[DL0], r1)
    return (total / weight if weight > 0.0 else 0.0), worst, weight


@kernel
def scale(step, work, floor):
    """Frames, lambda, and T Q^-1 T. In Q, sigma is at least floor D: without it H would grow beyond bounds where sigma = 0."""
    W, l, s, frame = work.W, work.l, work.s, work.frame
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            lv, sv = get3(l, i), get3(s, i)
            eta, w, d1, d2 = jordan.scaling(lv, sv)
            put3(work.turns[POINT], i, jordan.scaled_point(eta, w, d1, d2, lv, sv))
            least = floor * work.D[i]
            t = mu * mu * max(step.sigma[i + 1], step.sigma[i + 2], least)
            qpp, qpm, qmm, qf = jordan.softened(eta, w, max(step.sigma[i], least), t)
            frame[c, ETA], frame[c, WIDE], frame[c, E1], frame[c, E2] = eta, w, d1, d2
            frame[c, QPP], frame[c, QPM], frame[c, QMM], frame[c, QF] = qpp, qpm, qmm, qf
            a, b, k = 0.5 * (qpp + qmm) + qpm, 0.5 * mu * (qpp - qmm), 0.5 * (qpp + qmm) - qpm
            x, y, z = mu * mu * (k * d1 * d1 + qf * d2 * d2), mu * mu * (k - qf) * d1 * d2, mu * mu * (k * d2 * d2 + qf * d1 * d1)
            W[i, 0], W[i, 1], W[i, 2] = a, b * d1, b * d2
            W[i + 1, 0], W[i + 1, 1], W[i + 1, 2] = b * d1, x, y
            W[i + 2, 0], W[i + 2, 1], W[i + 2, 2] = b * d2, y, z
        else:
            for r in range(i, step.first[c + 1]):
                W[r, 0] = _inverse(step, work, r, floor)


@inline
def _inverse(step, work, r, floor):
    """1 / Q of a row."""
    p, ps, q, qs = work.gaps[r, 0], work.gaps[r, 1], work.gaps[r, 2], work.gaps[r, 3]
    if is_fixed(work, r):
        return 0.0
    if p == 0.0 and q == 0.0:
        return 1.0 / work.R[r]
    return 1.0 / (max(step.sigma[r], floor * work.D[r]) + (ps / p if p > 0.0 else 0.0) + (qs / q if q > 0.0 else 0.0))


@inline
def _divided(work, c, v):
    """Q^-1 v of a cone."""
    f = work.frame
    p, q, t = jordan.to_frame(v, f[c, E1], f[c, E2])
    a, b = 0.5 * (f[c, QPP] * p + f[c, QPM] * q), 0.5 * (f[c, QPM] * p + f[c, QMM] * q)
    return jordan.from_frame(a, b, f[c, QF] * t, f[c, E1], f[c, E2])


@inline
def _by_W(work, c, v):
    f = work.frame
    return jordan.scaled(f[c, ETA], f[c, WIDE], f[c, E1], f[c, E2], v)


@inline
def _by_W_inverse(work, c, v):
    f = work.frame
    return jordan.scaled(1.0 / f[c, ETA], 1.0 / f[c, WIDE], f[c, E1], f[c, E2], v)


@kernel
def _right_side(step, work, rc, p_rc, shift):
    """dl_0 = Q^-1 t into rows[DL0], T dl_0 into rows[LAM]."""
    rs, dl0, lam = work.turns[RS], work.rows[DL0], work.rows[LAM]
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            a = _by_W(work, c, jordan.divide(get3(work.turns[POINT], i), get3(rc, i)))
            d = _divided(work, c, (a[0] - rs[i] - shift[i], a[1] - rs[i + 1], a[2] - rs[i + 2]))
            put3(dl0, i, d)
            put3(lam, i, (d[0], mu * d[1], mu * d[2]))
        else:
            for r in range(i, step.first[c + 1]):
                p, q, t = work.gaps[r, 0], work.gaps[r, 2], -rs[r]
                if p > 0.0:
                    t += p_rc[r, 0] / p
                if q > 0.0:
                    t -= p_rc[r, 1] / q
                dl0[r] = work.W[r, 0] * t
                lam[r] = dl0[r]


@kernel
def _other_sides(step, work, p_rc, shift, dl, ds, p_ds):
    """dl and ds from J dx in rows[JX]."""
    rs, dl0, jd = work.turns[RS], work.rows[DL0], work.rows[JX]
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            d = _divided(work, c, (jd[i], mu * jd[i + 1], mu * jd[i + 2]))
            put3(dl, i, (dl0[i] - d[0], dl0[i + 1] - d[1], dl0[i + 2] - d[2]))
            ds[i] = rs[i] + shift[i] + jd[i] + step.sigma[i] * dl[i]
            for k in range(1, 3):
                ds[i + k] = rs[i + k] + mu * jd[i + k] + mu * mu * step.sigma[i + k] * dl[i + k]
        else:
            for r in range(i, step.first[c + 1]):
                p, q, qs = work.gaps[r, 0], work.gaps[r, 2], work.gaps[r, 3]
                dl[r] = dl0[r] - work.W[r, 0] * jd[r]
                ds[r] = 0.0
                whole = rs[r] + jd[r] + step.sigma[r] * dl[r]
                if p > 0.0 and q > 0.0:
                    p_ds[r, 1] = (p_rc[r, 1] + qs * dl[r]) / q
                    p_ds[r, 0] = whole + p_ds[r, 1]
                elif p > 0.0:
                    p_ds[r, 0], p_ds[r, 1] = whole, 0.0
                elif q > 0.0:
                    p_ds[r, 0], p_ds[r, 1] = 0.0, -whole
                else:
                    p_ds[r, 0], p_ds[r, 1] = 0.0, 0.0


@apart
def direction(step, pattern, factor, work, rc, p_rc, shift, dx, dl, ds, p_ds, info):
    """dx, dl, ds for products rc."""
    _right_side(step, work, rc, p_rc, shift)
    rhs = work.bodies[RHS]
    for k in range(step.free.shape[0]):
        rhs[k] = -work.bodies[R1, k]
    add_transposed(step, work.rows[LAM], rhs)
    solve(pattern, factor.diagonal, factor.blocks, factor.vector, rhs, dx)
    times_rows(step, dx, work.rows[JX])
    _other_sides(step, work, p_rc, shift, dl, ds, p_ds)
    info[SOLVES] += 1.0


@kernel
def longest(step, work, dl, ds, p_ds):
    """The largest step that keeps all products positive."""
    a = jordan.FAR
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            a = min(a, jordan.longest(get3(work.l, i), get3(dl, i)), jordan.longest(get3(work.s, i), get3(ds, i)))
        else:
            for r in range(i, step.first[c + 1]):
                p, ps, q, qs = work.gaps[r, 0], work.gaps[r, 1], work.gaps[r, 2], work.gaps[r, 3]
                if p > 0.0:
                    a = min(a, _until(p, dl[r]), _until(ps, p_ds[r, 0]))
                if q > 0.0:
                    a = min(a, _until(q, -dl[r]), _until(qs, p_ds[r, 1]))
    return a


@inline
def _until(x, d):
    return -x / d if d < 0.0 else jordan.FAR


@kernel
def mean_after(step, work, a, weight):
    """m after a step a along dl, ds."""
    l, s, dl, ds, total = work.l, work.s, work.turns[DL], work.turns[DS], 0.0
    for c in range(step.kind.shape[0]):
        for r in range(step.first[c], step.first[c + 1]):
            if step.kind[c] == CONE:
                total += (l[r] + a * dl[r]) * (s[r] + a * ds[r])
            else:
                p, ps, q, qs = work.gaps[r, 0], work.gaps[r, 1], work.gaps[r, 2], work.gaps[r, 3]
                if p > 0.0:
                    total += (p + a * dl[r]) * (ps + a * work.pairs[P_DS, r, 0])
                if q > 0.0:
                    total += (q - a * dl[r]) * (qs + a * work.pairs[P_DS, r, 1])
    return max(total / weight, 0.0) if weight > 0.0 else 0.0


@kernel
def products(step, work, target, second):
    """rc = -lambda o lambda [- second-order terms of the direction at hand] + target w e"""
    rc, p_rc, point = work.turns[RC], work.pairs[P_RC], work.turns[POINT]
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            v = get3(point, i)
            a = jordan.product(v, v)
            b = (0.0, 0.0, 0.0)
            if second:
                b = jordan.product(_by_W(work, c, get3(work.turns[DL], i)), _by_W_inverse(work, c, get3(work.turns[DS], i)))
            put3(rc, i, (target / work.D[i] - a[0] - b[0], -a[1] - b[1], -a[2] - b[2]))
        else:
            for r in range(i, step.first[c + 1]):
                t, d = target / work.D[r], work.turns[DL, r] if second else 0.0
                p_rc[r, 0] = t - work.gaps[r, 0] * work.gaps[r, 1]
                p_rc[r, 1] = t - work.gaps[r, 2] * work.gaps[r, 3]
                if second:
                    p_rc[r, 0] -= d * work.pairs[P_DS, r, 0]
                    p_rc[r, 1] += d * work.pairs[P_DS, r, 1]


@kernel
def centred(step, work, a, target):
    """rc of a centrality corrector for a step a along the direction at hand."""
    dl, ds, rc, rc2, point = work.turns[DL], work.turns[DS], work.turns[RC], work.turns[RC2], work.turns[POINT]
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            x, y, v = _by_W(work, c, get3(dl, i)), _by_W_inverse(work, c, get3(ds, i)), get3(point, i)
            x, y = (v[0] + a * x[0], v[1] + a * x[1], v[2] + a * x[2]), (v[0] + a * y[0], v[1] + a * y[1], v[2] + a * y[2])
            t = target / work.D[i]
            g = jordan.clipped(jordan.product(x, y), LOW * t, HIGH * t)
            put3(rc2, i, (rc[i] + g[0], rc[i + 1] + g[1], rc[i + 2] + g[2]))
        else:
            for r in range(i, step.first[c + 1]):
                t, gaps, p_ds = target / work.D[r], work.gaps, work.pairs[P_DS]
                low = (gaps[r, 0] + a * dl[r]) * (gaps[r, 1] + a * p_ds[r, 0])
                high = (gaps[r, 2] - a * dl[r]) * (gaps[r, 3] + a * p_ds[r, 1])
                work.pairs[P_RC2, r, 0] = work.pairs[P_RC, r, 0] + jordan.clip_change(low, LOW * t, HIGH * t)
                work.pairs[P_RC2, r, 1] = work.pairs[P_RC, r, 1] + jordan.clip_change(high, LOW * t, HIGH * t)


@kernel
def follow_shift(step, work, dl, old, new):
    """The change of mu |u_t| along the direction whose J dx is in rows[JX], relaxed."""
    u, jd = work.rows[U], work.rows[JX]
    for c in range(step.kind.shape[0]):
        if step.kind[c] == CONE:
            i, mu = step.first[c], step.mu[c]
            a, b = u[i + 1], u[i + 2]
            da, db = jd[i + 1] + step.sigma[i + 1] * mu * dl[i + 1], jd[i + 2] + step.sigma[i + 2] * mu * dl[i + 2]
            change = mu * (sqrt((a + da) * (a + da) + (b + db) * (b + db)) - sqrt(a * a + b * b))
            new[i] = old[i] + RELAX * (change - old[i])


@kernel
def accept(step, work, with_rc):
    """The trial direction becomes the direction."""
    turns, pairs = work.turns, work.pairs
    for r in range(step.sigma.shape[0]):
        turns[DL, r], turns[DS, r] = turns[DL2, r], turns[DS2, r]
        pairs[P_DS, r, 0], pairs[P_DS, r, 1] = pairs[P_DS2, r, 0], pairs[P_DS2, r, 1]
        work.rows[SHIFT, r] = work.rows[SHIFT2, r]
        if with_rc:
            turns[RC, r] = turns[RC2, r]
            pairs[P_RC, r, 0], pairs[P_RC, r, 1] = pairs[P_RC2, r, 0], pairs[P_RC2, r, 1]
    for k in range(step.free.shape[0]):
        work.bodies[DX, k] = work.bodies[DX2, k]


@kernel
def move(step, work, a):
    """x, l, s and gaps += a times the direction."""
    for k in range(step.free.shape[0]):
        work.bodies[X, k] += a * work.bodies[DX, k]
    for r in range(step.sigma.shape[0]):
        d = a * work.turns[DL, r]
        work.l[r] += d
        work.s[r] += a * work.turns[DS, r]
        if work.gaps[r, 0] > 0.0:
            work.gaps[r, 0] += d
            work.gaps[r, 1] += a * work.pairs[P_DS, r, 0]
        if work.gaps[r, 2] > 0.0:
            work.gaps[r, 2] -= d
            work.gaps[r, 3] += a * work.pairs[P_DS, r, 1]


@inline
def _copy_shift(step, work, source, to):
    for r in range(step.sigma.shape[0]):
        work.rows[to, r] = work.rows[source, r]


@kernel
def _first(step, pattern, factor, work, info):
    """Along rc: the direction at hand."""
    turns, pairs = work.turns, work.pairs
    direction(
        step, pattern, factor, work, turns[RC], pairs[P_RC], work.rows[SHIFT], work.bodies[DX], turns[DL], turns[DS], pairs[P_DS], info
    )


@kernel
def _trial(step, pattern, factor, work, rc, p_rc, info):
    """Along given products: the trial direction. Returns its longest step."""
    turns, pairs = work.turns, work.pairs
    direction(step, pattern, factor, work, rc, p_rc, work.rows[SHIFT2], work.bodies[DX2], turns[DL2], turns[DS2], pairs[P_DS2], info)
    return min(1.0, FRACTION * longest(step, work, turns[DL2], turns[DS2], pairs[P_DS2]))


@kernel
def advance(step, pattern, factor, work, floor, follow, m, worst, weight, info):
    """One iteration: a factor, predictor, corrector, centrality correctors, a step."""
    turns, pairs, shift, shift2 = work.turns, work.pairs, work.rows[SHIFT], work.rows[SHIFT2]
    scale(step, work, floor)
    refactor(step, pattern, factor, work, info)
    for r in range(step.sigma.shape[0]):
        shift[r], shift2[r] = 0.0, 0.0
    products(step, work, 0.0, False)
    for k in range(1 + COULOMB_SOLVES if follow else 1):
        _first(step, pattern, factor, work, info)
        if follow:
            follow_shift(step, work, turns[DL], shift, shift)
    a = min(1.0, longest(step, work, turns[DL], turns[DS], pairs[P_DS]))
    centring = 1.0
    if m > 0.0:
        centring = min(max(min(1.0, mean_after(step, work, a, weight) / m) ** CENTRING, LEAST_CENTRING), 1.0)
        if follow:
            centring = min(1.0, max(centring, (BALANCE * worst) ** 2 / m))
    target = centring * m
    products(step, work, target, True)
    _first(step, pattern, factor, work, info)
    a = min(1.0, FRACTION * longest(step, work, turns[DL], turns[DS], pairs[P_DS]))
    _copy_shift(step, work, SHIFT, SHIFT2)
    if follow:
        follow_shift(step, work, turns[DL], shift, shift2)
    for k in range(CORRECTORS):
        if a > ENOUGH:
            break
        goal = min(1.0, STRETCH * a + ADD)
        centred(step, work, goal, target)
        reached = _trial(step, pattern, factor, work, turns[RC2], pairs[P_RC2], info)
        if not reached >= a + GAIN * (goal - a):
            break
        accept(step, work, True)
        a = reached
        if follow:
            follow_shift(step, work, turns[DL], shift, shift2)
    if follow:
        reached = _trial(step, pattern, factor, work, turns[RC], pairs[P_RC], info)
        if reached > 0.8 * a:
            accept(step, work, False)
            a = reached
    move(step, work, a)
    info[STEPS] += 1.0
    info[INTERIOR_STEPS] += 1.0


@kernel
def interior(step, pattern, factor, work, tol, most, floor, law, info):
    """At most `most` iterations from where `start` or the last call left. The best impulses are kept in work.best with info[RESIDUAL].

    OK at the tolerance, MORE after `most`, NOT_CONVERGED where nothing is left to gain.
    """
    for k in range(int(most) + 1):
        follow = law == COULOMB and info[INTERIOR_STEPS] >= 1.0
        m, worst, weight = residuals(step, work, law, follow)
        info[MEAN] = m
        found = natural(step, work, law, work.rows[LAM], work.rows[U])
        if not found < inf or not m < inf:
            return NOT_FINITE
        if found < info[RESIDUAL]:
            info[RESIDUAL] = found
            for r in range(step.sigma.shape[0]):
                work.best[r] = work.rows[LAM, r]
        if found <= tol:
            return OK
        if 0.0 < m < SMALLEST_MEAN:
            return NOT_CONVERGED
        if k < int(most):
            advance(step, pattern, factor, work, floor, follow, m, worst, weight, info)
    return MORE
