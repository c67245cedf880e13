"""Earlier interval velocities: what the next step starts from.

A polynomial through up to three of them, taken at the middle of the next interval. Steps of a composition differ in size and sign, so
their times are kept too.
"""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import NQ, NV
from dalembert.kernels.tree.variational.layout import HISTORY, KNOWN, TIMES

REACH = 0.1  # an extrapolation by more than this per step (rad, m) is not trusted
NEAR = 0.4  # nor one from times that are closer than this part of the step


@inline
def history(system):
    """Where the interval velocities start in the state."""
    return int(system[NQ]) + int(system[NV])


@inline
def predict(system, state, work, h, v, careful):
    """work[v:] = extrapolated velocity of the next interval; careful: the latest one as it is."""
    nv = int(system[NV])
    at = history(system)
    tail = at + HISTORY * nv
    known = 1 if careful else int(state[tail + KNOWN])
    t = 0.5 * h
    t1, t2, t3 = state[tail + TIMES], state[tail + TIMES + 1], state[tail + TIMES + 2]
    near = NEAR * abs(h)
    if known >= 3 and (abs(t1 - t2) < near or abs(t1 - t3) < near or abs(t2 - t3) < near):
        known = 2
    if known == 2 and abs(t1 - t2) < near:
        known = 1
    c1, c2, c3 = 1.0, 0.0, 0.0
    if known >= 3:
        c1 = (t - t2) * (t - t3) / ((t1 - t2) * (t1 - t3))
        c2 = (t - t1) * (t - t3) / ((t2 - t1) * (t2 - t3))
        c3 = (t - t1) * (t - t2) / ((t3 - t1) * (t3 - t2))
    elif known == 2:
        c1, c2 = (t - t2) / (t1 - t2), (t - t1) / (t2 - t1)
    far = 0.0
    for i in range(nv):
        work[v + i] = c1 * state[at + i] + c2 * state[at + nv + i] + c3 * state[at + 2 * nv + i]
        far = max(far, abs(work[v + i] - state[at + i]))
    if not abs(h) * far < REACH:
        for i in range(nv):
            work[v + i] = state[at + i]


@inline
def remember(system, state, work, h, v):
    """Keep the velocity of the interval that was just travelled."""
    nv = int(system[NV])
    at = history(system)
    tail = at + HISTORY * nv
    for i in range(nv):
        state[at + 2 * nv + i] = state[at + nv + i]
        state[at + nv + i] = state[at + i]
        state[at + i] = work[v + i]
    if state[tail + KNOWN] == 0.0:  # what was known so far is the velocity of the first node
        state[tail + TIMES + 1] = -h
        state[tail + KNOWN] = 2.0
    else:
        state[tail + TIMES + 2] = state[tail + TIMES + 1] - h
        state[tail + TIMES + 1] = state[tail + TIMES] - h
        state[tail + KNOWN] = 3.0
    state[tail + TIMES] = -0.5 * h
