"""Rows of joints for Newton's iteration on the nonlinear stepper (lacoursiere2007, 4.27, 4.34), of which (4.31) is the first iterate.

With g_{k-1}, g_k known and q_{k+1} = q_k + h x by the last iterate x, the stepper asks of every row on a position

    eps lam/h + (g_{k+1} + 2 g_k + g_{k-1})/4 + tau G_{k+1} x = 0

Times (4/h) Y, and with the G_k of the first iterate for d/dx (columns are G_k^T in the stepper): the row J x + b + sigma lam = 0 with

    b = (4/h) Y ((g_{k+1} + 2 g_k + g_{k-1})/4 + tau G_{k+1} x) - G_k x

A chord iteration: the error falls by some (h omega)^2 each time. Rows with targets, springs, limits
and rows on velocities stay as they are.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.bodies.layout import (
    AT_CONSTRAINTS,
    AT_ROWS,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    FIRST_ROW,
    LAST_ROW,
    LAW,
    MODE,
    OF_JOINT,
    OF_MEASURE,
    POSITION,
    REST,
    ROW_SIZE,
    SIGN,
    STEPS,
    TARGET,
    TAU,
)
from dalembert.kernels.bodies.motion import along
from dalembert.kernels.bodies.springs import is_spring
from dalembert.kernels.contact.codes import UNILATERAL


@kernel
def correct_rows(system, h, x, intact, before, now, after, J_after, bodies, J, b):
    """Write b of the rows on positions for the next iterate; returns the largest change. before, now, after (measures,): values at t - h, t
    and at the end of the step by x (6 n,); J_after: Jacobians there; bodies, J: of the step."""
    most = 0.0
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        if int(system[at + LAW]) == UNILATERAL or intact[int(system[at + OF_JOINT])] == 0:
            continue
        for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
            row = int(system[AT_ROWS]) + r * ROW_SIZE
            if int(system[row + MODE]) != POSITION or system[row + TARGET] >= 0.0 or is_spring(system, at, row):
                continue
            m, sign, tau = int(system[row + OF_MEASURE]), system[row + SIGN], system[row + TAU] + h * system[row + STEPS]
            mean = sign * (0.25 * (after[m] + 2.0 * now[m] + before[m]) - system[row + REST])
            last = sign * along(J_after, m, x, bodies[c, 0], bodies[c, 1])
            new = 4.0 / (h + 4.0 * tau) * (mean + tau * last) - along(J, r, x, bodies[c, 0], bodies[c, 1])
            most = max(most, abs(new - b[r]))
            b[r] = new
    return most
