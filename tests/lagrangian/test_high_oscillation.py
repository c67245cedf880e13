"""Two masses pushed together (lacoursiere2007, chapter 8): a stiff spring oscillates for ever, SPOOK filters it; every number of both.

g = q0 - q1, f = (-1, 1), q(0) = 0, q'(0) = (1, 1); rigid: q = (t, t), multiplier 1. h = 1/60, tau = zeta sqrt(2 epsilon).
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import SpookPair, StiffPair

H = 1 / 60
PAIR = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - q[0] + q[1], holonomic=lambda q: [q[0] - q[1]], name="pair")


def spook(pair, steps, h=H, **options):
    """A run of the stepper that stands for the pair."""
    v0 = [1 + 0.5 * pair.rate0, 1 - 0.5 * pair.rate0]
    start = {"q0": [0.5 * pair.g0, -0.5 * pair.g0], "v0": v0}
    return dal.simulate(PAIR, "spook", h=h, t_end=steps * h, epsilon=pair.epsilon, tau=pair.tau / h, **start, **options)


def gap(traj):
    return traj.q[:, 0] - traj.q[:, 1]


# the rigid pair --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", ["shake", "rattle"])
def test_rigid_pair(stepper):
    """q = (t, t), multiplier 1 (signs of (8.2), (8.3) corrected)."""
    traj = dal.simulate(PAIR, stepper, h=H, t_end=5.0, q0=[0, 0], v0=[1, 1])
    assert np.abs(traj.q - traj.t[:, None]).max() < 1e-13
    first = 1 if stepper == "shake" else 0  # SHAKE's first step starts with half a kick
    assert np.abs(traj.multipliers["holonomic"][first:] - 1).max() < 1e-12


# the spring ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "zeta", "g0", "rate0"), [
    (1e-2, 0.0, 0.0, 0.0), (1e-2, 0.1, 0.0, 0.0), (1e-2, 1.0, 0.0, 0.0),
    (1e-2, 2.0, 0.05, 0.0), (1e-4, 0.1, 0.0, 2.0), (1e-4, 1.0, 0.2, 2.0),
])  # fmt: skip
def test_spring_and_damper_by_a_penalty(epsilon, zeta, g0, rate0):
    """V = g^2 / (2 epsilon), R = g'^2 / (2 eta), zeta = 1/(eta omega) (1/2 missing in print): order 6 gives (8.6), (8.10)."""
    pair = StiffPair(epsilon, zeta, g0, rate0)
    system = dal.Lagrangian(
        2,
        lambda q, v: 0.5 * (v @ v) - q[0] + q[1] - 0.5 * (q[0] - q[1]) ** 2 / epsilon,
        rayleigh=lambda q, v: 0.5 * zeta * pair.omega * (v[0] - v[1]) ** 2,
    )
    h = 0.02 / pair.omega
    start = {"q0": [0.5 * g0, -0.5 * g0], "v0": [1 + 0.5 * rate0, 1 - 0.5 * rate0]}
    traj = dal.simulate(system, "galerkin6", h=h, t_end=2000 * h, **start)
    assert np.abs(traj.q - pair.position(traj.t)).max() < 1e-11
    g, rate = gap(traj), traj.v[:, 0] - traj.v[:, 1]
    assert np.abs(-g / epsilon - zeta * pair.omega * rate - pair.multiplier(traj.t)).max() < 1e-9 / epsilon * max(
        epsilon, g0, rate0 / pair.omega
    )


def test_multiplier_of_the_spring_has_no_limit():
    """(8.7): lambda = 1 - cos(omega t) in [0, 2] for every epsilon; its mean tends to 1, weakly, while g -> 0."""
    t = np.linspace(0.0, 2.0, 200_001)
    for epsilon in (1e-2, 1e-4, 1e-6):
        pair = StiffPair(epsilon)
        force = pair.multiplier(t)
        assert force.min() == pytest.approx(0.0, abs=1e-3)
        assert force.max() == pytest.approx(2.0, abs=1e-3)
        assert np.abs(pair.constraint(t)[0]).max() <= 2 * epsilon * (1 + 1e-9)
        assert abs(force.mean() - 1) < 1 / pair.omega


# SPOOK -----------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "amplitude"), [(1e-2, 0.9931), (1e-4, 0.6470), (1e-6, 0.0845)])
def test_undamped_amplitude(epsilon, amplitude):
    """lambda_k - 1 = -sqrt(1 - s) cos(w (k + 1/2)), s = h^2/(h^2 + 2 epsilon), cos w = 1 - 2 s; of g: epsilon/sqrt(1 - s)."""
    traj, law = spook(StiffPair(epsilon), 2000), SpookPair(StiffPair(epsilon), H)
    sigma, force, k = H**2 / (H**2 + 2 * epsilon), traj.multipliers["holonomic"][:, 0], np.arange(2000)
    assert law.sigma == pytest.approx(sigma, rel=1e-14)
    assert force[0] == pytest.approx(sigma, rel=1e-12)
    assert np.sqrt(1 - sigma) == pytest.approx(amplitude, abs=5.1e-5)
    expected = 1 - np.sqrt(1 - sigma) * np.cos(np.arccos(1 - 2 * sigma) * (k + 0.5))
    assert np.abs(force - expected).max() < 1e-13 * 2000 / epsilon**0.5  # positions of size t cancel in g / epsilon
    assert np.abs(force - 1).max() == pytest.approx(np.sqrt(1 - sigma), rel=2e-3)
    assert np.abs(gap(traj) + epsilon).max() == pytest.approx(epsilon / np.sqrt(1 - sigma), rel=2e-2)
    assert np.abs(gap(traj) - law.constraint(np.arange(2001))[0]).max() < 1e-11


@pytest.mark.parametrize(("epsilon", "zeta", "contraction"), [
    (1e-2, 1.0, 0.826), (1e-4, 1.0, 0.580), (1e-6, 1.0, 0.865), (1e-2, 0.1, 0.978), (1e-4, 0.1, 0.914), (1e-6, 0.1, 0.984)
])  # fmt: skip
def test_contraction(epsilon, zeta, contraction):
    """sqrt(alpha) per step, seen in a run that starts with g = .1: det of two consecutive states."""
    traj, law = spook(StiffPair(epsilon, zeta, g0=0.1), 12), SpookPair(StiffPair(epsilon, zeta, g0=0.1), H)
    z = np.column_stack([gap(traj) + epsilon, traj.v[:, 0] - traj.v[:, 1]])
    wronskian = z[:-1, 0] * z[1:, 1] - z[:-1, 1] * z[1:, 0]
    assert np.sqrt(np.abs(wronskian[1:5] / wronskian[:4])) == pytest.approx(contraction, abs=6e-4)
    assert law.contraction == pytest.approx(contraction, abs=6e-4)


@pytest.mark.parametrize("zeta", [0.1, 1.0])
@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
def test_steady_state_is_exact(epsilon, zeta):
    """g -> -epsilon and force 1 for all h and tau > 0; on the way the closed law of the scheme."""
    for h in (H, 1 / 240, 0.1):
        pair = StiffPair(epsilon, zeta)
        traj, law = spook(pair, 6000, h), SpookPair(pair, h)
        noise, left = 1e-15 * traj.t[-1], law.contraction**6000  # of g, a difference of positions; of the transient
        assert gap(traj)[-1] == pytest.approx(-epsilon, abs=100 * noise + 20 * epsilon * left)
        assert traj.multipliers["holonomic"][-1, 0] == pytest.approx(1.0, abs=10 * noise / h**2 + 10 * left)
        assert np.abs(gap(traj)[:200] - law.constraint(np.arange(200))[0]).max() < 1e-12  # near the root -1 round-off adds up
        assert np.abs(traj.multipliers["holonomic"][:200, 0] - law.multiplier(np.arange(200))).max() < 1e-12 / h**2


@pytest.mark.parametrize(
    ("zeta", "g0", "rate0", "steps"), [(1.0, 0.2, 0.0, 9), (0.1, 0.2, 0.0, 63), (1.0, 0.0, 2.0, 5), (0.1, 0.0, 2.0, 34)]
)
def test_inconsistent_starts_are_pulled_in(zeta, g0, rate0, steps):
    """epsilon = 1e-4: step 9 (63) is the last with |g| >= 1e-3 from g = .2, step 5 (34) from g' = 2."""
    found = np.abs(gap(spook(StiffPair(1e-4, zeta, g0, rate0), 300)))
    assert np.nonzero(found >= 1e-3)[0].max() == steps


@pytest.mark.parametrize(("epsilon", "g0", "rate0"), [(1e-2, 0.0, 0.0), (1e-4, 0.2, 0.0), (1e-4, 0.0, 2.0), (1e-4, 0.2, 2.0)])
def test_spook_mirrors_the_damper_as_h_falls(epsilon, g0, rate0):
    """zeta = 1 and .1 with tau = epsilon/eta (8.14): |g_spook - g_exact| falls with h, order 1."""
    for zeta in (1.0, 0.1):
        pair = StiffPair(epsilon, zeta, g0, rate0)
        errors = []
        for n in (8, 16, 32, 64):
            traj = spook(pair, 60 * n, H / n)
            errors.append(np.abs(gap(traj) - pair.constraint(traj.t)[0]).max())
        assert np.log2(errors[-2] / errors[-1]) == pytest.approx(1.0, abs=0.1), errors


def test_critical_damping_is_at_rest_at_once_with_a_stiff_spring():
    """epsilon = 1e-6, zeta = 1: g within 2 epsilon of its rest from the first step on, slightly under-damped; force within 10 % soon."""
    traj = spook(StiffPair(1e-6, 1.0), 100)
    assert np.abs(gap(traj) + 1e-6).max() < 1e-5
    signs = np.sign(gap(traj)[:20] + 1e-6)
    assert (signs > 0).any() and (signs < 0).any()
    assert np.abs(traj.multipliers["holonomic"][30:, 0] - 1).max() < 0.01
