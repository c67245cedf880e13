"""The free body against 45-digit references, an independent integrator, conservation laws and its own symmetries."""

import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.elliptic import jacobi, quarter_period, third_kind
from dalembert.verification.free_body import free_body, parameter, period

CASES = json.loads((Path(__file__).parents[1] / "data" / "free_rigid_body.json").read_text())["cases"]
IDS = [case["name"].split()[0] for case in CASES]


def column(case, key):
    return np.array([sample[key] for sample in case["samples"]], dtype=float)


def setup(case):
    return np.array(case["I"], dtype=float), np.array(case["w0_body"], dtype=float)


def attitude_distance(q, other):
    """Largest component difference, up to the sign of each quaternion."""
    return np.max(np.minimum(np.abs(q - other).max(axis=1), np.abs(q + other).max(axis=1)))


def dop853(J, omega0, t, q0=(1.0, 0.0, 0.0, 0.0)):
    def rate(_, y):
        w, q = y[:3], y[3:]
        w_dot = np.cross(J * w, w) / J
        q_dot = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([w_dot, q_dot])

    y = solve_ivp(rate, (0.0, t[-1]), np.concatenate([omega0, q0]), "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    return y[:, :3], y[:, 3:]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_reference_to_t_100(case):
    """Inputs carry a relative rounding of 1e-16 and the bodies turn by up to 500 rad: 1e-13 is what float64 can promise."""
    J, omega0 = setup(case)
    omega, q = free_body(J, omega0, column(case, "t"))
    assert np.max(np.abs(omega - column(case, "w_body"))) < 1e-13 * np.linalg.norm(omega0)
    assert attitude_distance(q, column(case, "quat_wxyz")) < 1e-13


@pytest.mark.parametrize("case", CASES[:3], ids=IDS[:3])
def test_period_and_parameter(case):
    J, omega0 = setup(case)
    assert period(J, omega0) == pytest.approx(float(case["omega_period"]), rel=4e-15)
    m, m1 = parameter(J, omega0)
    assert m == pytest.approx(float(case["jacobi_m"]), abs=4e-16)
    assert m + m1 == pytest.approx(1.0, abs=4e-16)


@pytest.mark.parametrize("J", list(permutations((1.0, 2.0, 2.5))))
@pytest.mark.parametrize("omega0", [(0.3, 1.0, 0.4), (-0.3, 1.0, -0.4), (0.01, -0.02, 2.0), (2.0, -1e-9, 0.0), (0.5, -1.0, -0.3)])
def test_every_order_of_axes_and_signs(J, omega0):
    t = np.linspace(0.0, 15.0, 31)
    J, omega0, q0 = np.array(J), np.array(omega0), np.array([0.5, -0.5, 0.1, 0.7])
    q0 /= np.linalg.norm(q0)
    omega, q = free_body(J, omega0, t, q0)
    omega_ref, q_ref = dop853(J, omega0, t, q0)
    assert np.max(np.abs(omega - omega_ref)) < 1e-11  # the judge: rtol 1e-13, a few hundred steps
    assert np.max(np.abs(q - q_ref)) < 1e-11  # continuous: no sign to forgive


@pytest.mark.parametrize(
    ("J", "omega0"),
    [
        ((2.0, 2.0, 2.0), (0.3, -1.0, 0.4)),  # sphere
        ((1.0, 1.0, 3.0), (0.3, -1.0, 0.4)),  # symmetric, flat
        ((3.0, 1.0, 3.0), (0.3, -1.0, 0.4)),  # symmetric, long, other axis
        ((1.0, 1.0, 3.0), (0.3, -1.0, 0.0)),  # spin in the plane of equal inertias
        ((1.0, 1.0 + 1e-9, 3.0), (0.3, -1.0, 0.4)),  # nearly symmetric
        ((1.0, 3.0 - 1e-9, 3.0), (1e-5, -1.0, 0.4)),  # nearly symmetric, spinning about the nearly equal axes
        ((1.0, 2.0, 3.0), (0.0, 0.0, -2.0)),  # largest axis
        ((1.0, 2.0, 3.0), (2.0, 0.0, 0.0)),  # smallest axis
        ((1.0, 2.0, 3.0), (0.0, 2.0, 0.0)),  # middle axis
        ((1.0, 2.0, 3.0), (1e-160, 2.0, 0.0)),  # closer to the middle axis than round-off of its energy can tell
        ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
    ],
)
def test_limits(J, omega0):
    t = np.linspace(0.0, 10.0, 21)
    J, omega0 = np.array(J), np.array(omega0)
    omega, q = free_body(J, omega0, t)
    omega_ref, q_ref = dop853(J, omega0, t)
    assert np.max(np.abs(omega - omega_ref)) < 1e-11
    assert np.max(np.abs(q - q_ref)) < 1e-11


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)])
def test_on_the_separatrix(signs):
    """I1 (I2 - I1) w1^2 = I3 (I3 - I2) w3^2 exactly, in binary numbers: sech and tanh, and no period.

    Round-off grows along the saddle like exp(p t), p < 0.5: 1e-13 exp(0.5 * 12) < 1e-10.
    """
    J, omega0, t = np.array([1.0, 2.0, 2.25]), np.array([0.75, 0.5, 1.0]) * signs, np.linspace(0.0, 12.0, 25)
    assert parameter(J, omega0) == (pytest.approx(1.0, abs=4e-16), 0.0)
    assert period(J, omega0) == np.inf
    omega, q = free_body(J, omega0, t)
    omega_ref, q_ref = dop853(J, omega0, t)
    assert np.max(np.abs(omega - omega_ref)) < 1e-10
    assert np.max(np.abs(q - q_ref)) < 1e-10


def test_invariants_over_a_long_time():
    """Energy, |momentum| and the spatial momentum to round-off of the angle turned (3e6 rad at t = 1e6: 1e-9)."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        J, omega0 = rng.uniform(0.5, 3.0, 3), rng.normal(size=3)
        t = np.concatenate([np.linspace(0.0, 50.0, 40), [1e4, 1e6]])
        omega, q = free_body(J, omega0, t)
        assert np.allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-14)
        assert np.allclose(omega**2 @ J, omega0**2 @ J, rtol=1e-13)
        momentum = J * omega
        rotated = momentum + 2.0 * np.cross(q[:, 1:], np.cross(q[:, 1:], momentum) + q[:, :1] * momentum)
        assert np.max(np.abs(rotated - J * omega0)) < 2e-13


def test_one_period_returns_the_velocity():
    rng = np.random.default_rng(3)
    for _ in range(50):
        J, omega0 = rng.uniform(0.5, 3.0, 3), rng.normal(size=3)
        omega, _ = free_body(J, omega0, [period(J, omega0)])
        assert np.max(np.abs(omega - omega0)) < 1e-11 * np.linalg.norm(omega0)


def test_group_property():
    """Restarting from the state at t1 continues the motion: a check of attitude that needs no other solution."""
    J, omega0 = np.array([3.0, 2.0, 1.0]), np.array([1e-3, 1.0, -2e-3])
    omega, q = free_body(J, omega0, [0.0, 17.0, 41.0])
    again, q_again = free_body(J, omega[1], [24.0], q[1])
    assert np.max(np.abs(again[0] - omega[2])) < 1e-10  # the restart rounds a state near the saddle: amplified by 1e3
    assert attitude_distance(q_again, q[2:]) < 1e-10


def test_attitude_as_matrix_or_quaternion():
    J, omega0 = np.array([1.0, 2.0, 2.5]), np.array([0.3, 1.0, 0.4])
    c, s = np.cos(0.4), np.sin(0.4)
    _, by_matrix = free_body(J, omega0, [1.0], [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    _, by_quaternion = free_body(J, omega0, [1.0], [np.cos(0.2), 0.0, 0.0, np.sin(0.2)])
    assert np.max(np.abs(by_matrix - by_quaternion)) < 1e-15


def test_no_period_where_nothing_changes():
    assert period([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]) == np.inf
    assert period([2.0, 2.0, 2.0], [0.1, 1.0, 0.0]) == np.inf
    wobble = 2.0 * np.pi / (5.0 * np.sqrt(2.0 * 1.0 / (1.0 * 2.0)))
    assert period([1.0, 2.0, 3.0], [0.0, 0.0, 5.0]) == pytest.approx(wobble, rel=1e-14)


@pytest.mark.parametrize("m", [1e-12, 0.3, 0.5, 0.500001, 0.9, 1.0 - 1e-9])
def test_elliptic_identities(m):
    """sn^2 + cn^2 = 1, dn^2 + m sn^2 = 1, and the derivatives, by differences."""
    m1 = 1.0 - m
    u = np.linspace(-7.3, 40.1, 301)
    f = jacobi(u, m, m1)
    assert np.max(np.abs(f.sn**2 + f.cn**2 - 1.0)) < 3e-15
    assert np.max(np.abs(f.dn**2 + m * f.sn**2 - 1.0)) < 3e-15
    e = 1e-5
    ahead, behind = jacobi(u + e, m, m1), jacobi(u - e, m, m1)
    assert np.max(np.abs((ahead.sn - behind.sn) / (2 * e) - f.cn * f.dn)) < 1e-9
    assert jacobi(quarter_period(m1), m, m1).sn == pytest.approx(1.0, abs=2e-15)


@pytest.mark.parametrize("m", [0.0, 1e-12, 0.3, 0.9, 1.0 - 1e-9])
@pytest.mark.parametrize("n", [-1e6, -3.0, -1e-7, 0.0, 0.4, 0.99])
def test_third_kind_by_quadrature(m, n):
    """Over two and a half quarter periods, in the amplitude: int dphi / ((1 - n sin^2) sqrt(1 - m sin^2))."""
    m1 = 1.0 - m
    u = np.array([0.3, 1.0, 2.5]) * quarter_period(m1)
    f = jacobi(u, m, m1)
    phi = np.pi * f.j + np.arctan2(f.sn * (1 - 2 * (f.j % 2)), f.cn * (1 - 2 * (f.j % 2)))

    def integrand(x):
        s2, c2 = np.sin(x) ** 2, np.cos(x) ** 2
        return 1.0 / ((c2 + (1 - n) * s2) * np.sqrt(c2 + m1 * s2))

    for value, end in zip(third_kind(f, n, 1.0 - n, m, m1), phi, strict=True):
        cuts = sorted({0.0, end, *[x for c in (0, np.pi / 2, np.pi) for d in (0, 1e-4, 1e-2, 0.1) for x in (c - d, c + d) if 0 < x < end]})
        exact = sum(quad(integrand, a, b, epsabs=0, epsrel=1e-12, limit=400)[0] for a, b in pairwise(cuts))
        assert value == pytest.approx(exact, rel=1e-11)


def test_wrong_input_is_named():
    with pytest.raises(OptionError, match="principal inertias"):
        free_body([1.0, -2.0, 3.0], [1, 0, 0], [0.0])
    with pytest.raises(OptionError, match="omega"):
        free_body([1.0, 2.0, 3.0], [1, np.nan, 0], [0.0])
    with pytest.raises(OptionError, match="R0"):
        free_body([1.0, 2.0, 3.0], [1, 0, 0], [0.0], np.eye(2))
