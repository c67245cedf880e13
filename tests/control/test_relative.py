"""Goals that couple bodies: a pose seen from another body, wherever both are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as dal

TURN = Rotation.from_rotvec([0.3, -0.4, 0.5]).as_matrix()
PLACE = np.array([0.5, 0.2, -0.1])


def pair():
    m = dal.Model("pair", gravity=(0, 0, 0))
    m.add_body("A", 1.0, (0.1, 0.1, 0.1))
    m.add_body("B", 2.0, (0.1, 0.2, 0.3), pose=((1, 0, 0), (1, 0, 0, 0)))
    return m


def seen(m, q):
    T = m.poses(q)
    return np.linalg.inv(T[0]) @ T[1]


def test_bodies_meet_where_it_is_cheapest():
    """Without rotation the effort is shared: m_A^2 a^2 + m_B^2 b^2 with a + b = 1 is least for a : b = m_B^2 : m_A^2."""
    m = pair()
    found = dal.control.dmoc(m, 20, m.neutral(), {"relative": {("B", "A"): ((0.0, 0.0, 0.0), (1, 0, 0, 0))}}, h=0.1).solve()
    assert found.ok
    np.testing.assert_allclose(found.q[-1, :3], [0.8, 0, 0], atol=1e-8)
    np.testing.assert_allclose(found.q[-1, 7:10], [0.8, 0, 0], atol=1e-8)
    assert found.replay.errors.max() < 1e-9


@pytest.mark.parametrize("which", ["both", "place", "turn"])
def test_place_and_turn_may_be_wanted_alone(which):
    m = pair()
    wanted = {"both": (PLACE, TURN), "place": (PLACE, None), "turn": (None, TURN)}[which]
    found = dal.control.dmoc(m, 20, m.neutral(), {"relative": {("B", "A"): wanted}}, h=0.1).solve()
    T = seen(m, found.q[-1])
    assert found.ok
    assert np.allclose(T[:3, 3], PLACE, atol=1e-8) == (which != "turn")
    assert np.allclose(T[:3, :3], TURN, atol=1e-8) == (which != "place")


def test_matrices_and_quaternions_say_the_same():
    m, T = pair(), np.eye(4)
    T[:3, :3], T[:3, 3] = TURN, PLACE
    q = Rotation.from_matrix(TURN).as_quat()
    costs = [
        dal.control.dmoc(m, 10, m.neutral(), {"relative": {("B", "A"): pose}}, h=0.2).solve().cost for pose in (T, (PLACE, np.roll(q, 1)))
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)


@pytest.mark.parametrize(
    ("relative", "error", "words"),
    [
        ({("B", "C"): (PLACE, None)}, dal.UnknownNameError, "'C'"),
        ({"B": (PLACE, None)}, dal.OptionError, "pair"),
        ({("B", "B"): (PLACE, None)}, dal.OptionError, "pair"),
        ({("B", "A"): (np.full(3, np.nan), None)}, dal.OptionError, "finite"),
        ({("B", "A"): 3.0}, dal.OptionError, "expected a 4 x 4"),
    ],
)
def test_what_is_no_pose_of_a_pair_is_said(relative, error, words):
    m = pair()
    with pytest.raises(error, match=words):
        dal.control.dmoc(m, 10, m.neutral(), {"relative": relative}, h=0.1)


def test_another_relative_pose_is_another_problem():
    m = pair()
    problem = dal.control.dmoc(m, 10, m.neutral(), {"relative": {("B", "A"): (PLACE, TURN)}}, h=0.1)
    with pytest.raises(dal.OptionError, match="make a new problem"):
        problem.aim({"relative": {("B", "A"): (2 * PLACE, TURN)}})
