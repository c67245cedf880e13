"""Between the state of a variational step and what the user sees: q and v = M^-1 p at the nodes, the control."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import VEL
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import SIDE_SIZE, notes, places
from dalembert.kernels.tree.variational.singles import velocities_of_singles


@kernel
def nodal(system, state, work, q, v):
    """q of the state, and v from M(q) v = p. NaN where the mass matrix is singular."""
    s, n = places(system), notes(system)
    for i in range(s.nq):
        q[i] = state[n.q + i]
        work[s.q_old + i] = state[n.q + i]
    for i in range(s.nv):
        work[s.p_old + i] = state[n.p + i]
    if s.nv == s.links and s.nq == s.links:  # hinges and slides alone
        ok = velocities_of_singles(system, work, s.q_old, s.p_old, s.dv)
    else:
        ok = velocities_of_many(system, work)
    for i in range(s.nv):
        v[i] = work[s.dv + i] if ok else float("nan")


@kernel
def velocities_of_many(system, work):
    """work[dv:] = M(q_old)^-1 p_old, eliminated link by link. False where M is singular."""
    s = places(system)
    for i in range(s.nv):
        work[s.e + i] = -work[s.p_old + i]
        work[s.hv + i] = 0.0
    for i in range(s.links):
        place(system, work, i, s.q_old, s.side_0 + i * SIDE_SIZE)
        for k in range(VEL, SIDE_SIZE):
            work[s.side_0 + i * SIDE_SIZE + k] = 0.0
    ok = factor(system, work, s.side_0, s.factor, s.hv, s.hv, s.hv, 0.0, 0.0, s.nv < 0)
    solve(system, work, s.side_0, s.factor, s.e, s.dv)
    return ok


@kernel
def hold(system, state, tau):
    """Keep a generalised force for the next step. It may drive the machine: energy has no ceiling from here on."""
    s, n = places(system), notes(system)
    state[n.ceiling] = 0.0
    for i in range(s.nv):
        state[n.held + i] = tau[i]
