"""Runs in director coordinates: conservation, forms, order, agreement with other coordinates, forces of joints, controls."""

import numpy as np
import pytest
from director_machines import KICK, chain, double_pendulum, four_bar, pair, top

import dalembert as dal
from dalembert.model.cut import body_state, cut

MACHINES = {"top": top, "double pendulum": double_pendulum, "four-bar": four_bar}


def ratios(errors):
    return np.array(errors[:-1]) / np.array(errors[1:])


@pytest.mark.parametrize("kind", ["free", "spherical", "revolute"])
def test_a_floating_pair_keeps_momentum_to_round_off_and_energy_in_a_band(kind):
    """2000 steps of 0.01 s: constraints to a few eps of the places, momenta to 2000 eps, energy to (h omega)^2 / 10 at rates of 1/s."""
    m = pair(kind)
    d = dal.Directors(m)
    rng = np.random.default_rng(2)
    start = d.start(m.neutral(), 0.5 * rng.normal(size=m.nv))
    traj = dal.simulate(d, "null-space", h=0.01, t_end=20.0, **start)
    assert np.abs(traj.constraint).max() < 1e-15 * (1.0 + np.abs(traj.q).max())
    assert np.ptp(traj.energy) < 1e-4 * traj.kinetic.max()
    size = np.linalg.norm(traj.momentum[0, :3]) + np.linalg.norm(traj.momentum[0, 3:]) * (1.0 + np.abs(traj.q).max())
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 2000 * 2.3e-16 * size
    assert traj.report().verdict == "pass"


def test_the_angular_momentum_of_a_free_body_is_that_of_its_increments():
    """pi_n = sum of E_i d_i(n) x d_i(n+1) / h in world axes, constant in free motion, and equal to that of the nodes."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1.0, 2.0, 2.5))
    d = dal.Directors(m)
    traj = dal.simulate(d, h=0.02, t_end=4.0, **d.start(None, (0.3, 1.0, 0.4, 0, 0, 0)))
    D, mass = traj.q[:, 3:].reshape(-1, 3, 3), d.mass[3::3]
    pi = np.einsum("i,kij->kj", mass, np.cross(D[:-1], D[1:])) / 0.02
    np.testing.assert_allclose(pi, np.broadcast_to(traj.momentum[0, :3], pi.shape), atol=1e-12)  # eps / h of each difference


@pytest.mark.parametrize("name", MACHINES)
def test_both_forms_are_one_method(name):
    m, q, v = MACHINES[name]()
    d = dal.Directors(m)
    a, b = (dal.simulate(d, "null-space", h=0.01, t_end=0.5, form=form, **d.start(q, v)) for form in ("reduced", "multipliers"))
    np.testing.assert_allclose(a.q, b.q, atol=2e-13)  # fifty steps of round-off, which the motion enlarges
    lam = a.multipliers["holonomic"]
    np.testing.assert_allclose(lam, b.multipliers["holonomic"], atol=1e-8 * np.abs(lam).max())  # second differences: eps / h^2


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("stepper", ["null-space", "energy-momentum"])
def test_directors_joints_and_bodies_agree_to_second_order(name, stepper):
    m, q, v = MACHINES[name]()
    d, free = dal.Directors(m), cut(m)
    to_joints, to_bodies = [], []
    for h in (0.01, 0.005, 0.0025):
        traj = dal.simulate(d, stepper, h=h, t_end=0.5, **d.start(q, v))
        joints = dal.simulate(m, "midpoint", h=h, t_end=0.5, q0=q, v0=v)
        to_joints.append(np.abs(traj.poses[-1] - joints.poses[-1]).max())
        if stepper == "null-space" and name != "four-bar":
            Q, V = body_state(m, q, v)
            bodies = dal.simulate(free, "midpoint", h=h, t_end=0.5, q0=Q, v0=V)
            to_bodies.append(np.abs(traj.poses[-1] - bodies.poses[-1]).max())
    for errors in filter(None, (to_joints, to_bodies)):
        assert ratios(errors) == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("name", MACHINES)
def test_energy_is_conserved_to_round_off_at_every_step_size(name):
    """The energy-momentum method; steps up to h omega = 1."""
    m, q, v = MACHINES[name]()
    d = dal.Directors(m)
    for h in (0.002, 0.05):
        traj = dal.simulate(d, "energy-momentum", h=h, t_end=500 * h, **d.start(q, v))
        scale = traj.kinetic.max() + np.ptp(traj.potential)
        assert np.ptp(traj.energy) < 500 * 2.3e-16 * scale
        if name == "top":
            assert np.ptp(traj.momentum[:, 2]) < 500 * 2.3e-16 * np.abs(traj.momentum[:, :3]).max()
        assert traj.report().verdict == "pass"


def test_energy_is_conserved_with_springs_of_all_kinds():
    m = pair("cylindrical", gravity=(0, 0, -1.0))
    m.add_force(dal.Spring("a", "world", (0, 0.1, 0.2), (0.3, 0.2, 2.0), 5.0, 0.4))
    m.add_force(dal.Spring("a", "b", (0, 0.1, 0.2), (0.3, 0.2, 0.1), 30.0, 0.7))
    m.add_body("c", 1.0, (0.3, 0.4, 0.5), com=(0.1, 0, 0), pose=((0, 1, 0), (0.5, 0.5, 0.5, 0.5)))
    m.add_joint("hinge", "revolute", "b", "c", (0.5, 0.5, 0), (0, 3, 4), stiffness=4.0, rest=0.3)
    m.add_body("e", 1.0, (0.3, 0.4, 0.5), com=(0, 0.2, 0))
    m.add_joint("ball", "spherical", "c", "e", (0.5, 0, 0), stiffness=3.0)
    d = dal.Directors(m)
    start = d.start(m.neutral(), 0.3 * np.random.default_rng(0).normal(size=m.nv))
    exact = dal.simulate(d, "energy-momentum", h=0.02, t_end=4.0, **start)
    assert np.ptp(exact.potential) > 1.0
    assert np.ptp(exact.energy) < 200 * 2.3e-16 * 20.0
    bounded = dal.simulate(d, "null-space", h=0.02, t_end=4.0, **start)
    assert bounded.report().verdict == exact.report().verdict == "pass"
    assert 1e-9 < np.ptp(bounded.energy) / bounded.kinetic.max() < 0.05


def test_beads_move_exactly_as_in_joint_coordinates():
    """Cartesian coordinates of both are the same, and so is the discrete action: two programs, one motion. 300 steps of round-off."""
    m = chain()
    d = dal.Directors(m)
    traj = dal.simulate(d, h=0.1, t_end=30.0, **d.start(None, KICK))
    other = dal.simulate(m, "midpoint", h=0.1, t_end=30.0, v0=KICK)
    np.testing.assert_allclose(traj.q, other.q, atol=1e-12)
    np.testing.assert_allclose(traj.v, other.v, atol=1e-12)
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-13
    assert traj.energy[0] == pytest.approx(0.015, rel=1e-14)
    forces = traj.reaction("link1")[:-1], other.reaction("link1")[:-1]
    np.testing.assert_allclose(*forces, atol=2e-3 * np.abs(forces[1]).max())  # O(h^2)


def test_one_step_of_both_forms_agrees_to_round_off():
    for kind in ("free", "spherical", "revolute"):
        m = pair(kind, gravity=(0, 0, -9.81))
        d = dal.Directors(m)
        start = d.start(m.random(3), np.random.default_rng(4).normal(size=m.nv))
        a, b = (dal.simulate(d, h=0.01, t_end=0.01, form=form, **start) for form in ("reduced", "multipliers"))
        np.testing.assert_allclose(a.q[-1], b.q[-1], atol=2e-15)  # a few eps of places up to 2 m


@pytest.mark.parametrize("name", MACHINES)
def test_multipliers_are_the_forces_of_the_joints(name):
    """Against those that the accelerations of the model give at the nodes of its own run: they differ by O(h^2)."""
    m, q, v = MACHINES[name]()
    d = dal.Directors(m)
    for joint in [j.name for j in (*m.joints, *m.loops)]:
        errors = []
        for h in (0.005, 0.0025):
            ours = dal.simulate(d, h=h, t_end=0.25, **d.start(q, v)).reaction(joint)
            theirs = dal.simulate(m, "midpoint", h=h, t_end=0.25, q0=q, v0=v).reaction(joint)
            assert np.isnan(ours[-1]).any()
            errors.append(np.abs(ours[1:-1] - theirs[1:-1]).max())
        assert errors[1] < 0.3 * errors[0]


def test_controls_push_the_joints_as_in_joint_coordinates():
    """A constant torque in the elbow, and a push: second order."""
    m, q, v = double_pendulum()
    d = dal.Directors(m)

    def torque(t, q, v):
        return np.array([0.0, 2.0])

    for stepper in ("null-space", "energy-momentum"):
        errors = []
        for h in (0.01, 0.005, 0.0025):
            traj = dal.simulate(d, stepper, h=h, t_end=0.5, control=d.control(torque), **d.start(q, v))
            other = dal.simulate(m, "midpoint", h=h, t_end=0.5, q0=q, v0=v, control=torque)
            errors.append(np.abs(traj.poses[-1] - other.poses[-1]).max())
        assert ratios(errors) == pytest.approx(4.0, abs=0.3)
        report = traj.report()
        assert report.verdict == "pass"
        assert "change of energy equals the work" in report.text


def test_a_pushed_floating_pair_gains_the_impulse():
    """Forced momentum, to round-off: both methods."""
    m = pair("revolute", gravity=(0, 0, -1.0))
    d = dal.Directors(m)
    for stepper in ("null-space", "energy-momentum"):
        sim = dal.simulate(
            d, stepper, h=0.01, t_end=1.0, control=lambda t, q, v: d.generalised_force(q, "b", (1, 0, 2), (0, 0.1, 0), None), **d.start()
        )
        change = sim.momentum - sim.momentum[0]
        np.testing.assert_allclose(change, sim.impulse, atol=1e-12)
        assert sim.report().verdict == "pass"


@pytest.mark.parametrize("name", ["bricard", "flyball-governor", "slider-crank-of-bodies", "floating-chain"])
def test_machines_of_the_library_run_in_director_coordinates(name):
    """Loops in space, one of them overconstrained (six hinges), a governor; against the variational midpoint rule of trees: O(h^2)."""
    scene = dal.scenes.find(name)
    m = scene.model().without(("damping",)) if name == "flyball-governor" else scene.model()
    q, v = m.check_q(scene.q0), m.check_v(scene.v0)
    d = dal.Directors(m)
    errors = []
    for h in (0.004, 0.002):
        traj = dal.simulate(d, h=h, t_end=0.2, **d.start(q, v))
        errors.append(np.abs(traj.poses[-1] - dal.simulate(m, "midpoint", h=h, t_end=0.2, q0=q, v0=v).poses[-1]).max())
        assert traj.report().verdict == "pass"
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)
    exact = dal.simulate(d, "energy-momentum", h=0.004, t_end=0.2, **d.start(q, v))
    assert exact.report().verdict == "pass"
