"""Goals of machines that nothing outside drives: momentum decides, and is said."""

import numpy as np
import pytest

import dalembert as dal

BEND = (np.cos(0.4), 0.0, np.sin(0.4), 0.0)
ROLL = (np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0, 0.0)


def cat(gravity=0.0):
    m = dal.Model("cat", gravity=(0, 0, gravity))
    m.add_body("front", 1.0, (0.1, 0.2, 0.2), com=(0.3, 0, 0))
    m.add_body("rear", 1.0, (0.1, 0.2, 0.2), com=(-0.3, 0, 0))
    m.add_joint("root", "free", "world", "front")
    m.add_joint("waist", "spherical", "front", "rear")
    return m


def centre(m, q):
    return sum(T[:3, :3] @ b.com + T[:3, 3] for b, T in zip(m.bodies, m.poses(q), strict=True)) / len(m.bodies)


def ends(m):
    q0 = m.check_q({"root": (0, 0, 0, 1, 0, 0, 0), "waist": BEND})
    q1 = m.check_q({"root": (0, 0, 0, *ROLL), "waist": BEND})
    q1[:3] += centre(m, q0) - centre(m, q1)
    return q0, q1


def test_equations_that_conservation_implies_are_left_out_and_said():
    m = cat()
    q0, q1 = ends(m)
    problem = dal.control.dmoc(m, 50, q0, q1, h=0.02, inputs=["waist"], guess="random")
    assert any("momentum is conserved" in note for note in problem.notes)
    found = problem.solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    np.testing.assert_allclose(found.v[-1], 0.0, atol=1e-7)  # also of the root, of which nothing was demanded
    momentum = m.momentum(found.q, found.v)
    assert np.abs(momentum).max() < 1e-8  # to the tolerance of the solver
    np.testing.assert_allclose(np.abs(found.q[-1, 3:7] @ np.array(ROLL)), 1.0, atol=1e-9)


@pytest.mark.parametrize(
    ("gravity", "change", "v", "said"),
    [
        (0.0, 0.0, (0, 0, 0, 0.1, 0, 0, 0, 0, 0), "linear momentum"),
        (0.0, 0.0, (0.1, 0, 0, 0, 0, 0, 0, 0, 0), "momentum"),
        (-9.81, 0.0, None, "linear momentum"),
        (0.0, 0.5, None, "centre of mass"),
    ],
)
def test_goals_against_conservation_are_refused_in_words(gravity, change, v, said):
    m = cat(gravity)
    q0, q1 = ends(m)
    q1[0] += change
    goal = q1 if v is None else (q1, np.array(v))
    with pytest.raises(dal.OptionError, match=said):
        dal.control.dmoc(m, 50, q0, goal, h=0.02, inputs=["waist"])
