"""Nodes: velocity from momentum, held forces, and the ledger of work and impulse."""

from dalembert.kernels._jit import call_at, inline, kernel
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian.step import load, places, solve
from dalembert.kernels.status import OK


@inline
def velocity(system, work):
    """The velocity of the node becomes z: the state holds it, or its momentum p = dL/dv (q, v) minus what constraints take."""
    n = int(system[at.N])
    x_state, z, _, _, _ = places(system)
    record = at.HEADER
    if system[record + at.UNKNOWN] > 0.0:
        return solve(system, work, record)
    for i in range(n):
        work[z + i] = work[x_state + n + i]
    return OK


@kernel
def nodal(system, state, work, q, v):
    """q and v of the node; v is NaN where no velocity belongs to the momentum."""
    load(state[3 * q.shape[0]], 1.0, system, state, work)
    _, z, _, _, _ = places(system)
    status = velocity(system, work)
    for i in range(int(system[at.N])):
        q[i] = state[i]
        v[i] = work[z + i] if status == OK else float("nan")


@kernel
def hold(system, state, tau):
    """Keep a generalised force for the next step: at the end of the state."""
    first = state.shape[0] - int(system[at.N])
    for i in range(tau.shape[0]):
        state[first + i] = tau[i]


@kernel
def ledger(t, h, end, system, state, work, info):
    """Add h/2 times the power of all forces outside the Lagrangian, and h/2 times their push along each symmetry. Returns a status.

    Called at both nodes of a step: the trapezoidal rule.
    """
    if system[at.LEDGER] == 0.0:
        return OK
    load(t, h, system, state, work)
    _, _, _, out, _ = places(system)
    status = velocity(system, work)
    if status != OK:
        return status
    call_at(int(system[at.LEDGER]), work, 0, work, out)
    first = int(system[at.AT_LEDGER])
    for i in range(int(system[at.LEDGER_SIZE])):
        state[first + i] += 0.5 * h * work[out + i]
    return OK


@kernel
def evaluate(address, x, y):
    """Call machine code from Python."""
    call_at(address, x, 0, y, 0)
