"""Rows of couplings of joints, q_c = p(q_p), whose bodies may be up to four (gears in a frame that moves, mimicking joints).

With J_X the columns of J = J_c - p'(q_p) J_p for body X, the row of a coupling is sum_X J_X x_X. A solver takes rows on two bodies; where
a coupling has more of them, each but one hands its share to a slot of a companion, a body of the step that is nowhere in space:

    picked    J_X x_X/s - V_i = 0                       s = max(1, |p'|)
    coupled   J_1 x_1 + s sum V_i + b + sigma lam = 0   b as of every POSITION row (kernels/bodies/joint_rows.py), on g = q_c - p(q_p)

The companion has no mass of its own: body X lends it half of what it has along J_X, so that the sum is what it was,

    m_i = s^2/(2 J_X M_X^-1 J_X^T),   M_X <- M_X - m_i J_X^T J_X/s^2,   V_i,free = J_X x_X,free/s,   V_i,k = J_X x_X,k/s

and M (x - x_free) = J^T lam holds for the bodies as if the row had all of them: momentum and account stay exact.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.layout import (
    AT_COEFFICIENTS,
    AT_CONSTRAINTS,
    AT_ROWS,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    ENDS,
    FIRST_ROW,
    MEASURE_C,
    MEASURE_P,
    MODE,
    OTHER,
    PICKED,
    ROW_SIZE,
    SLOTS,
    TERMS,
)


@inline
def polynomial(system, at, x):
    """(p, p') of the coefficients of the coupling whose record starts at `at`."""
    value, slope = 0.0, 0.0
    for k in range(int(system[at + TERMS]) - 1, -1, -1):
        slope = slope * x + value
        value = value * x + system[at + AT_COEFFICIENTS + k]
    return value, slope


@kernel
def add_side(system, at, body, slope, J_measures, J, r, column):
    """J[r, column:] += columns of J_c - p' J_p for a body."""
    for part in range(2):
        m, factor = int(system[at + (MEASURE_C if part == 0 else MEASURE_P)]), 1.0 if part == 0 else -slope
        if m < 0:
            continue
        for side in range(2):
            if int(system[at + ENDS + 2 * part + side]) == body:
                for k in range(6):
                    J[r, column + k] += factor * J_measures[m, 6 * side + k]


@kernel
def write_coupled(system, row, r, mode, body_a, body_b, values, J_measures, x, J):
    """J of a picked or coupled row; returns g. Slots of x (unknowns of the step before) are filled on the way: picked rows come first."""
    at, slots, c = int(system[row + OTHER]), int(system[row + SLOTS]), int(system[int(system[row + OTHER]) + MEASURE_C])
    p = int(system[at + MEASURE_P])
    value, slope = polynomial(system, at, values[p] if p >= 0 else 0.0)
    scale = max(1.0, abs(slope))
    for k in range(12):
        J[r, k] = 0.0
    if body_a >= 0:
        add_side(system, at, body_a, slope, J_measures, J, r, 0)
    if mode == PICKED:
        total = 0.0
        for k in range(6):
            J[r, k] /= scale
            total += J[r, k] * x[6 * body_a + k]
        J[r, 6 + slots] = -1.0
        x[6 * body_b + slots] = total
        return 0.0
    if slots == 0 and body_b >= 0:
        add_side(system, at, body_b, slope, J_measures, J, r, 6)
    for i in range(slots):
        J[r, 6 + i] = scale
    return values[c] - value


@kernel
def lend(system, bodies, J, masses, inverse, before, free):
    """Masses of companions and of the bodies that lend them, and free velocities of companions; bodies, J: of the step."""
    for c in range(int(system[CONSTRAINTS])):
        r = int(system[int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE + FIRST_ROW])
        row = int(system[AT_ROWS]) + r * ROW_SIZE
        if int(system[row + MODE]) != PICKED:
            continue
        X, V, slot, d, last, wish = bodies[c, 0], bodies[c, 1], int(system[row + SLOTS]), 0.0, 0.0, 0.0
        for i in range(6):
            last += J[r, i] * before[6 * X + i]
            wish += J[r, i] * free[6 * X + i]
            for j in range(6):
                d += J[r, i] * inverse[X, i, j] * J[r, j]
        m = 0.5 / d if d > 0.0 else 1.0
        masses[V, slot, slot], inverse[V, slot, slot] = m, 1.0 / m
        before[6 * V + slot], free[6 * V + slot] = last, wish
        if d > 0.0:
            share(X, r, m, d, J, masses, inverse)


@inline
def share(X, r, m, d, J, masses, inverse):
    """M_X less m J^T J, and its inverse: a + a J^T J a/d with m = 1/(2 d)."""
    a0, a1, a2, a3, a4, a5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(6):
        a0 += inverse[X, 0, j] * J[r, j]
        a1 += inverse[X, 1, j] * J[r, j]
        a2 += inverse[X, 2, j] * J[r, j]
        a3 += inverse[X, 3, j] * J[r, j]
        a4 += inverse[X, 4, j] * J[r, j]
        a5 += inverse[X, 5, j] * J[r, j]
    a = (a0, a1, a2, a3, a4, a5)
    for i in range(6):
        for j in range(6):
            masses[X, i, j] -= m * J[r, i] * J[r, j]
            inverse[X, i, j] += a[i] * a[j] / d
