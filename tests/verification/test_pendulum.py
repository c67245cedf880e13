"""Exact pendulum against 60-digit references, an independent integrator and the common set-up of lacoursiere2007, ch. 6."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.pendulum import Pendulum

DATA = Path(__file__).parents[1] / "data"


def column(samples, key):
    return np.array([float(s[key]) for s in samples])


def test_reference_from_the_horizontal():
    """Samples to t = 2000, 845 swings: the phase carries round-off of w t, about 6000 eps = 1.4e-12."""
    reference = json.loads((DATA / "simple_pendulum.json").read_text())
    p, samples = Pendulum(1.0, 9.81, -0.5 * np.pi), reference["samples"]
    t = column(samples, "t")
    assert p.period == pytest.approx(float(reference["period"]), rel=1e-15)
    phi, rate = p.state(t)
    tolerance = 4e-15 * (1.0 + 4.0 * t)
    assert np.all(np.abs(phi - column(samples, "theta")) < tolerance)
    assert np.all(np.abs(rate - column(samples, "theta_dot")) < 10 * tolerance)
    assert np.all(np.abs(p.position(t) - np.stack([column(samples, "x"), column(samples, "y")], 1)) < tolerance[:, None])
    assert np.all(np.abs(p.velocity(t) - np.stack([column(samples, "vx"), column(samples, "vy")], 1)) < 20 * tolerance[:, None])
    assert np.all(np.abs(p.tension(t) - column(samples, "tension")) < 100 * tolerance)


@pytest.mark.parametrize("case", json.loads((DATA / "pendulum_amplitudes.json").read_text())["cases"], ids=lambda c: c["theta0_deg"])
def test_reference_amplitudes(case):
    """Near the top the rounding of theta0 itself (eps pi) grows by 1 / (pi - theta0) into the period, and like exp(w t) into the motion."""
    theta0 = np.radians(float(case["theta0_deg"]))
    p = Pendulum(1.0, 9.81, theta0)
    conditioning = 4e-16 * (1.0 + 1.0 / (np.pi - theta0))
    assert p.period == pytest.approx(float(case["period_L1_g981"]), rel=8 * conditioning)
    for s in case["samples"]:
        t = float(s["t"])
        phi, rate = p.state(t)
        tolerance = 8 * conditioning * (2 + np.sqrt(9.81) * t)
        assert phi == pytest.approx(float(s["theta"]), abs=tolerance)
        assert rate == pytest.approx(float(s["theta_dot"]), abs=10 * tolerance)


@pytest.mark.parametrize(
    ("phi0", "omega0"),
    [
        (0.3, 0.0),
        (0.3, 2.0),
        (-2.0, -1.5),
        (2.5, 3.0),
        (0.0, 6.0),
        (1.0, -9.0),
        (-2.8, 7.5),
        (7.0, 0.5),
        (9.0, -8.0),
        (3.0, 0.9),
        (0.0, 0.0),
        (1e-9, 0.0),
    ],
)
def test_integrator_agrees(phi0, omega0):
    """DOP853 with rtol 1e-13 over 10 s; near the separatrix (3.0, 0.9) errors grow by about 1e3."""
    p, t = Pendulum(0.8, 9.81, phi0, omega0, 1.7), np.linspace(0.0, 10.0, 101)
    y = solve_ivp(lambda _, y: [y[1], -9.81 / 0.8 * np.sin(y[0])], (0, 10), [phi0, omega0], "DOP853", t, rtol=1e-13, atol=1e-14).y
    phi, rate = p.state(t)
    assert np.max(np.abs(phi - y[0])) < 2e-9
    assert np.max(np.abs(rate - y[1])) < 1e-8
    energy = 1.7 * 0.8 * (0.5 * 0.8 * rate**2 - 9.81 * np.cos(phi))
    assert np.max(np.abs(energy - p.energy)) < 1e-12 * max(1.0, abs(p.energy))


def test_periods_by_quadrature():
    for phi0, omega0 in [(2.0, 0.0), (0.0, 8.0), (1.0, -9.0)]:
        p = Pendulum(0.8, 9.81, phi0, omega0)
        w2, twice = 9.81 / 0.8, omega0**2 - 2 * 9.81 / 0.8 * np.cos(phi0)
        if p.rotates:
            exact = quad(lambda x, w2=w2, e=twice: 1 / np.sqrt(e + 2 * w2 * np.cos(x)), 0, 2 * np.pi, epsabs=1e-13)[0]
            assert abs(p.state(p.period)[0] - phi0) == pytest.approx(2 * np.pi, abs=1e-13)
            assert p.turning_point == np.pi
        else:
            k = np.sin(0.5 * phi0)
            exact = 4 / np.sqrt(w2) * quad(lambda x, k=k: 1 / np.sqrt(1 - (k * np.sin(x)) ** 2), 0, 0.5 * np.pi, epsabs=1e-13)[0]
            assert p.turning_point == pytest.approx(abs(phi0), rel=1e-15)
        assert p.period == pytest.approx(exact, rel=1e-12)
        assert p.state(p.period)[1] == pytest.approx(omega0, abs=1e-12)


def test_separatrix():
    """2 w cos(phi0 / 2) exactly: phi = 4 atan(exp) - pi and never the top. Just beside it both kinds of motion follow it for a while."""
    p, t = Pendulum(1.0, 1.0, 0.0, 2.0), np.linspace(0.0, 8.0, 33)
    phi, rate = p.state(t)
    assert p.period == np.inf
    assert np.max(np.abs(phi - (4 * np.arctan(np.exp(t)) - np.pi))) < 1e-14
    assert np.max(np.abs(rate - 2 / np.cosh(t))) < 1e-14
    for nudge in (1e-12, -1e-12):
        beside = Pendulum(1.0, 1.0, 0.0, 2.0 + nudge)
        assert beside.rotates is (nudge > 0)
        assert np.max(np.abs(beside.state(t)[0] - phi)) < 1e-12 * np.exp(8.0)


def test_rest():
    assert Pendulum(1.0, 9.81, 0.0).period == pytest.approx(2 * np.pi / np.sqrt(9.81), rel=1e-15)
    phi, rate = Pendulum(1.0, 9.81, 2 * np.pi).state(np.arange(3.0))
    assert np.all(phi == 2 * np.pi) and np.all(rate == 0.0)


def test_common_set_up():
    """m = l = 1, gravity 10, from the horizontal: period 2.345240 (print 2.3445), speed sqrt 20 (print sqrt 10), multiplier to -30."""
    p = Pendulum(1.0, 10.0, 0.5 * np.pi)
    assert p.period == pytest.approx(2.345240, abs=5e-7)
    assert abs(p.period - 2.3445) > 7e-4
    assert 0.25 * p.period == pytest.approx(0.586, abs=5e-4)
    bottom = 0.25 * p.period
    assert np.linalg.norm(p.velocity(bottom)) == pytest.approx(np.sqrt(20), rel=1e-14)
    assert np.sqrt(20) == pytest.approx(4.4721, abs=5e-5)
    t = np.linspace(0, p.period, 4001)
    q, multiplier = p.position(t), p.multiplier(t)
    assert q[:, 0].min() == pytest.approx(-1.0, abs=1e-12) and q[:, 0].max() == pytest.approx(1.0, abs=1e-12)
    assert q[:, 1].min() == pytest.approx(-1.0, abs=1e-12) and q[:, 1].max() < 1e-12
    assert multiplier.min() == pytest.approx(-30.0, abs=1e-10) and multiplier.max() < 1e-12
    assert p.energy == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("squared", [False, True])
def test_multiplier_balances_the_acceleration(squared):
    """m q'' = m g + G^T lambda with q'' from central differences of the velocity, error h^2 |q''''| / 6 = 1e-7."""
    p, t, h = Pendulum(0.7, 9.81, 1.0, 4.0, 1.3), np.linspace(0.1, 2.0, 21), 1e-5
    acceleration = (p.velocity(t + h) - p.velocity(t - h)) / (2 * h)
    q = p.position(t)
    G = q if squared else q / 0.7
    force = p.multiplier(t, squared)[:, None] * G + 1.3 * np.array([0.0, -9.81])
    assert np.max(np.abs(1.3 * acceleration - force)) < 1e-6


def test_bad_arguments():
    with pytest.raises(OptionError, match="length = 0"):
        Pendulum(0.0, 9.81, 1.0)
    with pytest.raises(OptionError, match="finite"):
        Pendulum(1.0, 9.81, np.nan)
