"""`Simulation`: steps by hand are the steps of `simulate`; forces, resets, other steps, other threads."""

import pickle
import threading
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import OptionError, UnsupportedError

START = {"q0": [1.0, 0.5], "v0": [0.3, -0.2]}
STEPPERS = ("midpoint", "trapezoidal", "mk4")


def rods(n=2):
    m = dal.Model("rods")
    for k in range(n):
        m.add_body(f"r{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", f"r{k - 1}" if k else "world", f"r{k}", (0, 0, -k), (0, 1, 0))
    return m


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("keep", ["all", 0, 7])
def test_steps_by_hand_are_those_of_simulate(stepper, keep):
    sim = dal.Simulation(rods(), stepper, h=0.01, keep=keep, **START)
    for n in (1, 20, 0, 29):
        state = sim.step(n)
    traj = dal.simulate(rods(), stepper, h=0.01, t_end=0.5, **START)
    np.testing.assert_array_equal(state.q, traj.q[-1])
    np.testing.assert_array_equal(state.v, traj.v[-1])
    assert state.t == pytest.approx(0.5, abs=1e-15)
    mine = sim.trajectory()
    rows = {"all": 51, 0: 1, 7: 7}[keep]
    np.testing.assert_array_equal(mine.q, traj.q[-rows:])
    np.testing.assert_allclose(mine.t, traj.t[-rows:], atol=1e-15)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("keep", ["all", 0])
def test_a_force_acts_during_one_call_as_a_control_does(stepper, keep):
    tau = np.array([0.4, -0.1])
    sim = dal.Simulation(rods(), stepper, h=0.01, keep=keep, **START)
    sim.step(5)
    sim.step(5, tau=tau)
    sim.apply_force(tau=tau)
    sim.step(2, tau=tau)
    sim.step(5)

    def control(t, q, v):
        k = round(t / 0.01)
        return tau if 5 <= k < 10 else 2 * tau if 10 <= k < 12 else 0 * tau

    traj = dal.simulate(rods(), stepper, h=0.01, t_end=0.17, control=control, **START)
    np.testing.assert_array_equal(sim.state.q, traj.q[-1])


@pytest.mark.parametrize("keep", ["all", 0])
def test_tau_may_be_any_two_numbers(keep):
    frozen = np.array([1.0, -2.0])
    frozen.setflags(write=False)
    given = (np.array([1.0, -2.0]), [1, -2], (1.0, -2.0), np.array([1, -2]), np.array([1.0, 9, -2.0, 9])[::2], frozen, np.float32([1, -2]))
    found = []
    for tau in given:
        sim = dal.Simulation(rods(), "midpoint", h=0.01, keep=keep, **START)
        sim.step(3, tau=tau)
        found.append(sim.step(2).q)
    np.testing.assert_array_equal(found, np.tile(found[0], (len(given), 1)))


@pytest.mark.parametrize("keep", ["all", 0])
@pytest.mark.parametrize("bad", [np.array([np.nan, 0.0]), np.array([0.0, np.inf]), np.zeros(3), np.zeros((1, 2)), [np.nan, 0.0]])
def test_a_tau_that_is_refused_changes_nothing(keep, bad):
    """What `apply_force` gave before still acts at the next step."""
    sims = [dal.Simulation(rods(), "midpoint", h=0.01, keep=keep, **START) for _ in range(2)]
    for sim in sims:
        sim.step(2, tau=np.array([0.1, 0.2]))
        sim.apply_force(tau=(1.0, -2.0))
    before = sims[0].state
    with pytest.raises(OptionError, match="step: tau"):
        sims[0].step(tau=bad)
    assert sims[0].state is before
    for _ in range(3):
        a, b = (sim.step() for sim in sims)
        assert a.t == b.t
        np.testing.assert_array_equal(a.q, b.q)


def test_states_cannot_be_written_to():
    sim = dal.Simulation(rods(), "midpoint", h=0.01, keep=0, **START)
    for state in (sim.state, sim.step(), sim.step(tau=np.ones(2))):
        for x in (state.q, state.v):
            with pytest.raises(ValueError, match="read-only"):
                x[0] = 1.0


def test_the_push_of_a_world_force_is_the_gradient_of_its_work():
    """tau = d(x . F)/dq of the point of attack, by differences of poses, and of the rotation for the torque; base free to move."""
    m = rods(3)
    m.add_body("free", 2.0, (0.2, 0.3, 0.4), com=(0.1, 0, 0))
    m = m.frozen()
    rng = np.random.default_rng(0)
    for k, b in enumerate(m.bodies):
        q, F, T = m.random(rng), rng.normal(size=3), rng.normal(size=3)
        pose = m.poses(q)[k]
        point = pose[:3, 3] + rng.normal(size=3)
        at = pose[:3, :3].T @ (point - pose[:3, 3])
        found = m.generalised_force(q, b.name, F, T, point)
        assert np.allclose(
            m.generalised_force(q, b.name, F, T, None), m.generalised_force(q, b.name, F, T, pose[:3, 3] + pose[:3, :3] @ b.com)
        )
        for i in range(m.nv):
            e = 1e-6 * np.eye(m.nv)[i]
            there, back = (m.poses(m.integrate(q, s * e))[k] for s in (1, -1))
            work = F @ ((there - back) @ np.r_[at, 1])[:3] / 2e-6
            spin = (there - back)[:3, :3] @ pose[:3, :3].T / 2e-6
            work += T @ [spin[2, 1], spin[0, 2], spin[1, 0]]
            assert found[i] == pytest.approx(work, abs=1e-8)


@pytest.mark.parametrize("keep", ["all", 0])
def test_a_reset_repeats_the_run_bit_for_bit(keep):
    sim = dal.Simulation(rods(), "midpoint", h=0.01, keep=keep, **START)
    first = sim.step(30, tau=(0.1, 0.0))
    assert sim.reset().t == 0.0
    again = sim.step(30, tau=(0.1, 0.0))
    np.testing.assert_array_equal(first.q, again.q)
    sim.reset(q=[0.2, 0.1], v=[0.0, 1.0])
    np.testing.assert_array_equal(sim.state.q, [0.2, 0.1])
    np.testing.assert_allclose(sim.state.v, [0.0, 1.0], atol=1e-14)
    assert len(sim.trajectory()) == 1


def test_the_step_may_be_changed_and_time_goes_on():
    """A force that depends on time sees the right one: two halves of different steps agree with a fine run to O(h^2)."""
    m = rods()
    m.add_force(lambda t, q, v: np.array([np.sin(5 * t), 0.0]))
    sim = dal.Simulation(m, "midpoint", h=0.004, **START)
    sim.step(125)
    sim.h = 0.002
    assert sim.h == 0.002
    end = sim.step(250)
    fine = dal.simulate(m, "midpoint", h=0.00025, t_end=1.0, **START)
    coarse = dal.simulate(m, "midpoint", h=0.004, t_end=1.0, **START)
    assert end.t == pytest.approx(1.0, abs=1e-12)
    error, all_coarse = np.abs(end.q - fine.q[-1]).max(), np.abs(coarse.q[-1] - fine.q[-1]).max()
    assert error < all_coarse < 1e-3
    traj = sim.trajectory()
    np.testing.assert_allclose(np.diff(traj.t), np.r_[np.full(125, 0.004), np.full(250, 0.002)], atol=1e-12)


def test_a_run_with_two_steps_is_not_resumed(tmp_path):
    sim = dal.Simulation(rods(), "midpoint", h=0.01, **START)
    sim.step(3)
    sim.h = 0.005
    sim.step(2)
    sim.trajectory().save(tmp_path / "two.h5")
    with pytest.raises(OptionError, match="step size was changed"):
        dal.resume(tmp_path / "two.h5", 1.0)


def test_changes_that_are_posted_while_the_machine_is_changed_are_called():
    """Another thread posts all the time; an edit takes a good part of a millisecond. Each change is called once, in its order."""
    sim = dal.Simulation(rods(), "midpoint", h=0.001, keep=0, **START)
    called, posted, done = [], 0, threading.Event()

    def post():
        nonlocal posted
        while not done.is_set():
            sim.post(lambda _, k=posted: called.append(k))
            posted += 1
            time.sleep(2e-5)

    poster = threading.Thread(target=post)
    poster.start()
    for k in range(100):
        with sim.edit() as m:
            m.set_values({"gravity": (0.0, 0.0, -9.0 - 0.01 * k)})
        sim.step()
    done.set()
    poster.join()
    sim.step(0)
    assert posted > 100 and called == list(range(posted)) and sim.waiting == 0


def test_another_thread_reads_whole_states_and_posts_changes():
    """The reader compares every state that it sees with the run computed alone."""
    alone = dal.simulate(rods(), "midpoint", h=0.001, t_end=3.0, **START)
    sim = dal.Simulation(rods(), "midpoint", h=0.001, keep=0, **START)
    wrong, seen, done = [], set(), threading.Event()

    def read():
        while not done.is_set():
            t, q, v = sim.state
            k = round(t / 0.001)
            seen.add(k)
            if not (np.array_equal(q, alone.q[k]) and np.array_equal(v, alone.v[k])):
                wrong.append(k)

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(3000):
        sim.step()
        if k % 300 == 0:
            time.sleep(1e-3)  # 3000 steps take less time than Python lets a thread run: the reader gets its turn here, and within steps
    done.set()
    reader.join()
    assert not wrong and len(seen) > 1
    poster = threading.Thread(target=lambda: sim.post(lambda s: s.apply_force(tau=(1.0, 0.0))))
    poster.start()
    poster.join()
    pushed = sim.step()
    still = dal.simulate(rods(), "midpoint", h=0.001, t_end=3.001, **START)
    assert abs(pushed.v[0] - still.v[-1][0]) > 1e-5


@pytest.mark.parametrize("keep", ["all", 0, 3])
def test_a_pickled_simulation_goes_on_bit_for_bit(keep):
    sim = dal.Simulation(rods(), "midpoint", h=0.01, keep=keep, **START)
    sim.step(4, tau=(0.2, 0.1))
    sim.h = 0.005
    sim.step(3)
    other = pickle.loads(pickle.dumps(sim))
    np.testing.assert_array_equal(sim.step(5, tau=(0.1, 0.0)).q, other.step(5, tau=(0.1, 0.0)).q)
    assert sim.state.t == other.state.t


def test_a_pickled_simulation_without_forces_stays_free_of_control():
    sim = pickle.loads(pickle.dumps(dal.Simulation(rods(), "midpoint", h=0.01, **START)))
    sim.step(50)
    traj = sim.trajectory()
    assert traj.meta["control"] is None
    np.testing.assert_array_equal(traj.states, dal.simulate(rods(), "midpoint", h=0.01, t_end=0.5, **START).states)


def test_what_cannot_be_is_said():
    sim = dal.Simulation(rods(), "midpoint", h=0.01, keep=0)
    for bad in ([1.0], [np.nan, 0.0], "ab", [[1.0, 2.0]]):
        with pytest.raises(OptionError, match="tau"):
            sim.step(tau=bad)
    np.testing.assert_array_equal(sim.state.q, 0.0)
    for bad in (-1, 1.5, "some", None):
        with pytest.raises(OptionError, match="keep"):
            dal.Simulation(rods(), "midpoint", keep=bad)
    for bad in (0.0, -1.0, np.nan, "a"):
        with pytest.raises(OptionError, match="h is"):
            sim.h = bad
    with pytest.raises(OptionError, match="not both"):
        sim.apply_force("r0", tau=(1, 0))
    with pytest.raises(OptionError, match="not both"):
        sim.apply_force()
    with pytest.raises(OptionError, match="post"):
        sim.post(3)
    with pytest.raises(ValueError, match="read-only"):
        sim.state.q[0] = 1.0
    with pytest.raises(UnsupportedError, match="no bodies"):
        dal.Simulation(dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2)).apply_force("a")
