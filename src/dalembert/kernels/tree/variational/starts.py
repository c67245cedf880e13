"""States of many starts: q, p = M(q) v, and v as the only known velocity."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.energy import momenta
from dalembert.kernels.tree.kinematics import sweep
from dalembert.kernels.tree.layout import AT_ACC, AT_Q, AT_TAU, AT_V


@kernel
def start_rows(systems, work, q, v, states, at_p, at_history):
    """Rows q (n, nq), v (n, nv) into states (n, size), which are 0 before: q first, momenta at at_p, velocities at at_history.

    systems: one for each row, or one that all share.
    """
    nq, nv = q.shape[1], v.shape[1]
    for s in range(q.shape[0]):
        system = systems[min(s, systems.shape[0] - 1)]
        at_q, at_v, out = int(system[AT_Q]), int(system[AT_V]), int(system[AT_TAU])
        for i in range(work.shape[0]):
            work[i] = 0.0
        for i in range(nq):
            work[at_q + i] = q[s, i]
            states[s, i] = q[s, i]
        for i in range(nv):
            work[at_v + i] = v[s, i]
            states[s, at_history + i] = v[s, i]
        sweep(system, work, at_q, at_v)
        momenta(system, work, at_v, out, int(system[AT_ACC]))
        for i in range(nv):
            states[s, at_p + i] = work[out + i]
