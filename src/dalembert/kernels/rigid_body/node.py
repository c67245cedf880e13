"""Between the flat state of one rigid body and what the user sees: configuration, velocity, control, and the ledger of the forces."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import conj, load, mul, rotate, rotate_inverse, store
from dalembert.kernels.rigid_body.forces import applied, damping_wrench, momentum_rate, velocity
from dalembert.kernels.rigid_body.layout import (
    COM,
    DAMPED,
    HELD,
    HELD_FORCE,
    HELD_TORQUE,
    IMPULSE,
    PIVOTED,
    Q_BP,
    Q_W0,
    STEERED,
    WORK,
    Q,
    X,
)
from dalembert.kernels.smallmat import axpy, cross, dot, load3, store3


@kernel
def nodal(system, state, work, q, v):
    """Configuration and velocity of the joint that carries the body.

    Free: q = (position of the body frame, quaternion), v = (omega, velocity of the body-frame origin), body axes.
    Spherical: q = quaternion relative to the reference attitude, v = omega, body axes.
    """
    q_BP = load(system, Q_BP)
    q_WB = mul(load(state, Q), conj(q_BP))
    omega_P, v_P = velocity(system, state)
    omega = rotate(q_BP, omega_P)
    store3(v, 0, omega)
    if system[PIVOTED] != 0.0:
        store(q, 0, mul(conj(load(system, Q_W0)), q_WB))
        return
    com = load3(system, COM)
    store3(q, 0, axpy(-1.0, rotate(q_WB, com), load3(state, X)))
    store(q, 3, q_WB)
    store3(v, 3, axpy(-1.0, cross(omega, com), rotate(q_BP, v_P)))


@kernel
def hold(system, state, tau):
    """Keep a generalised force, dual to v of the joint, for the next step; also moved to the reference point and to principal axes."""
    state[STEERED] = 1.0
    for i in range(tau.shape[0]):
        state[HELD + i] = tau[i]
    q_BP, torque = load(system, Q_BP), load3(tau, 0)
    if system[PIVOTED] == 0.0:
        force = load3(tau, 3)
        torque = axpy(-1.0, cross(load3(system, COM), force), torque)
        store3(state, HELD_FORCE, rotate_inverse(q_BP, force))
    store3(state, HELD_TORQUE, rotate_inverse(q_BP, torque))


@kernel
def ledger(t, h, end, system, state, work, info):
    """Add h/2 times the power (all forces but gravity) and h/2 times the rate of momentum (all known forces) of this node.

    Called at both nodes of a step: the trapezoidal rule. Angular momentum is about the world origin for a free body and about the
    pivot otherwise; the reaction of the pivot is not known here, so the linear part is kept for free bodies only.
    """
    h *= 0.5
    q = load(state, Q)
    omega, v = velocity(system, state)
    torque, force_P = applied(system, state, q)
    rate_P, rate_W = momentum_rate(system, q, torque, force_P)
    power = dot(torque, omega) + dot(force_P, v)
    if system[DAMPED] != 0.0:
        drag_torque, drag_force = damping_wrench(system, state)
        power += dot(drag_torque, omega) + dot(drag_force, v)
        rate_P = axpy(1.0, drag_torque, rate_P)
        rate_W = axpy(1.0, rotate(q, drag_force), rate_W)
    state[WORK] += h * power
    angular = rotate(q, rate_P)
    if system[PIVOTED] == 0.0:
        angular = axpy(1.0, cross(load3(state, X), rate_W), angular)
        store3(state, IMPULSE + 3, axpy(h, rate_W, load3(state, IMPULSE + 3)))
    store3(state, IMPULSE, axpy(h, angular, load3(state, IMPULSE)))
    return 0
