"""What cannot be planned is said in words: at once where it can be seen beforehand, else by the name and node of what is violated."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli import optimize
from dalembert.control import scenes


def pendulum(**joint):
    m = dal.Model("pendulum", gravity=(0, 0, -9.81))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), **joint)
    return m


def cart_pole(**more):
    return scenes.find("cart-pole").build(N=40, **more)


@pytest.mark.parametrize("N", [1, 0, -3, 2.5, "many", True, np.nan, []])
def test_a_number_of_steps_that_is_none(N):
    with pytest.raises(dal.OptionError, match="whole number of steps"):
        dal.control.dmoc(pendulum(), N, [0.0], [1.0], h=0.1)


@pytest.mark.parametrize("h", [0.0, -0.1, np.nan, np.inf, "fast", None, [0.1, 0.2]])
def test_a_step_that_is_none(h):
    with pytest.raises(dal.OptionError, match="dmoc: "):
        dal.control.dmoc(pendulum(), 10, [0.0], [1.0], h=h)


@pytest.mark.parametrize("free", [(0.0, 1.0), (2.0, 1.0), (1.0, np.inf), 3, "yes", (np.nan, 1.0)])
def test_a_free_time_that_is_none(free):
    with pytest.raises(dal.OptionError, match="free_time"):
        dal.control.dmoc(pendulum(), 10, [0.0], [1.0], free_time=free)


@pytest.mark.parametrize(
    ("start", "goal"),
    [
        ([0.0, 1.0], [1.0]),
        ([0.0], [1.0, 2.0]),
        ([np.nan], [1.0]),
        ([0.0], [np.inf]),
        ([0.0], ([1.0], [0.0, 0.0])),
        ([0.0], {"q": {"knee": 1.0}}),
        ([0.0], {"place": 1.0}),
        ([0.0], {"poses": {"leg": (None, (1, 0, 0, 0))}}),
        ([0.0], {"poses": {"rod": (1, 0, 0, 0)}}),
        ([0.0], {"q": [1.0], "turns": {"knee": 1}}),
        ([0.0], {"q": [1.0], "turns": {"hinge": (1, 0, 0)}}),
        ([0.0], {"q": [1.0], "v": 3.0}),
        (None, [1.0]),
    ],
)
def test_ends_that_do_not_fit_the_machine(start, goal):
    with pytest.raises(dal.DalembertError):
        dal.control.dmoc(pendulum(), 10, start, goal, h=0.1)


MIRROR, SCALED, SHEARED = np.eye(4)[[1, 0, 2, 3]], np.diag([0.5, 0.5, 0.5, 1.0]), np.eye(4)
SHEARED[:3, 1] = [0.6, 0.8, 0.0]


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (MIRROR, r"left-handed \(determinant -1\)"),
        (SCALED, r"lengths \[0\.5, 0\.5, 0\.5\]"),
        (SHEARED, r"not at right angles \(cosine 0\.6\)"),
        ((None, MIRROR[:3, :3]), "left-handed"),
        (np.ones((4, 4)), "last row of its matrix"),
        ((None, None), "neither place nor quaternion"),
        (([0, 0, 1], [0, 0, 0, 0]), "its quaternion is 0"),
        (([0, 0, np.nan], None), "finite numbers"),
        ("up", "expected a 4 x 4 matrix"),
    ],
)
def test_poses_that_are_none(pose, message):
    with pytest.raises(dal.OptionError, match=f"pose of 'rod'.*({message})"):
        dal.control.dmoc(pendulum(), 10, [0.0], {"poses": {"rod": pose}}, h=0.1)


def test_pairs_of_bodies_have_poses_of_the_same_kind():
    m = scenes.find("cart-pole").build(N=4).machine.whole
    for pose, message in ((MIRROR, "left-handed"), ((None, None), "neither place nor quaternion")):
        with pytest.raises(dal.OptionError, match=f"pose of 'pole' seen from 'cart'.*{message}"):
            dal.control.dmoc(m, 10, [0.0, 0.0], {"relative": {("pole", "cart"): pose}}, h=0.1)


@pytest.mark.parametrize(
    ("joint", "goal", "message"),
    [
        ("revolute", {"turns": {"hinge": 1}}, "'hinge' has turns, and no q"),
        ("revolute", {"q": [0.0], "turns": {"hinge": 1.5}}, r"1\.5 turns; expected a whole number"),
        ("revolute", {"q": [0.0], "turns": {"hinge": np.nan}}, "expected a whole number"),
        ("revolute", {"q": [0.0], "turns": {"hinge": "once"}}, "expected {joint: whole turns}"),
        ("prismatic", {"q": [0.0], "turns": {"hinge": 1}}, "expected a number of a hinge"),
        ("spherical", {"turns": {"hinge": (1, 0, 0)}}, "'hinge' has turns, and no q"),
        ("spherical", {"q": [1.0, 0, 0, 0], "turns": {"hinge": (1, 1, 0)}}, r"1\.41421 turns; expected a whole number"),
        ("free", {"poses": {"rod": ((0, 0, 1), None)}, "turns": {"hinge": (0, 0, 2)}}, "'hinge' has turns, and no q"),
    ],
)
def test_turns_that_are_none(joint, goal, message):
    m = dal.Model("rod", gravity=(0, 0, 0))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("hinge", joint, "world", "rod")
    with pytest.raises(dal.OptionError, match=message):
        dal.control.dmoc(m, 10, m.neutral(), goal, h=0.1)


def test_turns_about_any_axis_are_counted_by_its_length():
    m = dal.Model("rod", gravity=(0, 0, 0))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("ball", "spherical", "world", "rod")
    axis = np.array([0.6, 0.0, 0.8])
    found = dal.control.dmoc(m, 40, m.neutral(), {"q": m.neutral(), "turns": {"ball": axis}}, h=0.1).solve()
    speeds = np.linalg.norm(found.v_interval, axis=1)
    assert found.ok and (found.v_interval @ axis > 0.999 * speeds).all()  # the cost is the same about all axes: the search stays near
    assert 2.0 * np.arctan(0.05 * speeds).sum() == pytest.approx(2 * np.pi, abs=1e-6)


@pytest.mark.parametrize(
    "bounds",
    [
        {"u": -3.0},
        {"u": (1.0, -1.0)},
        {"u": np.nan},
        {"q": {"knee": 1.0}},
        {"torque": 3.0},
        {"u": (1, 2, 3)},
        {"turn": -1.0},
        {"turn": 0.0},
        {"q": "x"},
    ],
)
def test_bounds_that_are_none(bounds):
    with pytest.raises(dal.DalembertError):
        dal.control.dmoc(pendulum(), 10, [0.0], [1.0], h=0.1, bounds=bounds)


@pytest.mark.parametrize(
    "more",
    [
        {"cost": "work"},
        {"cost": {"effort": np.nan}},
        {"cost": lambda q, v, u: u.nothing},
        {"cost": lambda q, v, u: [q, v]},
        {"cost": "tracking"},
        {"final": 3.0},
        {"path": lambda q: q},
        {"stepper": "rk4"},
        {"compose": "yoshida5"},
        {"guess": "best"},
        {"guess": np.zeros((3, 7))},
        {"inputs": ["knee"]},
        {"inputs": ["hinge", "hinge"]},
        {"inputs": np.zeros((3, 1))},
        {"waypoints": {0: [0.3]}},
        {"waypoints": {99: [0.3]}},
        {"periodic": ["knee"]},
        {"starts": 0},
        {"starts": "two"},
        {"ignore": ("typo",)},
        {"nonsense": 3},
    ],
    ids=lambda more: next(iter(more)),
)
def test_options_that_are_none(more):
    with pytest.raises(dal.DalembertError):
        dal.control.dmoc(pendulum(), 10, [0.0], [1.0], h=0.1, **more).solve()


def test_what_is_no_machine():
    for thing in (None, 3, "robot"):
        with pytest.raises(dal.DalembertError):
            dal.control.dmoc(thing, 10, [0.0], [1.0], h=0.1)


def test_dry_friction_of_joints_is_refused_by_name():
    with pytest.raises(dal.UnsupportedError, match="friction"):
        dal.control.dmoc(pendulum(friction=0.1), 10, [0.0], [1.0], h=0.1)


def test_a_goal_outside_the_limits_of_a_joint():
    with pytest.raises(dal.OptionError, match=r"goal: hinge.* = 2 is outside its bounds \[-1, 1\]"):
        dal.control.dmoc(pendulum(limits=(-1, 1)), 10, [0.0], [2.0], h=0.1)


def test_a_goal_that_is_too_far_names_what_is_missed_and_where():
    """1 N on 1.3 kg in 2 s does not lift a pole: bounded rows of the last steps are named, with advice, and the last iterate is there."""
    found = cart_pole(bounds={"u": 0.1}, max_iter=200).solve()
    assert not found.ok and found.infeasibility > 1e-3
    worst = found.violations(3)
    assert worst and all(v.name and v.place for v in worst)
    assert "misses by" in found.status and "drive" in found.status  # the motor is at its bounds in a large part of the plan
    assert np.isfinite(found.q).all() and found.q.shape == (41, 2)
    assert found.traj.t[-1] == pytest.approx(2.0)
    assert "not solved" in repr(found)


def test_contradictory_bounds_of_the_path():
    found = dal.control.dmoc(pendulum(), 10, [0.0], [1.0], h=0.1, path={"never": (lambda q, v, u: q[0], 3.0, 4.0)}, max_iter=100).solve()
    assert not found.ok and any(v.name == "never" for v in found.violations(20))


def test_an_unactuated_goal_against_momentum():
    """A free body without inputs cannot come to rest elsewhere."""
    m = dal.Model("stone", gravity=(0, 0, 0))
    m.add_body("stone", 1.0, (1, 1, 1))
    m.add_joint("free", "free", "world", "stone")
    with pytest.raises(dal.OptionError, match="nothing outside drives"):
        dal.control.dmoc(m, 10, m.neutral(), np.array([1.0, 0, 0, 1, 0, 0, 0]), h=0.1, inputs=np.zeros((6, 1)))


def test_a_formula_that_is_no_number_on_the_way_is_said():
    import casadi as ca

    found = dal.control.dmoc(pendulum(), 10, [0.0], [1.0], h=0.1, cost=lambda q, v, u: ca.sqrt(u[0] - 1e6), max_iter=20).solve()
    assert not found.ok and "number" in found.status


def test_a_machine_at_rest_with_momentum_of_its_own():
    """L with a term linear in v (a charge in a magnetic field): rest is no zero momentum. Free goal in x, at rest."""
    B = 2.0
    system = dal.Lagrangian(2, lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.5 * B * (q[0] * v[1] - q[1] * v[0]))
    found = dal.control.dmoc(system, 30, np.zeros(2), {"q": [1.0, 0.5], "v": 0.0}, h=0.05).solve()
    assert found.ok
    np.testing.assert_allclose(found.v[-1], 0.0, atol=1e-8)
    np.testing.assert_allclose(found.p[-1], 0.5 * B * np.array([-0.5, 1.0]), atol=1e-8)  # dL/dv at rest: (-B y/2, B x/2)
    assert found.replay.errors.max() < 1e-9


def test_a_composition_that_the_simulator_refuses_is_refused_in_the_plan():
    with pytest.raises(dal.DalembertError, match="damping"):
        dal.control.dmoc(pendulum(damping=0.1), 10, [0.0], [1.0], h=0.1, compose="suzuki4")


@pytest.mark.parametrize(
    ("text", "message"),
    [("problem = 3", "`problem` is 3, and"), ("build = 'it'", "`build` is 'it', and"), ("x = 1", r"defines neither `build\(\)` nor")],
)
def test_a_file_says_what_its_problem_is_where_it_is_none(tmp_path, text, message):
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(dal.OptionError, match=message):
        optimize._of_file(tmp_path / "bad.py")


@pytest.mark.parametrize("ignore", ["unilateral", ("unilateral",)])
def test_a_feature_to_ignore_is_one_word_or_several(ignore):
    """A weight above a floor: of formulas as of bodies."""
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], unilateral=lambda q: [q[0]])
    found = dal.control.dmoc(s, 10, [1.0], [2.0], h=0.05, ignore=ignore).solve()
    assert found.ok and found.verify().ok and found.problem.machine.ignore == ("unilateral",)
    assert dal.control.lqr(s, [1.0], 1.0, 1.0, ignore=ignore).K.shape == (1, 1, 2)
    run = dal.simulate(s, h=0.05, t_end=0.2, q0=[1.0], ignore=ignore)
    assert dal.control.lqr(s, run, 1.0, 1.0, ignore=ignore).K.shape == (4, 1, 2)
    with pytest.raises(dal.UnknownNameError, match="'unilaterall'"):
        dal.control.dmoc(s, 10, [1.0], [2.0], h=0.05, ignore="unilaterall")
