"""Rows of one SPOOK step from the measures of joints (lacoursiere2007, 4.30, 4.31; impulses lam, u = J x + b + sigma lam).

With the residual g = sign (measure - rest - gain target), its explicit rate g_t = -sign gain rate, Y = 1/(1 + 4 tau/h), x_k the unknowns of
the step before:

    POSITION   b = (4/h) Y g - Y J x_k + (1 - Y) g_t      sigma = 4 eps Y/h^2
    VELOCITY   b = -sign (rest + gain (target + h/2 rate))          sigma = gamma/h + 4 eps Y/h^2
    INERTIA    b = -(rate over the step before)           sigma = 1/armature

(The print has no g_t: tau d(g)/dt of its (4.27) contains it.) tau = tau_0 + steps h, so that the default, two steps, follows h. A spring of
stiffness k and drag c is eps = 1/k, tau = c/k; a damper c is gamma = 1/c; dry friction and motors are bounds on lam. A rotor of inertia a
that turns with a coordinate takes the impulse -lam = a (rate - last rate): the same step as with J^T a J in the mass matrix, which would
couple bodies there. The last rate is that of the row itself, since J turns with the bodies.

A turn that is given as a whole: kernels/bodies/following.py.
A velocity drive asks for its rate in the middle of the step. A velocity limit (10.48) is a unilateral VELOCITY row: rest = -sign (the
greatest rate), b > 0.

Dry friction of a ball joint is at most f whatever the axis of its spin w: a bounded row along w, and across it two with the derivative of
-f w/|w| there, a drag f/|w|.

A limit that is not reached yet, but could be within the step, stops there: b = g/h; one that is reached takes all that comes on, J x_k < 0
is left out of b. Places are fixed: joints in the order of the model,
each with its constraints in the order of their records, at every step. A limit far away, a motor that is off, and what belongs to a broken
joint keep their places as rows that do nothing: J = 0, lam = 0.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.couplings import write_coupled
from dalembert.kernels.bodies.following import write_following
from dalembert.kernels.bodies.layout import (
    ACROSS,
    ARM_A,
    ARM_B,
    ARMATURE,
    AT_CONSTRAINTS,
    AT_JOINTS,
    AT_ROWS,
    BODY_A,
    BODY_B,
    COMPLIANCE,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    COUPLED,
    FIRST_ROW,
    FOLLOWING,
    GAIN,
    GAMMA,
    GREATEST,
    HOLDS,
    INERTIA,
    JOINT_SIZE,
    JOINTS,
    LAST_ROW,
    LAW,
    LEAST,
    MARGIN,
    MODE,
    OF_JOINT,
    OF_MEASURE,
    PICKED,
    REST,
    ROW_SIZE,
    ROWS,
    SIGN,
    STEPS,
    TARGET,
    TAU,
    VELOCITY,
)
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.motion import OMEGA, along
from dalembert.kernels.bodies.targets import prescribe
from dalembert.kernels.contact.codes import BOXED, UNILATERAL
from dalembert.kernels.quat import load, rotate_inverse
from dalembert.kernels.smallmat import axpy, cross, dot, load3, sub

REACH, JUMP = 2.0, 20.0  # limits within h (2 |rate| + 20) of a joint are awake: an impact may change its rate by 20 m/s, rad/s in the step
DEEP = 0.01  # m, rad: a joint further beyond its limit comes back as from there, not like a shot


@inline
def rate_of(J, m, states, body_a, body_b):
    """J[m] (omega, v) of two bodies, velocities of their states."""
    total = 0.0
    for k in range(6):
        if body_a >= 0:
            total += J[m, k] * states[body_a, OMEGA + k]
        if body_b >= 0:
            total += J[m, 6 + k] * states[body_b, OMEGA + k]
    return total


@inline
def sleep(r, value, J, b, sigma):
    """A row that does nothing: lam = 0 and u = value."""
    for k in range(12):
        J[r, k] = 0.0
    b[r] = value
    sigma[r] = 1.0


@kernel
def write_row(system, at, r, h, x, law, body_a, body_b, values, J_measures, targets, rates, J, b, sigma):
    """J, b, sigma of the row whose record starts at `at`."""
    m, sign = int(system[at + OF_MEASURE]), system[at + SIGN]
    which, mode, target, rate = int(system[at + TARGET]), int(system[at + MODE]), 0.0, 0.0
    if which >= 0:
        target, rate = system[at + GAIN] * targets[which], system[at + GAIN] * rates[which]
    g = 0.0
    if mode == FOLLOWING:
        g, rate = write_following(system, at, r, values, J_measures, targets, rates, J)
        rate *= -sign
    elif mode >= COUPLED:
        g = write_coupled(system, at, r, mode, body_a, body_b, values, J_measures, x, J)
    else:
        for k in range(12):
            J[r, k] = sign * J_measures[m, k]
    last = along(J, r, x, body_a, body_b)
    if mode == INERTIA:
        b[r] = -last if target != target else -target
        sigma[r] = 1.0 / system[at + ARMATURE]
        return
    if mode == VELOCITY:
        g = max(last - sign * system[at + REST], 0.0)  # of a bound: how far the rate is from it
        far = law == UNILATERAL and g > REACH * abs(last) + JUMP
    elif mode >= COUPLED:
        far = False
    else:
        g = sign * (values[m] - system[at + REST] - target)
        far = law == UNILATERAL and g > system[at + MARGIN] + h * (REACH * abs(last) + JUMP)
    if target != target or far:
        sleep(r, 1.0 if law == UNILATERAL else 0.0, J, b, sigma)
        return
    if law == UNILATERAL:
        g, last = max(g, -DEEP), max(last, 0.0)
    Y = 1.0 / (1.0 + 4.0 * (system[at + TAU] / h + system[at + STEPS]))
    sigma[r] = system[at + GAMMA] / h + 4.0 * system[at + COMPLIANCE] * Y / (h * h)
    if system[at + ACROSS] > 0.0:
        sigma[r] += values[m] / (h * system[at + GREATEST])
    if mode == VELOCITY:
        b[r] = -sign * (system[at + REST] + target + 0.5 * h * rate)
    elif mode == PICKED:
        b[r] = 0.0
    elif law == UNILATERAL and g > 0.0:
        b[r] = g / h
    else:
        b[r] = Y * (4.0 / h * g - last) - (1.0 - Y) * sign * rate


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
            write_row(system, row, r, h, x, law, body_a, body_b, values, J_measures, targets, rates, J, b, sigma)
    return count, int(system[ROWS])


@kernel
def assemble_rows(
    system, states, x, intact, inputs, t, h, values, J_measures, targets, rates, call, bodies, kind, first, J, b, sigma, low, high, mu
):
    """Write the joint constraints of the step from t to t + h, from place 0 on; return (constraints, rows).

    states (n, 13); x (6 n,): unknowns of the step before; intact (joints,): 0 for a broken one; inputs (motors,).
    values (measures,) goes on from step to step (angles count turns), and so do the targets of rotors (`keep_rates`); J_measures
    (measures, 12), targets, rates (motors + drives + rotors,) and call (4,) are room. The other arrays are those of a step: bodies (m, 2),
    kind, mu (m,), first (m + 1,), J (rows, 12), b, sigma, low, high (rows,), as long as they are or longer.
    """
    measure(system, states, values, J_measures)
    prescribe(system, t, inputs, targets, rates, call)
    return write_rows(system, h, x, intact, values, J_measures, targets, rates, bodies, kind, first, J, b, sigma, low, high, mu)


@kernel
def keep_rates(system, bodies, J, x, targets):
    """Rates of rotors over the step with velocities x, as targets of the next. bodies, J: of the step."""
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
            row = int(system[AT_ROWS]) + r * ROW_SIZE
            if int(system[row + MODE]) == INERTIA:
                targets[int(system[row + TARGET])] = along(J, r, x, bodies[c, 0], bodies[c, 1])


@kernel
def rotor_energy(system, states, J_measures):
    """Kinetic energy of rotors at a node, J; J_measures: of `measure` there."""
    total = 0.0
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        joint = int(system[AT_JOINTS]) + int(system[at + OF_JOINT]) * JOINT_SIZE
        for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
            row = int(system[AT_ROWS]) + r * ROW_SIZE
            if int(system[row + MODE]) == INERTIA:
                rate = rate_of(J_measures, int(system[row + OF_MEASURE]), states, int(system[joint + BODY_A]), int(system[joint + BODY_B]))
                total += 0.5 * system[row + ARMATURE] * rate * rate
    return total


@kernel
def joint_forces(system, h, states, J, lam, forces):
    """forces (joints, 2): |sum f lam|/h, N, and |sum n lam|/h about its place, N m, of the rows by which a joint holds its bodies (limits
    among them). states, J, lam: of the step."""
    for j in range(int(system[JOINTS])):
        forces[j, 0] = 0.0
        forces[j, 1] = 0.0
    c, count = 0, int(system[CONSTRAINTS])
    while c < count:  # the constraints of one joint stand together
        j = int(system[int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE + OF_JOINT])
        joint = int(system[AT_JOINTS]) + j * JOINT_SIZE
        body, arm, column = int(system[joint + BODY_B]), joint + ARM_B, 6
        if body < 0:
            body, arm, column = int(system[joint + BODY_A]), joint + ARM_A, 0
        force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        while c < count:
            at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
            if int(system[at + OF_JOINT]) != j:
                break
            if system[at + HOLDS] > 0.0:
                for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
                    torque = axpy(lam[r], (J[r, column], J[r, column + 1], J[r, column + 2]), torque)
                    force = axpy(lam[r], (J[r, column + 3], J[r, column + 4], J[r, column + 5]), force)
            c += 1
        if body >= states.shape[0]:  # a companion of a coupling
            continue
        torque = sub(torque, cross(load3(system, arm), rotate_inverse(load(states[body], 3), force)))
        forces[j, 0], forces[j, 1] = math.sqrt(dot(force, force)) / h, math.sqrt(dot(torque, torque)) / h
