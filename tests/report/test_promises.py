"""What voids a promise, and what does not."""

import copy

import numpy as np
import pytest

import dalembert as dal


def particle(**more):
    """A particle in a bowl under z' = y x'; homogeneous in v, so that its energy is constant."""
    return dal.Lagrangian(3, lambda q, v: 0.5 * (v @ v) - 0.5 * (q @ q), **{"pfaffian": lambda q: [[-q[1], 0, 1]], **more})


START = {"q0": (1.0, 0.5, 0.0), "v0": (0.3, 1.0, 0.15)}


def faster(traj, factors):
    other = copy.copy(traj)
    for cached in ("kinetic", "potential", "momentum"):
        other.__dict__.pop(cached, None)
    other.v = traj.v * factors[:, None]
    return other


def test_constraints_on_velocities_keep_the_energy_in_a_band():
    for h in (0.01, 0.1):
        found = dal.simulate(particle(), "alpha", h=h, t_end=100.0, **START).report()["energy"]
        assert found.verdict == "pass", found.text
        assert "not promised: constraints on velocities" in found.text
        assert found.measured < found.limit < 2.0 * h**2 + 0.001


def test_constraints_on_velocities_do_not_hide_a_change_of_energy():
    traj = dal.simulate(particle(), "alpha", h=0.01, t_end=20.0, **START)
    n = len(traj)
    assert faster(traj, np.linspace(1.0, 0.5, n)).report()["energy"].verdict == "warn"  # three quarters of the kinetic energy
    assert faster(traj, np.linspace(1.0, 1.02, n)).report()["energy"].verdict == "warn"  # 4 %, a hundred times the band
    assert faster(traj, np.linspace(1.0, 20.0, n)).report()["energy"].verdict == "fail"


def test_a_motion_without_forces_is_judged_by_its_own_kinetic_energy():
    """A disk that rolls freely turns at a constant rate; its linearised motion has no rate at all."""
    s = dal.Lagrangian(
        4,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2 + 0.125 * v[3] ** 2,
        pfaffian=lambda q: [[1, 0, -np.cos(q[3]), 0], [0, 1, -np.sin(q[3]), 0]],
    )
    traj = dal.simulate(s, "alpha", h=0.01, t_end=10.0, q0=np.zeros(4), v0=(1, 0, 1, 0.5))
    for end in (1.0, 1.001, 1.01):
        other = faster(traj, np.linspace(1.0, end, len(traj)))
        found = other.report()["energy"]
        assert found.measured == pytest.approx(np.ptp(other.energy) / traj.kinetic.max(), rel=0.1, abs=1e-14)
        assert found.verdict == ("pass" if end == 1.0 else "warn"), found.text


def test_driven_constraints_do_work_and_are_measured_only():
    s = particle(pfaffian=lambda q: ([[-q[1], 0, 1]], [0.1]))
    q0, v0 = s.assemble((1.0, 0.5, 0.0), (0.3, 1.0, 0.0))
    found = dal.simulate(s, "alpha", h=0.01, t_end=5.0, q0=q0, v0=v0).report()["energy"]
    assert found.verdict == "not applicable"


def test_rolling_machines_keep_their_energy_in_a_band_and_warn_beyond():
    traj = dal.scenes.find("rolling-disk").simulate(stepper="midpoint")
    found = traj.report()["energy"]
    assert found.verdict == "pass", found.text
    assert "not promised: joints on velocities" in found.text
    n = len(traj)
    assert faster(traj, np.linspace(1.0, 1.05, n)).report()["energy"].verdict == "warn"
    assert faster(traj, np.linspace(1.0, 20.0, n)).report()["energy"].verdict == "fail"


# a run that is advanced by hand --------------------------------------------------------------------------------------------------------


def chain():
    m = dal.Model("chain")
    m.add_body("a", 1.3, (0.2, 0.3, 0.4), com=(0.1, 0.2, -0.3))
    m.add_body("b", 0.7, (0.1, 0.1, 0.15), com=(0.2, 0, 0.1), pose=((0.4, 0.1, 0.0), (0.6, 0.8, 0.0, 0.0)))
    m.add_joint("root", "revolute", "world", "a", axis=(0, 0, 1))
    m.add_joint("elbow", "revolute", "a", "b", (0.3, 0.1, 0.0), (1, 2, 0.5))
    return m


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4"])
def test_a_simulation_without_input_is_judged_like_a_run(stepper):
    start = {"q0": (0.2, 0.4), "v0": (1.0, -0.5)}
    sim = dal.Simulation(chain(), stepper, h=0.01, **start)
    for _ in range(20):
        sim.step(10)
    traj = dal.simulate(chain(), stepper, h=0.01, t_end=2.0, **start)
    by_hand = sim.trajectory()
    np.testing.assert_array_equal(by_hand.q, traj.q)
    assert by_hand.meta["control"] is None
    assert by_hand.report() == traj.report()


def test_a_simulation_that_was_pushed_has_a_control_from_then_on():
    start = {"q0": (0.2, 0.4), "v0": (1.0, -0.5)}
    sim = dal.Simulation(chain(), "midpoint", h=0.01, **start)
    sim.step(50)
    sim.apply_force(tau=(0.5, 0.0))
    sim.step(10)
    sim.step(40)
    traj = dal.simulate(chain(), "midpoint", h=0.01, t_end=1.0, control=lambda t, q, v: np.array([0.5 * (0.495 < t < 0.595), 0.0]), **start)
    np.testing.assert_allclose(sim.trajectory().q, traj.q, rtol=0, atol=1e-13)
    assert sim.trajectory().meta["control"] == "python"


def test_a_simulation_takes_forces_given_as_functions():
    m = chain()
    m.add_force(lambda t, q, v: np.array([1.0, -0.2]))
    sim = dal.Simulation(m, "midpoint", h=0.01)
    sim.step(50)
    np.testing.assert_array_equal(sim.trajectory().q, dal.simulate(m, "midpoint", h=0.01, t_end=0.5).q)


def test_a_users_stepper_without_an_argument_for_forces_can_be_stepped_by_hand():
    from dalembert import registry

    @dal.stepper("plain-step", order=1)
    def step(m, t, q, v, h):
        return m.integrate(q, h * v), v

    try:
        sim = dal.Simulation(chain(), "plain-step", h=0.01, v0=(1.0, 0.0))
        assert sim.step(10).q[0] == pytest.approx(0.1)
    finally:
        del registry._steppers["any", "plain-step"]
