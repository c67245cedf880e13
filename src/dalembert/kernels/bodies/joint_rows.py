"""Rows of one SPOOK step from the measures of joints (lacoursiere2007, 4.30, 4.31; impulses lam, u = J x + b + sigma lam).

With the residual g = sign (measure - rest - gain target), its explicit rate g_t = -sign gain rate, Y = 1/(1 + 4 tau/h), x_k the unknowns of
the step before:

    POSITION   b = (4/h) Y g - Y J x_k + (1 - Y) g_t      sigma = 4 eps Y/h^2
    VELOCITY   b = -sign gain target                      sigma = gamma/h + 4 eps Y/h^2

(The print has no g_t: tau d(g)/dt of its (4.27) contains it.) tau = tau_0 + steps h, so that the default, two steps, follows h. A spring of
stiffness k and drag c is eps = 1/k, tau = c/k; a damper c is gamma = 1/c; dry friction and motors are bounds on lam.

Places are fixed: joints in the order of the model, each with its constraints in the order of their records, at every step. A limit that is
further away than its margin, and what belongs to a broken joint, keep their places as rows that do nothing: J = 0, lam = 0.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.layout import (
    AT_CONSTRAINTS,
    AT_JOINTS,
    AT_ROWS,
    BODY_A,
    BODY_B,
    COMPLIANCE,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    FIRST_ROW,
    GAIN,
    GAMMA,
    GREATEST,
    HOLDS,
    JOINT_SIZE,
    JOINTS,
    LAST_ROW,
    LAW,
    LEAST,
    MARGIN,
    MODE,
    OF_JOINT,
    OF_MEASURE,
    POSITION,
    REST,
    ROW_SIZE,
    ROWS,
    SIGN,
    STEPS,
    TARGET,
    TAU,
)
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.targets import prescribe
from dalembert.kernels.contact.codes import BOXED, UNILATERAL


@inline
def along(J, r, x, body_a, body_b):
    """J[r] x on two bodies."""
    total = 0.0
    for k in range(6):
        if body_a >= 0:
            total += J[r, k] * x[6 * body_a + k]
        if body_b >= 0:
            total += J[r, 6 + k] * x[6 * body_b + k]
    return total


@inline
def sleep(r, value, J, b, sigma):
    """A row that does nothing: lam = 0 and u = value."""
    for k in range(12):
        J[r, k] = 0.0
    b[r] = value
    sigma[r] = 1.0


@kernel
def write_row(system, at, r, h, x, body_a, body_b, values, J_measures, targets, rates, asleep_beyond, J, b, sigma):
    """J, b, sigma of the row whose record starts at `at`; it sleeps where its residual is larger than asleep_beyond."""
    m, sign = int(system[at + OF_MEASURE]), system[at + SIGN]
    which, target, rate = int(system[at + TARGET]), 0.0, 0.0
    if which >= 0:
        target, rate = system[at + GAIN] * targets[which], system[at + GAIN] * rates[which]
    g = sign * (values[m] - system[at + REST] - target)
    if g > asleep_beyond:
        sleep(r, 1.0, J, b, sigma)
        return
    for k in range(12):
        J[r, k] = sign * J_measures[m, k]
    Y = 1.0 / (1.0 + 4.0 * (system[at + TAU] / h + system[at + STEPS]))
    sigma[r] = system[at + GAMMA] / h + 4.0 * system[at + COMPLIANCE] * Y / (h * h)
    if int(system[at + MODE]) == POSITION:
        b[r] = Y * (4.0 / h * g - along(J, r, x, body_a, body_b)) - (1.0 - Y) * sign * rate
    else:
        b[r] = -sign * target


@inline
def write_bounds(system, at, r, h, law, low, high):
    """Bounds on the impulse of a row."""
    low[r], high[r] = -math.inf, math.inf
    if law == UNILATERAL:
        low[r] = 0.0
    elif law == BOXED:
        low[r], high[r] = h * system[at + LEAST], h * system[at + GREATEST]


@kernel
def write_rows(system, h, x, intact, values, J_measures, targets, rates, bodies, kind, first, J, b, sigma, low, high, mu):
    """The constraints of a step from measures and targets; arrays and answer: `assemble_rows`."""
    count = int(system[CONSTRAINTS])
    first[0] = 0
    for c in range(count):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        j, law = int(system[at + OF_JOINT]), int(system[at + LAW])
        joint = int(system[AT_JOINTS]) + j * JOINT_SIZE
        body_a, body_b = int(system[joint + BODY_A]), int(system[joint + BODY_B])
        bodies[c, 0], bodies[c, 1], kind[c], mu[c] = body_a, body_b, law, 0.0
        first[c + 1] = int(system[at + LAST_ROW])
        for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
            row = int(system[AT_ROWS]) + r * ROW_SIZE
            write_bounds(system, row, r, h, law, low, high)
            if intact[j] == 0:
                sleep(r, 0.0, J, b, sigma)
                continue
            beyond = system[row + MARGIN] if law == UNILATERAL else math.inf
            write_row(system, row, r, h, x, body_a, body_b, values, J_measures, targets, rates, beyond, J, b, sigma)
    return count, int(system[ROWS])


@kernel
def assemble_rows(
    system, states, x, intact, inputs, t, h, values, J_measures, targets, rates, call, bodies, kind, first, J, b, sigma, low, high, mu
):
    """Write the joint constraints of the step from t to t + h, from place 0 on; return (constraints, rows).

    states (n, 13); x (6 n,): unknowns of the step before; intact (joints,): 0 for a broken one; inputs (motors,).
    values (measures,) goes on from step to step (angles count turns); J_measures (measures, 12), targets, rates (motors + drives,) and
    call (4,) are room. The other arrays are those of a step: bodies (m, 2), kind, mu (m,), first (m + 1,), J (rows, 12), b, sigma, low,
    high (rows,), as long as they are or longer.
    """
    measure(system, states, values, J_measures)
    prescribe(system, t, inputs, targets, rates, call)
    return write_rows(system, h, x, intact, values, J_measures, targets, rates, bodies, kind, first, J, b, sigma, low, high, mu)


@kernel
def joint_forces(system, h, J, lam, forces):
    """forces (joints,): |sum f lam|/h of the rows by which a joint holds its bodies (limits among them), N. J, lam: of the step."""
    for j in range(int(system[JOINTS])):
        forces[j] = 0.0
    c, count = 0, int(system[CONSTRAINTS])
    while c < count:  # the constraints of one joint stand together
        j = int(system[int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE + OF_JOINT])
        column = 9 if system[int(system[AT_JOINTS]) + j * JOINT_SIZE + BODY_B] >= 0.0 else 3
        fx, fy, fz = 0.0, 0.0, 0.0
        while c < count:
            at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
            if int(system[at + OF_JOINT]) != j:
                break
            if system[at + HOLDS] > 0.0:
                for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
                    fx += J[r, column] * lam[r]
                    fy += J[r, column + 1] * lam[r]
                    fz += J[r, column + 2] * lam[r]
            c += 1
        forces[j] = math.sqrt(fx * fx + fy * fy + fz * fz) / h
