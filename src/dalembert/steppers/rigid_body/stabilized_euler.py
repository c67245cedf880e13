"""Stabilised semi-implicit Euler step of the angular velocity.

    (I - h^2 hat(L) I^-1 hat(L)) w+ = (I + h hat(L)) w + h (1 + h hat(L) I^-1) tau,   L = I w        Lacoursiere (15.29)
    q+ = q * exp(h w+)

The matrix is symmetric and positive definite for any h; the step equals (I - h hat(L)) w+ = I w + h tau. Without torque the energy never
increases
and |L| never decreases, so every motion ends as a spin about the axis of largest inertia. Order 1. Print has h^3 in the energy loss, it is
h^2.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import exp, load, mul, normalise, store
from dalembert.kernels.rigid_body.forces import first_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, RATE, RESIDUAL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_mul, diag_solve, load3, scale, solve3, store3
from dalembert.kernels.status import OK, SINGULAR
from dalembert.registry import register


@register(
    name="stabilized-euler",
    summary="linear, symmetric positive definite, stable at any step; dissipates until the body spins about its largest inertia",
    system="rigid-body",
    order=1,
    conserves=("attitude: exactly",),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="loses energy at any step size",
    references=("lacoursiere2007", "anitescu2002"),
    rank=98,
)
@kernel
def step(t, h, system, state, work, info):
    """One symmetric 3x3 solve."""
    J = load3(system, INERTIA)
    L = load3(state, ANGULAR)
    first_kick(h, system, state)
    kicked = load3(state, ANGULAR)  # I w + h tau
    right = axpy(h, cross(L, diag_solve(J, kicked)), kicked)
    h2 = h * h
    a, b, c = L
    # -hat(L) I^-1 hat(L)
    xx, yy, zz = c * c / J[1] + b * b / J[2], c * c / J[0] + a * a / J[2], b * b / J[0] + a * a / J[1]
    xy, xz, yz = -a * b / J[2], -a * c / J[1], -b * c / J[0]
    matrix = (J[0] + h2 * xx, h2 * xy, h2 * xz, h2 * xy, J[1] + h2 * yy, h2 * yz, h2 * xz, h2 * yz, J[2] + h2 * zz)
    det, w = solve3(matrix, right)
    if det == 0.0:
        return SINGULAR
    store3(state, RATE, w)
    store3(state, ANGULAR, diag_mul(J, w))
    store(state, Q, normalise(mul(load(state, Q), exp(scale(h, w)))))
    translate(h, system, state)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    return OK
