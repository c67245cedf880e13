"""Projections on the sets of impulses, and their derivatives, in the metric R of the rows: lam = P(y) minimises |lam - y|_R^2 over the set.

    row      P = min(max(y, lo), hi): every law of one row is a box, bilateral -inf ... inf, unilateral 0 ... inf
    cone     with e = y_t / |y_t| and R_t = R_n (the general case: tangents stretched by k = sqrt(R_t / R_n), mu by k):
             |y_t| <= mu y_n     P = y                                   INSIDE (sticks); y_n >= 0, which mu = 0 does not imply
             mu |y_t| <= -y_n    P = 0                                   BELOW (apart)
             else                P = a (1, mu e),  a = (y_n + mu |y_t|) / (1 + mu^2)   SLIDING
             P' = [[k, k mu e^T], [k mu e, k mu^2 e e^T + (mu a / |y_t|) (1 - e e^T)]],  k = 1 / (1 + mu^2)

u on the other side: -dlam/du = P' R^-1 is symmetric and positive semidefinite.

    disc     P = y min(1, R / |y|)
    Coulomb  by normal and disc: lam_n = max(0, lam_n - u_n / w_n), lam_t = P(lam_t - u_t / w_t) on the disc of radius c + mu lam_n, which
             holds where nothing changes: the natural map of (10.54) that is not De Saxce's. c = 0 is the cone, mu = 0 the cylinder

One set for all solvers: those of steps (kernels/contact), of blocks (kernels/linalg) and of dense problems (kernels/friction).
"""

from math import sqrt

from dalembert.kernels._jit import inline
from dalembert.kernels.contact.codes import ABOVE, BELOW, INSIDE, SLIDING


@inline
def box(y, lo, hi):
    """(P(y), state)"""
    if y < lo:
        return lo, BELOW
    if y > hi:
        return hi, ABOVE
    return y, INSIDE


@inline
def cone(n, t1, t2, mu, k):
    """(P_n, P_1, P_2, state); k: stretch of the tangents by the metric."""
    m = k * mu
    t = k * sqrt(t1 * t1 + t2 * t2)
    if n >= 0.0 and t <= m * n:
        return n, t1, t2, INSIDE
    if m * t <= -n:
        return 0.0, 0.0, 0.0, BELOW
    a = (n + m * t) / (1.0 + m * m)
    f = m * a / t
    return a, f * t1, f * t2, SLIDING


@inline
def cone_derivative(n, t1, t2, mu, k, r):
    """P' R^-1 of a sliding cone: entries nn, n1, n2, 11, 12, 22; r = 1 / R_n."""
    m = k * mu
    t = sqrt(t1 * t1 + t2 * t2)
    e1, e2 = t1 / t, t2 / t
    c = r / (1.0 + m * m)
    turn = r * m * (n + m * k * t) / (1.0 + m * m) / (k * t) / (k * k)
    along = c * mu * mu
    across = c * mu
    return c, across * e1, across * e2, along * e1 * e1 + turn * e2 * e2, (along - turn) * e1 * e2, along * e2 * e2 + turn * e1 * e1


@inline
def disc(t1, t2, radius):
    """P(t)"""
    length = t1 * t1 + t2 * t2
    if length <= radius * radius:
        return t1, t2
    f = radius / sqrt(length)
    return f * t1, f * t2


@inline
def coulomb_miss(n, t1, t2, u, u1, u2, w_n, w_t, c, mu):
    """(lam - its image by normal and disc), three numbers; w_n, w_t > 0: scales of the rows."""
    y = max(0.0, n - u / w_n)
    p1, p2 = disc(t1 - u1 / w_t, t2 - u2 / w_t, c + mu * y)
    return n - y, t1 - p1, t2 - p2


@inline
def tangent_scale(s11, s12, s22):
    """One w_t for two tangents, at least the norm of their block of S."""
    return max(s11, s22) + abs(s12)


@inline
def contact_law(yn, y1, y2, qn, q1, q2, s1, s2, steps, mu, full):
    """New (y_n, y_1, y_2) of one contact with u = q; full: y - S^-1 q, taken where it sticks. s1, s2: S_1n, S_2n.

    Else the normal goes first, then the tangents by a projection on the disc mu y_n with one step size for both: so that where the
    contact slides, velocity opposes force.
    """
    fn, f1, f2 = full
    if fn >= 0.0 and f1 * f1 + f2 * f2 <= mu * mu * fn * fn:
        return fn, f1, f2
    new = max(0.0, yn - steps[0] * qn)
    change = new - yn
    t1, t2 = disc(y1 - steps[1] * (q1 + s1 * change), y2 - steps[1] * (q2 + s2 * change), mu * new)
    return new, t1, t2
