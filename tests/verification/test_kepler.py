"""Kepler orbits against an integrator, the classical equation M = E - e sin E, and their invariants."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dalembert.errors import OptionError
from dalembert.verification.kepler import Kepler, kepler_invariants


def periapsis(e, mu=1.0):
    """The orbit from its periapsis at distance 1."""
    return Kepler(mu, (1.0, 0.0), (0.0, float(np.sqrt(mu * (1.0 + e)))))


@pytest.mark.parametrize("e", [0.0, 0.3, 0.9, 0.999, 1.0, 1.001, 1.7, 10.0])
def test_integrator_agrees(e):
    """DOP853 over +-20 time units from the periapsis; a close passage with e = 0.9 and more makes errors of 1e-13 grow by 1e3."""
    orbit = periapsis(e)
    for end in (20.0, -20.0):
        t = np.linspace(0, end, 21)
        y = solve_ivp(
            lambda _, y: [*y[2:], *(-y[:2] / np.hypot(*y[:2]) ** 3)], (0, end), [1, 0, *orbit.v0], "DOP853", t, rtol=1e-13, atol=1e-14
        ).y
        q, v = orbit.state(t)
        assert np.max(np.abs(q - y[:2].T)) < 1e-9 * max(1.0, np.max(np.abs(y[:2])))
        assert np.max(np.abs(v - y[2:].T)) < 1e-9


@pytest.mark.parametrize("e", [0.0, 1e-8, 0.2, 0.7, 0.99, 0.99999])
def test_classical_equation(e):
    """Ellipse from the periapsis, a = 1 / (1 - e): q = a (cos E - e, sqrt(1 - e^2) sin E) with E from bisection of Kepler's equation.

    Round-off of the semi-axis, eps / (1 - e), enters the mean anomaly.
    """
    a, orbit = 1 / (1 - e), periapsis(e)
    n = a**-1.5
    assert orbit.eccentricity == pytest.approx(e, abs=1e-15)
    assert orbit.period == pytest.approx(2 * np.pi / n, rel=8e-16 / (1 - e))
    for M in np.concatenate([np.linspace(-3.1, 3.1, 23), [1e-9, 1e-4, 3.141592, 6.0, 100.0]]):
        E = brentq(lambda E, M=M: E - e * np.sin(E) - M, M - 1.1, M + 1.1, xtol=1e-15, rtol=1e-15)
        q, _ = orbit.state(M / n)
        exact = a * np.array([np.cos(E) - e, np.sqrt((1 - e) * (1 + e)) * np.sin(E)])
        assert np.max(np.abs(q - exact)) < 2e-14 * (1 + abs(M)) * a / (1 - e)


def test_invariants_in_space():
    rng = np.random.default_rng(3)
    for _ in range(20):
        mu, q0, v0 = float(rng.uniform(0.5, 3)), rng.normal(size=3), rng.normal(size=3)
        orbit = Kepler(mu, tuple(q0), tuple(v0))
        q, v = orbit.state(np.linspace(-15, 15, 61))
        found, first = kepler_invariants(mu, q, v), orbit.invariants
        scale = np.max(np.sum(v * v, axis=1)) + mu / np.min(np.linalg.norm(q, axis=1))
        assert np.max(np.abs(found.energy - first.energy)) < 1e-12 * scale
        assert np.max(np.abs(found.angular_momentum - first.angular_momentum)) < 1e-12 * scale
        assert np.max(np.abs(found.laplace - first.laplace)) < 1e-11 * scale
        L2 = float(first.angular_momentum @ first.angular_momentum)
        assert first.laplace @ first.laplace == pytest.approx(mu**2 + 2 * first.energy * L2, rel=1e-11)
        assert abs(first.laplace @ first.angular_momentum) < 1e-13 * scale**2
        assert orbit.eccentricity == pytest.approx(np.sqrt(1 + 2 * first.energy * L2 / mu**2), rel=1e-9)


def test_laplace_vector_points_to_the_periapsis():
    first = periapsis(0.6, mu=2.0).invariants
    assert first.laplace == pytest.approx([1.2, 0.0, 0.0], abs=1e-15)
    assert first.angular_momentum == pytest.approx([0.0, 0.0, np.sqrt(3.2)], rel=1e-15)
    assert first.energy == pytest.approx(-0.4, rel=1e-15)


def test_many_periods_and_shapes():
    """A circle after 1e6 turns: round-off of the time is eps * 6e6."""
    orbit = periapsis(0.0)
    q, v = orbit.state(2 * np.pi * 1e6 + np.array([[0.0, 0.5 * np.pi]]))
    assert q.shape == v.shape == (1, 2, 2)
    assert np.max(np.abs(q[0] - np.eye(2))) < 3e-9
    assert orbit.period == pytest.approx(2 * np.pi, rel=1e-15)
    assert np.isinf(periapsis(1.5).period)


def test_far_along_a_hyperbola():
    """r / t tends to the speed at infinity; t = 1e8 must not overflow."""
    orbit = periapsis(3.0)
    q, v = orbit.state(1e8)
    assert np.linalg.norm(v) == pytest.approx(np.sqrt(2 * orbit.invariants.energy), rel=1e-7)
    assert np.linalg.norm(q) == pytest.approx(1e8 * np.linalg.norm(v), rel=1e-6)


def test_bad_arguments():
    with pytest.raises(OptionError, match="mu = 0"):
        Kepler(0.0, (1.0, 0.0), (0.0, 1.0))
    with pytest.raises(OptionError, match="components"):
        Kepler(1.0, (1.0, 0.0), (0.0, 1.0, 0.0))
    with pytest.raises(OptionError, match="parallel"):
        Kepler(1.0, (1.0, 0.0), (2.0, 0.0))
