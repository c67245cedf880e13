"""Closing loops, projecting velocities, and telling redundant constraints from singular configurations."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import dalembert as dal
from dalembert.errors import AssemblyError, OptionError, UnknownNameError
from dalembert.scenes import loops

I = (0.1, 0.1, 0.1)
CLOSED = 1e-13  # residuals of machines of about 1 m after the last correction: round-off


def crank_slider():
    """Crank 0.3 m, rod 1 m, slider along x."""
    m = dal.Model("crank-slider")
    m.add_body("crank", 1.0, I, pose=((0, 0, 0), (1, 0, 0, 0)))
    m.add_body("rod", 1.0, I, pose=((0.3, 0, 0), (1, 0, 0, 0)))
    m.add_body("slider", 2.0, I, pose=((1.3, 0, 0), (1, 0, 0, 0)))
    m.add_joint("crank", "revolute", "world", "crank", (0, 0, 0), (0, 1, 0))
    m.add_joint("pin", "revolute", "crank", "rod", (0.3, 0, 0), (0, 1, 0))
    m.add_joint("guide", "prismatic", "world", "slider", (1.3, 0, 0), (1, 0, 0))
    m.add_loop("wrist", "slot", "slider", "rod", (1.3, 0, 0), (0, 1, 0))
    return m


def worst(m, q):
    return max(np.abs(e).max() for e in m.loop_errors(q).values())


@pytest.mark.parametrize("angle", [0.2, 1.0, 2.5, -1.7])
def test_fixed_joints_stay_and_the_others_close(angle):
    """x = r cos(a) + sqrt(l^2 - r^2 sin^2 a)."""
    m = crank_slider()
    q, _ = m.assemble({"crank": angle, "pin": -angle}, fixed=["crank"])  # the rod starts along x
    assert q[0] == angle
    assert worst(m, q) < CLOSED
    assert abs(1.3 + q[2] - 0.3 * np.cos(angle) - np.sqrt(1 - 0.09 * np.sin(angle) ** 2)) < CLOSED


def test_a_closed_configuration_is_returned_as_it_is():
    m = crank_slider()
    np.testing.assert_array_equal(m.assemble(m.neutral())[0], m.neutral())
    tree = dal.Model("tree")
    tree.add_body("b", 1.0, I)
    np.testing.assert_array_equal(tree.assemble(tree.neutral())[0], tree.neutral())
    v = np.arange(6.0)
    np.testing.assert_array_equal(tree.assemble(tree.neutral(), v)[1], v)


@pytest.mark.parametrize("gap", [1e-3, 0.3])
def test_no_closed_configuration_is_nearer(gap):
    """Against a search over the one degree of freedom, the crank's angle."""
    m = crank_slider()
    open_q = m.assemble({"crank": 0.7}, fixed=["crank"])[0] + gap * np.array([1, -1 / 3, 0.1])

    def change(angle):
        s = 0.3 * np.sin(angle)
        return np.linalg.norm([angle, -angle - np.arcsin(s), 0.3 * np.cos(angle) + np.sqrt(1 - s * s) - 1.3] - open_q)

    best = minimize_scalar(change, bounds=(0.2, 1.4), method="bounded", options={"xatol": 1e-10}).fun
    assert abs(np.linalg.norm(m.assemble(open_q)[0] - open_q) - best) < 1e-6 * gap


@pytest.mark.parametrize("seed", range(4))
def test_spatial_loops_on_free_and_ball_joints_close(seed):
    """A free body and a ball-jointed one, welded together; the weld's rows are exact away from zero, so steps converge quadratically."""
    rng = np.random.default_rng(seed)
    m = dal.Model("weld")
    for name in ("a", "b"):
        turn = rng.normal(size=4)
        m.add_body(name, 1.0, I, pose=(rng.normal(size=3), turn / np.linalg.norm(turn)))
    m.add_joint("ball", "spherical", "world", "b", rng.normal(size=3))
    m.add_loop("weld", "fixed", "a", "b")
    m.add_loop("hinge", "revolute", "world", "b", m.joint("ball").anchor, (1, 2, 3))
    q, v = m.assemble(m.random(rng), rng.normal(size=m.nv))
    assert worst(m, q) < CLOSED * 10
    assert np.abs(m.constraint_rows(q)[1] @ v).max() < 1e-13 * 10


def test_the_answer_is_always_a_pair():
    m = crank_slider()
    for q, v in (m.assemble(m.neutral()), m.assemble(m.neutral(), None), m.assemble(None, np.zeros(3))):
        np.testing.assert_array_equal(q, m.neutral())
        np.testing.assert_array_equal(v, np.zeros(3))


def test_stretched_arms_are_left():
    """All on one line and too long: every step vanishes, yet the loop can be closed."""
    m = dal.Model("arms")
    m.add_body("upper", 1.0, I)
    m.add_body("lower", 1.0, I, pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", (0, 0, 0), (0, 0, 1))
    m.add_joint("elbow", "revolute", "upper", "lower", (1, 0, 0), (0, 0, 1))
    m.add_loop("hand", "slot", "world", "lower", (1.5, 0, 0), (0, 0, 1), point=(2, 0, 0))
    q, _ = m.assemble(m.neutral())
    assert worst(m, q) < CLOSED
    assert abs(abs(q[1]) - np.arccos((1.5**2 - 2) / 2)) < 1e-12


def test_a_loop_that_cannot_be_closed_is_named_with_its_gap():
    m = crank_slider()
    m.add_loop("rope", "distance", "world", "slider", (0, 0, 0), point=(1.3, 0, 0), length=5.0)
    with pytest.raises(AssemblyError, match=r"crank-slider.*cannot be closed.*'rope' is off by") as caught:
        m.assemble(m.neutral())
    assert caught.value.q.shape == (3,)
    assert "rope" in caught.value.errors
    with pytest.raises(AssemblyError, match="with the joints that are to stay"):
        crank_slider().assemble({"crank": 1.0}, fixed=["crank", "guide"])


def test_fixed_names_are_checked():
    with pytest.raises(UnknownNameError, match=r"joint in fixed 'crnk'; did you mean 'crank'"):
        crank_slider().assemble(None, fixed=["crnk"])


def test_velocity_is_the_nearest_in_the_mass_metric():
    """v' - v = M^-1 G^T x: an impulse of the joints; and v' of a closed velocity is itself."""
    m = crank_slider()
    q, v = m.assemble({"crank": 0.7}, [1.0, -2.0, 3.0], fixed=["crank"])
    q, v = m.assemble(q, [1.0, -2.0, 3.0])
    _, G = m.constraint_rows(q)
    assert np.abs(G @ v).max() < 1e-14
    impulse = m.mass_matrix(q) @ (v - [1.0, -2.0, 3.0])
    assert np.abs(impulse - G.T @ np.linalg.lstsq(G.T, impulse, rcond=None)[0]).max() < 1e-13
    np.testing.assert_allclose(m.assemble(q, v)[1], v, atol=1e-14)


def test_rates_of_fixed_joints_stay():
    """The slider's velocity at crank rate w: -r w (sin a + r sin a cos a/sqrt(l^2 - r^2 sin^2 a)); the crank turns towards -z."""
    m = crank_slider()
    a, w = 0.7, 2.0
    q, v = m.assemble({"crank": a}, {"crank": w}, fixed=["crank"])
    assert v[0] == w
    s, c = np.sin(a), np.cos(a)
    assert abs(v[2] + 0.3 * w * (s + 0.3 * s * c / np.sqrt(1 - 0.09 * s * s))) < 1e-13
    m.add_loop("brake", "coupling", "world", "guide", polynomial=(q[2],))
    with pytest.raises(OptionError, match=r"no velocity meets the constraints.*'brake'"):
        m.assemble(q, {"crank": w}, fixed=["crank"])


def test_plane_hinges_are_redundant_and_stretched_ones_singular():
    m = loops.four_bar("revolute")
    found = m.redundant_constraints({"foot0": 0.3, "left1": -0.3, "foot1": 0.3})
    assert (found.rows, found.rank, found.degrees_of_freedom, found.mobility) == (5, 2, 1, 1)
    assert found.redundant == {"right1": ["y shift", "tilt", "tilt (2)"]}
    assert found.independent == (0, 2)
    assert not found.singular
    flat = m.redundant_constraints({"foot0": np.pi / 2, "left1": -np.pi / 2, "foot1": np.pi / 2})
    assert flat.singular
    assert (flat.rank, flat.rank_here) == (2, 1)
    assert "singular configuration: the rank is 1 here and 2 nearby" in str(flat)


def test_joints_that_hold_each_other_are_all_named():
    """Three parallel cranks of one bar: any two suffice in the plane."""
    m = loops.n_four_bar(1)
    m.add_body("third", 1.0, I, pose=((0.5, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("foot", "revolute", "world", "third", (0.5, 0, 0), (0, 1, 0))
    m.add_joint("head", "slot", "third", "bar1", (0.5, 0, 1), (0, 1, 0))
    found = m.redundant_constraints({k: 0.4 * r for k, r in {**loops.turning(1), "foot": 1.0}.items()})
    assert found.degrees_of_freedom == 1
    assert list(found.redundant) == ["head"]
    assert set(found.involved) == {"right1", "head"}
    assert "relax one of them" in found.text


def test_bricard_moves_against_the_count():
    found = loops.bricard().redundant_constraints()
    assert (found.rows, found.rank, found.degrees_of_freedom) == (5, 4, 1)


def test_a_tree_has_no_constraints():
    m = dal.Model("tree")
    m.add_body("b", 1.0, I)
    found = m.redundant_constraints()
    assert (found.rows, found.rank, found.degrees_of_freedom, found.redundant) == (0, 0, 6, {})


def test_rows_follow_a_change_of_the_model():
    m = crank_slider()
    before = len(m.constraint_labels)
    m.add_loop("rope", "distance", "world", "rod", (0, 0, 1), point=(0.5, 0, 0))
    assert len(m.constraint_labels) == before + 1
    assert len(m.copy().constraint_labels) == before + 1


def test_a_machine_far_away_is_closed_to_the_round_off_of_its_places():
    """At 1e6 m positions are rounded to 1e-10 m."""
    m = dal.Model("far")
    R = dal.so3.exp(np.array([0.7, -1.2, 0.4]))

    def at(*p):
        return tuple(R @ p + 1e6)

    for name, p in (("crank", (0, 0, 0.5)), ("rocker", (1, 0, 0.5)), ("coupler", (0.5, 0, 1))):
        m.add_body(name, 1.0, I, pose=(at(*p), (1, 0, 0, 0)))
    for name, parent, child, p in (
        ("a", "world", "crank", (0, 0, 0)), ("b", "world", "rocker", (1, 0, 0)),
        ("c", "crank", "coupler", (0, 0, 1)), ("d", "rocker", "coupler", (1, 0, 1)),
    ):  # fmt: skip
        m.add_joint(name, "revolute", parent, child, at(*p), tuple(R @ (0, 1, 0)))
    q, _ = m.assemble({"a": 0.5}, fixed=["a"])
    assert worst(m, q) < 64 * np.finfo(float).eps * 1e6 and np.ptp(np.abs(q)) < 1e-8  # a parallelogram


def test_what_is_open_is_told_with_what_was_expected_in_each_unit():
    m = crank_slider()
    with pytest.raises(AssemblyError, match=r"'wrist' is off by .* expected at most .* m\b"):
        m.assemble({"crank": 1.0, "guide": 5.0}, fixed=["crank", "guide"])
