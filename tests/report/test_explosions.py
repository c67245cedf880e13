"""A motion that explodes fails, whatever its method promises, and cannot widen the scale by which it is judged."""

import copy

import numpy as np
import pytest

import dalembert as dal
from dalembert.report.scale import energy_scale
from dalembert.report.tree_facts import TreeFacts

TUMBLE = (2.0, -0.5, 1.0, 0.4, 0.1, 0.3)


def rods(n=2, **joint):
    """Rods of 1 kg and 1 m that hang from the origin."""
    m = dal.Model("rods")
    for i in range(n):
        m.add_body(f"r{i}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1.0 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"r{i - 1}" if i else "world", f"r{i}", (0, 0, -1.0 * i), (0, 1, 0), **joint)
    return m


def free_body():
    m = dal.Model("free", gravity=(0, 0, 0))
    m.add_body("b", 1.3, (0.5, 0.8, 1.1))
    return m


def top():
    m = dal.Model("top")
    m.add_body("b", 1.3, (0.5, 0.8, 1.1), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "b")
    return m


def oscillator():
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 50 * q[0] ** 2)


def changed(traj, **arrays):
    """The same run with other nodes."""
    other = copy.copy(traj)
    for cached in ("kinetic", "potential", "momentum", "poses", "constraint", "_loads"):
        other.__dict__.pop(cached, None)
    other.__dict__.update(arrays)
    return other


EXPLODING = {
    "explicit Euler, Lagrangian": (oscillator, "explicit-euler", {"h": 0.25, "t_end": 25, "q0": [1.0]}),
    "Verlet beyond its stability limit": (oscillator, "verlet", {"h": 0.25, "t_end": 10, "q0": [1.0]}),
    "rk2, Lagrangian": (oscillator, "rk2", {"h": 0.5, "t_end": 20, "q0": [1.0]}),
    "Euler, free body": (free_body, "euler", {"h": 0.5, "t_end": 50, "v0": TUMBLE}),
    "Euler, top": (top, "euler", {"h": 0.5, "t_end": 50, "v0": TUMBLE[:3]}),
    "tln, top": (top, "tln", {"h": 2.0, "t_end": 200, "v0": TUMBLE[:3]}),
    "mk2, double pendulum": (rods, "mk2", {"h": 0.2, "t_end": 20, "q0": (2.5, 0.5)}),
    "mk4, double pendulum": (rods, "mk4", {"h": 1.0, "t_end": 20, "q0": (2.5, 0.5)}),
}


@pytest.mark.parametrize("name", EXPLODING)
def test_an_explosion_fails(name):
    build, stepper, keywords = EXPLODING[name]
    traj = dal.simulate(build(), stepper, on_fail="return", **keywords)
    found = traj.report()["energy"]
    assert found.verdict == "fail", found.text
    assert "exploded" in found.text


@pytest.mark.parametrize(("build", "stepper"), [(free_body, "cayley"), (free_body, "euler"), (rods, "mk4")])
def test_an_energy_that_is_not_finite_fails(build, stepper):
    m = build()
    traj = dal.simulate(m, stepper, h=0.01, t_end=0.1, v0=[1e160] * m.nv, on_fail="return")
    found = traj.report()["energy"]
    assert found.verdict == "fail"
    assert "not finite" in found.text


def test_an_explosion_of_a_method_for_trees_is_judged_by_the_start():
    """The double pendulum goes on from node 500 with 60 times its velocity: relative to its own kinetic energy it gains less than 1."""
    traj = dal.simulate(rods(), "midpoint", h=0.01, t_end=10.0, q0=(2.5, 0.5))
    assert traj.report().verdict == "pass"
    faster = np.where(np.arange(len(traj)) < 500, 1.0, 60.0)[:, None]
    for method in ("midpoint", "mk4"):
        exploded = changed(traj, v=traj.v * faster, stepper=dal.registry.find("tree", method))
        found = exploded.report()["energy"]
        assert found.verdict == "fail", found.text
        assert "from t = 5 s on" in found.text


def test_an_explosion_from_rest_is_judged_by_round_off():
    """A machine that hangs at rest has no energy of motion at all; what it gains is compared with round-off, not with itself."""
    traj = dal.simulate(rods(), "midpoint", h=0.01, t_end=1.0)
    assert traj.report().verdict == "pass"
    v = traj.v.copy()
    v[50:] = np.geomspace(1e-6, 1.0, len(v) - 50)[:, None]
    assert changed(traj, v=v).report()["energy"].verdict == "fail"


def test_dampers_do_not_hide_an_explosion():
    traj = dal.simulate(rods(damping=0.1), "midpoint", h=0.01, t_end=2.0, q0=(2.5, 0.5))
    assert traj.report().verdict == "pass"
    v = traj.v.copy()
    v[150:] *= 60.0
    assert changed(traj, v=v).report()["energy"].verdict == "fail"


# the scale by itself -------------------------------------------------------------------------------------------------------------------


def test_the_scale_of_a_correct_motion_is_its_largest_kinetic_energy():
    traj = dal.simulate(rods(), "trapezoidal", h=0.002, t_end=2.0, q0=(1.0, 0.5))
    scale = TreeFacts(traj).kinetic_scale
    assert scale == pytest.approx(traj.kinetic.max(), rel=1e-3)  # they differ by the error of the energy


def test_neither_a_wrong_velocity_nor_a_wrong_position_raises_the_scale():
    """A ball at the height 1 - t^2/2 falls with unit weight; node 5 moves a hundred times too fast, node 7 lies far too deep."""
    t = np.linspace(0.0, 1.0, 11)
    kinetic, potential = 0.5 * t**2, 1.0 - 0.5 * t**2
    right = energy_scale(kinetic, potential, np.zeros(11), False, 1e-15)
    assert right.scale == pytest.approx(0.5)
    assert right.regular.all()
    kinetic[5] *= 1e4
    potential[7] = -100.0
    wrong = energy_scale(kinetic, potential, np.zeros(11), False, 1e-15)
    assert wrong.scale == pytest.approx(0.5)
    assert np.flatnonzero(~wrong.regular).tolist() == [5, 7]


def test_work_that_is_counted_belongs_to_the_scale():
    work = np.linspace(0.0, 3.0, 11)
    found = energy_scale(work + 1.0, np.zeros(11), work, False, 1e-15)
    assert found.scale == pytest.approx(4.0)
    assert np.abs(found.excess).max() < 1e-15


# good runs pass ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["midpoint", "trapezoidal", "symplectic-euler", "mk4"])
def test_runs_of_a_few_steps_from_rest_pass(method):
    """After k steps from rest a method of order 1 has an energy error of 1/k of the kinetic energy: both are small yet."""
    for k in (1, 2, 3, 4, 5, 8, 20):
        for v0 in ((0.0, 0.0), (0.1, -0.1)):
            report = dal.simulate(rods(), method, h=0.005, t_end=0.005 * k, q0=(1.0, 0.5), v0=v0).report()
            assert report.verdict == "pass", report.text


@pytest.mark.parametrize("method", ["midpoint", "trapezoidal", "symplectic-euler"])
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (3.0, 4.0, -5.0)])
def test_machines_far_from_the_origin_and_small_ones_pass(method, gravity):
    for at, size, mass in (((1e6, -1e6, 1e6), 1.0, 1.0), ((0, 0, 0), 1e-3, 1e-6), ((0, 0, 0), 100.0, 1e6)):
        m = dal.Model("far", gravity=gravity)
        inertia = mass * size**2 * np.array([0.1, 0.1, 0.01])
        m.add_body("r", mass, inertia, com=(0, 0, -0.5 * size), pose=(at, (1, 0, 0, 0)))
        m.add_joint("j", "revolute", "world", "r", at, (0, 1, 0))
        h = 0.005 * np.sqrt(size)
        for q0 in ((1.0,), (0.0,)):
            report = dal.simulate(m, method, h=h, t_end=300 * h, q0=q0).report()
            assert report.verdict == "pass", report.text
