"""The account of a Lie-group Runge-Kutta step.

Fixed step: work and impulse are further components of the differential equation, sum_i h b_i (power at stage i), of the order of the
method. Adaptive, and any other method of this family: the trapezoidal rule over the step.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.lie_rk import AT_SUMMED, at_q, at_v, set_time, stages_of, tableau, velocity
from dalembert.kernels.status import OK
from dalembert.kernels.tree.account import add_account
from dalembert.kernels.tree.layout import AT_CALL, AT_Q, AT_V, NQ, NV, STAGED


@kernel
def ledger(t, h, end, system, state, work, info):
    """Enter a step into the account: by its stages once it is done, or by the state at both ends. t: of this end."""
    staged = system[STAGED] != 0.0
    if staged and end == 0:
        return OK
    nq, s = int(system[NQ]), stages_of(system) if staged else 1
    q, v, w = int(system[AT_Q]), int(system[AT_V]), 0.5 * h
    for i in range(s):
        if staged:
            w = h * system[int(tableau(system, AT_SUMMED)) + s * s + i]
            set_time(t - h, h, system, work, i)
            velocity(h, system, work, i)
            q, v = at_q(system, i), at_v(system)
        else:
            work[int(system[AT_CALL]) + 1] = t
            for k in range(nq):
                work[q + k] = state[k]
            for k in range(int(system[NV])):
                work[v + k] = state[nq + k]
        if w != 0.0:
            add_account(w, system, work, q, v, 0.0, state)
    return OK
