"""Stiff pair: exact motion against an integrator, SPOOK's closed law against the scheme, and the figures of lacoursiere2007, ch. 8."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.high_oscillation import SpookPair, StiffPair

H = 1 / 60


def run(pair, h, steps):
    """SPOOK on two unit masses, from the whole 3 x 3 system; g, G v and the multiplier of each step."""
    G, f = np.array([1.0, -1.0]), np.array([-1.0, 1.0])
    q, v = 0.5 * pair.g0 * G, np.ones(2) + 0.5 * pair.rate0 * G
    upsilon = 1 / (1 + 4 * pair.tau / h)
    A = np.block([[np.eye(2), -G[:, None]], [G[None, :], np.array([[4 * pair.epsilon * upsilon / h**2]])]])
    rows = []
    for _ in range(steps):
        x = np.linalg.solve(A, np.append(v + h * f, -4 / h * upsilon * (G @ q) + upsilon * (G @ v)))
        rows.append([G @ q, G @ v, x[2] / h])
        v = x[:2]
        q = q + h * v
    return np.array(rows).T


@pytest.mark.parametrize("zeta", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize(("g0", "rate0"), [(0.0, 0.0), (0.2, 0.0), (0.0, 2.0), (-0.1, 0.5)])
def test_exact_motion(zeta, g0, rate0):
    """DOP853 (steps of 0.03 / omega, for its interpolant) on both masses, epsilon = 1e-2; the multiplier magnifies g by 1 / epsilon."""
    pair = StiffPair(1e-2, zeta, g0, rate0)
    t = np.linspace(0, 1, 41)

    def force(g, rate):
        return -g / 1e-2 - zeta * pair.omega * rate

    def rate(_, y):
        push = force(y[0] - y[1], y[2] - y[3])
        return [y[2], y[3], -1 + push, 1 - push]

    start = [0.5 * g0, -0.5 * g0, 1 + 0.5 * rate0, 1 - 0.5 * rate0]
    y = solve_ivp(rate, (0, 1), start, "DOP853", t, rtol=1e-13, atol=1e-15, max_step=2e-3).y
    g, g_rate = pair.constraint(t)
    assert np.max(np.abs(pair.position(t) - y[:2].T)) < 1e-11
    assert np.max(np.abs(g - (y[0] - y[1]))) < 1e-11
    assert np.max(np.abs(g_rate - (y[2] - y[3]))) < 1e-10
    assert np.max(np.abs(pair.multiplier(t) - force(y[0] - y[1], y[2] - y[3]))) < 1e-9


def test_undamped_multiplier_has_no_limit():
    """g = -epsilon (1 - cos omega t), lambda = 1 - cos omega t in [0, 2] for every epsilon; its mean over a period is 1."""
    for epsilon in (1e-2, 1e-4, 1e-6):
        pair = StiffPair(epsilon)
        t = np.linspace(0, 2 * np.pi / pair.omega, 1001)
        assert np.max(np.abs(pair.multiplier(t) - (1 - np.cos(pair.omega * t)))) < 1e-13
        assert np.max(np.abs(pair.constraint(t)[0] + epsilon * (1 - np.cos(pair.omega * t)))) < 1e-14
        assert pair.multiplier(t).max() == pytest.approx(2.0, abs=1e-5)
        assert np.trapezoid(pair.multiplier(t), t) / t[-1] == pytest.approx(1.0, abs=1e-12)


def test_damped_multiplier_converges_after_the_start():
    """lambda(0) = 0 always, but lambda -> 1 for t > 0 as epsilon -> 0."""
    pairs = [StiffPair(epsilon, 0.1) for epsilon in (1e-2, 1e-4, 1e-6)]
    assert all(abs(pair.multiplier(0.0)) < 1e-12 for pair in pairs)
    assert abs(pairs[2].multiplier(0.3) - 1.0) < 1e-12


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("zeta", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize(("g0", "rate0"), [(0.0, 0.0), (0.2, 0.0), (0.0, 2.0)])
def test_spook_follows_its_law(epsilon, zeta, g0, rate0):
    """Round-off of g is that of q (1.7 m after 100 steps); the multiplier magnifies it by 1 / h^2."""
    pair = StiffPair(epsilon, zeta, g0, rate0)
    spook, k = SpookPair(pair, H), np.arange(100)
    g, rate, multiplier = run(pair, H, 100)
    assert np.max(np.abs(spook.constraint(k)[0] - g)) < 1e-13
    assert np.max(np.abs(spook.constraint(k)[1] - rate)) < 1e-11
    assert np.max(np.abs(spook.multiplier(k) - multiplier)) < 1e-9


@pytest.mark.parametrize("h", [1 / 60, 0.1])
@pytest.mark.parametrize("zeta", [0.1, 1.0, 4.0])
def test_steady_state_is_exact(h, zeta):
    spook = SpookPair(StiffPair(1e-4, zeta, 0.2, 2.0), h)
    assert spook.constraint(20_000)[0] == pytest.approx(-1e-4, abs=1e-18)
    assert spook.multiplier(20_000) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(("epsilon", "amplitude"), [(1e-2, 0.9931), (1e-4, 0.6470), (1e-6, 0.0845)])
def test_amplitude_without_damping(epsilon, amplitude):
    """lambda_k - 1 = -sqrt(1 - sigma) cos(phi (k + 1/2)); g + epsilon has the amplitude epsilon / sqrt(1 - sigma)."""
    spook, k = SpookPair(StiffPair(epsilon), H), np.arange(2000)
    sigma = H**2 / (H**2 + 2 * epsilon)
    phi = np.arccos(1 - 2 * sigma)
    assert spook.sigma == pytest.approx(sigma, rel=1e-14)
    assert spook.amplitude == pytest.approx(amplitude, abs=5e-5)
    assert spook.contraction == pytest.approx(1.0, rel=1e-15)
    assert spook.multiplier(0) == pytest.approx(sigma, rel=1e-13)
    assert np.max(np.abs(spook.multiplier(k) - 1 + spook.amplitude * np.cos(phi * (k + 0.5)))) < 1e-10
    assert np.max(np.abs(spook.constraint(k)[0] + epsilon)) == pytest.approx(epsilon / spook.amplitude, rel=1e-3)
    assert np.max(np.abs(run(StiffPair(epsilon), H, 2000)[2] - 1)) == pytest.approx(amplitude, abs=6e-4 * amplitude + 5e-5)


def test_contraction_per_step():
    for zeta, shown in [(1.0, (0.826, 0.580, 0.865)), (0.1, (0.978, 0.914, 0.984))]:
        for epsilon, value in zip((1e-2, 1e-4, 1e-6), shown, strict=True):
            assert SpookPair(StiffPair(epsilon, zeta), H).contraction == pytest.approx(value, abs=5.1e-4)


@pytest.mark.parametrize(
    ("zeta", "g0", "rate0", "steps"), [(1.0, 0.2, 0.0, 9), (0.1, 0.2, 0.0, 63), (1.0, 0.0, 2.0, 5), (0.1, 0.0, 2.0, 34)]
)
def test_inconsistent_starts_die_out(zeta, g0, rate0, steps):
    """epsilon = 1e-4: |g_k| >= 1e-3 for the last time at k = steps, by the law and by the scheme."""
    pair = StiffPair(1e-4, zeta, g0, rate0)
    for g in (SpookPair(pair, H).constraint(np.arange(400))[0], run(pair, H, 400)[0]):
        assert np.flatnonzero(np.abs(g) >= 1e-3)[-1] == steps


def test_bad_arguments():
    with pytest.raises(OptionError, match="epsilon > 0"):
        StiffPair(0.0)
    with pytest.raises(OptionError, match="zeta"):
        StiffPair(1e-3, -0.1)
