"""Linearly implicit step in unit quaternions.

    z_s = y_v . I y_v,   z_v = -(h/2) p,   D = I - z_s 1               Lacoursiere (15.54), (15.60)
    (D + hat(z_v)) x_v = -y_s z_v,   x_s = sqrt(1 - |x_v|^2)           equal to (15.59)
    q+ = q * x,   p+ = (2/h) (x_s I x_v - x_v x I x_v)

y is the rotation of the previous interval, x that of the next, p the body momentum of the node with its kick (all known torques in z, or
the order
drops to one). It is the variational quaternion step with the eigenvalue taken from the previous interval. Order 2; invariants within
O(h^2).
Needs y_v . I y_v < min I (15.62): about h < 2 sqrt(min I / (2 E)). A run starts from the y whose momentum is p_0, found by the variational
step backwards.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import conj, exp, load, mul, normalise, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, MAX_ITERATIONS, RATE, RESIDUAL, STARTED, TOL, Q
from dalembert.kernels.smallmat import dot, load3, scale, solve3, store3
from dalembert.kernels.status import NO_SOLUTION, OK, SINGULAR
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register
from dalembert.steppers.rigid_body.quaternion import node_momentum, rate_of, solve_rotation


@inline
def previous_rotation(h, system, state, info):
    """(status, y): the rotation of the interval that ends at this node."""
    if state[STARTED] != 0.0:
        return OK, exp(scale(h, load3(state, RATE)))
    M = scale(-0.5 * h, load3(state, ANGULAR))
    status, x = solve_rotation(load3(system, INERTIA), M, system[TOL], int(system[MAX_ITERATIONS]), info)
    return status, conj(x)


@register(
    name="quaternion-linear",
    summary="one 3x3 linear solve per step: close to the variational quaternion step while h |omega| is moderate, and cheaper",
    system="rigid-body",
    order=2,
    conserves=("attitude: exactly",),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="needs h < 2 sqrt(smallest inertia / (2 kinetic energy)); invariants hold to O(h^2)",
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("lacoursiere2007",),
    rank=60,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, one linear solve and drift, half kick."""
    inertia = load3(system, INERTIA)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    status, y = previous_rotation(h, system, state, info)
    if status != OK:
        return status
    first_kick(0.5 * h, system, state)
    z = scale(-0.5 * h, load3(state, ANGULAR))
    y_v = (y[1], y[2], y[3])
    z_s = dot(y_v, (inertia[0] * y[1], inertia[1] * y[2], inertia[2] * y[3]))
    if not z_s < min(inertia[0], inertia[1], inertia[2]):
        return NO_SOLUTION
    a, b, c = inertia[0] - z_s, inertia[1] - z_s, inertia[2] - z_s
    det, x_v = solve3((a, -z[2], z[1], z[2], b, -z[0], -z[1], z[0], c), scale(-y[0], z))
    square = dot(x_v, x_v)
    if det == 0.0:
        return SINGULAR
    if not square < 1.0:
        return NO_SOLUTION
    x = (math.sqrt(1.0 - square), x_v[0], x_v[1], x_v[2])
    state[STARTED] = 1.0
    store3(state, RATE, rate_of(x, h))
    store3(state, ANGULAR, scale(2.0 / h, node_momentum(inertia, x, -1.0)))
    store(state, Q, normalise(mul(load(state, Q), x)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
