"""Trees through the public front: reports, files, interactive forces, functions as forces, features that are refused."""

import numpy as np
import pytest

import dalembert as dal


def report_of(name, **override):
    return dal.scenes.find(name).simulate(**override).report()


def test_report_of_a_floating_tree_measures_momentum_and_energy():
    report = report_of("floating-chain", t_end=2.0)
    assert report["momentum"].measured < 1e-7  # order 4 at h = 0.01
    assert report["energy"].measured < 1e-7
    assert report.verdict == "pass"


def test_report_warns_when_a_low_order_method_destroys_the_energy():
    report = report_of("pendulum-chain", stepper="mk2", h=0.05, t_end=10.0)
    assert report["energy"].verdict == report.verdict == "warn"
    assert report["energy"].measured > 0.1


def test_report_closes_the_balance_under_damping():
    m = dal.scenes.find("pendulum-chain").model()
    m.add_force(dal.Damper("rod2", angular=0.1))
    item = dal.simulate(m, "mk4", h=0.01, t_end=0.5, q0={"j1": 1.0}).report()["energy balance"]
    assert item.verdict == "pass" and item.measured < 1e-6, item.text


def test_energy_of_a_damped_tree_falls():
    m = dal.Model("pendulum")
    m.add_body("bob", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), damping=0.3)
    traj = dal.simulate(m, "mk4", h=0.01, t_end=5.0, q0={"hinge": 1.0})
    assert (np.diff(traj.energy) <= 1e-9).all()
    # the work of the damper by its own formula, trapezoidal rule: O(h^2)
    power = -0.3 * traj.v[:, 0] ** 2
    work = np.sum(0.5 * 0.01 * (power[1:] + power[:-1]))
    assert traj.energy[-1] - traj.energy[0] == pytest.approx(work, rel=1e-3)


def test_file_and_resume(tmp_path):
    scene = dal.scenes.find("floating-chain")
    path = tmp_path / "run.h5"
    scene.simulate(t_end=1.0, save=path)
    resumed = dal.resume(path, 2.0)
    assert (resumed.states == scene.simulate(t_end=2.0).states).all()
    assert dal.load(path).to_xarray()["q_name"].values[0] == "base.x"


def test_compiled_and_python_controls_agree_on_a_tree():
    scene = dal.scenes.find("pendulum-chain")

    @dal.compiled
    def spring(t, q, v, out):
        for i in range(out.shape[0]):
            out[i] = -q[i] + np.sin(t)

    a = scene.simulate(control=spring, t_end=0.5)
    b = scene.simulate(control=lambda t, q, v: -q + np.sin(t), t_end=0.5)
    assert (a.states == b.states).all()


def test_apply_force_pushes_a_body_of_a_tree():
    """The power of the force at the point where it acts is the rate of the energy."""
    m = dal.scenes.find("pendulum-chain").model()
    sim = dal.Simulation(m, "mk4", h=1e-4, q0={"j1": 0.4, "j2": 0.2, "j3": -0.3}, v0={"j1": 1.0, "j2": -0.5, "j3": 0.7})
    before = sim.state
    energy = m.energy(before.q, before.v)
    F = np.array([3.0, -1.0, 2.0])
    twist = m.jacobian("rod3", before.q) @ before.v
    R = m.poses(before.q)[2, :3, :3]
    point_velocity = R @ (twist[3:] + np.cross(twist[:3], m.body("rod3").com))
    sim.apply_force("rod3", force=F)
    after = sim.step(1)
    assert (m.energy(after.q, after.v) - energy) / 1e-4 == pytest.approx(F @ point_velocity, rel=1e-2)


@pytest.mark.parametrize(("options", "word"), [({"limits": (-1, 1)}, "limits"), ({"friction": 0.1}, "joint friction")])
def test_features_without_a_method_are_named(options, word):
    m = dal.Model("stiff")
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_joint("j", "revolute", "world", "a", axis=(1, 0, 0), **options)
    with pytest.raises(dal.UnsupportedError, match=word):
        dal.simulate(m, "mk4")
    assert dal.simulate(m, "mk4", h=0.1, t_end=1.0, ignore=(word,)).status == "ok"


def test_no_step_size_is_proved_for_explicit_tree_methods():
    with pytest.raises(dal.UnsupportedError, match="solves no equation"):
        dal.advise(dal.scenes.find("pendulum-chain").model(), stepper="mk4")
    assert dal.advise(dal.scenes.find("pendulum-chain").model()).stepper == "trapezoidal"
