"""Feedback along a plan: a disturbed start is brought back to it."""

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes

N, H = 60, 2.0 / 60
GOAL = np.array([1.0, np.pi])


@pytest.fixture(scope="module")
def plan():
    found = scenes.find("cart-pole").build(N=N).solve()
    assert found.ok
    return found


@pytest.fixture(scope="module")
def feedback(plan):
    return dal.control.track(plan)


def run(plan, control, q0, v0=None, t_end=4.0):
    m = plan.problem.machine.whole
    return dal.simulate(m, "midpoint", h=H, t_end=t_end, q0=q0, v0=v0, control=control, ignore=("limits",))


def held(plan, steps):
    """The inputs of the plan, then none."""
    return np.vstack([plan.control, np.zeros((steps - N, 2))])


@pytest.mark.parametrize("size", [0.02, 0.1, -0.1])
def test_a_disturbed_swing_up_arrives_and_stays(plan, feedback, size):
    start, speed = np.full(2, size), np.array([0.0, -0.5 * size])
    fallen = run(plan, held(plan, 120), start, speed)
    tracked = run(plan, feedback, start, speed)
    assert np.abs(fallen.q - GOAL).max(axis=1)[N:].max() > 0.5  # open loop falls
    assert np.abs(tracked.q[N] - GOAL).max() < 5e-3 and np.abs(tracked.q[-1] - GOAL).max() < 1e-4
    assert np.abs(tracked.control[:, 0]).max() <= 20.0 and (tracked.control[:, 1] == 0.0).all()


def test_the_plan_itself_needs_no_correction(plan, feedback):
    tracked = run(plan, feedback, plan.q[0])
    assert np.abs(tracked.q[: N + 1] - plan.q).max() < 1e-8 and np.abs(tracked.control[:N] - plan.control).max() < 1e-7


def test_gains_have_a_row_for_each_input_and_step(plan, feedback):
    assert feedback.K.shape == (N, 1, 4) and feedback.P.shape == (N + 1, 4, 4) and feedback.names == ("drive",)
    assert feedback.hold is not None and abs(feedback.hold.eigenvalues).max() < 1.0
    assert np.array_equal(feedback.P[-1], feedback.hold.P[0])


def test_riccati_backwards(plan):
    found = dal.control.track(plan, Q=2.0, R=0.3, final=5.0)
    P, Q, R = found.P, 2.0 * np.eye(4), 0.3
    assert np.array_equal(P[-1], 5.0 * np.eye(4))
    for k in (0, 17, N - 1):
        A, B = found.steps[k].A, found.steps[k].B @ found.B
        K = np.linalg.solve(R + B.T @ P[k + 1] @ B, B.T @ P[k + 1] @ A)
        assert np.allclose(found.K[k], K, rtol=1e-8)
        assert np.allclose(P[k], Q + K.T @ K * R + (A - B @ K).T @ P[k + 1] @ (A - B @ K), rtol=1e-7)  # Joseph's form


def test_small_deviations_go_by_the_closed_loop(plan, feedback):
    e = 1e-6
    tracked = run(plan, feedback, plan.q[0] + [e, -e], t_end=2.0)
    x = np.array([e, -e, 0, 0])
    for k, step in enumerate(feedback.steps):
        x = (step.A - step.B @ feedback.B @ feedback.K[k]) @ x
        away = np.concatenate([tracked.q[k + 1] - plan.q[k + 1], tracked.v[k + 1] - plan.v[k + 1]])
        assert np.abs(away - x).max() < 1e-4 * e + 1e-8  # second order; the plan itself is a motion to 1e-9


def test_limits_of_inputs_are_kept(plan, feedback):
    far = feedback(0.5, np.array([5.0, 0.0]), np.zeros(2))
    assert abs(far[0]) == 20.0 and far[1] == 0.0


def test_a_trajectory_can_be_followed_too():
    """A run of the cart-pole under some input, then from a disturbed start."""
    m = scenes.find("cart-pole").build(N=10).machine.whole
    motion = dal.simulate(m, "midpoint", h=0.01, t_end=1.0, q0=[0.0, 1.0], control=lambda t, q, v: [np.sin(5 * t), 0.0], ignore=("limits",))
    found = dal.control.track(motion, Q=[100.0, 100.0, 1.0, 1.0], R=0.01)
    there = dal.simulate(m, "midpoint", h=0.01, t_end=1.0, q0=[0.05, 1.05], control=found, ignore=("limits",))
    open_loop = dal.simulate(m, "midpoint", h=0.01, t_end=1.0, q0=[0.05, 1.05], control=motion.control, ignore=("limits",))
    away = [np.abs(x.q[-1] - motion.q[-1]).max() for x in (there, open_loop)]
    assert away[0] < 0.3 * away[1]
    with pytest.raises(dal.OptionError, match="one of 10"):
        dal.control.track(dal.simulate(m, "midpoint", h=0.01, t_end=1.0, every=10, ignore=("limits",)))


@pytest.mark.parametrize("end", [0.4, 1.0, 2.0])
def test_the_end_of_a_plan_of_a_formula_is_held(end):
    pendulum = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 9.81 * np.cos(q[0]))
    found = dal.control.track(dal.control.dmoc(pendulum, 40, [0.0], [end], h=0.05).solve())
    run = dal.simulate(pendulum, h=0.05, t_end=10.0, q0=[0.01], control=found)
    assert found.hold is not None and not found.notes and abs(run.q[-1, 0] - end) < 1e-6


def test_an_end_that_nothing_holds_is_said():
    """A motor that swings the rod up to where gravity is more than it gives."""
    m = dal.Model("rod")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -1.0))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, -1, 0))
    m.add_motor("weak", "hinge", limit=6.0)
    up = dal.control.dmoc(m, 60, [0.0], [1.2], h=0.05, guess="random").solve()
    with pytest.warns(UserWarning, match=r"behind its end nothing holds it.*input 'weak' has to be"):
        found = dal.control.track(up)
    assert found.hold is None and "input 'weak' has to be" in found.notes[0] and found.notes[0] in repr(found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what ends in motion is not expected to stay
        found = dal.control.track(dal.control.dmoc(m, 40, [0.0], ([0.1], [0.3]), h=0.05).solve())
    assert found.hold is None and "it ends with a speed of 0.3" in found.notes[0]


def test_lqr_about_a_plan_is_track_with_its_weights(plan):
    one = dal.control.lqr(None, plan, 2.0, 0.3, final=5.0)
    other = dal.control.track(plan, 2.0, 0.3, 5.0)
    assert np.array_equal(one.K, other.K) and one.hold is None
    assert one(10.0, plan.q[-1], plan.v[-1]).shape == (2,)  # behind the end: the last gain


def test_a_saved_plan_is_followed_as_the_plan(plan, feedback, tmp_path):
    plan.save(tmp_path / "plan.h5")
    again = dal.control.track(dal.control.load(tmp_path / "plan.h5"))
    assert np.allclose(again.K, feedback.K, rtol=1e-5, atol=1e-6)


def standing_and_leaving():
    """A mass point that stands on the ground for ten steps and is then lifted."""
    m = dal.Model("point")
    m.add_particle("point", 1.0)
    foot = dal.control.Touch("point", 0, point=(0, 0, 0), plane=((0, 0, 1), 0.0), hold=10)
    return dal.control.dmocc(m, 20, m.neutral(), [0, 0, 0.3], [foot], h=0.05)


def bouncing():
    """A weight that falls, bounces and is caught."""
    weight = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0])
    ground = dal.control.Touch(gap=lambda q: q[0], node=10)
    return dal.control.dmocc(weight, 20, [1.0], [1.0], [ground], h=0.05, restitution=0.5)


@pytest.mark.parametrize("build", [standing_and_leaving, bouncing])
def test_nodes_between_which_contacts_act_are_refused_however_they_come(build, tmp_path):
    """The plan, its trajectory and its file: steps without the contact end beside its nodes."""
    found = build().solve()
    assert found.ok
    with pytest.raises(dal.UnsupportedError, match=r"impacts \(node"):
        dal.control.track(found)
    found.save(tmp_path / "plan.h5")
    refused = r"from node \d+ ends .* beside node \d+, as where impacts or contacts act"
    for given, message in ((found.traj, refused), (dal.control.load(tmp_path / "plan.h5"), f"{refused}|its control is not")):
        with pytest.raises(dal.UnsupportedError, match=message):
            dal.control.track(given)
        with pytest.raises(dal.UnsupportedError, match=message):
            dal.control.lqr(None, given, 1.0, 1.0)


@pytest.mark.parametrize(
    ("given", "message"), [({"Q": -1.0}, "Q has the eigenvalue"), ({"R": 0.0}, "R has"), ({"final": np.eye(2)}, "final has the shape")]
)
def test_bad_weights_are_named(plan, given, message):
    with pytest.raises(dal.OptionError, match=message):
        dal.control.track(plan, **given)


def test_what_is_no_motion_is_named():
    with pytest.raises(dal.OptionError, match="got 'ndarray'"):
        dal.control.track(np.zeros((3, 2)))


def test_a_plan_with_a_loop_is_tracked():
    found = scenes.find("four-bar").build(N=40).solve()
    feedback = dal.control.track(found)
    m, h = found.problem.machine.whole, float(found.h[0])
    start, _ = m.assemble(found.q[0] + np.array([0.05, 0.0, 0.0]), fixed=(m.joints[0].name,))
    run = {"stepper": found.problem.stepper, "h": h, "t_end": 40 * h, "q0": start, "ignore": found.problem.machine.ignore}
    played, tracked = (dal.simulate(m, control=control, **run) for control in (found.control, feedback))
    away = [np.abs(x.q[-1] - found.q[-1]).max() for x in (played, tracked)]
    assert feedback.K.shape == (40, found.inputs.shape[1], 6) and away[1] < 0.2 * away[0]
