"""Steps whose length is an unknown of their equations: the plain step, and a look at the length that was found.

The state holds at 3 n + 1 the discrete energy, and behind it the length of the last step, 0 before the first one.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian.step import step as plain
from dalembert.kernels.status import NO_CONTINUATION, OK

MOST = 1.5  # ratio of the lengths of two steps


@kernel
def step(t, h, system, state, work, info):
    """NO_CONTINUATION where no step solves the equations, or none whose length continues that of the last one.

    The equations have the step back to the last node, of the opposite length, as another root, and where the energy of a step does not
    depend on its length none at all.
    """
    here = 3 * int(system[at.N]) + 2
    last = abs(state[here])
    status = plain(t, h, system, state, work, info)
    if last == 0.0:
        return status
    new = state[here] if h > 0.0 else -state[here]
    if status != OK or not last <= MOST * new or not new <= MOST * last:
        return NO_CONTINUATION
    return OK
