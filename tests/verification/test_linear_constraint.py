"""SPOOK on linear constraints: closed law against the scheme itself, taken from the saddle system (lacoursiere2007, 4.31)."""

import numpy as np
import pytest

from dalembert.errors import OptionError
from dalembert.verification.linear_constraint import (
    spook_matrix,
    spook_radius,
    spook_roots,
    spook_sigma,
    spook_spring_energy,
    spook_state,
    spook_step,
)


def spook(M, G, f, h, epsilon, theta, q, v):
    """One step from the whole saddle matrix; returns q, v and the impulse."""
    n, m = len(M), len(G)
    upsilon = np.diag(1 / (1 + 4 * np.broadcast_to(theta, m)))
    H = np.block([[M, -G.T], [G, 4 / h**2 * np.diag(np.broadcast_to(epsilon, m)) @ upsilon]])
    z = np.linalg.solve(H, np.concatenate([M @ v + h * f, -4 / h * upsilon @ G @ q + upsilon @ G @ v]))
    return q + h * z[:n], z[:n], z[n:]


def test_radii_without_compliance():
    """sigma = 1: 1 / sqrt(1 + 4 theta) to theta = 2, there 1/3, then the larger real root."""
    shown = {0.25: 0.7071, 0.5: 0.5774, 1: 0.4472, 2: 0.3333, 3: 0.6511, 5: 0.7974, 10: 0.8997, 100: 0.9900}
    for theta, radius in shown.items():
        assert spook_radius(1.0, theta) == pytest.approx(radius, abs=5.1e-5)
        exact = 1 / np.sqrt(1 + 4 * theta) if theta <= 2 else (2 * theta - 1 + np.sqrt(4 * theta**2 - 8 * theta)) / (1 + 4 * theta)
        assert spook_radius(1.0, theta) == pytest.approx(exact, rel=1e-14)
    theta = np.linspace(0.01, 10.0, 1000)
    assert theta[np.argmin([spook_radius(1.0, x) for x in theta])] == pytest.approx(2.0, abs=0.011)
    assert spook_roots(1.0, 2.0) == pytest.approx((1 / 3, 1 / 3), rel=1e-15)


def test_radii_at_one_half():
    for theta, radius in {1: 0.7746, 2: 0.7454, 5: 0.7237, 10: 0.8840}.items():
        assert spook_radius(0.5, theta) == pytest.approx(radius, abs=5.1e-5)
    assert spook_radius(0.5, 5.0) == pytest.approx(np.sqrt(11 / 21), rel=1e-15)  # .72375: .7237, not .7238


def test_printed_bounds_are_false_but_the_step_is_stable():
    """For theta > 2 print claims beta < 1/3 and |l| < 2/3; theta = 100, sigma = 1 has beta = .496 and |l| = .990."""
    plus, minus = spook_roots(1.0, 100.0)
    assert 0.5 * (plus + minus).real > 1 / 3
    assert abs(plus) > 2 / 3
    for theta in np.geomspace(1e-3, 1e3, 61):
        for sigma in np.geomspace(1e-6, 1.0, 41):
            assert spook_radius(sigma, theta) < 1.0
            assert spook_radius(sigma, theta) == pytest.approx(max(abs(np.linalg.eigvals(spook_step(sigma, theta)))), abs=2e-8)
    assert spook_radius(0.3, 0.0) == 1.0
    assert spook_radius(0.0, 3.0) == 1.0


@pytest.mark.parametrize("theta", [0.0, 0.3, 2.0, 7.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1e-3])
def test_one_row_follows_the_law(theta, epsilon):
    rng = np.random.default_rng(5)
    M, G, h = np.diag([1.0, 2.0, 0.5]), np.array([[1.0, -2.0, 0.4]]), 1 / 60
    q, v = rng.normal(size=3), rng.normal(size=3)
    sigma = spook_sigma(float((G @ np.linalg.inv(M) @ G.T)[0, 0]), epsilon, h, theta)
    law = spook_state(sigma, theta, float((G @ q)[0]), h * float((G @ v)[0]), np.arange(41))
    tolerance = 1e-13 * (1 + np.max(np.abs(law)))  # theta = epsilon = 0 is the double root -1: grows like k
    for k in range(41):
        assert np.allclose(law[k], [(G @ q)[0], h * (G @ v)[0]], rtol=0, atol=10 * tolerance)
        assert np.allclose(law[k], np.linalg.matrix_power(spook_step(sigma, theta), k) @ law[0], rtol=0, atol=10 * tolerance)
        q, v, _ = spook(M, G, np.zeros(3), h, epsilon, theta, q, v)


def test_decay_at_the_double_root():
    """x_k = (1 + 2k/3) 3^-k x_0, first 5/9."""
    k = np.arange(30)
    x = spook_state(1.0, 2.0, 1.0, 0.0, k)[:, 0]
    assert x == pytest.approx((1 + 2 * k / 3) / 3.0**k, rel=1e-13)
    assert x[1] == pytest.approx(5 / 9, rel=1e-15)


def test_several_rows():
    """(4.46) with coupled rows and a compliance and damping of each."""
    rng = np.random.default_rng(7)
    h, M, G = 0.02, np.diag(rng.uniform(0.5, 2, 6)), rng.normal(size=(3, 6))
    epsilon, theta = np.array([1e-5, 1e-4, 0.0]), np.array([0.5, 2.0, 4.0])
    S = G @ np.linalg.inv(M) @ G.T
    A = spook_matrix(S, 4 * epsilon / (h * h * (1 + 4 * theta)), theta)
    q, v = rng.normal(size=6), rng.normal(size=6)
    z = np.concatenate([G @ q, h * G @ v])
    for _ in range(25):
        q, v, _ = spook(M, G, np.zeros(6), h, epsilon, theta, q, v)
        z = A @ z
        assert np.allclose(z, np.concatenate([G @ q, h * G @ v]), rtol=0, atol=1e-12)
    assert np.allclose(spook_matrix([[2.0]], 0.5, 1.5), spook_step(0.8, 1.5), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("rank", "sigma_min"), [(100, 1e-8), (150, 1e-4), (190, 1e-8)])
def test_redundant_random_rows(rank, sigma_min):
    """Two hundred rows of lower rank, theta in [2, 3]: the spectrum on range(G) has radius .63 to .65, the rest of it is 1."""
    rng = np.random.default_rng(rank)
    m = 200
    G = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, m)) / np.sqrt(rank)
    S = G @ G.T
    A = spook_matrix(S, sigma_min * rng.uniform(1, 2, m), rng.uniform(2, 3, m))
    U = np.linalg.svd(S)[0][:, :rank]
    P = np.block([[U, np.zeros_like(U)], [np.zeros_like(U), U]])
    assert 0.62 < max(abs(np.linalg.eigvals(P.T @ A @ P))) < 0.66


def test_wide_random_parameters_are_stable():
    rng = np.random.default_rng(11)
    for _ in range(300):
        m = int(rng.integers(2, 8))
        G = rng.normal(size=(m, m + 2))
        A = spook_matrix(G @ G.T, 10 ** rng.uniform(-8, 4, m), 10 ** rng.uniform(-3, 3, m))
        assert max(abs(np.linalg.eigvals(A))) < 1.0


def test_undamped_spring_is_the_midpoint_rule():
    """tan(phi / 2) = h omega / 2 and the energy at the middle is constant to round-off (5e-13 relative after 1000 steps)."""
    m, epsilon, h = 0.8, 2e-3, 0.03
    sigma, omega = spook_sigma(1 / m, epsilon, h, 0.0), 1 / np.sqrt(m * epsilon)
    phase = np.angle(spook_roots(sigma, 0.0)[0])
    assert np.tan(0.5 * phase) == pytest.approx(0.5 * h * omega, rel=1e-14)
    q, v, energies = np.array([0.3]), np.array([-1.1]), []
    for _ in range(1000):
        following, v, _ = spook(np.eye(1) * m, np.eye(1), np.zeros(1), h, epsilon, 0.0, q, v)
        energies.append(float(spook_spring_energy(m, epsilon, h, q, following)[0]))
        q = following
    assert np.ptp(energies) < 5e-13 * energies[0]


def test_load_motor_and_rest():
    """Static load: g = -epsilon m a_g for any h and tau, impulse h m a_g; motor: v - u shrinks by 1 / (1 + h / (m gamma))."""
    m, a_g, epsilon = 1.5, 9.8, 1e-3
    for h, theta in [(1 / 60, 2.0), (0.1, 0.2)]:
        q, v = np.array([-epsilon * m * a_g]), np.zeros(1)
        q, v, impulse = spook(np.eye(1) * m, np.eye(1), np.array([-m * a_g]), h, epsilon, theta, q, v)
        assert q[0] == pytest.approx(-epsilon * m * a_g, rel=1e-13)
        assert impulse[0] == pytest.approx(h * m * a_g, rel=1e-13)
    h, gamma, u, v0 = 0.02, 0.3, 2.0, -1.0
    v1 = np.linalg.solve([[m, -1.0], [1.0, gamma / h]], [m * v0, u])[0]
    assert v1 - u == pytest.approx((v0 - u) / (1 + h / (m * gamma)), rel=1e-13)


def test_bad_arguments():
    with pytest.raises(OptionError, match=r"sigma = 1\.2"):
        spook_radius(1.2, 1.0)
    with pytest.raises(OptionError, match="theta = -1"):
        spook_roots(0.5, -1.0)
