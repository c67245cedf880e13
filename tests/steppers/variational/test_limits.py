"""Joint limits that give way: what a joint brings to a stiff limit it takes back."""

import numpy as np
import pytest

import dalembert as dal

INERTIA, STIFFNESS, LIMIT = 1e-3, 1e4, 0.5


@pytest.fixture(scope="module")
def between():
    """A light rod without weight between two limits: sqrt(k/I) = 3200/s."""
    m = dal.Model("between limits", gravity=(0, 0, 0))
    m.add_body("rod", 0.1, (INERTIA, INERTIA, 1e-4))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), limits=(-LIMIT, LIMIT))
    return m.frozen()


@pytest.mark.parametrize("h", [1e-4, 1e-3, 7e-3])
def test_impacts_on_a_stiff_limit_keep_the_energy(between, h):
    """Up to 22 periods of the limit within a step. The mean force does the work that the spring stores: energy to round-off of 1000s of
    impacts, where the velocity has 1e-13 of Newton's method."""
    traj = dal.simulate(between, "midpoint", h=h, t_end=20000 * h, v0=[10.0], limit_stiffness=STIFFNESS)
    beyond = np.maximum(np.abs(traj.q[:, 0]) - LIMIT, 0.0)
    energy = 0.5 * INERTIA * traj.v[:, 0] ** 2 + 0.5 * STIFFNESS * beyond**2
    assert np.count_nonzero(beyond) > 50
    assert np.abs(energy / energy[0] - 1).max() < 1e-8
    np.testing.assert_allclose(np.cumsum(traj.account["limits"]), -0.5 * STIFFNESS * beyond[1:] ** 2, atol=1e-8 * energy[0])


def test_an_arm_between_its_limits_does_not_gain_energy():
    """Three joints under gravity, limits of the last met about five times a second, unresolved: energy without that of the limits stays
    below that of the start but for the band of the method, (h Omega)^2 of the kinetic energy, Omega up to 60 or 90/s. The motion is
    chaotic, and which of its neighbours a processor computes is up to round-off: eight of them are judged."""
    m = dal.Model("arm")
    for k, (length, mass) in enumerate(((0.5, 5.0), (0.4, 2.0), (0.1, 0.2))):
        inertia = mass * length**2 / 12
        m.add_body(f"b{k}", mass, (inertia, inertia, 0.1 * inertia), com=(0, 0, -length / 2), pose=((0, 0, -0.5 * k), (1, 0, 0, 0)))
        limits = {"limits": (-0.5, 0.5)} if k == 2 else {}
        m.add_joint(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}", (0, 0, -0.5 * k), (0, 1, 0), **limits)
    gains, rng = [], np.random.default_rng(0)
    for _ in range(8):
        traj = dal.simulate(m, "midpoint", h=0.001, t_end=60.0, q0=np.array([2.0, 0.5, 0.1]) + 1e-9 * rng.standard_normal(3))
        gains.append((traj.energy.max() - traj.energy[0]) / traj.kinetic.max())
        assert gains[-1] < 3 * (0.001 * np.abs(traj.v).max()) ** 2  # measured over 16 neighbours: 0.2 to 1.9 times the square
    assert np.median(gains) < 0.01
