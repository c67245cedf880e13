"""The account of a variational step: forces where the rule evaluates them, with the velocity of the interval.

    symplectic Euler   h at q_k          midpoint   h at q_k+1/2          trapezoidal   h/2 at q_k and h/2 at q_k+1

With these the momentum of a motion that joints and loops allow changes by exactly the impulse (the forced discrete Noether theorem): a
force at the middle is shared between the nodes by (1 + Ad_E)^-T and the rest (`retraction.py`), and both together push, seen from the
world, as the force at the middle does. The work has the order of the method.

The state after the step tells q_k+1 and v; q_k = q_k+1 tau(-h v).
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.status import OK
from dalembert.kernels.tree.account import add_account
from dalembert.kernels.tree.layout import AT_CALL
from dalembert.kernels.tree.variational.layout import FIRST, SECOND, notes, places
from dalembert.kernels.tree.variational.retraction import retract


@kernel
def ledger(t, h, end, system, state, work, info):
    """Enter a step into the account, once it is done. Of a step that was split only the last part is known, which stands for all."""
    if end == 0:
        return OK
    s, n = places(system), notes(system)
    time = int(system[AT_CALL]) + 1
    for i in range(s.nq):
        work[s.q_new + i] = state[n.q + i]
    for i in range(s.nv):
        work[s.v + i] = state[n.history + i]
        work[s.hv + i] = -h * work[s.v + i]
    retract(system, work, s.q_new, s.hv, s.q_mid, s.exponential != 0, s.inside != 0)
    part, reach = h / (s.end - s.first), 0.5 * h if s.inside != 0 else 0.0
    for k in range(s.first, s.end):
        work[time] = t if k == SECOND else (t - h if k == FIRST else t - 0.5 * h)
        add_account(part, system, work, s.q_new if k == SECOND else s.q_mid, s.v, reach, state)
    return OK
