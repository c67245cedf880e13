"""The account of a variational step: forces where the method evaluates them, with the velocity of the interval.

    symplectic Euler   h at q_k          midpoint   h at q_k+1/2          trapezoidal   h/2 at q_k and h/2 at q_k+1

With these the momentum of a motion that joints and loops allow changes by exactly the impulse (the forced discrete Noether theorem): a
force at the middle is shared between the nodes by (1 + Ad_E)^-T and the rest (`retraction.py`), and both together push, seen from the
world, as the force at the middle does. The work has the order of the method.

The state after the step tells q_k+1 and v; q_k = q_k+1 tau(-h v).
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.status import OK
from dalembert.kernels.tree.account import add_account
from dalembert.kernels.tree.layout import AT_CALL, NQ, NV, STEPPER_DATA
from dalembert.kernels.tree.variational.layout import HV, METHOD, MIDPOINT, Q_MID, Q_NEW, RETRACTION, TRAPEZOIDAL, V
from dalembert.kernels.tree.variational.retraction import retract


@kernel
def ledger(t, h, end, system, state, work, info):
    """Enter a step into the account, once it is done. Of a step that was split only the last part is known, which stands for all."""
    if end == 0:
        return OK
    nq, nv, data = int(system[NQ]), int(system[NV]), int(system[STEPPER_DATA])
    method, exponential = int(system[data + METHOD]), system[data + RETRACTION] != 0.0
    q, x, v, other = int(system[data + Q_NEW]), int(system[data + HV]), int(system[data + V]), int(system[data + Q_MID])
    time = int(system[AT_CALL]) + 1
    for i in range(nq):
        work[q + i] = state[i]
    for i in range(nv):
        work[v + i] = state[nq + nv + i]
        work[x + i] = -h * work[v + i]
    retract(system, work, q, x, other, exponential, method == MIDPOINT)
    both = method == TRAPEZOIDAL
    for k in range(2 if both else 1):
        work[time] = t if k == 1 else (t - 0.5 * h if method == MIDPOINT else t - h)
        add_account(0.5 * h if both else h, system, work, q if k == 1 else other, v, 0.5 * h if method == MIDPOINT else 0.0, state)
    return OK
