"""Coulomb's law judged on impulses and velocities: De Saxce's shift of the normal rows, and what is missing to the law.

    u = J x + b + sigma lam,    shift = max(mu |u_t| - least, 0),    miss = D |lam - P(lam - (u_n + shift, u_t)/D)|  over the cones

D is the largest entry of the diagonal of J M^-1 J^T within a contact. `least` (m/s) is a dead band: contacts that creep do not count as
sliding.
"""

from math import inf, sqrt

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.codes import CONE
from dalembert.kernels.contact.laws import cone
from dalembert.kernels.contact.products import block_times, row6
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6


@inline
def _speed(step, lam, x, a, e, r):
    """u of one row."""
    s = step.b[r] + step.sigma[r] * lam[r]
    if a >= 0:
        s += dot6(row6(step.J, r, 0), load6(x, 6 * a))
    if e >= 0:
        s += dot6(row6(step.J, r, 6), load6(x, 6 * e))
    return s


@inline
def _scale(step, a, e, r):
    """J M^-1 J^T of one row."""
    s = 0.0
    if a >= 0:
        p = row6(step.J, r, 0)
        s += dot6(p, block_times(step.inverse, a, p))
    if e >= 0:
        p = row6(step.J, r, 6)
        s += dot6(p, block_times(step.inverse, e, p))
    return s


@kernel
def judge(step, lam, x, least, shift):
    """shift (m,) of the constraints that are cones, 0 of others. Returns the largest miss; inf where a number is not finite."""
    worst = 0.0
    for c in range(step.kind.shape[0]):
        shift[c] = 0.0
        if step.kind[c] != CONE:
            continue
        i, a, e, mu = step.first[c], step.bodies[c, 0], step.bodies[c, 1], step.mu[c]
        n, u1, u2 = _speed(step, lam, x, a, e, i), _speed(step, lam, x, a, e, i + 1), _speed(step, lam, x, a, e, i + 2)
        shift[c] = max(mu * sqrt(u1 * u1 + u2 * u2) - least, 0.0)
        n += shift[c]
        d = max(_scale(step, a, e, i), _scale(step, a, e, i + 1), _scale(step, a, e, i + 2))
        p, q1, q2, _ = cone(lam[i] - n / d, lam[i + 1] - u1 / d, lam[i + 2] - u2 / d, mu, 1.0)
        miss = d * max(abs(lam[i] - p), abs(lam[i + 1] - q1), abs(lam[i + 2] - q2))
        if not miss < inf:
            return inf
        worst = max(worst, miss)
    return worst


@kernel
def move(step, lam, x):
    """x = free + M^-1 J^T lam"""
    for i in range(x.shape[0]):
        x[i] = step.free[i]
    for c in range(step.kind.shape[0]):
        a, e = step.bodies[c, 0], step.bodies[c, 1]
        for r in range(step.first[c], step.first[c + 1]):
            if lam[r] != 0.0:
                if a >= 0:
                    store6(x, 6 * a, axpy6(lam[r], block_times(step.inverse, a, row6(step.J, r, 0)), load6(x, 6 * a)))
                if e >= 0:
                    store6(x, 6 * e, axpy6(lam[r], block_times(step.inverse, e, row6(step.J, r, 6)), load6(x, 6 * e)))
