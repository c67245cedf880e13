"""Moser-Veselov step, solved in Cayley coordinates.

    J x + 1/2 x x J x = (1 + |x|^2/4) mu,   W = cay(x),   R+ = R W,   mu+ = W^T mu,   mu = h p

x is the rotation of the interval (h times its velocity), p the body momentum of the node: the slides' W L - L W^T = hat(mu), L = tr(J)/2 -
J, with
W = cay(x). Conserves the spatial momentum, |p| and p . J^-1 p / 2 exactly without torque. Order 2, self-adjoint, symplectic.
Solvable about principal axis i if and only if h |omega| < 1.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import cay, conj, load, mul, normalise, rotate, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, MAX_ITERATIONS, RATE, RESIDUAL, TOL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_mul, diag_solve, dot, load3, max_abs, scale, solve3, store3
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register
from dalembert.steppers.rigid_body.quaternion import rate_of


@inline
def residual(J, x, mu):
    """J x + x x J x / 2 - (1 + |x|^2/4) mu"""
    Jx = diag_mul(J, x)
    return axpy(-1.0 - 0.25 * dot(x, x), mu, axpy(0.5, cross(x, Jx), Jx))


@inline
def jacobian(J, x, mu):
    """J + (hat(x) J - hat(J x))/2 - mu x^T/2"""
    L = diag_mul(J, x)
    return (
        J[0] - 0.5 * mu[0] * x[0],
        0.5 * (L[2] - x[2] * J[1] - mu[0] * x[1]),
        0.5 * (x[1] * J[2] - L[1] - mu[0] * x[2]),
        0.5 * (x[2] * J[0] - L[2] - mu[1] * x[0]),
        J[1] - 0.5 * mu[1] * x[1],
        0.5 * (L[0] - x[0] * J[2] - mu[1] * x[2]),
        0.5 * (L[1] - x[1] * J[0] - mu[2] * x[0]),
        0.5 * (x[0] * J[1] - L[0] - mu[2] * x[1]),
        J[2] - 0.5 * mu[2] * x[2],
    )


@inline
def solve_rotation(J, mu, tol, max_iterations, info):
    """Newton for residual(x) = 0, with one more correction after the tolerance is met. Returns (status, x)."""
    x = diag_solve(J, mu)
    size = max_abs(mu)
    for iteration in range(max_iterations):
        r = residual(J, x, mu)
        worst = max_abs(r)
        det, correction = solve3(jacobian(J, x, mu), r)
        info[ITERATIONS] = iteration + 1
        info[RESIDUAL] = worst / size if size > 0.0 else 0.0
        if det == 0.0:
            return SINGULAR, x
        x = axpy(-1.0, correction, x)
        if worst <= tol * size + TINY:
            return OK, x
    return NOT_CONVERGED, x


@register(
    name="moser-veselov-cayley",
    summary="Moser-Veselov in Cayley coordinates: momentum and the energy of the free body are both exact; 3x3 Newton",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "body momentum: exactly", "energy of the free body: exactly", "energy: bounded", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="about a principal axis solvable only for h |omega| < 1",
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("caltech2008slides", "moser1991"),
    rank=20,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    first_kick(0.5 * h, system, state)
    p = load3(state, ANGULAR)
    status, x = solve_rotation(load3(system, INERTIA), scale(h, p), system[TOL], int(system[MAX_ITERATIONS]), info)
    if status != OK:
        return status
    W = cay(x)
    store3(state, RATE, rate_of(W, h))
    store3(state, ANGULAR, rotate(conj(W), p))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
