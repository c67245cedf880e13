"""Is a step to be believed? Where a joint turns far or bends sharply within one step, the discrete equations have several solutions, and
Newton's method may have found one that does not continue the motion.

turn      h |v|, of a joint within the step
bend      h |v - v_before|, the change of its turn from one step to the next
balance   the kinetic energy of the nodes, p . M^-1 p/2, has to change by about the work of the forces
ceiling   and stays below what no motion from the start of the run can reach (`families/ceiling.py`)
"""

import math

from dalembert.kernels._jit import ARRAY, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.status import LOST, OK, RUNAWAY
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, LINKS, NQ, NV, PRISMATIC, REVOLUTE, STEPPER_DATA, V_AT
from dalembert.kernels.tree.variational.constrained import velocity_of
from dalembert.kernels.tree.variational.history import history, tail
from dalembert.kernels.tree.variational.layout import (
    ASIDE,
    CEILING,
    DELTA,
    DV,
    EULER,
    F_LEFT,
    F_RIGHT,
    GAIN,
    GAIN_NOISE,
    METHOD,
    MIDPOINT,
    P_OLD,
    Q_MID,
    Q_NEW,
    Q_OLD,
    RESCUE,
    SIDE_0,
    SIDE_1,
    SIDE_M,
    V,
)
from dalembert.kernels.tree.variational.side import evaluate
from dalembert.kernels.tree.variational.vectors import copy, product

ROUND_OFF = 1e-12  # of a sum over a tree
BEND = 0.25  # a step in which a rate changes by more than this per step (rad) is doubtful,
TURN = 0.5  # or in which a joint turns by more than this (rad; not by a rule of order one, which keeps no balance there),
SHARE = 0.1  # and repeated where the energy of its nodes differs by more than this share


@kernel
def bends(h, system, state, work):
    """True where a joint turns by more than TURN, or its turn changes by more than BEND. Shifts have no natural size."""
    data, before = int(system[STEPPER_DATA]), history(system)
    v, turn = int(system[data + V]), 1e300 if int(system[data + METHOD]) == EULER else TURN
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        if kind != PRISMATIC:
            for k in range(1 if kind == REVOLUTE else 3):
                x = work[v + vi + k]
                if abs(h * x) > turn or abs(h * (x - state[before + vi + k])) > BEND:
                    return True
    return False


@inline
def doubtful(h, system, state, work):
    """The same; most steps are cleared by one loop over all velocities."""
    v, before, far = int(system[int(system[STEPPER_DATA]) + V]), history(system), 0.0
    for i in range(int(system[NV])):
        x = work[v + i]
        far = max(far, abs(x) / TURN, abs(x - state[before + i]) / BEND)
    return abs(h) * far > 1.0 and bends(h, system, state, work)


@far(VOID(REAL, ARRAY, ARRAY))
def work_done(h, system, work):
    """GAIN = h v . (forces without those of inertia), what the kinetic energy gains, and its round-off GAIN_NOISE."""
    data, nv = int(system[STEPPER_DATA]), int(system[NV])
    method = int(system[data + METHOD])
    v, other = int(system[data + V]), int(system[data + DELTA])
    power = product(work, v, int(system[data + F_LEFT]), nv) + product(work, v, int(system[data + F_RIGHT]), nv)
    noise = 0.0
    first, end = (2, 3) if method == MIDPOINT else ((0, 1) if method == EULER else (0, 2))
    for k in range(first, end):
        q = int(system[data + (Q_OLD if k == 0 else (Q_NEW if k == 1 else Q_MID))])
        side = int(system[data + (SIDE_0 if k == 0 else (SIDE_1 if k == 1 else SIDE_M))])
        evaluate(system, work, q, v, side, int(system[data + DV]), other, k >= 0, k < 0, k < 0)  # without forces
        power -= product(work, v, other, nv) / (end - first)
        for i in range(nv):
            noise += ROUND_OFF * abs(work[v + i] * work[other + i])
    aside = int(system[data + ASIDE])
    work[aside + GAIN], work[aside + GAIN_NOISE] = h * power, abs(h) * noise


@far(INT(ARRAY, ARRAY, ARRAY, INT))
def trusted(system, state, work, p):
    """LOST where the kinetic energy of the nodes, p . M^-1 p/2, changed by far more or less than the work of the forces and the step can be
    repeated, RUNAWAY where it is beyond the ceiling."""
    data, nq, nv = int(system[STEPPER_DATA]), int(system[NQ]), int(system[NV])
    before, v = int(system[data + P_OLD]), int(system[data + DV])
    copy(state, nq, work, before, nv)
    gain, noise, kinetic = work[int(system[data + ASIDE]) + GAIN], work[int(system[data + ASIDE]) + GAIN_NOISE], 0.0
    least, change = abs(gain) if noise < abs(gain) else 0.0, -gain
    for k in range(2):
        at = before if k == 0 else p
        if not velocity_of(system, work, int(system[data + (Q_OLD if k == 0 else Q_NEW)]), at, v):
            return LOST
        kinetic = 0.5 * product(work, at, v, nv)
        change += kinetic if k == 1 else -kinetic
        least = max(least, kinetic)
    if system[data + RESCUE] != 0.0 and not (abs(change) <= SHARE * least and noise <= SHARE * least and least < 1e300):
        return LOST
    ceiling = state[tail(system) + CEILING]
    return OK if kinetic <= (ceiling if ceiling > 0.0 else math.inf) else RUNAWAY
