"""Springs of joints, rows of stiffness 1/eps on a coordinate: which they are, what they store, and those that a step cannot resolve."""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.layout import (
    AT_CONSTRAINTS,
    AT_ROWS,
    COMPLIANCE,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    FIRST_ROW,
    HOLDS,
    LAW,
    MODE,
    OF_MEASURE,
    POSITION,
    REST,
    ROW_SIZE,
    TARGET,
)
from dalembert.kernels.contact.codes import BILATERAL

STIFF = 2.0  # rad: springs that turn their phase by more in a step are damped


@inline
def is_spring(system, at, row):
    """Whether a row, with the record of its constraint at `at`, is the stiffness of a joint: on a coordinate, without a target."""
    free = system[at + HOLDS] == 0.0 and int(system[at + LAW]) == BILATERAL
    return free and int(system[row + MODE]) == POSITION and system[row + TARGET] < 0.0


@kernel
def calm_springs(system, h, bodies, inverse, J, b, sigma):
    """Damp springs that a step cannot resolve: those with h omega > STIFF, omega^2 = J M^-1 J^T/eps.

    Their rows have tau = 0 and Y = 1, the implicit midpoint rule, which keeps the energy of the start for ever; where q moved by h v under
    a spring that would not have let it, that is far more than there was. theta = min(8, (h omega/STIFF)^2 - 1)/4 steps, at most two, take
    it out: b and sigma times Y = 1/(1 + 4 theta). inverse (n, 6, 6): of the masses.
    """
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        r = int(system[at + FIRST_ROW])
        row = int(system[AT_ROWS]) + r * ROW_SIZE
        if not is_spring(system, at, row):
            continue
        S = 0.0
        for side in range(2):
            k = bodies[c, side]
            if k >= 0:
                for i in range(6):
                    for j in range(6):
                        S += J[r, 6 * side + i] * inverse[k, i, j] * J[r, 6 * side + j]
        excess = h * h * S / (system[row + COMPLIANCE] * STIFF * STIFF) - 1.0
        if excess > 0.0:
            Y = 1.0 / (1.0 + min(excess, 8.0))
            b[r] *= Y
            sigma[r] *= Y


@kernel
def strain_energy(system, values):
    """sum (value - rest)^2/(2 eps) of the stiffness of joints, J; values: of `measure`."""
    total = 0.0
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        row = int(system[AT_ROWS]) + int(system[at + FIRST_ROW]) * ROW_SIZE
        if is_spring(system, at, row):
            strain = values[int(system[row + OF_MEASURE])] - system[row + REST]
            total += 0.5 * strain * strain / system[row + COMPLIANCE]
    return total
