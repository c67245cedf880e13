"""The account of a Lie-group Runge-Kutta step.

Work and impulse are further components of the differential equation, sum_i h b_i (power at stage i), of the order of the method: over
the step, or, where that chooses its own internal steps, over each of them, entered by the step itself (`enter_stages`). Any other method
of this family: the trapezoidal rule over the step.
"""

from dalembert.kernels._jit import ARRAY, REAL, VOID, far, kernel
from dalembert.kernels.lie_rk_stages import AT_SUMMED, at_asked, at_q, at_v, set_time, stages_of, tableau, velocity
from dalembert.kernels.status import OK
from dalembert.kernels.tree.account import add_account
from dalembert.kernels.tree.layout import AT_CALL, AT_Q, AT_V, BY_ITSELF, BY_STAGES, NQ, NV, STAGED


@far(VOID(REAL, REAL, ARRAY, ARRAY, ARRAY))
def enter_stages(t, h, system, state, work):
    """Enter the step of size h from t whose stages are in work: w_i = h b_i. Leaves the velocity of the last stage."""
    s = stages_of(system)
    for i in range(s):
        w = h * system[int(tableau(system, AT_SUMMED)) + s * s + i]
        set_time(t, h, system, work, i)
        velocity(h, system, work, i)
        if w != 0.0:
            add_account(w, system, work, at_q(system, i), at_v(system), 0.0, state)


@far(VOID(REAL, REAL, ARRAY, ARRAY, ARRAY))
def enter_node(t, h, system, state, work):
    """Enter half of a step of size h, by the state at one of its ends."""
    nq, q, v = int(system[NQ]), int(system[AT_Q]), int(system[AT_V])
    work[int(system[AT_CALL]) + 1] = t
    for k in range(nq):
        work[q + k] = state[k]
    for k in range(int(system[NV])):
        work[v + k] = state[nq + k]
    add_account(0.5 * h, system, work, q, v, 0.0, state)


@kernel
def ledger(t, h, end, system, state, work, info):
    """Enter a step into the account: by its stages once it is done, by asking the step to, or by the state at both ends. t: of this end."""
    if system[STAGED] == BY_ITSELF:
        if end == 0:
            work[at_asked(system)] = 1.0
    elif system[STAGED] != BY_STAGES:
        enter_node(t, h, system, state, work)
    elif end == 1:
        enter_stages(t - h, h, system, state, work)
    return OK
