"""Trapezoidal Lie-Newmark step on SO(3).

    (1 + h/2 hat(w)) J w = c                                           Kobilarov (9), (10)
    c+ = (1 - h/2 hat(w)) J w
    R+ = R exp(h w)

w is the angular velocity of the interval, c the momentum of its first node, principal axes. J^-1 c obeys the implicit midpoint rule, hence
|c| and c . J^-1 c / 2 are constant to round-off without torque; the spatial momentum R c is not conserved, it stays within O(h^2).
Order 2, self-adjoint. Solvable for h |w| < 4 sqrt(kappa)/(kappa - 1), kappa the ratio of the extreme inertias.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import exp, load, mul, normalise, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, MAX_ITERATIONS, RATE, RESIDUAL, TOL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_mul, diag_solve, load3, max_abs, scale, solve3, store3
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register


@inline
def node_momentum(J, w, h):
    """J w + h/2 w x J w: at the first node of the interval; at the second with -h."""
    Jw = diag_mul(J, w)
    return axpy(0.5 * h, cross(w, Jw), Jw)


@inline
def jacobian(J, w, h):
    """J + h/2 (hat(w) J - hat(J w))."""
    a = 0.5 * h
    L = diag_mul(J, w)
    return (
        J[0],
        a * (L[2] - w[2] * J[1]),
        a * (w[1] * J[2] - L[1]),
        a * (w[2] * J[0] - L[2]),
        J[1],
        a * (L[0] - w[0] * J[2]),
        a * (L[1] - w[1] * J[0]),
        a * (w[0] * J[1] - L[0]),
        J[2],
    )


@inline
def solve_rate(h, J, c, tol, max_iterations, info):
    """Newton for node_momentum(w) = c, with one more correction after the tolerance is met. Returns (status, w)."""
    w = diag_solve(J, c)
    size = max_abs(c)
    for iteration in range(max_iterations):
        r = axpy(-1.0, c, node_momentum(J, w, h))
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
    name="tln",
    summary="trapezoidal Lie-Newmark: smallest attitude error of order 2; energy and |body momentum| exact, spatial momentum to O(h^2)",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    conserves=("body momentum: exactly", "energy of the free body: exactly", "energy: bounded (integrable motions)", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="h |omega| < 4 sqrt(kappa)/(kappa - 1), kappa = largest / smallest inertia; not symplectic: in chaotic motions "
    "(an asymmetric top) the energy wanders over 1e5 steps and more",
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("kobilarov2014",),
    rank=10,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    J = load3(system, INERTIA)
    first_kick(0.5 * h, system, state)
    status, w = solve_rate(h, J, load3(state, ANGULAR), system[TOL], int(system[MAX_ITERATIONS]), info)
    if status != OK:
        return status
    store3(state, RATE, w)
    store3(state, ANGULAR, node_momentum(J, w, -h))
    store(state, Q, normalise(mul(load(state, Q), exp(scale(h, w)))))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
