"""Variational step in unit quaternions.

    x_s I x_v + x_v x I x_v = M,   |x| = 1                             Lacoursiere (15.40)-(15.53) in the form that is solved here
    q+ = q * x,   M+ = x_s I x_v - x_v x I x_v = R(x)^T M,   M = (h/2) p

x is the rotation of the interval, p the body momentum of the node (principal axes). In the thesis the step is the eigenproblem (15.47),
(diag(0, I) + Q(z)) x = nu x with z_v = -M; the scalar part of z only shifts nu. With rho = nu - z_s its rows are

    M . x_v = rho x_s,     (I - rho - hat(M)) x_v = x_s M,

so rho is a root of the quartic f(rho) = rho det(A - hat(M)) - M . adj(A - hat(M)) M, A = I - rho, the one that tends to M . I^-1 M for
small h, and x follows in closed
form: no 4x4 eigensolver. det(A - hat(M)) = a1 a2 a3 + sum a_i M_i^2, M . adj(A - hat(M)) M = sum a_j a_k M_i^2 + |M|^4.
Corrected against print: q+ = q * x in (15.53).
Conserves |q| = 1, the spatial momentum (2/h) R(q) M, |M| and M . I^-1 M. Order 2, self-adjoint, symplectic: the Moser-Veselov map.
Solvable about principal axis i only for h |omega| < 1.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import load, mul, normalise, rotate_inverse, store
from dalembert.kernels.rigid_body.forces import first_kick, second_kick, translate
from dalembert.kernels.rigid_body.layout import ANGULAR, INERTIA, ITERATIONS, MAX_ITERATIONS, RATE, RESIDUAL, TOL, Q
from dalembert.kernels.smallmat import axpy, cross, diag_mul, dot, load3, max_abs, scale, store3
from dalembert.kernels.status import NO_SOLUTION, NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.registry import MAX_ITERATIONS as MAX_ITERATIONS_OPTION
from dalembert.registry import TOL as TOL_OPTION
from dalembert.registry import register


@inline
def node_momentum(inertia, x, sign):
    """x_s I x_v + sign x_v x I x_v: M of the first node (sign +1), of the second (sign -1)."""
    v = (x[1], x[2], x[3])
    l = diag_mul(inertia, v)
    return axpy(sign, cross(v, l), scale(x[0], l))


@inline
def quartic(inertia, M, rho):
    """f(rho), its derivative, and the vector adj(A - hat(M)) M / det = x_v / x_s."""
    a, b, c = inertia[0] - rho, inertia[1] - rho, inertia[2] - rho
    xx, yy, zz = M[0] * M[0], M[1] * M[1], M[2] * M[2]
    det = a * b * c + a * xx + b * yy + c * zz
    det_drho = -(b * c + a * c + a * b + xx + yy + zz)
    numerator = b * c * xx + a * c * yy + a * b * zz + (xx + yy + zz) ** 2
    numerator_drho = -((b + c) * xx + (a + c) * yy + (a + b) * zz)
    f = rho * det - numerator
    f_drho = det + rho * det_drho - numerator_drho
    AM = (a * M[0], b * M[1], c * M[2])
    gyro = cross(AM, M)
    square = xx + yy + zz
    x = (b * c * M[0] + square * M[0] + gyro[0], a * c * M[1] + square * M[1] + gyro[1], a * b * M[2] + square * M[2] + gyro[2])
    return f, f_drho, scale(1.0 / det, x)


@inline
def solve_rotation(inertia, M, tol, max_iterations, info):
    """Newton on the quartic, then x in closed form. Returns (status, x); the residual reported is that of x in the step equation."""
    rho = M[0] * M[0] / inertia[0] + M[1] * M[1] / inertia[1] + M[2] * M[2] / inertia[2]
    size = max_abs(M)
    least = min(inertia[0], inertia[1], inertia[2])
    for iteration in range(max_iterations):
        f, f_drho, _ = quartic(inertia, M, rho)
        info[ITERATIONS] = iteration + 1
        info[RESIDUAL] = abs(f / f_drho) / least
        if f_drho == 0.0:
            return SINGULAR, (1.0, 0.0, 0.0, 0.0)
        rho -= f / f_drho
        if info[RESIDUAL] <= tol:
            _, _, y = quartic(inertia, M, rho)
            s = 1.0 / math.sqrt(1.0 + dot(y, y))
            x = (s, s * y[0], s * y[1], s * y[2])
            worst = max_abs(axpy(-1.0, M, node_momentum(inertia, x, 1.0)))
            info[RESIDUAL] = worst / size if size > 0.0 else 0.0
            return (OK if worst <= 1e-10 * size + TINY else NO_SOLUTION), x
    return NOT_CONVERGED, (1.0, 0.0, 0.0, 0.0)


@inline
def rate_of(x, h):
    """Angular velocity of an interval with rotation x: (2/h) atan2(|x_v|, x_s) x_v/|x_v|, (15.45)."""
    n = math.sqrt(x[1] * x[1] + x[2] * x[2] + x[3] * x[3])
    s = 2.0 / h * (math.atan2(n, x[0]) / n if n > 0.0 else 1.0)
    return (s * x[1], s * x[2], s * x[3])


@register(
    name="quaternion",
    summary="variational step in unit quaternions: momentum and the energy of the free body are both exact; one scalar quartic",
    system="rigid-body",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "body momentum: exactly", "energy of the free body: exactly", "energy: bounded", "attitude: exactly"),
    handles=("free", "pivot", "gravity", "wrench", "damping", "control"),
    limitations="about a principal axis solvable only for h |omega| < 1",
    options=(TOL_OPTION, MAX_ITERATIONS_OPTION),
    references=("lacoursiere2007",),
    rank=15,
)
@kernel
def step(t, h, system, state, work, info):
    """Half kick, rotation and drift, half kick."""
    inertia = load3(system, INERTIA)
    first_kick(0.5 * h, system, state)
    M = scale(0.5 * h, load3(state, ANGULAR))
    status, x = solve_rotation(inertia, M, system[TOL], int(system[MAX_ITERATIONS]), info)
    if status != OK:
        return status
    store3(state, RATE, rate_of(x, h))
    store3(state, ANGULAR, rotate_inverse(x, load3(state, ANGULAR)))
    store(state, Q, normalise(mul(load(state, Q), x)))
    translate(h, system, state)
    return OK if second_kick(0.5 * h, system, state, work) else SINGULAR
