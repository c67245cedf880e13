"""Forces on one rigid body, and the kicks by which they enter a step.

A step of size h is: half a kick with the forces of the first node, free motion, half a kick with the forces of the second node,

    p <- p + h/2 f(q_k, v_k),     free motion,     p <- p + h/2 f(q_k+1, v_k+1),

which is the trapezoidal discrete d'Alembert principle: f_d^- = h/2 f_k, f_d^+ = h/2 f_k+1. The node momentum p_k sits between the two
half kicks of its node, so a run that starts from p_0 = M v_0 is of second order. Damping is linear in the velocity; its half kick is
explicit
at the first node and implicit (one 6x6 solve) at the second, so that both use the velocity of their node and the step stays symmetric.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.gauss import solve_in_place
from dalembert.kernels.quat import load, rotate, rotate_inverse
from dalembert.kernels.rigid_body.layout import (
    ANGULAR,
    ARM,
    BODY_FORCE,
    BODY_TORQUE,
    DAMPED,
    DAMPING,
    DRIFT,
    FORCED,
    GRAVITY,
    HELD_FORCE,
    HELD_TORQUE,
    INERTIA,
    LINEAR,
    LOAD_SIZE,
    LOADS,
    MASS,
    PIVOTED,
    STEERED,
    WORK_MATRIX,
    WORK_VECTOR,
    Q,
    X,
)
from dalembert.kernels.smallmat import add, axpy, cross, diag_solve, dot, load3, scale, store3


@inline
def applied(system, state, q):
    """(torque about the reference point, axes P; force, axes P) of everything but gravity and damping."""
    torque = add(load3(system, BODY_TORQUE), load3(state, HELD_TORQUE))
    force = add(load3(system, BODY_FORCE), load3(state, HELD_FORCE))
    for i in range(int(system[LOADS])):
        at = LOADS + 1 + i * LOAD_SIZE
        force_P = rotate_inverse(q, load3(system, at + 3))
        torque_P = rotate_inverse(q, load3(system, at + 6))
        torque = add(add(torque, torque_P), cross(load3(system, at), force_P))
        force = add(force, force_P)
    return torque, force


@inline
def momentum_rate(system, q, torque, force):
    """(torque about the reference point, axes P; force, world) at attitude q: what is applied, and gravity."""
    weight = scale(system[MASS], load3(system, GRAVITY))
    if system[PIVOTED] != 0.0:
        return add(torque, cross(load3(system, ARM), rotate_inverse(q, weight))), (0.0, 0.0, 0.0)
    return torque, add(weight, rotate(q, force))


@inline
def velocity(system, state):
    """(omega, v of the reference point) of the node, axes P: M^-1 p."""
    omega = diag_solve(load3(system, INERTIA), load3(state, ANGULAR))
    if system[PIVOTED] != 0.0:
        return omega, (0.0, 0.0, 0.0)
    return omega, scale(1.0 / system[MASS], rotate_inverse(load(state, Q), load3(state, LINEAR)))


@inline
def drag(system, row, omega, v):
    """One row of -D (omega, v)."""
    at = DAMPING + 6 * row
    return -dot(load3(system, at), omega) - dot(load3(system, at + 3), v)


@kernel
def damping_wrench(system, state):
    """-D (omega, v), axes P."""
    omega, v = velocity(system, state)
    torque = (drag(system, 0, omega, v), drag(system, 1, omega, v), drag(system, 2, omega, v))
    force = (drag(system, 3, omega, v), drag(system, 4, omega, v), drag(system, 5, omega, v))
    return torque, force


@inline
def kick(h, system, state):
    """p += h f(q) for every force but damping."""
    if system[FORCED] == 0.0 and state[STEERED] == 0.0:
        return
    q = load(state, Q)
    torque, force = applied(system, state, q)
    torque, force = momentum_rate(system, q, torque, force)
    store3(state, ANGULAR, axpy(h, torque, load3(state, ANGULAR)))
    store3(state, LINEAR, axpy(h, force, load3(state, LINEAR)))


@kernel
def explicit_drag(h, system, state):
    """p += -h D M^-1 p."""
    torque, force = damping_wrench(system, state)
    store3(state, ANGULAR, axpy(h, torque, load3(state, ANGULAR)))
    if system[PIVOTED] == 0.0:
        store3(state, LINEAR, axpy(h, rotate(load(state, Q), force), load3(state, LINEAR)))


@kernel
def implicit_drag(h, system, state, work):
    """p = p_before - h D M^-1 p: one 6x6 solve (3x3 about a pivot). False if it is singular."""
    n = 3 if system[PIVOTED] != 0.0 else 6
    q = load(state, Q)
    for i in range(n):
        for j in range(n):
            mobility = 1.0 / system[INERTIA + j] if j < 3 else 1.0 / system[MASS]
            work[WORK_MATRIX + n * i + j] = h * system[DAMPING + 6 * i + j] * mobility
        work[WORK_MATRIX + n * i + i] += 1.0
    store3(work, WORK_VECTOR, load3(state, ANGULAR))
    store3(work, WORK_VECTOR + 3, rotate_inverse(q, load3(state, LINEAR)))
    if not solve_in_place(work, WORK_MATRIX, WORK_VECTOR, n):
        return False
    store3(state, ANGULAR, load3(work, WORK_VECTOR))
    if n == 6:
        store3(state, LINEAR, rotate(q, load3(work, WORK_VECTOR + 3)))
    return True


@inline
def first_kick(h, system, state):
    """p += h f(q, v): the half kick at the first node of a step."""
    if system[DAMPED] != 0.0:
        explicit_drag(h, system, state)
    kick(h, system, state)


@inline
def second_kick(h, system, state, work):
    """p = p_before + h f(q, v) with v = M^-1 p: the half kick at the second node. False if the damping solve is singular."""
    kick(h, system, state)
    if system[DAMPED] != 0.0:
        return implicit_drag(h, system, state, work)
    return True


@inline
def translate(h, system, state):
    """x += h P/m: free motion of the centre of mass. The velocity of the interval is kept for output."""
    if system[PIVOTED] != 0.0:
        return
    v = scale(1.0 / system[MASS], load3(state, LINEAR))
    store3(state, DRIFT, v)
    store3(state, X, axpy(h, v, load3(state, X)))
