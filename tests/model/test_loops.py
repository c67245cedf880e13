"""Loop joints: data without coordinates, and how far a configuration is from closing them."""

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import UnsupportedError
from dalembert.model.joints import KINDS
from dalembert.model.loops import RESIDUALS
from dalembert.model.rotation import from_matrix, matrix, quat_exp

I = (1.0, 1.2, 1.4)
AXIS, AXIS2 = (1.0, 2.0, -0.5), (0.3, -1.0, 1.0)
ANCHOR = (0.3, -0.2, 0.7)
BODY_KINDS = [k for k in RESIDUALS if k in KINDS]
ROUND_OFF = 1e-14  # a few operations on numbers of order one


def pose(rng):
    q = rng.normal(size=4)
    return (rng.normal(size=3), q / np.linalg.norm(q))


def two(kind=None, parent="a", seed=3):
    """Two free bodies anywhere, and a loop between them (or from the world)."""
    rng = np.random.default_rng(seed)
    m = dal.Model("two")
    for name in ("a", "b"):
        m.add_body(name, 1.0, I, pose=pose(rng))
    if kind is not None:
        m.add_loop("loop", kind, parent, "b", ANCHOR, AXIS, AXIS2 if kind in ("universal", "planar") else None)
    return m


def four_bar():
    """Square of unit bars in the xz plane, hinges along y; the last hinge closes it."""
    m = dal.Model("four-bar")
    for name, x, z in (("left", 0, 0.5), ("top", 0.5, 1), ("right", 1, 0.5)):
        m.add_body(name, 1.0, I, pose=((x, 0, z), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "world", "left", (0, 0, 0), (0, 1, 0))
    m.add_joint("j2", "revolute", "left", "top", (0, 0, 1), (0, 1, 0))
    m.add_joint("j3", "revolute", "top", "right", (1, 0, 1), (0, 1, 0))
    m.add_joint("j4", "revolute", "world", "right", (1, 0, 0), (0, 1, 0))
    return m


def test_a_second_parent_closes_a_loop_and_owns_no_coordinates():
    m = four_bar()
    assert (m.nq, m.nv) == (3, 3)
    assert [j.name for j in m.joints] == ["j1", "j2", "j3"]
    assert [loop.name for loop in m.loops] == ["j4"]
    assert "loops: j4 (revolute)" in repr(m)
    angle = 0.4  # a parallelogram: the bars turn, the top stays level
    np.testing.assert_allclose(m.loop_errors([angle, -angle, angle])["j4"], 0.0, atol=ROUND_OFF)
    gap = m.loop_errors([angle, 0.0, 0.0])["j4"]  # all turns as one: the last pin moves on a circle about the origin
    np.testing.assert_allclose(gap, [np.cos(angle) - 1, 0, -np.sin(angle), 0, 0], atol=ROUND_OFF)


@pytest.mark.parametrize("parent", ["a", "world"])
@pytest.mark.parametrize("kind", BODY_KINDS)
def test_every_motion_of_a_kind_keeps_its_loop_closed(kind, parent):
    """The same kind as a tree joint, at random coordinates, is the judge; then any other motion opens as many rows as it should."""
    rng = np.random.default_rng(1)
    m = two(kind, parent)
    tree = two()
    if parent != "world":
        tree.add_joint("fly", "free", "world", "a")
    tree.add_joint("j", kind, parent, "b", ANCHOR, AXIS, axis2=AXIS2 if kind in ("universal", "planar") else None)
    assert (np.abs(m.loop_errors(m.neutral())["loop"]) < ROUND_OFF).all()
    for _ in range(3):
        T = tree.poses(tree.random(rng))
        q = np.concatenate([np.concatenate([x[:3, 3], from_matrix(x[:3, :3])]) for x in T])
        np.testing.assert_allclose(m.loop_errors(q)["loop"], 0.0, atol=10 * ROUND_OFF)
    rows = m.loop_errors(m.neutral())["loop"].shape[0]
    assert rows == 6 - KINDS[kind].nv
    J = np.array([(m.loop_errors(m.integrate(q, 1e-6 * e))["loop"] - m.loop_errors(q)["loop"]) / 1e-6 for e in np.eye(m.nv)])
    assert np.linalg.matrix_rank(J, tol=1e-3) == rows  # the rows are independent


def test_whole_trajectories_at_once():
    m = two("fixed")
    rng = np.random.default_rng(0)
    q = np.array([[m.random(rng) for _ in range(3)] for _ in range(2)])
    found = m.loop_errors(q)["loop"]
    assert found.shape == (2, 3, 6)
    np.testing.assert_allclose(found[1, 2], m.loop_errors(q[1, 2])["loop"], atol=ROUND_OFF)


def test_point_and_turn_of_a_weld():
    """The child stands right where its point meets the anchor and it is turned as asked."""
    m = dal.Model()
    m.add_body("b", 1.0, I, pose=((1, 2, 3), (1, 0, 0, 0)))
    turn = quat_exp(np.array([0.3, -0.2, 0.5]))
    m.add_loop("weld", "fixed", "world", "b", anchor=(0, 0, 0), point=(1, 2, 4), turn=turn)
    np.testing.assert_allclose(m.loop_errors(m.neutral())["weld"], [1, 2, 4, -0.3, 0.2, -0.5], atol=10 * ROUND_OFF)
    right = np.concatenate([-matrix(turn)[:, 2], turn])
    np.testing.assert_allclose(m.loop_errors(right)["weld"], 0.0, atol=10 * ROUND_OFF)


def test_distance_and_coupling():
    m = four_bar()
    m.add_loop("rod", "distance", "world", "top", anchor=(0, 0, 0), point=(1, 0, 1))
    m.add_loop("gear", "coupling", "j1", "j3", polynomial=(0.1, -2.0, 3.0))
    m.add_loop("stop", "coupling", "world", "j2", polynomial=0.25)
    assert m.loop("rod").length == pytest.approx(np.sqrt(2), rel=1e-15)
    found = m.loop_errors([0.5, -0.5, 0.7])
    # the top stays level: its far end is at the end of the left bar plus (1, 0, 0)
    assert found["rod"] == pytest.approx([np.hypot(np.sin(0.5) + 1, np.cos(0.5)) - np.sqrt(2)], abs=ROUND_OFF)
    assert found["gear"] == pytest.approx([0.7 - (0.1 - 2.0 * 0.5 + 3.0 * 0.25)], abs=ROUND_OFF)
    assert found["stop"] == pytest.approx([-0.75], abs=ROUND_OFF)


def test_loops_are_data():
    m = four_bar()
    m.add_loop("rod", "distance", "left", "right", anchor=(0, 0, 0.2), point=(1, 0, 0.2))
    m.add_loop("gear", "coupling", "j1", "j3", polynomial=(0, 1, 2))
    data = json.loads(json.dumps(m.to_dict()))
    assert [x["name"] for x in data["loops"]] == ["j4", "rod", "gear"]
    again = dal.Model.from_dict(data)
    assert again.to_dict() == m.to_dict()
    q = [0.1, 0.2, 0.3]
    for name, rows in m.loop_errors(q).items():
        np.testing.assert_array_equal(again.loop_errors(q)[name], rows)
    other = m.copy()
    other.add_loop("more", "coupling", "j1", "j2")
    assert len(m.loops) == 3 and len(other.loops) == 4
    with pytest.raises(dal.ModelError, match="frozen"):
        m.frozen().add_loop("more", "coupling", "j1", "j2")
    with pytest.raises(ValueError, match="read-only"):
        m.loop("j4").anchor[0] = 1.0
    assert "loops" not in dal.Model("bare").to_dict()


def test_names_are_shared_with_joints():
    m = four_bar()
    for name in ("j1", "j4"):
        with pytest.raises(dal.ModelError, match="joint of this name already"):
            m.add_joint(name, "spherical", "world", "top")
    m.add_body("extra", 1.0, I)
    with pytest.raises(dal.ModelError, match="joint of this name already"):
        m.add_joint("j4", "revolute", "world", "extra")
    assert m.joints[-1].name == "extra"
    m.add_loop("extra", "coupling", "j1", "j2")  # the implicit free joint gives the name away, as to any joint
    assert m.joints[-1].name == "extra (free)"
    m.add_body("j4", 1.0, I)
    assert m.joints[-1].name == "j4 (free)"
    assert dal.Model.from_dict(m.to_dict()).to_dict() == m.to_dict()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m.add_joint("k", "revolute", "world", "right", armature=1.0), "closes a loop.*armature"),
        (
            lambda m: m.add_loop("k", "distance", "left", "right", (0, 0, 1), damping=1.0),
            "distance loop has no coordinates.*damping.*revolute",
        ),
        (lambda m: m.add_loop("k", "fixed", "left", "right", friction=1.0), "takes no friction"),
        (lambda m: m.add_loop("k", "planar", "left", "right", limits=(-1, 1)), "planar joint takes none"),
        (lambda m: m.add_loop("k", "revolute", "left", "right", damping=-1.0), "damping is -1.0"),
        (lambda m: m.add_loop("k", "revolute", "left", "right", compliance=-1.0), "compliance is -1.0"),
        (lambda m: m.add_loop("k", "revolute", "left", "right", stifness=1.0), "did you mean 'stiffness'"),
        (lambda m: m.add_joint("k", "free", "world", "right"), "is free"),
        (lambda m: m.add_loop("k", "free", "world", "right"), "kind of loop 'k'"),
        (lambda m: m.add_loop("k", "fixed", "wrold", "right"), "did you mean 'world'"),
        (lambda m: m.add_loop("k", "fixed", "right", "right"), "both 'right'"),
        (lambda m: m.add_loop("k", "universal", "left", "right"), "axis2 is missing"),
        (lambda m: m.add_loop("k", "distance", "left", "right"), "length is 0.0"),
        (lambda m: m.add_loop("k", "distance", "left", "right", axis2=(1, 0, 0)), "no second axis"),
        (lambda m: m.add_loop("k", "fixed", "left", "right", length=1.0), "kind that does: distance"),
        (lambda m: m.add_loop("k", "fixed", "left", "right", turn=(1, 1, 0, 0)), "unit quaternion"),
        (lambda m: m.add_loop("k", "coupling", "j1", "j9"), "child of loop 'k'"),
        (lambda m: m.add_loop("k", "coupling", "j1", "j2", polynomial=()), "polynomial"),
        (lambda m: m.add_loop("k", "coupling", "j1", "j2", polynomial=(1, np.nan)), "finite"),
        (lambda m: m.add_loop("k", "coupling", "j1", "ball"), "degree of freedom"),
        (lambda m: m.add_motor("k", "j9"), "joint of motor"),
        (lambda m: m.loop("j1"), "loop"),
    ],
)
def test_mistakes_are_named(change, match):
    m = four_bar()
    m.add_body("free", 1.0, I)
    m.add_joint("ball", "spherical", "top", "free")
    before = m.to_dict()
    with pytest.raises(dal.DalembertError, match=match):
        change(m)
    assert m.to_dict() == before


def test_a_body_that_carries_itself_stays_an_error():
    m = two()
    m.add_joint("j", "revolute", "a", "b")
    with pytest.raises(dal.ModelError, match="cannot carry itself"):
        m.add_joint("k", "revolute", "b", "a")


def test_an_explicit_tree_stepper_refuses_loops_by_name():
    m = four_bar()
    with pytest.raises(UnsupportedError, match="loops"):
        dal.simulate(m, "mk4", h=0.01, t_end=0.01)
    assert dal.simulate(m, h=0.01, t_end=0.01, q0=m.assemble(m.neutral())[0]).stepper.symplectic
    tree = dal.Model.from_dict({k: x for k, x in m.to_dict().items() if k != "loops"})
    q0 = [0.1, 0.0, 0.0]
    a = dal.simulate(m, "mk4", h=0.01, t_end=0.1, q0=q0, ignore=("loops",))
    np.testing.assert_array_equal(a.q, dal.simulate(tree, "mk4", h=0.01, t_end=0.1, q0=q0).q)
    assert [loop.name for loop in a.model.loops] == ["j4"]


def test_a_rigid_body_stepper_refuses_loops_by_name():
    m = dal.Model("top")
    m.add_body("rotor", 1.0, I, com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    m.add_loop("string", "distance", "world", "rotor", anchor=(0, 0, 2), point=(0, 0, 1))
    with pytest.raises(UnsupportedError, match="loops"):
        dal.simulate(m, "cayley", h=0.01, t_end=0.01)
    assert dal.simulate(m, h=0.01, t_end=0.01).stepper.system == "tree"
    assert dal.simulate(m, "cayley", h=0.01, t_end=0.01, ignore=("loops",)).status == "ok"
