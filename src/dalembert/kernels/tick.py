"""A call of the loop for who looks at the current node alone: nothing is recorded, and what acts is handed over with the call."""

from numba import types

from dalembert.kernels._jit import ARRAY, kernel
from dalembert.kernels.loop import LOOP, call_hold, run

#: what was pushed is not finite: no step was done, and nothing was changed
REFUSED = -1
LARGEST = 1.7976931348623157e308  # float64
NEVER = 2**62  # every so many steps a row
_ANY = types.Array(types.float64, 1, "A")
TICK = types.int64(*LOOP.args[:7], *LOOP.args[8:11], *LOOP.args[12:], types.boolean, ARRAY, _ANY)


@kernel
def tick(
    step, ledger, nodal, hold, control, source, use_ledger,
    t0, h, n, weights, system, state, previous, work, info, q, v, tau, tally, counter, table, states, log, held, pending, push,
):  # fmt: skip
    """n steps (`loop.run`), then q and v of the node. Returns the status, or REFUSED.

    held: tau = pending + push is held over all of them; pending is 0 afterwards. Without numbers in pending, what is held stays.
    """
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
    return run(
        step, ledger, nodal, hold, control, source, use_ledger, True,
        t0, h, n, NEVER, weights, system, state, previous, work, info, q, v, tau, tally, counter, table, states, log,
    )  # fmt: skip
