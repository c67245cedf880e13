"""Explicit variant of the Moser-Veselov step.

    w = J^-1 p,   W = exp(h w),   R+ = R W,   p+ = W^T p               slides, explicit update

No equation is solved. Conserves the spatial momentum exactly without torque; its energy drifts monotonically to |p|^2/(2 J_min). Order 1.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import conj, exp, load, mul, normalise, rotate, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, RATE, RESIDUAL, Q
from dalembert.kernels.smallmat import diag_solve, load3, scale, store3
from dalembert.kernels.status import OK, SINGULAR
from dalembert.registry import register


@register(
    name="moser-veselov-explicit",
    summary="explicit Moser-Veselov: exact momentum without solving anything, but the energy drifts",
    system="rigid-body",
    order=1,
    conserves=("momentum: exactly", "body momentum: exactly", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="energy of the free body rises to |momentum|^2 / (2 smallest inertia)",
    references=("caltech2008slides",),
    rank=90,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    first_kick(0.5 * h, system, state)
    p = load3(state, ANGULAR)
    w = diag_solve(load3(system, INERTIA), p)
    W = exp(scale(h, w))
    store3(state, RATE, w)
    store3(state, ANGULAR, rotate(conj(W), p))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
