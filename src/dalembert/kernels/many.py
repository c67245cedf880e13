"""The loop over samples: each runs from its own start, on a system of its own or on one that all share."""

from numba import types

from dalembert.kernels._jit import ARRAY, kernel
from dalembert.kernels.loop import ROW, STEP_INDEX, TABLE_START, call_nodal, run

_MATRIX, _WHOLE, _NUMBER, _FLAG, _COUNTS = types.float64[:, ::1], types.int64, types.float64, types.boolean, types.int64[::1]
MANY = types.void(
    *(_WHOLE,) * 6, _FLAG, _NUMBER, _WHOLE, _WHOLE, ARRAY, _MATRIX, _MATRIX, *(ARRAY,) * 7, _COUNTS, *(_MATRIX,) * 3, _COUNTS, _COUNTS
)  # fmt: skip


@kernel
def run_many(
    step, ledger, nodal, hold, control, source, use_ledger,
    h, n, every, weights, systems, starts, previous, work, info, q, v, tau, tally, counter, table, states, log, statuses, steps,
):  # fmt: skip
    """n steps of each sample (`loop.run`), as if each ran alone: scratch arrays are 0 at its start.

    systems (1 or samples, ...); starts (samples, size): states, at the end those of the last node that was reached. states, log: n // every
    rows for each sample, one sample after the other. statuses, steps: how each ended, and after how many steps. A sample whose status is
    not 0 beforehand is left out.
    """
    rows = n // every
    for s in range(starts.shape[0]):
        if statuses[s] != 0:
            continue
        for i in range(work.shape[0]):
            work[i] = 0.0
        for i in range(info.shape[0]):
            info[i] = 0.0
        for i in range(tau.shape[0]):
            tau[i] = 0.0
        for i in range(tally.shape[0]):
            tally[i] = 0.0
        counter[STEP_INDEX], counter[ROW], counter[TABLE_START] = 0, 0, 0
        statuses[s] = run(
            step, ledger, nodal, hold, control, source, use_ledger, False,
            0.0, h, n, every, weights, systems[min(s, systems.shape[0] - 1)], starts[s], previous, work, info, q, v, tau, tally, counter,
            table, states[s * rows : (s + 1) * rows], log[s * rows : (s + 1) * rows],
        )  # fmt: skip
        steps[s] = counter[STEP_INDEX]


NODES_OF_MANY = types.void(_WHOLE, _MATRIX, _MATRIX, ARRAY, _MATRIX, _MATRIX)


@kernel
def nodes_of_many(nodal, systems, states, work, q, v):
    """Configuration and velocity of recorded states, as many of each sample, one sample after the other."""
    each = states.shape[0] // systems.shape[0]
    for i in range(states.shape[0]):
        call_nodal(nodal, systems[i // each], states[i], work, q[i], v[i])
