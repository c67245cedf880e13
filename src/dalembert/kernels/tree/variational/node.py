"""Between the state of a variational step and what the user sees: q and v = M^-1 p at the nodes, the control."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import AT_HELD, LINKS, NQ, NV, STEPPER_DATA, VEL
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.history import tail
from dalembert.kernels.tree.variational.layout import CEILING, DV, FACTOR, HV, Q_OLD, SIDE_0, SIDE_SIZE, E


@kernel
def nodal(system, state, work, q, v):
    """q of the state, and v from M(q) v = p. NaN where the mass matrix is singular."""
    data = int(system[STEPPER_DATA])
    nq, nv = int(system[NQ]), int(system[NV])
    q_old, e, dv, x = int(system[data + Q_OLD]), int(system[data + E]), int(system[data + DV]), int(system[data + HV])
    side, fac = int(system[data + SIDE_0]), int(system[data + FACTOR])
    for i in range(nq):
        q[i] = state[i]
        work[q_old + i] = state[i]
    for i in range(nv):
        work[e + i] = -state[nq + i]
        work[x + i] = 0.0
    for i in range(int(system[LINKS])):
        place(system, work, i, q_old, side + i * SIDE_SIZE)
        for k in range(VEL, SIDE_SIZE):
            work[side + i * SIDE_SIZE + k] = 0.0
    ok = factor(system, work, side, fac, x, x, x, 0.0, 0.0, nv < 0)
    solve(system, work, side, fac, e, dv)
    for i in range(nv):
        v[i] = work[dv + i] if ok else float("nan")


@kernel
def hold(system, state, tau):
    """Keep a generalised force for the next step. It may drive the machine: energy has no ceiling from here on."""
    state[tail(system) + CEILING] = 0.0
    at = int(system[AT_HELD])
    for i in range(int(system[NV])):
        state[at + i] = tau[i]
