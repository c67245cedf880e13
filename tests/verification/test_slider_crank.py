"""Slider crank: reduced motion against an integrator, the singular position, and SPOOK through it (lacoursiere2007, ch. 7)."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.slider_crank import (
    SliderCrank,
    slider_crank_configuration,
    slider_crank_constraint,
    slider_crank_jacobian,
)

CRANK = SliderCrank(0.25 * np.pi)
MASS = np.array([1, 1, 1 / 12, 1, 1, 1 / 12])


def test_times_of_the_swing():
    """From pi/4 to -pi/2 in .88303 s, period 3.53211 s; by plain quadrature of dt = d phi / phi' with its root singularity as well."""

    def slowness(x):  # phi = pi/4 - x^2, so that the root at the start is lifted
        phi = 0.25 * np.pi - x * x
        fall = 2 * np.sin(0.5 * x * x) * np.cos(0.25 * np.pi - 0.5 * x * x)  # sin(pi/4) - sin(phi)
        return 2 * x * np.sqrt((2 / 3 + 2 * np.sin(phi) ** 2) / (2 * 9.8 * fall))

    time = quad(slowness, 0, np.sqrt(0.75 * np.pi), epsabs=1e-13, epsrel=1e-13)[0]
    assert CRANK.quarter_time == pytest.approx(time, rel=1e-12)
    assert CRANK.quarter_time == pytest.approx(0.88303, abs=5e-6)
    assert CRANK.period == pytest.approx(3.53211, abs=5e-6)


@pytest.mark.parametrize(
    "crank",
    [CRANK, SliderCrank(-1.0, 2.0, 0.7, 9.81, 0.05), SliderCrank(1.5), SliderCrank(-1.5707)],
    ids=["thesis", "other", "high", "small"],
)
def test_integrator_agrees(crank):
    """DOP853 on (c0 + c1 sin^2 phi) phi'' + c1 sin phi cos phi phi'^2 + m g l cos phi = 0; phi0 = 1.5 starts near an unstable rest."""
    ml2 = crank.mass * crank.length**2
    c0, c1 = 0.5 * ml2 + 2 * (ml2 / 12 if crank.inertia is None else crank.inertia), 2 * ml2
    weight = crank.mass * crank.gravity * crank.length

    def rate(_, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        return [y[1], -(c1 * s * c * y[1] ** 2 + weight * c) / (c0 + c1 * s * s)]

    t = np.linspace(0, 10, 101)
    y = solve_ivp(rate, (0, 10), [crank.phi0, 0.0], "DOP853", t, rtol=1e-13, atol=1e-14).y
    phi, phi_rate = crank.state(t)
    assert np.max(np.abs(phi - y[0])) < 5e-9
    assert np.max(np.abs(phi_rate - y[1])) < 5e-8
    energy = 0.5 * (c0 + c1 * np.sin(phi) ** 2) * phi_rate**2 + weight * np.sin(phi)
    assert np.max(np.abs(energy - crank.energy)) < 1e-12 * weight


def test_range_of_the_motion():
    """phi in [-5 pi/4, pi/4], x1 in +-.5; the constraints hold."""
    t = np.linspace(0, CRANK.period, 4001)
    phi, _ = CRANK.state(t)
    assert (phi.min(), phi.max()) == pytest.approx((-1.25 * np.pi, 0.25 * np.pi), abs=1e-12)
    q = CRANK.configuration(t)
    assert np.max(np.abs(q[:, 0])) == pytest.approx(0.5, abs=1e-6)
    assert max(np.max(np.abs(slider_crank_constraint(x))) for x in q) < 1e-15
    assert CRANK.state(CRANK.quarter_time)[0] == pytest.approx(-0.5 * np.pi, abs=1e-14)


def test_jacobian_is_the_derivative():
    rng = np.random.default_rng(2)
    q, h = rng.normal(size=6), 1e-6
    differences = [(slider_crank_constraint(q + h * e, 0.7) - slider_crank_constraint(q - h * e, 0.7)) / (2 * h) for e in np.eye(6)]
    assert np.max(np.abs(np.array(differences).T - slider_crank_jacobian(q, 0.7))) < 1e-9


def test_rank():
    """5, but 4 at phi = +-pi/2, where row 4 + row 5 - row 2 vanishes."""
    for phi in np.linspace(-3.0, 3.0, 25):
        assert np.linalg.matrix_rank(slider_crank_jacobian(slider_crank_configuration(phi))) == 5
    for phi in (0.5 * np.pi, -0.5 * np.pi):
        G = slider_crank_jacobian(slider_crank_configuration(phi))
        assert np.linalg.matrix_rank(G, tol=1e-12) == 4
        assert np.max(np.abs(G[3] + G[4] - G[1])) < 1e-15
    G = slider_crank_jacobian(slider_crank_configuration(0.4))
    assert G[3] + G[4] - G[1] == pytest.approx([0, 0, np.cos(0.4), 0, 0, np.cos(0.4)], abs=1e-15)


def spook(h, end, epsilon=1e-6, theta=2.0, drag=0.0):
    """Configurations at all steps, and the largest condition numbers of S and S + Sigma."""
    q, v = slider_crank_configuration(0.25 * np.pi), np.zeros(6)
    upsilon = 1 / (1 + 4 * theta)
    sigma = 4 * epsilon * upsilon / h**2
    weight = -9.8 * np.array([0, 1, 0, 0, 1, 0])
    path, worst = [q], [0.0, 0.0]
    for _ in range(round(end / h)):
        G = slider_crank_jacobian(q)
        S = (G / MASS) @ G.T
        worst = [max(worst[0], np.linalg.cond(S)), max(worst[1], np.linalg.cond(S + sigma * np.eye(5)))]
        free = v + h * (weight - drag * v / MASS)
        impulse = np.linalg.solve(S + sigma * np.eye(5), -4 / h * upsilon * slider_crank_constraint(q) + upsilon * G @ v - G @ free)
        v = free + G.T @ impulse / MASS
        q = q + h * v
        path.append(q)
    return np.array(path), worst


def crossings(path, h):
    """Times at which phi1 passes -pi/2: of the last step before, and interpolated."""
    x = path[:, 2] + 0.5 * np.pi
    k = np.flatnonzero(x[:-1] * x[1:] < 0)
    return h * k, h * (k + x[k] / (x[k] - x[k + 1]))


def test_spook_passes_the_singular_position():
    """Crossings tend to the exact ones (last step before: .867, 2.60, 4.30 at 1/60; .8823, 2.648, 4.4146 at 1/960), on the branch."""
    exact = CRANK.quarter_time * np.array([1, 3, 5])
    coarse, (_, worst) = spook(1 / 60, 4.7)
    fine, _ = spook(1 / 960, 4.7)
    before, between = crossings(coarse, 1 / 60)
    assert before == pytest.approx([0.867, 2.60, 4.30], abs=5e-4)
    assert between == pytest.approx([0.8807, 2.6152, 4.3136], abs=6e-5)
    before, between = crossings(fine, 1 / 960)
    assert before == pytest.approx([0.8823, 2.648, 4.4146], abs=1e-4)
    assert np.max(np.abs(between - exact)) < 1e-3
    assert np.max(np.abs(coarse[:, 2] + coarse[:, 5])) < 6e-4
    assert worst < 5520


@pytest.mark.parametrize(("h", "violation"), [(1 / 60, 7.7e-3), (1 / 240, 5.4e-4), (1 / 960, 6.8e-5)])
def test_spook_violation(h, violation):
    """max |g|: about h^2 until the compliance is seen."""
    assert max(np.max(np.abs(slider_crank_constraint(q))) for q in spook(h, 4.7)[0]) == pytest.approx(violation, rel=0.01)


def test_condition_at_the_singular_position():
    """(largest eigenvalue + Sigma) / Sigma = 5519 with Sigma = 4 epsilon / (9 h^2) = 1.6e-3: the ceiling of every run."""
    G, sigma = slider_crank_jacobian(slider_crank_configuration(-0.5 * np.pi)), 4e-6 / 9 * 3600
    S = (G / MASS) @ G.T
    assert sigma == pytest.approx(1.6e-3, rel=1e-14)
    assert np.linalg.cond(S + sigma * np.eye(5)) == pytest.approx((np.linalg.eigvalsh(S)[-1] + sigma) / sigma, rel=1e-9)
    assert np.linalg.cond(S + sigma * np.eye(5)) == pytest.approx(5519, abs=0.6)


def test_spook_comes_to_rest_on_the_singular_position():
    """With the drag -0.3 q': phi1 -> -1.570797, S is singular to round-off, S + Sigma stays at 5519."""
    path, (bare, regular) = spook(1 / 60, 60.0, drag=0.3)
    assert path[-1, 2] == pytest.approx(-1.570797, abs=5e-7)
    assert bare > 1e15
    assert regular == pytest.approx(5519, abs=1)


def test_bad_arguments():
    with pytest.raises(OptionError, match="phi0 = 2"):
        SliderCrank(2.0)
    with pytest.raises(OptionError, match="too near"):
        _ = SliderCrank(0.5 * np.pi - 1e-6).period
