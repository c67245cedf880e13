"""Projections on the sets of impulses, and their derivatives, in the metric R of the rows: lam = P(y) minimises |lam - y|_R^2 over the set.

    row      P = min(max(y, lo), hi): every law of one row is a box, bilateral -inf ... inf, unilateral 0 ... inf
    cone     with e = y_t / |y_t| and R_t = R_n (the general case: tangents stretched by k = sqrt(R_t / R_n), mu by k):
             |y_t| <= mu y_n     P = y                                   INSIDE (sticks); y_n >= 0, which mu = 0 does not imply
             mu |y_t| <= -y_n    P = 0                                   BELOW (apart)
             else                P = a (1, mu e),  a = (y_n + mu |y_t|) / (1 + mu^2)   SLIDING
             P' = [[k, k mu e^T], [k mu e, k mu^2 e e^T + (mu a / |y_t|) (1 - e e^T)]],  k = 1 / (1 + mu^2)

u on the other side: -dlam/du = P' R^-1 is symmetric and positive semidefinite.
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
