"""Forces of the model on free bodies, as wrenches about centres of mass: springs, dampers, wrenches, damping of free joints.

The machine of free bodies is a tree too, whose links are the bodies, so its loads are those of `kernels/tree/loads.py`. With tau = (torque
about the origin of the body frame, force), body axes, c the centre of mass in the body frame:

    torque about the centre of mass = torque - c x force (body axes),   R force (world axes)
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.bodies.states import from_states
from dalembert.kernels.quat import load, rotate
from dalembert.kernels.smallmat import cross, load3, sub
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.layout import AT_Q, AT_TAU, AT_V, FORCE, LOADS, PASSIVE, SCRATCH
from dalembert.kernels.tree.loads import apply_loads, load_energy, passive
from dalembert.kernels.tree.record import record


@kernel
def add_loads(tree, work, states, coms, forces):
    """forces (6 n,) += forces of the model at the states, gravity not among them. tree: its system array; work: its workspace."""
    q, v, tau, n = int(tree[AT_Q]), int(tree[AT_V]), int(tree[AT_TAU]), coms.shape[0]
    from_states(states, coms, work, q, work, v)
    sweep(tree, work, q, v)
    for i in range(n):
        for k in range(6):
            work[tau + 6 * i + k] = 0.0
            work[record(0, i, SCRATCH) + FORCE + k] = 0.0
    if tree[LOADS] != 0.0:
        world(tree, work)
        apply_loads(tree, work)
    if tree[PASSIVE] != 0.0:
        passive(tree, work, q, v, tau)
    for i in range(n):
        at = record(0, i, SCRATCH) + FORCE
        torque, force = sub(load3(work, tau + 6 * i), load3(work, at)), sub(load3(work, tau + 6 * i + 3), load3(work, at + 3))
        moment, pushed = sub(torque, cross(load3(coms[i], 0), force)), rotate(load(states[i], 3), force)
        for k in range(3):
            forces[6 * i + k] += moment[k]
            forces[6 * i + 3 + k] += pushed[k]


@kernel
def load_potential(tree, work, states, coms):
    """Energy that forces of the model have stored (springs), J; gravity not among them."""
    if tree[LOADS] == 0.0:
        return 0.0
    q, v = int(tree[AT_Q]), int(tree[AT_V])
    from_states(states, coms, work, q, work, v)
    sweep(tree, work, q, v)
    world(tree, work)
    return load_energy(tree, work)
