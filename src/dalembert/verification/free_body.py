"""Torque-free rigid body: angular velocity by Jacobi's functions, attitude by one integral of the third kind.

The principal axes are renamed A, B, C: B the middle inertia, C the extreme axis that the momentum circles (the larger of
a^2 = I_C |I_C - I_B| w_C^2 and b^2 = I_A |I_B - I_A| w_A^2 decides: a >= b), signs such that w_C, w_A >= 0 and the frame is right-handed.

    w_A = alpha cn u,   w_B = sigma beta sn u,   w_C = gamma dn u,   u = u0 + p t,   sigma = sign(I_C - I_B)
    alpha^2 = w_A^2 + I_B (I_B - I_C) / (I_A (I_A - I_C)) w_B^2        beta^2 = w_B^2 + I_A (I_A - I_C) / (I_B (I_B - I_C)) w_A^2
    gamma^2 = w_C^2 + I_B (I_B - I_A) / (I_C (I_C - I_A)) w_B^2        p^2 = gamma^2 (I_C - I_B)(I_C - I_A) / (I_A I_B)
    m = I_A (I_B - I_A) alpha^2 / (I_C (I_C - I_B) gamma^2)            1 - m = (a^2 - b^2) / (I_C |I_C - I_B| gamma^2)

all of them sums of terms of one sign except a - b, whose cancellation is the true sensitivity of the separatrix.

Attitude. l = J w / L is the momentum's direction in the body, B(l) the shortest rotation that takes e_C to l (l_C > 0: never singular).
R B(l) keeps e_C on the fixed momentum, so R(t) = R(0) B(l(0)) exp(chi e_C) B(l(t))^T, and w = R^T dR/dt gives

    d chi / dt = (2E + L w_C) / (L + I_C w_C) = L / I_C + (I_C - I_A) / (I_A I_C) * (L - I_C gamma dn u) / (1 + nu sn^2 u)
    nu = I_C (I_B - I_A) / (I_A (I_C - I_B)) >= 0

The dn part integrates to an arctangent, the rest is Legendre's third integral: exact for all t, no quadrature, no stepping. Errors grow
like round-off times the angle turned. Symmetric bodies have m = nu = 0; the separatrix has m = 1; w is constant when a = b = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import (
    Array,
    Jacobi,
    amplitude_integral,
    incomplete_first,
    jacobi,
    quarter_period,
    third_kind,
)


class _Polhode(NamedTuple):
    """The closed curve of the angular velocity, in the renamed frame; S maps body components to it."""

    S: Array
    I: Array
    amplitudes: Array
    p: float
    u0: float
    m: float
    m1: float
    L: float


def free_body(J: Any, omega0: Any, t: Any, R0: Any = None) -> tuple[Array, Array]:
    """Body angular velocity (n, 3) and attitude quaternion (n, 4), scalar first, body to world, at the times t.

    J: principal inertias in any order; omega0: body angular velocity at t = 0; R0: attitude at t = 0, a rotation matrix or a quaternion.
    The quaternion is continuous in t and starts at that of R0.
    """
    J, omega0 = _checked(J, omega0)
    t = np.atleast_1d(np.asarray(t, dtype=float))
    q0 = _quaternion(R0)
    polhode = _polhode(J, omega0)
    if polhode is None:
        angle = float(np.linalg.norm(omega0))
        axis = omega0 / angle if angle > 0.0 else omega0
        half = 0.5 * angle * t
        relative = np.column_stack([np.cos(half), np.sin(half)[:, None] * axis])
        return np.tile(omega0, (len(t), 1)), _multiply(q0, relative)
    f = jacobi(polhode.u0 + polhode.p * t, polhode.m, polhode.m1)
    f0 = jacobi(polhode.u0, polhode.m, polhode.m1)
    w = np.column_stack([f.cn, f.sn, f.dn]) * polhode.amplitudes
    chi = _precession(polhode, f, f0, t)
    spin = np.column_stack([np.cos(0.5 * chi), np.zeros((len(t), 2)), np.sin(0.5 * chi)])
    start = _shortest(polhode.I * (polhode.S @ omega0)[None, :])
    relative = _multiply(_multiply(start, spin), _conjugate(_shortest(polhode.I * w)))
    relative[:, 1:] = relative[:, 1:] @ polhode.S
    return w @ polhode.S, _multiply(q0, relative)


def period(J: Any, omega0: Any) -> float:
    """Period of the body angular velocity, 4 K / p. Spin about a stable axis: limit of small wobbles. Constant omega or separatrix: inf."""
    polhode = _polhode(*_checked(J, omega0))
    return float("inf") if polhode is None else 4.0 * quarter_period(polhode.m1) / polhode.p


def parameter(J: Any, omega0: Any) -> tuple[float, float]:
    """Jacobi's parameter m and its complement 1 - m; (0, 1) when omega is constant."""
    polhode = _polhode(*_checked(J, omega0))
    return (0.0, 1.0) if polhode is None else (polhode.m, polhode.m1)


def _polhode(J: Array, omega: Array) -> _Polhode | None:
    """None when omega is constant: sphere, middle axis, or a spin in the plane of equal inertias."""
    order = np.argsort(J, kind="stable")
    I_A, I_B, I_C = J[order]
    w_A, w_B, w_C = omega[order]
    a, b = np.sqrt(I_C * (I_C - I_B)) * abs(w_C), np.sqrt(I_A * (I_B - I_A)) * abs(w_A)
    if max(a, b) <= 1e-150 * I_B * abs(w_B) or max(a, b) == 0.0:  # a saddle left only after t = 345 / p
        return None
    if b > a:
        order = order[::-1]
        a, b = b, a
    S = _renaming(order, omega)
    I_A, I_B, I_C = J[order]
    w_A, w_B, w_C = S @ omega
    alpha = np.hypot(w_A, np.sqrt(I_B * (I_B - I_C) / (I_A * (I_A - I_C))) * w_B)
    beta = np.hypot(w_B, np.sqrt(I_A * (I_A - I_C) / (I_B * (I_B - I_C))) * w_A)
    gamma = np.hypot(w_C, np.sqrt(I_B * (I_B - I_A) / (I_C * (I_C - I_A))) * w_B)
    sigma = np.sign(I_C - I_B)
    p = gamma * np.sqrt((I_C - I_B) / I_A * ((I_C - I_A) / I_B))
    m = min(1.0, abs(I_A * (I_B - I_A) / (I_C * (I_C - I_B))) * (alpha / gamma) ** 2)
    m1 = min(1.0, (a - b) * (a + b) / (I_C * abs(I_C - I_B) * gamma**2))
    u0 = incomplete_first(sigma * w_B / beta, w_A / alpha, m1) if beta > 0.0 else 0.0
    amplitudes = np.array([alpha, sigma * beta, gamma])
    L = float(np.linalg.norm(J * omega))
    return _Polhode(S, J[order], amplitudes, float(p), u0, float(m), float(m1), L)


def _renaming(order: Any, omega: Array) -> Array:
    """Rotation (a signed permutation) from body axes to A, B, C with w_A, w_C >= 0."""
    S = np.zeros((3, 3))
    S[range(3), order] = 1.0
    S[0] *= -1.0 if omega[order[0]] < 0.0 else 1.0
    S[2] *= -1.0 if omega[order[2]] < 0.0 else 1.0
    S[1] *= np.linalg.det(S)
    return np.rint(S)


def _precession(polhode: _Polhode, f: Jacobi, f0: Jacobi, t: Array) -> Array:
    """chi(t) of the head of this file, chi(0) = 0."""
    I_A, I_B, I_C = polhode.I
    n, n1 = -I_C * (I_B - I_A) / (I_A * (I_C - I_B)), I_B * (I_C - I_A) / (I_A * (I_C - I_B))
    m, m1 = polhode.m, polhode.m1
    momentum = polhode.L * (third_kind(f, n, n1, m, m1) - third_kind(f0, n, n1, m, m1))
    swing = I_C * polhode.amplitudes[2] * (amplitude_integral(f, n1) - amplitude_integral(f0, n1))
    return polhode.L / I_C * t + (I_C - I_A) / (I_A * I_C) * (momentum - swing) / polhode.p


def _shortest(momentum: Array) -> Array:
    """Quaternion of the shortest rotation from e_C to each momentum."""
    l_A, l_B, l_C = (momentum / np.linalg.norm(momentum, axis=1, keepdims=True)).T
    q = np.column_stack([1.0 + l_C, -l_B, l_A, np.zeros_like(l_A)])
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _multiply(a: Array, b: Array) -> Array:
    a, b = np.atleast_2d(a), np.atleast_2d(b)
    scalar = a[:, 0] * b[:, 0] - np.sum(a[:, 1:] * b[:, 1:], axis=1)
    return np.column_stack([scalar, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])])


def _conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def _quaternion(R0: Any) -> Array:
    """Scalar-first unit quaternion of None, a quaternion or a rotation matrix."""
    if R0 is None:
        return np.array([1.0, 0.0, 0.0, 0.0])
    R0 = np.asarray(R0, dtype=float)
    if R0.shape == (4,):
        return R0 / np.linalg.norm(R0)
    if R0.shape != (3, 3):
        raise OptionError(f"R0 has shape {R0.shape}; expected a rotation matrix (3, 3) or a quaternion (4,), scalar first.")
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R0).as_quat()[[3, 0, 1, 2]]


def _checked(J: Any, omega: Any) -> tuple[Array, Array]:
    J, omega = np.asarray(J, dtype=float), np.asarray(omega, dtype=float)
    if J.shape != (3,) or not np.all(np.isfinite(J)) or np.any(J <= 0.0):
        raise OptionError(f"principal inertias J = {J.tolist()}; expected three positive numbers (kg m^2).")
    if omega.shape != (3,) or not np.all(np.isfinite(omega)):
        raise OptionError(f"angular velocity omega = {omega.tolist()}; expected three finite numbers (rad/s).")
    return J, omega
