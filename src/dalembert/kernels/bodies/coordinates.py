"""Coordinates of the joints of a machine that was cut free, from the states of its bodies, and forces along them on the bodies.

The machine as its user knows it lists joints in its own order; `view` has a record for each that has coordinates:

    kind    q                                              v                                          force tau on the bodies
    FREE    pose of the body frame                         omega, velocity of its origin, body axes   wrench about the centre of mass
    POINT   position of the body frame                     its velocity, world axes                   force in its origin
    PLAIN   measures, angles continued                     J (omega, v)                               J^T tau
    BALL    F q F^+, q of the joint frames, F = FRAME_B    F spins: child axes                        J^T F^+ tau

Measures of a joint begin with its rates (model/body_rows.py). A joint that is broken has coordinates still, but hands on no force.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.joint_rows import rate_of
from dalembert.kernels.bodies.layout import AT_JOINTS, BODY_A, BODY_B, FIRST_MEASURE, FRAME_A, FRAME_B, JOINT_SIZE
from dalembert.kernels.bodies.measures import pose
from dalembert.kernels.bodies.targets import add_along
from dalembert.kernels.quat import conj, load, mul, rotate, rotate_inverse, store
from dalembert.kernels.smallmat import cross, load3, store3, sub

FREE, PLAIN, BALL, POINT = 0, 1, 2, 3
# columns of view: kind, body (FREE, POINT) or joint, where in q, where in v, number of rates
KIND, OF, AT_Q, AT_V, COUNT, COLUMNS = 0, 1, 2, 3, 4, 5


@inline
def read_free(state, c, q, at_q, v, at_v):
    """Pose and twist of a body frame, as kernels/bodies/states.py."""
    Q, omega = load(state, 3), load3(state, 7)
    store3(q, at_q, sub(load3(state, 0), rotate(Q, c)))
    store(q, at_q + 3, Q)
    store3(v, at_v, omega)
    store3(v, at_v + 3, sub(rotate_inverse(Q, load3(state, 10)), cross(omega, c)))


@inline
def read_point(state, c, q, at_q, v, at_v):
    """Position and velocity of the origin of a body frame."""
    Q = load(state, 3)
    store3(q, at_q, sub(load3(state, 0), rotate(Q, c)))
    store3(v, at_v, sub(load3(state, 10), rotate(Q, cross(load3(state, 7), c))))


@inline
def read_ball(system, joint, states, body_a, body_b, q, at_q, v, at_v):
    """Relative quaternion with a scalar part that is not negative; v holds the spins, and is turned into child axes."""
    _, q_a = pose(states, body_a)
    _, q_b = pose(states, body_b)
    F = load(system, joint + FRAME_B)
    found = mul(F, mul(mul(conj(mul(q_a, load(system, joint + FRAME_A))), mul(q_b, F)), conj(F)))
    store(q, at_q, found if found[0] >= 0.0 else (-found[0], -found[1], -found[2], -found[3]))
    store3(v, at_v, rotate(F, load3(v, at_v)))


@kernel
def read_coordinates(system, view, states, coms, values, J, q, v):
    """q, v of the machine as its user knows it; values, J: of `measure` at the same states."""
    for i in range(view.shape[0]):
        kind, of, at_q, at_v = view[i, KIND], view[i, OF], view[i, AT_Q], view[i, AT_V]
        if kind == FREE:
            read_free(states[of], load3(coms[of], 0), q, at_q, v, at_v)
            continue
        if kind == POINT:
            read_point(states[of], load3(coms[of], 0), q, at_q, v, at_v)
            continue
        joint = int(system[AT_JOINTS]) + of * JOINT_SIZE
        first, body_a, body_b = int(system[joint + FIRST_MEASURE]), int(system[joint + BODY_A]), int(system[joint + BODY_B])
        for k in range(view[i, COUNT]):
            v[at_v + k] = rate_of(J, first + k, states, body_a, body_b)
            if kind == PLAIN:
                q[at_q + k] = values[first + k]
        if kind == BALL:
            read_ball(system, joint, states, body_a, body_b, q, at_q, v, at_v)


@kernel
def push_coordinates(system, view, states, coms, intact, J, tau, room, out):
    """out (6 n,): torques (body axes) and forces (world axes) on the centres of mass of tau, dual to v of `read_coordinates`; room (3,)."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(view.shape[0]):
        kind, of, at_v = view[i, KIND], view[i, OF], view[i, AT_V]
        if kind == FREE:
            force = load3(tau, at_v + 3)
            moment, pushed = sub(load3(tau, at_v), cross(load3(coms[of], 0), force)), rotate(load(states[of], 3), force)
            for k in range(3):
                out[6 * of + k] += moment[k]
                out[6 * of + 3 + k] += pushed[k]
            continue
        if kind == POINT:
            turned = cross(load3(coms[of], 0), rotate_inverse(load(states[of], 3), load3(tau, at_v)))
            for k in range(3):
                out[6 * of + k] -= turned[k]
                out[6 * of + 3 + k] += tau[at_v + k]
            continue
        if intact[of] == 0:
            continue
        joint = int(system[AT_JOINTS]) + of * JOINT_SIZE
        first, body_a, body_b = int(system[joint + FIRST_MEASURE]), int(system[joint + BODY_A]), int(system[joint + BODY_B])
        if kind == BALL:
            store3(room, 0, rotate_inverse(load(system, joint + FRAME_B), load3(tau, at_v)))
        for k in range(view[i, COUNT]):
            add_along(J, first + k, room[k] if kind == BALL else tau[at_v + k], body_a, body_b, out)
