"""Earlier interval velocities: what the next step starts from.

    v_k ~ sum over j of c_j v_k-j,    j = 1 ... n

Steps of a composition repeat in size and sign after its last stage, so for each stage and each number n of velocities that are known the
coefficients are constants of the composition; `steppers/variational/_prediction.py` derives them. They hold as long as h stays the same.
"""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.record import NOT_NEGATIVE
from dalembert.kernels.tree.variational.layout import HISTORY, STAGE_SIZE, notes, places

# corrections per step with other values: benchmarks/tuning.py
REACH = 0.1  # an extrapolation by more than this per step (rad, m) is not trusted; 0.01 costs 15 % with coarse steps, 1 nothing,
ROUGH = 0.01  # and only from FEW velocities where the last one was wrong by more than this; 0.001 saves 4 % and loses coarse steps (tests)
FEW = 3  # 1 or 9 cost 2 to 4 % with coarse steps
SAME = 1e-9  # relative difference of steps that are one step in two roundings


@inline
def predict(system, state, work, h, careful):
    """work[s.v:] = extrapolated velocity of the next interval; careful: the latest one as it is."""
    s, n = places(system), notes(system)
    stage = (s.table + STAGE_SIZE * int(state[n.stage])) & NOT_NEGATIVE
    base = h / system[stage]
    if not abs(base - state[n.base]) <= SAME * abs(base):  # another step, or the other direction
        state[n.base] = base
        state[n.known] = min(state[n.known], 1.0)
    known = 1 if careful else max(1, int(state[n.known]))
    c = (stage + 1 + HISTORY * (known - 1)) & NOT_NEGATIVE
    far = 0.0
    for i in range(s.nv):
        x = 0.0
        for j in range(known):
            x += system[c + j] * state[n.history + j * s.nv + i]
        work[s.v + i] = x
        far = max(far, abs(x - state[n.history + i]))
    if not abs(h) * far < REACH:
        for i in range(s.nv):
            work[s.v + i] = state[n.history + i]


@inline
def remember(system, state, work):
    """Keep the velocity of the interval that was just travelled."""
    s, n = places(system), notes(system)
    known = state[n.known]
    if state[n.misfit] > ROUGH:
        known = min(known, FEW - 1.0)
    state[n.known] = min(known + 1.0, float(HISTORY))
    for i in range((HISTORY - 1) * s.nv):
        old = (n.known - s.nv - 1 - i) & NOT_NEGATIVE
        state[old + s.nv] = state[old]
    for i in range(s.nv):
        state[n.history + i] = work[s.v + i]


@inline
def next_stage(system, state):
    """One substep of the composition is done."""
    s, n = places(system), notes(system)
    stage = state[n.stage] + 1.0
    state[n.stage] = stage if stage < s.stages else 0.0
