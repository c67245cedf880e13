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
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, PRISMATIC, TURNS, V_AT
from dalembert.kernels.tree.variational.constrained import velocity_of
from dalembert.kernels.tree.variational.layout import FIRST, SECOND, notes, places
from dalembert.kernels.tree.variational.side import evaluate
from dalembert.kernels.tree.variational.vectors import copy, product

ROUND_OFF = 1e-12  # of a sum over a tree
# BEND from 0.05 to 1.25 and SHARE from 0.01 to 0.9 change no correction on the machines of benchmarks/tuning.py: they are for steps
# that are far too large (tests/steppers/variational/test_rescue.py, tests/report/test_explosions.py); TURN was not varied
BEND = 0.25  # a step in which a rate changes by more than this per step (rad) is doubtful,
TURN = 0.5  # or in which a joint turns by more than this (rad; s.turn: not by a rule of order one, which keeps no balance there),
SHARE = 0.1  # and repeated where the energy of its nodes differs by more than this share


@kernel
def bends(h, system, state, work):
    """True where a joint turns by more than s.turn, or its turn changes by more than BEND. Shifts have no natural size."""
    s, n = places(system), notes(system)
    for i in range(s.links):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        turn = abs(h * (system[at + TURNS] if kind <= PRISMATIC else 1.0))
        for k in range(1 if kind <= PRISMATIC else 3):
            x = work[s.v + vi + k]
            if turn * abs(x) > s.turn or turn * abs(x - state[n.history + vi + k]) > BEND:
                return True
    return False


@inline
def doubtful(h, system, state, work):
    """The same; most steps are cleared by one loop over all velocities."""
    s, n, far = places(system), notes(system), 0.0
    for i in range(s.nv):
        x = work[s.v + i]
        far = max(far, abs(x) / s.turn, abs(x - state[n.history + i]) / BEND)
    return abs(h) * far > 1.0 and bends(h, system, state, work)


@far(VOID(REAL, ARRAY, ARRAY))
def work_done(h, system, work):
    """gain = h v . (forces without those of inertia), what the kinetic energy gains, and its round-off."""
    s = places(system)
    power = product(work, s.v, s.f_left, s.nv) + product(work, s.v, s.f_right, s.nv)
    noise = 0.0
    for k in range(s.first, s.first if s.chord != 0 else s.end):  # straight paths: there are no others
        q = s.q_old if k == FIRST else (s.q_new if k == SECOND else s.q_mid)
        side = s.side_0 if k == FIRST else (s.side_1 if k == SECOND else s.side_m)
        evaluate(system, work, q, s.v, side, s.dv, s.delta, k >= 0, k < 0, k < 0)  # without forces
        power -= product(work, s.v, s.delta, s.nv) / (s.end - s.first)
        for i in range(s.nv):
            noise += ROUND_OFF * abs(work[s.v + i] * work[s.delta + i])
    work[s.gain], work[s.gain_noise] = h * power, abs(h) * noise


@far(INT(ARRAY, ARRAY, ARRAY, INT))
def trusted(system, state, work, p):
    """LOST where the kinetic energy of the nodes, p . M^-1 p/2, changed by far more or less than the work of the forces and the step can be
    repeated, RUNAWAY where it is beyond the ceiling."""
    s, n = places(system), notes(system)
    copy(state, n.p, work, s.p_old, s.nv)
    gain, noise, kinetic = work[s.gain], work[s.gain_noise], 0.0
    least, change = abs(gain) if noise < abs(gain) else 0.0, -gain
    for k in range(2):
        at = s.p_old if k == 0 else p
        if not velocity_of(system, work, s.q_old if k == 0 else s.q_new, at, s.dv):
            return LOST
        kinetic = 0.5 * product(work, at, s.dv, s.nv)
        change += kinetic if k == 1 else -kinetic
        least = max(least, kinetic)
    if s.rescue != 0 and not (abs(change) <= SHARE * least and noise <= SHARE * least and least < 1e300):
        return LOST
    ceiling = state[n.ceiling]
    return OK if kinetic <= (ceiling if ceiling > 0.0 else math.inf) else RUNAWAY
