"""Explicit Euler step for the angular velocity, the method to compare with.

    w+ = w + h J^-1 (J w x w + u)                                      Kobilarov (5), (6)
    R+ = R exp(h w+)

and P+ = P + h F, x+ = x + h P+/m for the centre of mass. Order 1; conserves nothing, its energy never decreases without torque.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import exp, load, mul, normalise, store
from dalembert.kernels.rigid_body.forces import first_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, RATE, RESIDUAL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_solve, load3, scale, store3
from dalembert.kernels.status import OK
from dalembert.registry import register


@register(
    name="euler",
    summary="explicit Euler: for comparison only, its energy grows until it overflows",
    system="rigid-body",
    order=1,
    conserves=("attitude: exactly",),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="gains energy at any step size",
    references=("kobilarov2014",),
    rank=99,
)
@kernel
def step(t, h, system, state, work, info):
    """All forces at the first node."""
    J = load3(system, INERTIA)
    L = load3(state, ANGULAR)
    first_kick(h, system, state)
    L = axpy(h, cross(L, diag_solve(J, L)), load3(state, ANGULAR))
    w = diag_solve(J, L)
    store3(state, RATE, w)
    store3(state, ANGULAR, L)
    store(state, Q, normalise(mul(load(state, Q), exp(scale(h, w)))))
    translate(h, system, state)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    return OK
