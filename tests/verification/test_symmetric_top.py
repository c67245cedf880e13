"""The symmetric free body: against the reference, the general solution and an identity of precession rates."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.free_body import free_body, period
from dalembert.verification.symmetric_top import body_precession_rate, space_precession_rate, symmetric_top

CASE = json.loads((Path(__file__).parents[1] / "data" / "free_rigid_body.json").read_text())["cases"][3]


def test_reference():
    t, w, q = (np.array([s[key] for s in CASE["samples"]], dtype=float) for key in ("t", "w_body", "quat_wxyz"))
    omega, quat = symmetric_top(0.04, 0.02, [2.0, 4.0, 6.0], t)
    quat *= np.sign(np.sum(quat * q, axis=1, keepdims=True))
    assert np.max(np.abs(omega - w)) < 1e-13
    assert np.max(np.abs(quat - q)) < 1e-13


@pytest.mark.parametrize(("I1", "I3"), [(1.0, 3.0), (3.0, 1.0), (2.0, 2.0), (1.0, 1.9999)])
@pytest.mark.parametrize("omega0", [(0.3, -1.0, 0.4), (0.3, 0.2, -5.0), (0.0, 0.0, 2.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
def test_general_solution_agrees(I1, I3, omega0):
    """Two independent formulas; 100 s at up to 15 rad/s: 1e-12 is round-off."""
    t, q0 = np.linspace(-100.0, 100.0, 41), np.array([0.5, 0.5, -0.5, 0.5])
    omega, q = symmetric_top(I1, I3, omega0, t, q0)
    omega_general, q_general = free_body([I1, I1, I3], omega0, t, q0)
    assert np.max(np.abs(omega - omega_general)) < 1e-12
    assert np.max(np.abs(q - q_general)) < 1e-12


def test_integrator_agrees():
    I1, I3, omega0, t = 1.3, 0.4, np.array([0.7, -0.2, 2.0]), np.linspace(0.0, 20.0, 11)
    J = np.array([I1, I1, I3])

    def rate(_, y):
        w, q = y[:3], y[3:]
        return np.concatenate([np.cross(J * w, w) / J, [-0.5 * q[1:] @ w], 0.5 * (q[0] * w + np.cross(q[1:], w))])

    y = solve_ivp(rate, (0.0, 20.0), [*omega0, 1.0, 0.0, 0.0, 0.0], "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    omega, q = symmetric_top(I1, I3, omega0, t)
    assert np.max(np.abs(omega - y[:, :3])) < 1e-11
    assert np.max(np.abs(q - y[:, 3:])) < 1e-11


def test_rates():
    I1, I3, omega0 = 2.0, 3.0, [0.3, 0.4, 1.2]
    assert period([I1, I1, I3], omega0) == pytest.approx(2.0 * np.pi / abs(body_precession_rate(I1, I3, omega0)), rel=1e-14)
    precession = space_precession_rate(I1, I3, omega0)
    assert precession == pytest.approx(np.sqrt((2.0 * 0.5) ** 2 + 3.6**2) / 2.0, rel=1e-15)
    # the symmetry axis returns after one turn about the momentum
    _, q = symmetric_top(I1, I3, omega0, [0.0, 2.0 * np.pi / precession])
    axis = np.column_stack([2 * (q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2]), 2 * (q[:, 2] * q[:, 3] - q[:, 0] * q[:, 1])])
    assert np.max(np.abs(axis[1] - axis[0])) < 1e-14


def test_wrong_input_is_named():
    with pytest.raises(OptionError, match="principal inertias"):
        symmetric_top(0.0, 1.0, [1, 0, 0], [0.0])
