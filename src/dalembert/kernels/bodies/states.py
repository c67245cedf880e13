"""States of bodies (13 numbers) from q and v of a machine of free bodies, and back.

q = (p, Q) pose of the body frame, v = (omega, u) of its origin, body axes;   c: centre of mass in the body frame
x = p + R c,   omega,   velocity of the centre of mass R (u + omega x c), world axes;      state = (x, Q, omega, velocity)
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import load, rotate, rotate_inverse, store
from dalembert.kernels.smallmat import add, cross, load3, store3, sub

STATE = 13


@kernel
def to_states(q, v, coms, states):
    """states (n, 13) from q (7 n,), v (6 n,); coms (n, 3)."""
    for i in range(coms.shape[0]):
        state, c = states[i], load3(coms[i], 0)
        Q, omega = load(q, 7 * i + 3), load3(v, 6 * i)
        store3(state, 0, add(load3(q, 7 * i), rotate(Q, c)))
        store(state, 3, Q)
        store3(state, 7, omega)
        store3(state, 10, rotate(Q, add(load3(v, 6 * i + 3), cross(omega, c))))


@kernel
def from_states(states, coms, q, q_at, v, v_at):
    """q[q_at:] (7 n) and v[v_at:] (6 n) from states (n, 13); coms (n, 3)."""
    for i in range(coms.shape[0]):
        state, c = states[i], load3(coms[i], 0)
        Q, omega = load(state, 3), load3(state, 7)
        store3(q, q_at + 7 * i, sub(load3(state, 0), rotate(Q, c)))
        store(q, q_at + 7 * i + 3, Q)
        store3(v, v_at + 6 * i, omega)
        store3(v, v_at + 6 * i + 3, sub(rotate_inverse(Q, load3(state, 10)), cross(omega, c)))
