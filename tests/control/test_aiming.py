"""A problem that is aimed again: another goal, other bounds, another reference, without building anything."""

import pickle

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes


def satellite():
    m = dal.Model("satellite", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 3.0))
    m.add_joint("turn", "spherical", "world", "body")
    return m


def turned(angle, axis=(0.0, 0.0, 1.0)):
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))])


def arm():
    m = dal.Model("arm", gravity=(0, 0, -9.81))
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", (0, 0, 0), (0, 1, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", (0, 0, -1), (0, 1, 0))
    return m


def same_plan(first, second):
    """Equal to what two searches with the tolerance 1e-9 may differ by."""
    assert first.ok and second.ok, (first.status, second.status)
    np.testing.assert_allclose(first.q, second.q, atol=1e-6)
    np.testing.assert_allclose(first.cost, second.cost, rtol=1e-7)


def test_a_new_goal_gives_the_plan_of_a_new_problem():
    aimed = dal.control.dmoc(arm(), 30, np.zeros(2), (np.array([0.5, 0.2]), np.zeros(2)), h=0.02)
    aimed.solve()
    goal = np.array([-0.3, 0.6]), np.array([0.4, -0.1])
    same_plan(aimed.aim(goal=goal).solve(), dal.control.dmoc(arm(), 30, np.zeros(2), goal, h=0.02).solve())


def test_quaternions_of_the_goal_are_numbers_of_the_program():
    aimed = dal.control.dmoc(satellite(), 20, turned(0.0), turned(1.0), h=0.05)
    before = aimed.program
    goal = turned(0.7, (0.6, 0.0, 0.8))
    found = aimed.aim(goal=goal).solve()
    assert aimed.program is before
    same_plan(found, dal.control.dmoc(satellite(), 20, turned(0.0), goal, h=0.05).solve())


def test_poses_of_the_goal_are_numbers_of_the_program():
    problem = dal.control.dmoc(satellite(), 20, turned(0.0), {"poses": {"body": (None, turned(0.4))}}, h=0.05)
    found = problem.aim(goal={"poses": {"body": (None, turned(0.9))}}).solve()
    assert found.ok
    np.testing.assert_allclose(found.q[-1], turned(0.9), atol=1e-8)


def test_other_bounds_hold_and_those_that_were_given_before_stay():
    problem = dal.control.dmoc(arm(), 40, np.zeros(2), np.array([0.8, 0.0]), h=0.025, bounds={"v": 3.0})
    free = problem.solve()
    most = 0.9 * np.abs(free.inputs).max()
    found = problem.aim(bounds={"u": most}).solve()
    assert found.ok and np.abs(found.inputs).max() <= most * (1 + 1e-9)
    assert found.cost > free.cost
    assert np.abs(found.v_interval).max() <= 3.0 * (1 + 1e-9)
    np.testing.assert_allclose(found.q[0], 0.0)  # the ends are held as before
    np.testing.assert_allclose(found.q[-1], [0.8, 0.0], atol=1e-8)


def test_another_reference_is_followed():
    m, N = arm(), 20
    line = np.linspace(0, 1, N + 1)[:, None] * np.array([0.3, 0.1])
    problem = dal.control.dmoc(m, N, np.zeros(2), None, h=0.02, cost={"tracking": 1e4, "effort": 1e-6}, reference=line)
    first = problem.solve()
    second = problem.aim(reference=-line).solve()
    assert np.abs(first.q - line).max() < 0.05 and np.abs(second.q + line).max() < 0.05


def test_refined_and_pickled_problems_are_those_that_were_aimed():
    problem = dal.control.dmoc(arm(), 20, np.zeros(2), np.array([0.3, 0.0]), h=0.02)
    problem.last = problem.solve()
    problem.aim(goal=np.array([0.5, 0.1]), bounds={"u": 50.0})
    found = problem.step((np.array([0.1, -0.1]), np.array([0.0, 0.2])))
    for other in (pickle.loads(pickle.dumps(found)), found.refine()):
        np.testing.assert_allclose(other.q[0], [0.1, -0.1], atol=1e-12)
        np.testing.assert_allclose(other.q[-1], [0.5, 0.1], atol=1e-8)
        np.testing.assert_allclose(other.v[0], [0.0, 0.2], atol=1e-12)
        assert other.problem.bounds == {"u": 50.0}
    assert pickle.loads(pickle.dumps(found)).cost == found.cost


def test_an_older_plan_is_refined_towards_its_own_goal():
    problem = dal.control.dmoc(arm(), 20, np.zeros(2), np.array([0.3, 0.0]), h=0.02)
    older = problem.step((np.zeros(2), np.zeros(2)))
    newer = problem.aim(goal=np.array([0.5, 0.1]), bounds={"u": 50.0}).step((np.array([0.1, 0.0]), np.zeros(2)))
    for plan, start, goal in ((older, [0.0, 0.0], [0.3, 0.0]), (newer, [0.1, 0.0], [0.5, 0.1])):
        for finer in (plan.refine(), pickle.loads(pickle.dumps(plan)).refine()):
            assert finer.ok and finer.problem.chain.N == 40
            np.testing.assert_allclose(finer.q[[0, -1]], [start, goal], atol=1e-8)


def test_a_goal_of_another_kind_needs_a_new_problem():
    problem = dal.control.dmoc(arm(), 20, np.zeros(2), np.array([0.3, 0.0]), h=0.02)
    with pytest.raises(dal.OptionError, match="make a new problem"):
        problem.aim(goal={"q": {"elbow": 0.3}})
    with pytest.raises(dal.OptionError, match="without reference"):
        problem.aim(reference=np.zeros((21, 2)))


def test_a_goal_outside_the_bounds_is_refused_and_nothing_changes():
    problem = scenes.find("cart-pole").build(N=20)
    least = problem.program.least.copy()
    with pytest.raises(dal.OptionError, match="outside its bounds"):
        problem.aim(goal=np.array([5.0, np.pi]))
    assert (problem.program.least == least).all()


def test_a_final_cost_pulls_the_last_node():
    """min |u|^2 h sum + w ((x - 1)^2 + v^2) of a mass of 1 kg on a rail: beside the Riccati recursion of the same steps."""
    m = dal.Model("mass", gravity=(0, 0, 0))
    m.add_body("box", 1.0, (1, 1, 1))
    m.add_joint("rail", "prismatic", "world", "box", axis=(1, 0, 0))
    N, h, w = 20, 0.05, 10.0
    found = dal.control.dmoc(m, N, [0.0], None, h=h, final=lambda q, v: w * ((q[0] - 1) ** 2 + ca.sumsqr(v))).solve()
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([h * h / 2, h])  # midpoint: x+ = x + h (v + v+)/2, v+ = v + h u
    P, K = w * np.eye(2), []
    for _ in range(N):
        K.append((B @ P @ A) / (h + B @ P @ B))
        P = A.T @ P @ (A - np.outer(B, K[-1]))
    x = np.array([-1.0, 0.0])
    for gain in reversed(K):
        x = A @ x - B * (gain @ x)
    np.testing.assert_allclose(found.q[-1, 0] - 1, x[0], atol=1e-7)
    np.testing.assert_allclose(found.v[-1, 0], x[1], atol=1e-7)
    np.testing.assert_allclose(found.cost, np.array([-1.0, 0.0]) @ P @ np.array([-1.0, 0.0]), rtol=1e-7)


def test_the_free_run_of_a_plan_with_phases():
    """Steps of 20 and 50 ms: run on from phase to phase, it stays with the plan, and with the true motion to order 2."""
    found = dal.control.dmoc(arm(), [20, 12], np.zeros(2), np.array([0.5, 0.2]), h=[0.02, 0.05]).solve()
    checked = found.verify()
    assert checked.ok and checked.free_run < 1e-8 and np.isfinite(checked.growth)
    assert 0.0 < checked.true_motion < 0.05
