"""Earlier interval velocities: what the next step starts from.

    v_k ~ sum over j of c_j v_k-j,    j = 1 ... n

Steps of a composition repeat in size and sign after its last stage, so for each stage and each number n of velocities that are known the
coefficients are constants of the composition; `steppers/variational/_prediction.py` derives them. They hold as long as h stays the same.
"""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import NQ, NV, STEPPER_DATA
from dalembert.kernels.tree.record import NOT_NEGATIVE
from dalembert.kernels.tree.variational.layout import BASE, HISTORY, KNOWN, MISFIT, STAGE, STAGE_SIZE, STAGES, TABLE

REACH = 0.1  # an extrapolation by more than this per step (rad, m) is not trusted,
ROUGH = 0.01  # and only from FEW velocities where the last one was wrong by more than this
FEW = 3
SAME = 1e-9  # relative difference of steps that are one step in two roundings


@inline
def history(system):
    """Where the interval velocities start in the state."""
    return (int(system[NQ]) + int(system[NV])) & NOT_NEGATIVE


@inline
def tail(system):
    """Where the numbers behind the velocities start in the state."""
    return (int(system[NQ]) + (1 + HISTORY) * int(system[NV])) & NOT_NEGATIVE


@inline
def predict(system, state, work, h, v, careful):
    """work[v:] = extrapolated velocity of the next interval; careful: the latest one as it is."""
    nv, v, at, end = int(system[NV]) & NOT_NEGATIVE, v & NOT_NEGATIVE, history(system), tail(system)
    data = int(system[STEPPER_DATA])
    stage = (int(system[data + TABLE]) + STAGE_SIZE * int(state[end + STAGE])) & NOT_NEGATIVE
    base = h / system[stage]
    if not abs(base - state[end + BASE]) <= SAME * abs(base):  # another step, or the other direction
        state[end + BASE] = base
        state[end + KNOWN] = min(state[end + KNOWN], 1.0)
    n = 1 if careful else max(1, int(state[end + KNOWN]))
    c = (stage + 1 + HISTORY * (n - 1)) & NOT_NEGATIVE
    far = 0.0
    for i in range(nv):
        x = 0.0
        for j in range(n):
            x += system[c + j] * state[at + j * nv + i]
        work[v + i] = x
        far = max(far, abs(x - state[at + i]))
    if not abs(h) * far < REACH:
        for i in range(nv):
            work[v + i] = state[at + i]


@inline
def remember(system, state, work, h, v):
    """Keep the velocity of the interval that was just travelled."""
    nv, v, at, end = int(system[NV]) & NOT_NEGATIVE, v & NOT_NEGATIVE, history(system), tail(system)
    known = state[end + KNOWN]
    if state[end + MISFIT] > ROUGH:
        known = min(known, FEW - 1.0)
    state[end + KNOWN] = min(known + 1.0, float(HISTORY))
    for i in range((HISTORY - 1) * nv):
        old = (end - nv - 1 - i) & NOT_NEGATIVE
        state[old + nv] = state[old]
    for i in range(nv):
        state[at + i] = work[v + i]


@inline
def next_stage(system, state):
    """One substep of the composition is done."""
    end = tail(system)
    stage = state[end + STAGE] + 1.0
    state[end + STAGE] = stage if stage < system[int(system[STEPPER_DATA]) + STAGES] else 0.0
