"""What a first user tries: tiny and huge machines, weak costs, one problem in threads, plans that miss what was asked."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch
from dalembert.control.reach import _log

dmoc = dal.control.dmoc


def pendulum(mass: float = 1.0, length: float = 1.0) -> dal.Model:
    m = dal.Model("pendulum")
    m.add_body("bob", mass, (0, 0, 0), com=(0, 0, -length), physical=False)
    m.add_joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0))
    return m


def slide(mass: float = 1.0) -> dal.Model:
    m = dal.Model("slide", gravity=(0, 0, 0))
    m.add_body("box", mass, (0.1 * mass,) * 3)
    m.add_joint("rail", "prismatic", "world", "box", axis=(1, 0, 0))
    return m


@pytest.mark.parametrize("mass, length", [(1e-6, 1e-4), (1e-9, 1e-5), (1e6, 10.0), (1e9, 100.0)])
def test_tiny_and_huge_machines_are_planned_as_well_as_ordinary_ones(mass: float, length: float) -> None:
    # in units of m g l and sqrt(l/g) all pendulums are one: costs differ by (m l)^2/sqrt(l)
    h = 0.1
    ordinary = dmoc(pendulum(), 50, [0], [1], h=h).solve()
    found = dmoc(pendulum(mass, length), 50, [0], [1], h=h * np.sqrt(length)).solve()
    assert found.status == "solved"
    assert found.cost == pytest.approx(ordinary.cost * (mass * length) ** 2 * np.sqrt(length), rel=1e-6)  # 57-fold, before, of 1 mg
    assert found.verify().ok
    # a co-state of momenta is cost/momentum, (m l)^2 sqrt(l) / (m l^2/sqrt(l)) = m l
    found_by, by = (x.multipliers["step"][:, 1] for x in (found, ordinary))
    assert found_by / (mass * length) == pytest.approx(by, abs=1e-4 * np.abs(by).max())


@pytest.mark.parametrize("mass, way, T", [(1e-6, 1e-6, 0.05), (1.0, 1e-6, 0.05), (1.0, 1e6, 500.0), (1e6, 1.0, 1.0)])
def test_short_and_long_ways_cost_what_the_closed_form_says(mass: float, way: float, T: float) -> None:
    N = 50
    found = dmoc(slide(mass), N, [0], [way], h=T / N).solve()
    exact = 12 * mass**2 * way**2 / T**3 / (1 - 1 / N**2)  # rest to rest, inputs held over N steps
    assert found.ok and found.cost == pytest.approx(exact, rel=1e-9)
    assert found.verify().ok


@pytest.mark.parametrize("weight", [1e-9, 1e-15, 1e12])
def test_the_weight_of_a_single_cost_does_not_change_the_plan(weight: float) -> None:
    ordinary = dmoc(pendulum(), 40, [0], [1], h=0.05).solve()
    found = dmoc(pendulum(), 40, [0], [1], h=0.05, cost={"effort": weight}).solve()
    assert found.ok
    assert found.inputs == pytest.approx(ordinary.inputs, abs=1e-5 * np.abs(ordinary.inputs).max())
    assert found.cost == pytest.approx(weight * ordinary.cost, rel=1e-8)
    assert found.multipliers["step"] == pytest.approx(weight * ordinary.multipliers["step"], rel=1e-4, abs=weight * 1e-5)


def test_ordinary_machines_are_searched_as_they_are() -> None:
    problem = dmoc(pendulum(), 10, [0], [1], h=0.1)
    problem.solve()
    assert problem.program.units is None and problem.program.scales is None


def test_a_tiny_ball_bounces_without_a_push() -> None:
    ball = dal.Model("ball")
    ball.add_body("ball", 1e-6, (4e-15,) * 3, shapes=[dal.Sphere(1e-4)])
    ball.add_shape("world", dal.Plane())
    q = ball.neutral()
    q[2] = 1e-3
    plan = dal.control.dmocc(ball, 20, q, None, contacts=[Touch("ball", 10)], h=0.0013).solve()
    speed = np.sqrt(2 * 9.81 * 9e-4)
    assert plan.ok and plan.verify().ok
    assert -plan.impacts[0].before == pytest.approx(speed, rel=1e-6)
    assert np.abs(plan.control).max() < 1e-6 * 1e-6 * 9.81  # N: a millionth of its weight


def test_a_tiny_machine_is_planned_again_from_where_it_is() -> None:
    problem = dmoc(pendulum(1e-6, 1e-4), 50, [0], [1], h=1e-3)
    first = problem.step(([0], [0]))
    again = problem.step((first.q[1], first.v[1]), shift=True)
    cold = dmoc(pendulum(1e-6, 1e-4), 50, (first.q[1], first.v[1]), [1], h=1e-3).solve()
    assert again.ok and again.stats["iterations"] < first.stats["iterations"]
    assert again.cost == pytest.approx(cold.cost, rel=1e-6)


def test_one_problem_is_solved_in_several_threads() -> None:
    problem = dmoc(pendulum(), 30, [0], [1], h=0.05)
    found: list[Any] = [None] * 4

    def work(i: int) -> None:
        found[i] = problem.solve()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [s.cost for s in found] == [problem.solve().cost] * 4


def test_plans_of_several_threads_start_where_each_of_them_said() -> None:
    problem = dmoc(slide(), 40, [0], [1], h=0.05)
    starts: list[tuple[float, float]] = []

    def work(k: int) -> None:
        for _ in range(10):
            starts.append((0.1 * k, problem.step(([0.1 * k], [0.0])).q[0, 0]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(starts) == 40
    for wanted, found in starts:
        assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("N", [0, -1, 1, 1.5, "many", True])
def test_refine_wants_a_number_of_steps(N: Any) -> None:
    plan = dmoc(slide(), 10, [0], [1], h=0.1).solve()
    with pytest.raises(dal.OptionError, match="whole number of steps"):
        plan.refine(N)


@pytest.mark.parametrize("N", [7, 9, 31])
def test_phases_that_are_refined_take_as_long_as_before(N: int) -> None:
    plan = dmoc(slide(), [10, 5, 5], [0], [1], h=[0.1, 0.05, 0.02]).solve()
    finer = plan.refine(N)
    assert finer.ok and finer.t[-1] == pytest.approx(1.35, rel=1e-12)


def test_a_motion_that_misses_its_goal_is_not_verified() -> None:
    far = {"poses": {"bob": ((5.0, 0, 0), None)}}
    plan = dmoc(pendulum(), 20, [0], far, h=0.1).solve()
    proof = plan.verify()
    assert not plan.ok and not proof.ok
    if proof.steps_ok:  # a motion of the simulator, but not the one that was asked for
        assert "place of bob" in proof.missed and "what was asked is missed" in proof.text


@pytest.mark.parametrize("at", ["q", "p", "control"])
@pytest.mark.parametrize("k", [0, 5, -1])
def test_no_number_is_no_evidence(at: str, k: int) -> None:
    plan = dmoc(pendulum(), 10, [0], [1], h=0.1).solve()
    array = np.array(getattr(plan, at))
    array[k] = np.nan
    setattr(plan, at, array)
    plan.p_after = plan.p
    proof = plan.verify()
    assert not proof.ok and "fail" in proof.text


def test_holding_still_is_a_motion() -> None:
    # sin(pi) is 1e-16: speeds are round-off, and were judged by their own size
    plan = dmoc(pendulum(), 20, [np.pi], [np.pi], h=0.05).solve()
    assert plan.ok and np.abs(plan.v).max() < 1e-9 and plan.verify().ok
    aside = dmoc(pendulum(), 20, [1.0], [1.0], h=0.05, bounds={"v": 1e-9}).solve()
    assert aside.ok and aside.verify().ok


def test_free_steps_stay_positive() -> None:
    plan = dmoc(pendulum(), 30, [0], [0], free_time=(1e-9, 1), cost="time").solve()
    assert plan.ok and (plan.h > 0.0).all() and plan.verify().ok


WRONG = {
    "a misspelt option": {"waypoint": {3: [1]}},
    "a seed that is none": {"seed": -1, "guess": "random"},
    "a seed in words": {"seed": "a"},
    "waypoints that are a number": {"waypoints": 3},
    "periodic that is a number": {"periodic": 3},
    "a guess without nodes": {"guess": {"x": 1}},
    "a guess with too many inputs": {"guess": {"q": np.zeros((21, 1)), "u": np.zeros((20, 4))}},
    "a guess with inputs that are no numbers": {"guess": {"q": np.zeros((21, 1)), "u": np.full((20, 1), np.nan)}},
    "a turn of nothing": {"bounds": {"turn": 0}},
    "iterations in words": {"max_iter": "many"},
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(given: dict[str, Any]) -> None:
    with pytest.raises(dal.OptionError):
        dmoc(pendulum(), 20, [0], [1], h=0.1, **given).solve()


@pytest.mark.parametrize("given", [{"z": "a"}, {"z": [1, 2]}, {"multipliers": "ab"}, {"multipliers": (1, 2)}, {"max_iter": -1}])
def test_what_a_search_cannot_begin_with_is_said(given: dict[str, Any]) -> None:
    with pytest.raises(dal.OptionError, match="solve"):
        dmoc(pendulum(), 20, [0], [1], h=0.1).solve(**given)


def test_a_plan_that_follows_a_reference_is_refined_with_it() -> None:
    reference = np.linspace(0.0, 1.0, 21)[:, None] ** 2
    plan = dmoc(pendulum(), 20, [0], [1], h=0.1, cost={"tracking": 1.0, "effort": 1e-4}, reference=reference).solve()
    finer = plan.refine()
    assert finer.ok and np.abs(finer.q[::2] - plan.q).max() < 0.01
    turned = dal.Model("ball joint", gravity=(0, 0, 0))
    turned.add_body("body", 1.0, (1.0, 2.0, 3.0))
    turned.add_joint("ball", "spherical", "world", "body")
    half = np.linspace(0.0, 0.5, 11)
    attitudes = np.column_stack([np.cos(half), np.sin(half), 0 * half, 0 * half])
    plan = (
        dmoc(turned, 10, attitudes[0], attitudes[-1], h=0.1, cost={"tracking": 1.0, "effort": 1e-3}, reference=attitudes).solve().refine()
    )
    assert plan.ok and np.abs(np.linalg.norm(plan.q, axis=1) - 1.0).max() < 1e-9


def test_waypoints_are_not_lost_when_steps_are_fewer() -> None:
    plan = dmoc(slide(), 20, [0], [1], h=0.1, waypoints={14: [0.6], 15: [0.65]}).solve()
    with pytest.raises(dal.OptionError, match="14, 15"):
        plan.refine(7)
    early = dmoc(slide(), 20, [0], [1], h=0.1, waypoints={1: [0.01]}).solve().refine(7)
    assert early.ok and early.q[1, 0] == pytest.approx(0.01, abs=1e-8)


def test_what_is_no_motion_is_not_followed(tmp_path: Any) -> None:
    m = pendulum()
    m.add_motor("drive", "hinge", limit=1.0)
    plan = dmoc(m, 20, [0], [3], h=0.01).solve()
    assert not plan.ok
    with pytest.raises(dal.OptionError, match="no motion of the simulator"):
        dal.control.track(plan)
    plan.save(tmp_path / "plan.h5")
    with pytest.raises(dal.OptionError, match="no motion of the simulator"):
        dal.control.track(dal.control.load(tmp_path / "plan.h5"))


def test_problems_do_not_change_with_what_they_were_given() -> None:
    m, start, goal, way = pendulum(), np.array([0.0]), np.array([1.0]), {10: [0.6]}
    plan = dmoc(m, 20, start, goal, h=0.1, waypoints=way).solve()
    m.add_body("other", 50.0, (1, 1, 1))
    m.add_joint("rail", "prismatic", "world", "other", axis=(1, 0, 0))
    start[0], goal[0], way[10] = 0.9, 2.0, [0.1]
    for again in (plan.refine(), pickle.loads(pickle.dumps(plan)).problem.solve()):
        assert again.ok and again.problem.machine.nv == 1
        assert again.q[[0, len(again.q) // 2, -1], 0] == pytest.approx([0.0, 0.6, 1.0], abs=1e-8)


@pytest.mark.parametrize(
    "L, momentum",
    [
        (lambda q, v: v[0] ** 4 + v[0] ** 2, lambda v: 4 * v**3 + 2 * v),
        (lambda q, v: -np.sqrt(1 - v[0] ** 2), lambda v: v / np.sqrt(1 - v**2)),  # of a particle near the speed of light
    ],
)
def test_velocities_of_nodes_where_the_lagrangian_is_not_quadratic(L: Any, momentum: Any) -> None:
    plan = dmoc(dal.Lagrangian(1, L), 20, ([0], [0.1]), [1.6], h=0.1).solve()
    assert plan.ok
    assert momentum(plan.v) == pytest.approx(plan.p, abs=1e-12)
    assert plan.verify().ok


def arm() -> dal.Model:
    m, parent, z = dal.Model("arm"), "world", 0.0
    links = [
        ((0, 0, 1), 0.1, 3.0),
        ((0, 1, 0), 0.4, 4.0),
        ((0, 1, 0), 0.4, 3.0),
        ((0, 1, 0), 0.1, 1.0),
        ((0, 0, 1), 0.1, 1.0),
        ((0, 1, 0), 0.1, 0.5),
    ]
    for k, (axis, length, mass) in enumerate(links):
        m.add_body(f"b{k}", mass, (0.02 * mass,) * 3, com=(0, 0, z + length / 2))
        m.add_joint(f"j{k}", "revolute", parent, f"b{k}", anchor=(0, 0, z), axis=axis)
        parent, z = f"b{k}", z + length
    return m


def test_poses_that_an_arm_can_reach_are_reached() -> None:
    # from a straight way to nowhere the search loses itself in half of these; a configuration that is there, found first, leads it
    m, rng, solved = arm(), np.random.default_rng(0), 0
    for _ in range(8):
        q = np.array([0, 0.6, 0.8, 0.3, 0.2, 0.4]) + rng.normal(size=6) * 0.2
        T = m.poses(q + rng.normal(size=6) * 0.8)[-1]
        plan = dmoc(m, 12, q, {"poses": {"b5": T}}, h=0.1, max_iter=300).solve()
        solved += plan.ok
        assert not plan.ok or np.abs(m.poses(plan.q[-1])[-1] - T).max() < 1e-8
    assert solved >= 6


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1.0, np.pi - 1e-6, np.pi])
def test_turns_are_measured_up_to_half_a_turn(angle: float) -> None:
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    found = _log(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
    assert min(np.abs(found - angle * axis).max(), np.abs(found + angle * axis).max() if angle == np.pi else np.inf) < 1e-7


def test_a_plan_that_ends_at_the_tolerance_of_its_search_says_how_to_go_on() -> None:
    loose = dmoc(pendulum(), 20, [0], [2], h=0.1, tol=1e-3).solve()
    proof = loose.verify()
    if 1e-9 < proof.one_step.max() < 1e-5:  # how near it comes by luck differs
        assert not proof.ok and any("tol=1e-11" in note for note in proof.notes)
    assert loose.problem.solve(loose.result.z, tol=1e-11).verify().ok


def test_what_a_plan_does_not_know_is_said_without_a_list_of_joints() -> None:
    m = arm()
    m.add_body("last", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("rough", "revolute", "b5", "last", friction=0.1)
    with pytest.raises(dal.UnsupportedError, match="a plan of 'arm' does not know joint friction"):
        dmoc(m, 5, m.neutral(), None, h=0.1)
