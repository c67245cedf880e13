"""Energies of states of many machines of one structure: those of one machine after those of the other."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.rows import state_rows


@kernel
def energies_of_many(systems, each, q, v, work, kinetic, potential, no_momentum):
    """Energies (machines * each,) of q (machines * each, nq) and v: `rows.state_rows` of each machine. no_momentum: (0, 6)."""
    for s in range(systems.shape[0]):
        first, last = s * each, (s + 1) * each
        state_rows(systems[s], q[first:last], v[first:last], work, kinetic[first:last], potential[first:last], no_momentum)
