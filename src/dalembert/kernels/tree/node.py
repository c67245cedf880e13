"""Between the flat state of a tree and what the user sees."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.layout import AT_HELD, NQ, NV


@kernel
def nodal(system, state, work, q, v):
    """The state holds q and v as they are."""
    nq, nv = int(system[NQ]), int(system[NV])
    for i in range(nq):
        q[i] = state[i]
    for i in range(nv):
        v[i] = state[nq + i]


@kernel
def hold(system, state, tau):
    """Keep a generalised force for the next step."""
    at = int(system[AT_HELD])
    for i in range(int(system[NV])):
        state[at + i] = tau[i]
