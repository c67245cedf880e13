"""Moser-Veselov step, solved directly for the rotation matrix.

    W L - L W^T = hat(mu),   L = tr(J)/2 - J,   R+ = R W,   mu+ = W^T mu,   mu = h p                 slides (2)-(6)

With S = W L = Sigma + hat(mu)/2, Sigma symmetric, orthogonality of W is the Riccati equation S^T S = L^2 for the six entries of Sigma.
Newton's correction solves the Lyapunov equation S^T D + D S = E, E = L^2 - S^T S, and keeps to the branch that starts at Sigma = L; then
W = S L^-1. The Lyapunov equation needs three unknowns only: D S = E/2 + hat(k), and D = (E/2 + hat(k)) A, A = S^-1, is symmetric if and
only if

    (tr(A) - A) k = -1/2 vee(E A - A^T E),            because hat(k) A + A^T hat(k) = hat((tr(A) - A) k).

Conserves the spatial momentum, |p| and p . J^-1 p / 2 exactly without torque. Order 2, self-adjoint, symplectic.
Solvable about principal axis i if and only if h |omega| < 1; needs L > 0: strict triangle inequality of the inertias.
"""

import math

from dalembert.errors import UnsupportedError
from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import mul as mat_mul
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
    Q,
)
from dalembert.kernels.smallmat import load3, max_abs, scale, solve3, store3
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
def inverse(S):
    """(det S, S^-1) for nine numbers by rows."""
    c0, c1, c2 = S[4] * S[8] - S[5] * S[7], S[5] * S[6] - S[3] * S[8], S[3] * S[7] - S[4] * S[6]
    det = S[0] * c0 + S[1] * c1 + S[2] * c2
    f = 1.0 / det
    return det, (
        f * c0, f * (S[2] * S[7] - S[1] * S[8]), f * (S[1] * S[5] - S[2] * S[4]),
        f * c1, f * (S[0] * S[8] - S[2] * S[6]), f * (S[2] * S[3] - S[0] * S[5]),
        f * c2, f * (S[1] * S[6] - S[0] * S[7]), f * (S[0] * S[4] - S[1] * S[3]),
    )  # fmt: skip


@inline
def lyapunov(S, e):
    """(det, D) with S^T D + D S = E; E and D as (xx, yy, zz, xy, xz, yz)."""
    det, A = inverse(S)
    EA = mat_mul((e[0], e[3], e[4], e[3], e[1], e[5], e[4], e[5], e[2]), A)
    trace = A[0] + A[4] + A[8]
    right = (-0.5 * (EA[7] - EA[5]), -0.5 * (EA[2] - EA[6]), -0.5 * (EA[3] - EA[1]))
    det3, k = solve3((trace - A[0], -A[1], -A[2], -A[3], trace - A[4], -A[5], -A[6], -A[7], trace - A[8]), right)
    x, y, z = k
    D = (
        0.5 * EA[0] - z * A[3] + y * A[6],
        0.5 * EA[4] + z * A[1] - x * A[7],
        0.5 * EA[8] - y * A[2] + x * A[5],
        0.5 * EA[1] - z * A[4] + y * A[7],
        0.5 * EA[2] - z * A[5] + y * A[8],
        0.5 * EA[5] + z * A[2] - x * A[8],
    )
    return det * det3, D


@inline
def assemble(s, mu):
    """S = Sigma + hat(mu)/2 by rows."""
    a, b, c = 0.5 * mu[0], 0.5 * mu[1], 0.5 * mu[2]
    return (s[0], s[3] - c, s[4] + b, s[3] + c, s[1], s[5] - a, s[4] - b, s[5] + a, s[2])


@inline
def to_quaternion(S, r):
    """Unit quaternion of W = S diag(r), r = 1/L, which turns by less than a right angle."""
    s = 0.5 * math.sqrt(max(1.0 + S[0] * r[0] + S[4] * r[1] + S[8] * r[2], 1.0))
    f = 0.25 / s
    return normalise((s, f * (S[7] * r[1] - S[5] * r[2]), f * (S[2] * r[2] - S[6] * r[0]), f * (S[3] * r[0] - S[1] * r[1])))


@inline
def solve_rotation(J, mu, tol, max_iterations, info):
    """Newton on the Riccati equation, with one more correction after the tolerance is met. Returns (status, quaternion of W)."""
    half = 0.5 * (J[0] + J[1] + J[2])
    lam = (half - J[0], half - J[1], half - J[2])
    a, b, c = 1.0 / lam[0], 1.0 / lam[1], 1.0 / lam[2]
    s = (lam[0], lam[1], lam[2], 0.0, 0.0, 0.0)
    for iteration in range(max_iterations):
        S = assemble(s, mu)
        e = riccati_residual(S, lam)
        # each entry against its own size: the entries of L of a nearly flat body differ by orders of magnitude
        worst = max(max_abs((a * a * e[0], b * b * e[1], c * c * e[2])), max_abs((a * b * e[3], a * c * e[4], b * c * e[5])))
        info[ITERATIONS] = iteration + 1
        info[RESIDUAL] = worst
        det, d = lyapunov(S, e)
        if det == 0.0:
            return SINGULAR, (1.0, 0.0, 0.0, 0.0)
        s = (s[0] + d[0], s[1] + d[1], s[2] + d[2], s[3] + d[3], s[4] + d[4], s[5] + d[5])
        if worst <= tol:
            return OK, to_quaternion(assemble(s, mu), (a, b, c))
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
    status, W = solve_rotation(load3(system, INERTIA), scale(h, p), system[TOL], int(system[MAX_ITERATIONS]), info)
    if status != OK:
        return status
    store3(state, RATE, rate_of(W, h))
    store3(state, ANGULAR, rotate(conj(W), p))
    store(state, Q, normalise(mul(load(state, Q), W)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
