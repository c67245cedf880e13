"""What a problem is given: signs of quaternions, functions of expressions."""

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
import dalembert.control.predict
from dalembert.control.scenes import cart_pole, double_pendulum, quadrotor, rest_to_rest, satellite

HERE = np.array([1.0, 0.0, 0.0, 0.0])
THERE = satellite.about((1, 0, 0), 0.4)


def turned(start, goal, **more):
    return dal.control.dmoc(satellite.model((1.0, 2.0, 3.0)), 30, start, goal, h=0.1, **more).solve()


@pytest.fixture(scope="module")
def short_way():
    return turned(HERE, THERE).cost


@pytest.mark.parametrize("first", [1.0, -1.0])
@pytest.mark.parametrize("last", [1.0, -1.0])
def test_the_sign_of_a_quaternion_says_nothing(first, last, short_way):
    found = turned(first * HERE, last * THERE)
    assert found.ok and found.cost == pytest.approx(short_way, rel=1e-9)


@pytest.mark.parametrize("last", [1.0, -1.0])
def test_turns_are_counted_from_the_short_way(last):
    """One turn and 0.4 rad about a principal axis: 12 J^2 angle^2/T^3, of the discrete motion to order 2."""
    found = turned(HERE, {"q": last * THERE, "turns": {"attitude": (1, 0, 0)}})
    assert found.ok and found.cost == pytest.approx(12.0 * (2 * np.pi + 0.4) ** 2 / 3.0**3, rel=0.06)
    assert 2.0 * np.arctan(0.05 * found.v_interval[:, 0]).sum() == pytest.approx(2 * np.pi + 0.4, abs=1e-6)


def test_signs_of_waypoints_and_guesses_say_nothing_either(short_way):
    nodes = np.array([satellite.about((1, 0, 0), 0.4 * s) for s in np.linspace(0.0, 1.0, 31)])
    nodes[::3] *= -1.0
    found = turned(HERE, THERE, guess=-nodes)
    assert found.ok and found.cost == pytest.approx(short_way, rel=1e-9)
    by_way = turned(HERE, THERE, waypoints={15: -satellite.about((1, 0, 0), 0.2)})
    assert by_way.ok and by_way.cost == pytest.approx(short_way, rel=1e-6)  # the middle of the plan is there anyway


def test_the_sign_of_a_new_start_or_goal_says_nothing(short_way):
    problem = dal.control.dmoc(satellite.model((1.0, 2.0, 3.0)), 30, HERE, THERE, h=0.1)
    assert problem.step((-HERE, np.zeros(3))).cost == pytest.approx(short_way, rel=1e-9)  # the first one, from the guess
    assert problem.step((HERE, np.zeros(3))).cost == pytest.approx(short_way, rel=1e-9)
    assert problem.aim(goal=-THERE).solve().cost == pytest.approx(short_way, rel=1e-9)


def test_what_steps_have_inside_moves_on_with_them():
    """Polynomials within the steps: from the plan that has been followed for one step, the rest of it is found again at once."""
    problem = dal.control.scenes.find("double-pendulum").build(N=40)
    plan = problem.step(([0.0, 0.0], [0.0, 0.0]))
    z = dal.control.predict.shifted(problem, plan)
    assert np.array_equal(z[problem.chain.inner[:-1]], plan.result.z[problem.chain.inner[1:]])
    assert np.array_equal(z[problem.chain.u[:-1]], plan.inputs[1:])


LEVELS = [
    {"speed": (lambda q, v, u: v, low, high)} for low, high in ((2.0, 1.0), (np.nan, 1.0), ("a", 1.0), ([0.0, 0.0], 1.0), (None, 1.0))
]


def slid(**more):
    return dal.control.dmoc(rest_to_rest.model(), 20, [0.0], [2.0], h=0.1, **more)


def test_functions_without_a_name_of_their_own_do_not_replace_each_other():
    """Two lambdas on the way: both hold."""
    found = slid(path=[lambda q, v, u: v[0] - 1.3, lambda q, v, u: u[0] - 4.0]).solve()
    assert found.ok
    assert found.v_interval.max() == pytest.approx(1.3, abs=1e-6) and found.inputs.max() == pytest.approx(4.0, abs=1e-6)


def test_what_is_asked_of_velocities_is_asked_once_of_a_step():
    """At the last node it would be asked of the last step again: equations that depend on each other."""
    count = {name: len(made.program.blocks[-1].places) for name, made in ((n, slid(path=f)) for n, f in PATHS.items())}
    assert count == {"of q": 21, "of v": 20, "of u": 20}


PATHS = {"of q": lambda q, v, u: q[0] - 9.0, "of v": lambda q, v, u: v[0] - 9.0, "of u": lambda q, v, u: u[0] - 9.0}


def test_functions_may_be_written_with_numpy(recwarn):
    assert slid(path=lambda q, v, u: np.sin(v[0]) - 2.0).solve().ok
    by_numpy, by_casadi = (slid(cost=lambda q, v, u, s=sin: s(q[0]) ** 2 + u[0] ** 2).solve().cost for sin in (np.sin, ca.sin))
    assert by_numpy == by_casadi
    assert not recwarn.list


@pytest.mark.parametrize(
    "cost", [None, 3.0, "efort", {"effort": np.nan}, lambda q, v, u: float("nan"), lambda q, v, u: ca.vertcat(u, v), [("effort",)]]
)
def test_costs_that_are_none_are_refused(cost):
    with pytest.raises(dal.DalembertError, match="cost"):
        slid(cost=cost)


@pytest.mark.parametrize("path", ["v < 1", 3.0, {"speed": 3.0}, {"speed": (1.0, 2.0)}, lambda q: q, *LEVELS])
def test_paths_that_are_none_are_refused(path):
    with pytest.raises(dal.OptionError, match="path"):
        slid(path=path)


def test_a_cost_that_is_no_number_at_the_guess_is_said():
    found = slid(cost=lambda q, v, u: ca.log(q[0] - 5.0)).solve()
    assert not found.ok and "no number" in found.status and "bound it" in found.status


@pytest.mark.parametrize("free", [{"h": 0.25}, {"free_time": (1.0, 2.5)}])
def test_where_steps_turn_as_far_as_they_may_more_are_advised(free):
    """A swing-up in 8 steps: half a turn would fit into 7 of 0.5 rad, but not its swing."""
    found = dal.control.dmoc(cart_pole.model(), 8, [0, 0], [1, np.pi], **free).solve()
    assert not found.ok and "0.5 rad: take more steps" in found.status
    assert "take more steps" not in slid(bounds={"u": 0.1}).solve().status


def swung(start, goal, **more):
    return dal.control.dmoc(double_pendulum.build(N=4).machine.whole, 20, start, goal, h=0.1, **more).solve()


def test_coordinates_of_a_lagrangian_are_named_as_joints_are():
    """At a goal and on the way, their velocities, their inputs, their bounds, and whole turns of them."""
    one = swung({"q": {"elbow": 0.1}}, {"q": {"shoulder": 1.0}, "v": {"elbow": 0.5}}, inputs=["shoulder"], bounds={"u": {"shoulder": 40.0}})
    assert one.ok and one.q[0, 1] == 0.1 and one.q[-1, 0] == pytest.approx(1.0) and one.v[-1, 1] == pytest.approx(0.5)
    assert one.inputs.shape == (20, 1)
    way = swung([0, 0], [1.0, 0.0], waypoints={10: {"q": {"elbow": 0.7}}})
    assert way.ok and way.q[10, 1] == pytest.approx(0.7)
    round_it = swung([0, 0], {"q": [0.0, 0.0], "turns": {"shoulder": 1}})
    assert round_it.ok and round_it.q[-1, 0] == pytest.approx(2 * np.pi)
    with pytest.raises(dal.UnknownNameError, match="shoulder"):
        swung([0, 0], {"q": [0.0, 0.0], "turns": {"sholder": 1}})


def test_bounds_of_inputs_may_be_told_by_the_joint_that_a_motor_drives():
    found = slid(bounds={"u": {"rail": 3.0}}).solve()
    assert found.ok and np.abs(found.inputs).max() <= 3.0 + 1e-6 < np.abs(slid().solve().inputs).max()
    with pytest.raises(dal.UnknownNameError, match="drive"):
        slid(bounds={"u": {"wheel": 6.0}})


@pytest.mark.parametrize("guess", ["line", "random"])
def test_a_search_that_stalls_goes_on_with_another_barrier(guess):
    """A body of small inertia flies 1.4 m and turns over, all forces and torques free: torques are a thousandth of the cost."""
    m = quadrotor.model()
    goal = {"poses": {"frame": ((1, 0, 1), (0, 1, 0, 0))}}
    found = dal.control.dmoc(m, 30, m.neutral(), goal, h=0.05, guess=guess).solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    hover = (quadrotor.MASS * quadrotor.G) ** 2 * 1.5
    assert found.cost == pytest.approx(hover + 12 * quadrotor.MASS**2 * 2.0 / 1.5**3, rel=0.01)  # and from rest to rest, x and z
