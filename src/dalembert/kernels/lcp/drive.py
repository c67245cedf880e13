"""Drive one variable z_s off its bound until w_s vanishes: what Keller's and Cottle and Dantzig's methods share.

z_s moves by p theta (p = 1 off a lower bound, -1 off an upper), the basic variables by p theta T[s]. The step ends at the first of

    theta0   w_s = 0: s becomes free, and the drive is over
    theta1   z_s reaches its other bound: the drive is over (missing in print: lacoursiere2007 Alg. 16.5.4 ends with theta0 alone)
    theta2   a free z_r reaches a bound: r goes there, the drive goes on
    theta3   a guarded w_r (guard[r] = 1) reaches 0: r becomes free, the drive goes on
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lcp.codes import FREE, LOWER, PIVOT_LIMIT, PIVOTS, RAY, SINGULAR, SOLVED, UPPER
from dalembert.kernels.lcp.dense import axpy
from dalembert.kernels.lcp.dictionary import pivot

INFINITY = float("inf")


@inline
def _block(T, s, p, x, side, lower, upper, guard, small):
    """(theta, r): the first free z or guarded w that a step along column s stops at."""
    theta, r, column = INFINITY, -1, T[s]
    for i in range(x.shape[0]):
        d = p * column[i]
        if i == s or abs(d) <= small:
            continue
        if side[i] == FREE:
            target = lower[i] if d < 0.0 else upper[i]
        elif guard[i] != 0 and lower[i] < upper[i] and (d < 0.0) == (side[i] == LOWER):
            target = 0.0
        else:
            continue
        if abs(target) < INFINITY:
            t = max(0.0, (target - x[i]) / d)
            if t < theta:
                theta, r = t, i
    return theta, r


@inline
def _ray(T, s, p, side, w):
    for i in range(side.shape[0]):
        w[i] = p * T[s, i] if side[i] == FREE else 0.0
    w[s] = p


@inline
def _leave(T, r, d, x, side, lower, upper):
    """Exchange the partners of r, which has reached the end of its range."""
    if side[r] == FREE:
        side[r] = LOWER if d < 0.0 else UPPER
        x[r] = 0.0
    else:
        x[r] = lower[r] if side[r] == LOWER else upper[r]
        side[r] = FREE
    pivot(T, r, x.shape[0])


@kernel
def drive(T, s, x, side, lower, upper, guard, limit, w, info):
    """SOLVED where s has become feasible; RAY (w: its direction), PIVOT_LIMIT or SINGULAR."""
    p = 1.0 if side[s] == LOWER else -1.0
    z_s = lower[s] if side[s] == LOWER else upper[s]
    small, tiny = 1e-12, 1e-14
    while True:
        if info[PIVOTS] >= limit:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        rho = T[s, s]
        theta0 = max(0.0, -p * x[s] / rho) if rho > small else INFINITY
        theta1 = upper[s] - z_s if p > 0.0 else z_s - lower[s]
        theta, r = _block(T, s, p, x, side, lower, upper, guard, small)
        if min(theta, theta0, theta1) == INFINITY:
            _ray(T, s, p, side, w)
            return RAY
        if theta0 <= theta1 and theta0 <= theta:
            axpy(x, p * theta0, T[s])
            x[s] = z_s + p * theta0
            side[s] = FREE
            pivot(T, s, x.shape[0])
            return SOLVED
        if theta1 <= theta:
            axpy(x, p * theta1, T[s])
            side[s] = UPPER if p > 0.0 else LOWER
            return SOLVED
        axpy(x, p * theta, T[s])
        z_s += p * theta
        if not abs(T[r, r]) > tiny:
            return SINGULAR
        _leave(T, r, p * T[s, r], x, side, lower, upper)
