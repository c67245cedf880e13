"""Steps that are too large: a solution that does not continue the motion is repeated in parts or refused, and energy does not explode."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import SimulationError

SECOND = ("midpoint", "trapezoidal")
METHODS = (*SECOND, "symplectic-euler")
SIZES = (0.03, 0.034, 0.04, 0.042, 0.05, 0.1)
START = [2.5, 0.5]
FALL = 2 * 9.81 * (0.5 + 1.5)  # J, from upright to hanging


@pytest.fixture(scope="module")
def double():
    m = dal.Model("double pendulum")
    for k in range(2):
        m.add_body(f"rod{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        m.add_joint(f"hinge{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (0, 0, -k), (0, 1, 0))
    return m.frozen()


def formula():
    """The same double pendulum by its relative angles: the discrete Lagrangians are the same too."""

    def L(q, v):
        a, b, w, u = q[0], q[0] + q[1], v[0], v[0] + v[1]
        kinetic = 0.5 * (0.1 + 0.25 + 1.0) * w**2 + 0.5 * (0.1 + 0.25) * u**2 + 0.5 * w * u * np.cos(a - b)
        return kinetic + 9.81 * (1.5 * np.cos(a) + 0.5 * np.cos(b))

    return dal.Lagrangian(2, L, name="double pendulum")


def random_chain(seed):
    """Two or three rods on hinges in a plane, on hinges about any axis, or on hinges and balls; a state; what its weight can give."""
    rng = np.random.default_rng(seed)
    m, z, fall = dal.Model(f"chain {seed}"), 0.0, 0.0
    for k in range(int(rng.integers(2, 4))):
        length, mass = rng.uniform(0.3, 1.2), rng.uniform(0.2, 3.0)
        inertia = mass * length**2 / 12 * rng.uniform(0.6, 1.4)
        m.add_body(
            f"b{k}", mass, (inertia, inertia, 0.1 * inertia), com=(0, 0, -length * rng.uniform(0.3, 0.7)), pose=((0, 0, z), (1, 0, 0, 0))
        )
        kind = "spherical" if seed % 3 == 2 and rng.random() < 0.5 else "revolute"
        axis = rng.normal(size=3) if seed % 3 == 1 else (0, 1, 0)
        m.add_joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}", (0, 0, z), axis)
        z -= length
        fall += 2 * mass * 9.81 * -z
    m = m.frozen()
    return m, m.random(rng), rng.normal(size=m.nv) * rng.choice([0, 1, 3]), fall, 10.0 ** rng.uniform(-2, -1)


@pytest.mark.parametrize("method", SECOND)
@pytest.mark.parametrize("h", SIZES)
def test_a_double_pendulum_keeps_its_energy_at_steps_that_are_too_large(double, method, h):
    """Second links turn by a radian per step. One in ten thousand steps would end an explosion: 81,773 J were seen from 16.6 J.

    The motion is chaotic, so neighbours are judged: most stay within what the weight can give, none comes near ten times that, where a
    report speaks of an explosion (measured over 24 neighbours: median 0.2, worst 1.8 FALL, in runs with 80 to 200 split steps)."""
    changes, rng = [], np.random.default_rng(0)
    for _ in range(6):
        traj = dal.simulate(double, method, h=h, t_end=round(60 / h) * h, q0=START + 1e-9 * rng.standard_normal(2))
        changes.append(np.abs(traj.energy - traj.energy[0]).max())
    assert np.median(changes) < FALL
    assert max(changes) < 5 * FALL


@pytest.mark.parametrize("method", METHODS)
def test_the_formula_and_the_tree_refuse_the_same_steps(double, method):
    """Without rescue: neither lets energy grow to ten times its scale, and until one of the two ends, or for 3 s (chaos), they agree."""
    system = formula()
    for h in SIZES:
        runs = [
            dal.simulate(s, method, h=h, t_end=round(30 / h) * h, q0=START, on_fail="return", **options)
            for s, options in ((double, {"rescue": False}), (system, {}))
        ]
        for traj in runs:
            assert traj.energy.max() < traj.energy[0] + 10 * FALL or traj.status != "ok"
        n = min(len(runs[0]), len(runs[1]), round(3 / h))
        np.testing.assert_allclose(runs[0].q[:n], runs[1].q[:n], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", range(3))
def test_random_chains_never_gain_ten_times_their_energy(method, family):
    """Twelve of a kind, h from 0.01 to 0.1 s, 20 s."""
    for seed in range(family, family + 36, 3):
        m, q, v, fall, h = random_chain(seed)
        traj = dal.simulate(m, method, h=h, t_end=round(20 / h) * h, q0=q, v0=v, on_fail="return")
        scale = traj.kinetic[0] + fall
        assert traj.status != "ok" or traj.energy.max() - traj.energy[0] < 10 * scale, seed
        assert traj.status == "ok" or method == "symplectic-euler", (seed, traj.status)


def test_energy_that_runs_away_ends_the_run(double):
    """Symplectic Euler at five hundredths of a second."""
    with pytest.raises(SimulationError, match=r"kinetic energy has grown .*smaller h"):
        dal.simulate(double, "symplectic-euler", h=0.05, t_end=60.0, q0=START)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_driven_may_gain_any_energy(double, method):
    """A torque of 40 N m: far more than the weight could give."""
    traj = dal.simulate(double, method, h=0.002, t_end=5.0, control=lambda t, q, v: np.array([40.0, 0.0]))
    assert traj.status == "ok"
    assert traj.kinetic.max() > 20 * FALL


@pytest.mark.parametrize("method", SECOND)
def test_a_fast_top_is_not_split(method):
    """Two radians per step about its axis, which it keeps."""
    m = dal.Model("fast top")
    m.add_body("top", 1.0, (0.01, 0.01, 0.004), com=(0, 0, 0.1))
    m.add_joint("tip", "spherical", "world", "top")
    q0 = m.integrate(m.neutral(), np.array([0.3, 0.0, 0.0]))
    traj = dal.simulate(m, method, h=0.005, t_end=5.0, q0=q0, v0=[0.0, 0.0, 400.0])
    assert not traj.solver["substeps"].any()
