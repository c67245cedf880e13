"""Runs with contacts through the whole library: rest, account, files, resumption bit for bit, pickles, errors."""

import pickle
import warnings

import numpy as np
import pytest

import dalembert as dal

H = 1 / 60


def boxes(n=3, gap=0.0, restitution=0.0, friction=0.5):
    """n cubes of 0.2 m, one above the other, over a plane."""
    m = dal.Model("stack")
    m.add_shape("world", dal.Plane(friction=friction, restitution=restitution))
    for k in range(n):
        box = dal.Box((0.2, 0.2, 0.2), friction=friction, restitution=restitution)
        m.add_body(f"b{k}", 1.0, box.inertia(1.0), pose=((0, 0, 0.1 + (0.2 + gap) * k), (1, 0, 0, 0)), shapes=[box])
    return m


def thrown():
    """Three boxes in the air that turn: contacts come and go."""
    m = boxes(3, gap=0.15)
    v = np.zeros(m.nv)
    v[:3], v[6:9], v[12:15] = (2.0, -1.0, 3.0), (-3.0, 2.0, 1.0), (1.0, 1.0, -2.0)
    return m, v


def test_a_stack_stands():
    """Static compliance: the lowest contact carries 3 m g on four points, eps = 1e-8 m/N; nothing moves by more than that in 5 s."""
    traj = dal.simulate(boxes(), h=H, t_end=5.0)
    assert traj.stepper.name == "spook"
    moved = np.abs(traj.q - traj.q[0]).max()
    assert moved < 3 * (3 * 9.81 / 4 * 1e-8) * 2  # three contacts above each other, one of two for the way there
    assert traj.kinetic[-1] < 0.5 * 3.0 * (3e-9) ** 2  # steps are solved to 1e-9 m/s
    forces = traj.contacts.of(-1)
    on_ground = forces[forces[:, 0] < 0]
    np.testing.assert_allclose(on_ground[:, 11].sum() / H, 3 * 9.81, atol=3.0 * 3e-9 / H)  # 3 kg, velocities to some 1e-9 m/s
    assert traj.report().verdict == "pass", traj.report().text


def test_the_account_closes_while_boxes_tumble():
    """Every column is computed by itself: their sum is the change of energy to round-off of a thousand additions."""
    m, v = thrown()
    traj = dal.simulate(m, h=H, t_end=3.0, v0=v)
    assert traj.account["friction"].sum() < -0.1
    assert np.abs(traj.energy - traj.energy[0] - traj.work).max() < 1e-11 * traj.energy[0]
    assert traj.report()["energy balance"].verdict == "pass"
    taken = sum(traj.account[name].sum() for name in ("contact", "friction", "impact"))
    assert taken < 0.0


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_with_contacts_is_resumed_bit_for_bit(tmp_path, every):
    m, v = thrown()
    whole = dal.simulate(m, h=H, t_end=2.4, v0=v, every=every)
    dal.simulate(m, h=H, t_end=1.2, v0=v, every=every, save=tmp_path / "run.h5")
    again = dal.resume(tmp_path / "run.h5", 2.4)
    assert np.array_equal(whole.states, again.states)
    assert whole.contacts == again.contacts
    loaded = dal.load(tmp_path / "run.h5")
    assert np.array_equal(loaded.q, whole.q)
    assert loaded.report().verdict == whole.report().verdict


def test_trajectories_and_simulations_pickle():
    m, v = thrown()
    traj = dal.simulate(m, h=H, t_end=0.5, v0=v)
    assert pickle.loads(pickle.dumps(traj)).contacts == traj.contacts
    sim = dal.Simulation(m, "spook", h=H, v0=v)
    sim.step(20)
    other = pickle.loads(pickle.dumps(sim))
    assert np.array_equal(sim.step(10).q, other.step(10).q)
    assert np.array_equal(sim.state.q, dal.simulate(m, h=H, t_end=0.5, v0=v).q[-1])


def test_a_push_moves_a_box_by_newton_and_coulomb():
    """Force 8 N for 1 s on 1 kg with friction 0.5: a = 8 - 0.5 g; first order in h, so 2 %."""
    sim = dal.Simulation(boxes(1), "spook", h=1 / 240)
    for _ in range(240):
        sim.apply_force("b0", force=(8.0, 0, 0))
        sim.step()
    assert abs(sim.state.v[3] / (8.0 - 0.5 * 9.81) - 1) < 0.02


def test_linear_momentum_of_colliding_bodies_is_kept():
    m = dal.Model("two", gravity=(0, 0, 0))
    for k in range(2):
        ball = dal.Sphere(0.1, friction=0.3)
        m.add_body(f"b{k}", 1.0 + k, ball.inertia(1.0 + k), pose=((0.5 * k, 0.02 * k, 0), (1, 0, 0, 0)), shapes=[ball])
    traj = dal.simulate(m, h=H, t_end=2.0, v0=[0, 0, 0, 1.0, 0, 0, 0, 0, 5.0, 0, 0, 0])
    assert np.any(traj.solver["contacts"] > 0)
    assert np.abs(traj.momentum[:, 3:] - traj.momentum[0, 3:]).max() < 1e-14
    assert traj.report()["momentum"].verdict == "pass"


def test_what_is_not_finite_ends_the_run():
    m = boxes(1)
    m.add_force(dal.Wrench("b0", force=(1e308, 0, 0)))
    with pytest.raises(dal.SimulationError, match="not a number") as error:
        dal.simulate(m, h=10.0, t_end=100.0)
    assert len(error.value.traj) >= 1


def test_contacts_of_a_large_run_end_with_a_warning(monkeypatch):
    from dalembert.runs.engines import spook

    monkeypatch.setattr(spook, "CONTACT_BYTES", 20_000)
    with pytest.warns(UserWarning, match=r"traj.contacts ends at t = .*every="):
        traj = dal.simulate(boxes(), h=H, t_end=1.0)
    kept = traj.contacts.counts > 0
    assert kept[1] and not kept[-1] and traj.status == "ok"
    assert not dal.simulate(boxes(1), h=H, t_end=0.1, contacts="none").contacts.counts.any()


@pytest.mark.parametrize("keep", [0, 5])
def test_contacts_of_a_simulation_that_forgets_do_not_end(monkeypatch, keep):
    from dalembert.runs.engines import spook

    monkeypatch.setattr(spook, "CONTACT_BYTES", 20_000)
    sim = dal.Simulation(boxes(), "spook", h=H, keep=keep)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(60)
        sim.h = H / 2  # goes on from a checkpoint
        sim.step(60)
    assert (sim.trajectory().contacts.counts[1 - (keep > 0) :] > 0).all() and len(sim.contacts)
