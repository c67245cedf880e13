"""The iterate of the interior point: where it starts, its residuals, its scaling. Formulas in `interior.py`, cones in `jordan.py`."""

from math import inf

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact import jordan
from dalembert.kernels.contact.codes import CONE, INTERIOR_STEPS, LEAST_FOUND, MEAN, RESIDUAL, STALLED
from dalembert.kernels.contact.products import add_transposed, row_velocities, times_blocks, velocities
from dalembert.kernels.contact.residual import shift_of

# places in work.rows, work.bodies, work.turns, work.pairs
JX, U, LAM, DL0, SHIFT, SHIFT2 = 0, 1, 2, 3, 4, 5
X, R1, RHS, DX, DX2 = 0, 1, 2, 3, 4
RS, RC, POINT, DL, DS, DL2, DS2, RC2 = 0, 1, 2, 3, 4, 5, 6, 7
P_RC, P_DS, P_RC2, P_DS2 = 0, 1, 2, 3
ETA, WIDE, E1, E2, QPP, QPM, QMM, QF = 0, 1, 2, 3, 4, 5, 6, 7


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
        work.best[r] = work.lam[r]
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
    info[RESIDUAL], info[MEAN], info[INTERIOR_STEPS], info[LEAST_FOUND], info[STALLED] = inf, m, 0.0, inf, 0.0


@kernel
def residuals(step, work, least):
    """r_s, r_1, u and lam at the iterate. Returns (mean product, largest |r_s|, sum of w)."""
    rows, l, s, rs, u = work.rows, work.l, work.s, work.turns[RS], work.rows[U]
    impulses(step, work, l, rows[LAM])
    row_velocities(step, work.b, rows[LAM], work.bodies[X], u)
    total, weight, worst = 0.0, 0.0, 0.0
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            n = u[i] + shift_of(mu, u[i + 1], u[i + 2], least)
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
def divided(work, c, v):
    """Q^-1 v of a cone."""
    f = work.frame
    p, q, t = jordan.to_frame(v, f[c, E1], f[c, E2])
    a, b = 0.5 * (f[c, QPP] * p + f[c, QPM] * q), 0.5 * (f[c, QPM] * p + f[c, QMM] * q)
    return jordan.from_frame(a, b, f[c, QF] * t, f[c, E1], f[c, E2])


@inline
def by_W(work, c, v):
    f = work.frame
    return jordan.scaled(f[c, ETA], f[c, WIDE], f[c, E1], f[c, E2], v)


@inline
def by_W_inverse(work, c, v):
    f = work.frame
    return jordan.scaled(1.0 / f[c, ETA], 1.0 / f[c, WIDE], f[c, E1], f[c, E2], v)
