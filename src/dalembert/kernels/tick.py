"""A call of the loop for who looks at the current node alone: nothing is recorded, and what acts is handed over with the call."""

from numba import types

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, packed
from dalembert.kernels.loop import LOOP, STEP_INDEX, call_hold, run
from dalembert.kernels.status import OK

#: what was pushed is not finite, or of another length: no step was done, and nothing was changed
REFUSED = -1
LARGEST = 1.7976931348623157e308  # float64
NEVER = 2**62  # every so many steps a row
_ANY = types.Array(types.float64, 1, "A")
_KEPT = (*LOOP.args[:7], *LOOP.args[12:], BOOL, ARRAY)


@packed(INT(*_KEPT, REAL, REAL, INT, _ANY, ARRAY), len(_KEPT))
def tick(
    step, ledger, nodal, hold, control, source, use_ledger,
    weights, system, state, previous, work, info, q, v, tau, tally, counter, table, states, log, held, pending,
    t0, h, n, push, node,
):  # fmt: skip
    """n steps (`loop.run`), then node = (q, v). Returns the number of steps since t0, or of what went wrong (`status_of`).

    held: tau = pending + push is held over all of them; pending is 0 afterwards. Without numbers in pending, what is held stays.
    """
    if push.shape[0] > 0 and push.shape[0] != tau.shape[0]:
        return REFUSED
    for i in range(push.shape[0]):
        if not abs(push[i]) <= LARGEST:
            return REFUSED
    if held and pending.shape[0] > 0:
        for i in range(pending.shape[0]):
            tau[i] = pending[i]
            pending[i] = 0.0
        for i in range(push.shape[0]):
            tau[i] += push[i]
        call_hold(hold, system, state, tau)
    status = run(
        step, ledger, nodal, hold, control, source, use_ledger, True,
        t0, h, n, NEVER, weights, system, state, previous, work, info, node[: q.shape[0]], node[q.shape[0] :], tau, tally, counter, table,
        states, log,
    )  # fmt: skip
    return counter[STEP_INDEX] if status == OK else REFUSED - status


def status_of(returned: int) -> int:
    """The status of a call, or REFUSED."""
    return OK if returned >= 0 else REFUSED if returned == REFUSED else REFUSED - returned
