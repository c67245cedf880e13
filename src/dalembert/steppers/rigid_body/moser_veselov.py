"""Moser-Veselov step, solved directly for the rotation matrix.

    W L - L W^T = hat(mu),   L = tr(J)/2 - J,   R+ = R W,   mu+ = W^T mu,   mu = h p                 slides (2)-(6)

With S = W L = Sigma + hat(mu)/2, Sigma symmetric, orthogonality of W is the Riccati equation S^T S = L^2 for the six entries of Sigma.
Newton's
correction solves the Lyapunov equation S^T D + D S = L^2 - S^T S (six unknowns), which keeps to the branch that starts at Sigma = L; W = S
L^-1.
Conserves the spatial momentum, |p| and p . J^-1 p / 2 exactly without torque. Order 2, self-adjoint, symplectic.
Solvable about principal axis i if and only if h |omega| < 1; needs L > 0: strict triangle inequality of the inertias.
"""

import math

from dalembert.errors import UnsupportedError
from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.gauss import solve_in_place
from dalembert.kernels.quat import conj, load, mul, normalise, rotate, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import (
    ANGULAR,
    INERTIA,
    ITERATIONS,
    MAX_ITERATIONS,
    RATE,
    RESIDUAL,
    TOL,
    WORK_MATRIX,
    WORK_VECTOR,
    Q,
)
from dalembert.kernels.smallmat import load3, max_abs, scale, store3
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register
from dalembert.steppers.rigid_body.quaternion import rate_of


def check_triangle(system, options):
    """UnsupportedError for a flat body: one entry of L = tr(J)/2 - J vanishes."""
    J = system[INERTIA : INERTIA + 3]
    if min(0.5 * J.sum() - J) <= 1e-12 * J.max():
        raise UnsupportedError(
            f"stepper 'moser-veselov' needs inertias that satisfy the triangle inequality strictly, got {J.tolist()} about the "
            "reference point (a flat body). Use 'moser-veselov-cayley', which solves the same equations."
        )


@inline
def riccati_residual(S, lam):
    """The six entries (xx, yy, zz, xy, xz, yz) of L^2 - S^T S, S nine numbers by rows."""
    return (
        lam[0] * lam[0] - S[0] * S[0] - S[3] * S[3] - S[6] * S[6],
        lam[1] * lam[1] - S[1] * S[1] - S[4] * S[4] - S[7] * S[7],
        lam[2] * lam[2] - S[2] * S[2] - S[5] * S[5] - S[8] * S[8],
        -S[0] * S[1] - S[3] * S[4] - S[6] * S[7],
        -S[0] * S[2] - S[3] * S[5] - S[6] * S[8],
        -S[1] * S[2] - S[4] * S[5] - S[7] * S[8],
    )


@inline
def fill(work, row, a, b, c, d, e, f):
    """One row of the 6x6 matrix."""
    at = WORK_MATRIX + 6 * row
    work[at], work[at + 1], work[at + 2], work[at + 3], work[at + 4], work[at + 5] = a, b, c, d, e, f


@inline
def lyapunov(work, S):
    """Matrix of D -> S^T D + D S for symmetric D = (xx, yy, zz, xy, xz, yz)."""
    fill(work, 0, 2.0 * S[0], 0.0, 0.0, 2.0 * S[3], 2.0 * S[6], 0.0)
    fill(work, 1, 0.0, 2.0 * S[4], 0.0, 2.0 * S[1], 0.0, 2.0 * S[7])
    fill(work, 2, 0.0, 0.0, 2.0 * S[8], 0.0, 2.0 * S[2], 2.0 * S[5])
    fill(work, 3, S[1], S[3], 0.0, S[0] + S[4], S[7], S[6])
    fill(work, 4, S[2], 0.0, S[6], S[5], S[0] + S[8], S[3])
    fill(work, 5, 0.0, S[5], S[7], S[2], S[1], S[4] + S[8])


@inline
def assemble(s, mu):
    """S = Sigma + hat(mu)/2 by rows."""
    a, b, c = 0.5 * mu[0], 0.5 * mu[1], 0.5 * mu[2]
    return (s[0], s[3] - c, s[4] + b, s[3] + c, s[1], s[5] - a, s[4] - b, s[5] + a, s[2])


@inline
def to_quaternion(S, lam):
    """Unit quaternion of W = S L^-1, which turns by less than a right angle."""
    trace = S[0] / lam[0] + S[4] / lam[1] + S[8] / lam[2]
    s = 0.5 * math.sqrt(max(1.0 + trace, 1.0))
    f = 0.25 / s
    return normalise((s, f * (S[7] / lam[1] - S[5] / lam[2]), f * (S[2] / lam[2] - S[6] / lam[0]), f * (S[3] / lam[0] - S[1] / lam[1])))


@inline
def solve_rotation(J, mu, tol, max_iterations, work, info):
    """Newton on the Riccati equation, with one more correction after the tolerance is met. Returns (status, quaternion of W)."""
    half = 0.5 * (J[0] + J[1] + J[2])
    lam = (half - J[0], half - J[1], half - J[2])
    s = (lam[0], lam[1], lam[2], 0.0, 0.0, 0.0)
    # each entry against its own size: the entries of L of a nearly flat body differ by orders of magnitude
    size = (lam[0] * lam[0], lam[1] * lam[1], lam[2] * lam[2], lam[0] * lam[1], lam[0] * lam[2], lam[1] * lam[2])
    a, b, c = lam
    cheap = 2 if max_abs(mu) < 0.25 * min(a, b, c) else 0
    for _ in range(cheap):  # while S is close to L, corrections with S = L in the Lyapunov equation save one or two of Newton's
        r = riccati_residual(assemble(s, mu), lam)
        s = (
            s[0] + 0.5 * r[0] / a, s[1] + 0.5 * r[1] / b, s[2] + 0.5 * r[2] / c,
            s[3] + r[3] / (a + b), s[4] + r[4] / (a + c), s[5] + r[5] / (b + c),
        )  # fmt: skip
    for iteration in range(max_iterations):
        S = assemble(s, mu)
        r = riccati_residual(S, lam)
        worst = 0.0
        for k in range(6):
            work[WORK_VECTOR + k] = r[k]
            worst = max(worst, abs(r[k]) / size[k])
        lyapunov(work, S)
        info[ITERATIONS] = iteration + 1
        info[RESIDUAL] = worst
        if not solve_in_place(work, WORK_MATRIX, WORK_VECTOR, 6):
            return SINGULAR, (1.0, 0.0, 0.0, 0.0)
        d = work
        at = WORK_VECTOR
        s = (s[0] + d[at], s[1] + d[at + 1], s[2] + d[at + 2], s[3] + d[at + 3], s[4] + d[at + 4], s[5] + d[at + 5])
        if worst <= tol:
            return OK, to_quaternion(assemble(s, mu), lam)
    return NOT_CONVERGED, (1.0, 0.0, 0.0, 0.0)


@register(
    name="moser-veselov",
    summary="Moser-Veselov, direct: a Riccati equation for the rotation matrix; momentum and the energy of the free body are both exact",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "body momentum: exactly", "energy of the free body: exactly", "energy: bounded", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="about a principal axis solvable only for h |omega| < 1; not for flat bodies",
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("caltech2008slides", "moser1991", "cardoso2003"),
    prepare=check_triangle,
    rank=30,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    first_kick(0.5 * h, system, state)
    p = load3(state, ANGULAR)
    status, W = solve_rotation(load3(system, INERTIA), scale(h, p), system[TOL], int(system[MAX_ITERATIONS]), work, info)
    if status != OK:
        return status
    store3(state, RATE, rate_of(W, h))
    store3(state, ANGULAR, rotate(conj(W), p))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
