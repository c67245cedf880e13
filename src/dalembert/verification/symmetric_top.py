"""Torque-free body with the symmetry axis e3 (inertias I1, I1, I3): two uniform rotations.

    R(t) = R(0) exp(t J w(0) / I1) exp(-t Omega e3),   Omega = (I3 - I1) w3 / I1          attitude
    w(t) = exp(t Omega e3) w(0)                                                           body angular velocity

so the axis turns about the fixed momentum at |J w| / I1, and w turns about the axis, seen from the body, at Omega.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array
from dalembert.verification.free_body import _checked, _multiply, _quaternion


def symmetric_top(I1: float, I3: float, omega0: Any, t: Any, R0: Any = None) -> tuple[Array, Array]:
    """Body angular velocity (n, 3) and attitude quaternion (n, 4), scalar first, body to world, at the times t."""
    J, omega0 = _checked([I1, I1, I3], omega0)
    t = np.atleast_1d(np.asarray(t, dtype=float))
    rate = body_precession_rate(I1, I3, omega0)
    turn = np.exp(1j * rate * t) * (omega0[0] + 1j * omega0[1])
    omega = np.column_stack([turn.real, turn.imag, np.full(len(t), omega0[2])])
    precession = _rotation(J * omega0 / I1, t)
    back = _rotation(np.array([0.0, 0.0, -rate]), t)
    return omega, _multiply(_quaternion(R0), _multiply(precession, back))


def body_precession_rate(I1: float, I3: float, omega0: Any) -> float:
    """Omega = (I3 - I1) w3 / I1: rate at which w turns about e3, seen from the body."""
    if I1 <= 0.0:
        raise OptionError(f"transverse inertia I1 = {I1}; expected a positive number (kg m^2).")
    return float((I3 - I1) / I1 * np.asarray(omega0, dtype=float)[2])


def space_precession_rate(I1: float, I3: float, omega0: Any) -> float:
    """|J w| / I1: rate at which e3 turns about the fixed momentum."""
    J, omega0 = _checked([I1, I1, I3], omega0)
    return float(np.linalg.norm(J * omega0) / I1)


def _rotation(rate: Array, t: Array) -> Array:
    """Quaternion of exp(t rate)."""
    angle = float(np.linalg.norm(rate))
    axis = rate / angle if angle > 0.0 else rate
    return np.column_stack([np.cos(0.5 * angle * t), np.sin(0.5 * angle * t)[:, None] * axis])
