"""Interior point of Nesterov and Todd with centrality correctors, cold, for cones and bounded rows; bilateral rows stand in H.

    cones    T = diag(1, mu, mu), lam = T l, s = T u, both in the Lorentz cone (`jordan.py`);  r_s = T (J x + b) + S l - s,  S = T sigma T
    rows     p = lam - lo, q = hi - lam with multipliers: u = p_s - q_s;  r_s = J x + b + sigma lam - p_s + q_s
    both     r_1 = M (x - free) - J^T lam,   mean m = sum of products / sum of w,  w = 1 / D

    t = W (lambda \\ rc) - r_s,   Q = W^2 + S      (rows: rc_p / p - rc_q / q - r_s,  p_s / p + q_s / q + sigma; bilateral -r_s and R)
    (M + J^T T Q^-1 T J) dx = J^T T Q^-1 t - r_1,   dl = Q^-1 (t - T J dx),   ds = r_s + T J dx + S dl

Predictor rc = -lambda o lambda, centring (m after it / m)^5, corrector with the second-order terms, then up to three correctors that
move products into 0.1 ... 10 of their target (Gondzio), one factor for all. Steps are 0.99 of the longest.
Coulomb's law: max(mu |u_t| - least, 0) joins r_s and its change along the direction is followed with the same factor.
"""

from math import inf

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact import jordan
from dalembert.kernels.contact.codes import CONE, INTERIOR_STEPS, LEAST_FOUND, MEAN, MORE, RESIDUAL, STALLED, STEPS
from dalembert.kernels.contact.interior_direction import direction, longest
from dalembert.kernels.contact.interior_point import (
    DL,
    DL2,
    DS,
    DS2,
    DX,
    DX2,
    JX,
    LAM,
    P_DS,
    P_DS2,
    P_RC,
    P_RC2,
    POINT,
    RC,
    RC2,
    SHIFT,
    SHIFT2,
    U,
    X,
    by_W,
    by_W_inverse,
    get3,
    put3,
    residuals,
    scale,
)
from dalembert.kernels.contact.newton import refactor
from dalembert.kernels.contact.residual import natural, shift_of
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

# measured on heaps: see the head
FRACTION, CENTRING, LEAST_CENTRING, CORRECTORS, ENOUGH = 0.99, 5.0, 1e-6, 3, 0.95
LOW, HIGH, STRETCH, ADD, GAIN = 0.1, 10.0, 1.1, 0.3, 0.1
SMALLEST_MEAN = 1e-17
RELAX, BALANCE, COULOMB_SOLVES = 0.7, 0.1, 3
# With the shift inside it ends where so many iterations did not halve the residual: rounds go on from there
STALLS, HALVED = 12, 0.5


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
                b = jordan.product(by_W(work, c, get3(work.turns[DL], i)), by_W_inverse(work, c, get3(work.turns[DS], i)))
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
            x, y, v = by_W(work, c, get3(dl, i)), by_W_inverse(work, c, get3(ds, i)), get3(point, i)
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
def follow_shift(step, work, least, dl, old, new):
    """The change of mu |u_t| along the direction whose J dx is in rows[JX], relaxed."""
    u, jd = work.rows[U], work.rows[JX]
    for c in range(step.kind.shape[0]):
        if step.kind[c] == CONE:
            i, mu = step.first[c], step.mu[c]
            a, b = u[i + 1], u[i + 2]
            da, db = jd[i + 1] + step.sigma[i + 1] * mu * dl[i + 1], jd[i + 2] + step.sigma[i + 2] * mu * dl[i + 2]
            change = shift_of(mu, a + da, b + db, least) - shift_of(mu, a, b, least)
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
def advance(step, pattern, factor, work, floor, least, m, worst, weight, info):
    """One iteration: a factor, predictor, corrector, centrality correctors, a step."""
    turns, pairs, shift, shift2 = work.turns, work.pairs, work.rows[SHIFT], work.rows[SHIFT2]
    follow = least < inf
    scale(step, work, floor)
    refactor(step, pattern, factor, work, info)
    for r in range(step.sigma.shape[0]):
        shift[r], shift2[r] = 0.0, 0.0
    products(step, work, 0.0, False)
    for _ in range(1 + COULOMB_SOLVES if follow else 1):
        _first(step, pattern, factor, work, info)
        if follow:
            follow_shift(step, work, least, turns[DL], shift, shift)
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
        follow_shift(step, work, least, turns[DL], shift, shift2)
    for _ in range(CORRECTORS):
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
            follow_shift(step, work, least, turns[DL], shift, shift2)
    if follow:
        reached = _trial(step, pattern, factor, work, turns[RC], pairs[P_RC], info)
        if reached > 0.8 * a:
            accept(step, work, False)
            a = reached
    move(step, work, a)
    info[STEPS] += 1.0
    info[INTERIOR_STEPS] += 1.0


@kernel
def interior(step, pattern, factor, work, tol, most, floor, least, info):
    """At most `most` iterations from where `start` or the last call left. The best impulses are kept in work.best with info[RESIDUAL].

    OK at the tolerance, MORE after `most`, NOT_CONVERGED where nothing is left to gain.
    """
    for k in range(int(most) + 1):
        now = least if info[INTERIOR_STEPS] >= 1.0 else inf
        m, worst, weight = residuals(step, work, now)
        info[MEAN] = m
        found = natural(step, work, least, work.rows[LAM], work.rows[U])
        if not found < inf or not m < inf:
            return NOT_FINITE
        info[STALLED] = 0.0 if found < HALVED * info[LEAST_FOUND] else info[STALLED] + 1.0
        if found < HALVED * info[LEAST_FOUND]:
            info[LEAST_FOUND] = found
        if found < info[RESIDUAL]:
            info[RESIDUAL] = found
            for r in range(step.sigma.shape[0]):
                work.best[r] = work.rows[LAM, r]
        if found <= tol:
            return OK
        if 0.0 < m < SMALLEST_MEAN or (least < inf and info[STALLED] >= STALLS):
            return NOT_CONVERGED
        if k < int(most):
            advance(step, pattern, factor, work, floor, now, m, worst, weight, info)
    return MORE
