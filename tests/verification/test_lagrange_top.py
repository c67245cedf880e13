"""Lagrange's top against a 256-bit reference, an independent integrator and the facts of the slow, middle and fast top."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.lagrange_top import LagrangeTop, sleeping_threshold, turning_points

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "heavy_top.json").read_text())
# thesis top (lacoursiere2007, 15.8): I0 = (1, 1, 2), l = 4, g = 10; its mass is not given, m = 1/6 fits "upright above 5 rad/s"
I1, I3, MGL = 1.0 + 16.0 / 6.0, 2.0, 40.0 / 6.0


def heavy_top():
    return LagrangeTop(15.0 + 0.234375, 0.46875, 15.0 * 9.81, 0.5 * np.pi, 150.0, 0.0, -4.61538)


def rotation(q):
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def dop853(top, t):
    """Euler's equations with gravity and the quaternion: shares nothing with the elliptic solution."""
    J = np.array([top.I1, top.I1, top.I3])

    def rate(_, y):
        w, q = y[:3], y[3:]
        down = np.array([2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 0.0])  # e_z in the body, e3 part idle
        torque = top.mgl * np.array([down[1], -down[0], 0.0])
        return np.concatenate([(np.cross(J * w, w) + torque) / J, [-0.5 * q[1:] @ w], 0.5 * (q[0] * w + np.cross(q[1:], w))])

    start = [top.theta_dot0, top.phi_dot0 * np.sin(top.theta0), top.omega3, np.cos(0.5 * top.theta0), np.sin(0.5 * top.theta0), 0.0, 0.0]
    return solve_ivp(rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-13, atol=1e-14).y.T


def test_heavy_top_reference():
    """The axis passes the lower vertical at 7e-7 rad, where azimuth and spin jump by half a turn: nothing may be lost there."""
    top, samples = heavy_top(), REFERENCE["samples"]
    t, x, R = (np.array([s[key] for s in samples], dtype=float) for key in ("t", "x", "R"))
    assert top.nutation_period == pytest.approx(float(REFERENCE["nutation_period"]), rel=2e-15)
    assert top.Lz == pytest.approx(float(REFERENCE["invariants"]["Lz"]), rel=1e-15)
    assert np.max(np.abs(top.cos_theta(t) - x[:, 2])) < 1e-14
    assert np.max(np.abs(top.theta(t) - np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2]))) < 2e-14
    # the reference spins about body y and starts at R = 1: turn by pi about z, and undo our own start
    half_turn, start = np.diag([-1.0, -1.0, 1.0]), rotation(top.attitude(0.0))[0]
    assert np.max(np.abs(half_turn @ rotation(top.attitude(t)) @ start.T @ half_turn - R)) < 1e-12  # 300 rad of spin


@pytest.mark.parametrize(
    ("theta0", "omega3", "theta_dot0", "phi_dot0"),
    [
        (0.2, 2.0, 0.0, 0.0),
        (0.2, 20.0, 0.3, 0.0),
        (1.0, 5.0, -0.4, 1.0),
        (1.0, 5.0, 0.4, -1.0),
        (2.5, 0.1, 1.0, 0.2),
        (1.3, -6.0, 0.0, 0.7),
        (0.5, 0.0, 0.1, 0.0),  # a spherical pendulum in a plane: passes both verticals
        (1e-3, 3.0, 0.0, 0.0),  # unstable, nearly upright
        (1.0, 4.0, 1e-9, 0.0),
    ],
)
def test_integrator_agrees(theta0, omega3, theta_dot0, phi_dot0):
    """rtol 1e-13 over 10 s; the nearly upright top amplifies by about 1e3."""
    top, t = LagrangeTop(I1, I3, MGL, theta0, omega3, theta_dot0, phi_dot0), np.linspace(0.0, 10.0, 41)
    y = dop853(top, t)
    q = y[:, 3:]
    tolerance = 1e-10 if theta0 > 0.01 else 1e-8
    assert np.max(np.abs(top.cos_theta(t) - (1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)))) < tolerance
    if omega3 != 0.0:  # in a plane the azimuth jumps by pi at the vertical
        assert np.max(np.abs(rotation(top.attitude(t)) - rotation(q))) < tolerance


def test_tilt_is_between_turning_points_and_reaches_them():
    rng = np.random.default_rng(11)
    for _ in range(50):
        values = (*rng.uniform(0.5, 4.0, 3), rng.uniform(0.1, 3.0), *rng.normal(size=3) * 3.0)
        top = LagrangeTop(*values)
        low, high = top.turning_points
        theta = top.theta(np.linspace(0.0, top.nutation_period, 4001))
        assert theta[0] == pytest.approx(top.theta0, abs=1e-13)
        assert low - 1e-13 <= theta.min() < low + 2e-3
        assert high + 1e-13 >= theta.max() > high - 2e-3
        assert turning_points(*values) == (low, high)


def test_theta_dot_and_start_direction():
    top, e = LagrangeTop(I1, I3, MGL, 1.0, 5.0, -0.4, 1.0), 1e-5
    assert (top.theta(e) - top.theta(-e)) / (2 * e) == pytest.approx(-0.4, abs=1e-8)
    assert (top.phi(e) - top.phi(-e)) / (2 * e) == pytest.approx(1.0, abs=1e-8)
    assert (top.psi(e) - top.psi(-e)) / (2 * e) == pytest.approx(5.0 - np.cos(1.0), abs=1e-8)


@pytest.mark.parametrize(
    ("omega3", "lowest", "energy"),
    [(0.1, -0.9992, 6.5754), (2.0, -0.6757, 10.5654), (20.0, 0.9838, 406.5654)],
    ids=["slow", "middle", "fast"],
)
def test_released_top(omega3, lowest, energy):
    """Released at 10 degrees: lowest height, energy, and the root of beta (1 - z^2) = lambda^2 (z0 - z)."""
    top = LagrangeTop(I1, I3, MGL, np.radians(10.0), omega3)
    low, high = top.turning_points
    assert low == pytest.approx(np.radians(10.0), abs=1e-15)
    assert np.cos(high) == pytest.approx(lowest, abs=5e-5)
    assert top.energy == pytest.approx(energy, abs=5e-5)
    z = np.cos(high)
    assert 2 * MGL / I1 * (1 - z * z) == pytest.approx((I3 * omega3 / I1) ** 2 * (np.cos(low) - z), rel=1e-9)


def test_sleeping_threshold():
    """Below it a nearly upright top falls by a finite angle, above it the tilt stays of the order of the disturbance."""
    limit = sleeping_threshold(I1, I3, MGL)
    assert limit == pytest.approx(4.944132324730441, rel=1e-15)
    assert turning_points(I1, I3, MGL, 1e-6, 0.9 * limit)[1] > 0.5
    assert turning_points(I1, I3, MGL, 1e-6, 1.1 * limit)[1] < 3e-6
    # the fall ends where 1 + z = lambda^2 / beta
    assert 1 + np.cos(turning_points(I1, I3, MGL, 0.0, 0.9 * limit)[1]) == pytest.approx(2 * 0.9**2, rel=1e-12)


def test_upright_top_stays():
    for omega3 in (2.0, 20.0):
        top = LagrangeTop(I1, I3, MGL, 0.0, omega3)
        t = np.linspace(0.0, 10.0, 11)
        assert np.max(np.abs(top.theta(t))) == 0.0
        assert np.allclose(top.phi(t) + top.psi(t), omega3 * t, atol=1e-12)


def test_steady_precession():
    """phi_dot with I1 phi_dot^2 cos(theta) - I3 omega3 phi_dot + mgl = 0 keeps theta."""
    theta, omega3 = 0.7, 12.0
    a, b = I1 * np.cos(theta), I3 * omega3
    for phi_dot in np.roots([a, -b, MGL]):
        top, t = LagrangeTop(I1, I3, MGL, theta, omega3, 0.0, float(phi_dot)), np.linspace(0.0, 5.0, 21)
        assert np.max(np.abs(top.theta(t) - theta)) < 1e-13
        assert np.allclose(top.phi(t), phi_dot * t, rtol=1e-12, atol=1e-12)


def test_fast_top_small_nutation_period():
    """Fast spin: the nutation frequency tends to I3 omega3 / I1."""
    top = LagrangeTop(I1, I3, MGL, 0.5, 2000.0)
    assert top.nutation_period * I3 * 2000.0 / I1 == pytest.approx(2 * np.pi, rel=1e-5)


def test_wrong_input_is_named():
    with pytest.raises(OptionError, match="mgl"):
        LagrangeTop(1.0, 1.0, 0.0, 0.3, 1.0)
    with pytest.raises(OptionError, match="theta0"):
        LagrangeTop(1.0, 1.0, 1.0, -0.3, 1.0)


@pytest.mark.parametrize(
    ("theta0", "theta_dot0", "phi_dot0", "omega3"),
    [(0.0, 0.05, 0.0, 6.0), (0.0, 0.6, 0.0, 3.0), (np.pi, 1.0, 0.0, 2.0), (1.0, 0.7, None, 3.0)],
)
def test_attitude_where_the_axis_passes_the_vertical(theta0, theta_dot0, phi_dot0, omega3):
    """Against the simulation (order 6, error far below 1e-8): phi and psi jump by pi at each passage, the attitude does not."""
    import dalembert as dal
    from dalembert.model.rotation import quat_conj, quat_log, quat_mul

    I1, I3, mgl = 1.5, 1.0, 2.0
    if phi_dot0 is None:  # Lz = L3: the axis passes the upper vertical
        phi_dot0 = I3 * omega3 * (1 - np.cos(theta0)) / (I1 * np.sin(theta0) ** 2)
    exact = LagrangeTop(I1, I3, mgl, theta0, omega3, theta_dot0, phi_dot0)
    m = dal.Model(gravity=(0, 0, -mgl / 0.5))
    m.add_body("top", 1.0, (I1 - 0.25, I1 - 0.25, I3), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "top")
    v0 = (theta_dot0, phi_dot0 * np.sin(theta0), omega3)
    traj = dal.simulate(m, "cayley", h=0.005, t_end=30.0, q0=(np.cos(theta0 / 2), np.sin(theta0 / 2), 0, 0), v0=v0, compose="kahan-li6")
    error = quat_log(quat_mul(quat_conj(exact.attitude(traj.t)), traj.q))
    assert np.linalg.norm(error, axis=1).max() < 1e-8
