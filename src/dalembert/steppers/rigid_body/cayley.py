"""Symplectic step on SO(3) with the Cayley map.

    R+ = R cay(h w)                                                    Kobilarov (11)
    J w + h/2 w x J w + h^2/4 (w . J w) w = d                          (12), (16)
    d+ = J w - h/2 w x J w + h^2/4 (w . J w) w = cay(h w)^T d          (14)

w is the angular velocity of the interval, d the momentum at its first node, d+ at its second, all in principal axes. Forces enter as half
kicks of the
node momentum (kernels/rigid_body/forces.py). d+ is computed as the rotated d: then the spatial momentum cannot drift with the Newton
tolerance. The Jacobian of the left side is

    J + h/2 (hat(w) J - hat(J w)) + h^2/4 (w . J w) 1 + h^2/2 w (J w)^T         (18), where print has h/4 and h/2

Conserves R d (spatial angular momentum) and |d| to round-off without torque. Order 2, self-adjoint, symplectic.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import cay, load, mul, normalise, rotate_inverse, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, MAX_ITERATIONS, RATE, RESIDUAL, TOL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_mul, diag_solve, dot, load3, max_abs, scale, solve3, store3
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register


@inline
def node_momentum(J, w, h):
    """J w + h/2 w x J w + h^2/4 (w . J w) w: momentum at the first node of an interval travelled with w; at the second with -h."""
    Jw = diag_mul(J, w)
    stretch = 0.25 * h * h * dot(w, Jw)
    return axpy(0.5 * h, cross(w, Jw), axpy(stretch, w, Jw))


@inline
def jacobian(J, w, h):
    """Derivative of node_momentum with respect to w."""
    a = 0.5 * h
    b = 0.5 * h * h
    L = diag_mul(J, w)
    s = 0.5 * b * dot(w, L)
    return (
        J[0] + s + b * w[0] * L[0],
        a * (L[2] - w[2] * J[1]) + b * w[0] * L[1],
        a * (w[1] * J[2] - L[1]) + b * w[0] * L[2],
        a * (w[2] * J[0] - L[2]) + b * w[1] * L[0],
        J[1] + s + b * w[1] * L[1],
        a * (L[0] - w[0] * J[2]) + b * w[1] * L[2],
        a * (L[1] - w[1] * J[0]) + b * w[2] * L[0],
        a * (w[0] * J[1] - L[0]) + b * w[2] * L[1],
        J[2] + s + b * w[2] * L[2],
    )


@inline
def solve_rate(h, J, d, tol, max_iterations, info):
    """Newton for node_momentum(w) = d. Returns (status, w).

    Starts from J^-1 d. One more correction is applied after the tolerance is met: a residual at the tolerance would show in the attitude.
    """
    w = diag_solve(J, d)
    size = max_abs(d)
    for iteration in range(max_iterations):
        r = axpy(-1.0, d, node_momentum(J, w, h))
        worst = max_abs(r)
        det, correction = solve3(jacobian(J, w, h), r)
        info[ITERATIONS] = iteration + 1
        info[RESIDUAL] = worst / size if size > 0.0 else 0.0
        if det == 0.0:
            return SINGULAR, w
        w = axpy(-1.0, correction, w)
        if worst <= tol * size + TINY:
            return OK, w
    return NOT_CONVERGED, w


@register(
    name="cayley",
    summary="symplectic step with the Cayley map; no singular step was found for inertia ratios up to 135",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "body momentum: exactly", "energy: bounded", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("kobilarov2014",),
    rank=1,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    first_kick(0.5 * h, system, state)
    status, w = solve_rate(h, load3(system, INERTIA), load3(state, ANGULAR), system[TOL], int(system[MAX_ITERATIONS]), info)
    if status != OK:
        return status
    W = cay(scale(h, w))
    store3(state, RATE, w)
    store3(state, ANGULAR, rotate_inverse(W, load3(state, ANGULAR)))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
