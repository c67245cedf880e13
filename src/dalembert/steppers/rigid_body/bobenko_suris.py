"""Bobenko-Suris step of the symmetric top, explicit.

    R+ = cay(h M / I1) R exp(h c e_axis) = R W,   W = cay(h p / I1) exp(h c e_axis),   p+ = W^T p,   c = omega_3 (1 - I3/I1)

M = R p is the spatial momentum, p the body momentum, I1 is the double inertia about the pivot, I3 that of the symmetry axis, omega_3 =
(body momentum)_axis / I3. Between kicks M is constant, so the axis
a = R e_axis turns by a+ = cay(h M/I1) a, which is the discrete top of Bobenko and Suris; the spin c about the axis completes the attitude.
The kick of
gravity, M+ = M + h m g l x a, is split into halves at both nodes: second order (a whole kick at the start gives first order).
Conserves |a|, M . e3, M . a, and h-close to it the energy: |M|^2/(2 I1) + k a.e3 + (h k/2 I1) e3.(a x M), M that of node k before its kick.
Order 2, self-adjoint, symplectic.
"""

from dalembert.errors import UnsupportedError
from dalembert.kernels._jit import kernel
from dalembert.kernels.quat import cay, exp, load, mul, normalise, rotate_inverse, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, ARM, INERTIA, ITERATIONS, OPTIONS, RATE, RESIDUAL, Q
from dalembert.kernels.smallmat import load3, scale, store3
from dalembert.kernels.status import OK, SINGULAR
from dalembert.registry import register


def find_axis(system, options):
    """Store the index of the symmetry axis; UnsupportedError if the body is not a symmetric top."""
    J, arm = system[INERTIA : INERTIA + 3], system[ARM : ARM + 3]
    size, length = J.max(), abs(arm).max()
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        if abs(J[i] - J[j]) <= 1e-12 * size and max(abs(arm[i]), abs(arm[j])) <= 1e-12 * length:
            system[OPTIONS] = axis
            return
    raise UnsupportedError(
        f"stepper 'bobenko-suris' needs a symmetric top: two equal principal inertias and the centre of mass on the third axis; "
        f"got inertias {J.tolist()} about the reference point and the centre of mass at {arm.tolist()} in principal axes. Use 'cayley'."
    )


@register(
    name="bobenko-suris",
    summary="Lagrange top, explicit and the cheapest: axis and spin of a symmetric body, integrable discretisation",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "body momentum: exactly", "energy of the free body: exactly", "energy: bounded", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control", "symmetric only"),
    limitations="symmetric bodies only (two equal inertias, centre of mass on the axis)",
    references=("bobenko1999", "lacoursiere2007"),
    prepare=find_axis,
    rank=70,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    axis = int(system[OPTIONS])
    I1, I3 = system[INERTIA + (axis + 1) % 3], system[INERTIA + axis]
    first_kick(0.5 * h, system, state)
    p = load3(state, ANGULAR)
    c = p[axis] * (1.0 / I3 - 1.0 / I1)
    spin = (c if axis == 0 else 0.0, c if axis == 1 else 0.0, c if axis == 2 else 0.0)
    W = mul(cay(scale(h / I1, p)), exp(scale(h, spin)))
    store3(state, RATE, (p[0] / I1 + spin[0], p[1] / I1 + spin[1], p[2] / I1 + spin[2]))
    store3(state, ANGULAR, rotate_inverse(W, p))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
