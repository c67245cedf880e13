"""Rows that make one body turn against another as given: q = p(t) (lacoursiere2007, 14.11, 3 rows).

q: quaternion from joint frame A to joint frame B, p(t): the one it is to be. The residual is the turn that is missing,

    g_i = 2 (p^+ * q)_i = 2 (p_s q_v - q_s p_v - p_v x q_v)_i,       i = x, y, z,   of the sign of q for which p . q >= 0,

linear in the four measures 2 q_s, 2 q_v of the joint: so are its Jacobian and, with dp/dt for p, its explicit rate. g = 0 is q = +-p, one
orientation, however often p turns round; half a turn away a row has no derivative. Four targets are the parts of p, of any length.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.layout import OF_MEASURE, SLOTS, TARGET


@inline
def _part(p, q, i):
    """(p^+ * q)_i, i = 1, 2, 3."""
    j, k = 1 + i % 3, 1 + (i + 1) % 3
    return p[0] * q[i] - q[0] * p[i] - (p[j] * q[k] - p[k] * q[j])


@kernel
def write_following(system, at, r, values, J_measures, targets, rates, J):
    """(g, explicit rate of g) of the row whose record starts at `at`, and its J."""
    m, first, i = int(system[at + OF_MEASURE]), int(system[at + TARGET]), int(system[at + SLOTS])
    p = (targets[first], targets[first + 1], targets[first + 2], targets[first + 3])
    d = (rates[first], rates[first + 1], rates[first + 2], rates[first + 3])
    q = (values[m], values[m + 1], values[m + 2], values[m + 3])  # twice the quaternion
    square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
    longer = (p[0] * d[0] + p[1] * d[1] + p[2] * d[2] + p[3] * d[3]) / square
    scale = math.copysign(1.0 / math.sqrt(square), p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3])
    d = (d[0] - longer * p[0], d[1] - longer * p[1], d[2] - longer * p[2], d[3] - longer * p[3])
    for k in range(12):
        J[r, k] = scale * _part(p, (J_measures[m, k], J_measures[m + 1, k], J_measures[m + 2, k], J_measures[m + 3, k]), i)
    return scale * _part(p, q, i), scale * _part(d, q, i)
