"""States of MuJoCo, Pinocchio and Drake: joint order, order of quaternions, frames of free joints."""

import numpy as np
import pinocchio
import pytest

import dalembert as dal
from dalembert.errors import OptionError, UnknownNameError
from dalembert.importers import conventions

I = (1.0, 1.2, 1.4)


def tree():
    """Two branches whose joints are added in an order that is neither depth first nor alphabetical."""
    m = dal.Model("tree")
    for name in ("base", "b", "a", "b2", "a2"):
        m.add_body(name, 1.0, I)
    m.add_joint("zig", "revolute", "base", "b")
    m.add_joint("arm", "spherical", "base", "a")
    m.add_joint("slide", "prismatic", "a", "a2")
    m.add_joint("flat", "planar", "b", "b2")
    return m


def states(m, n=5):
    rng = np.random.default_rng(6)
    return np.array([m.random(rng) for _ in range(n)]), rng.normal(size=(n, m.nv))


@pytest.mark.parametrize("other", ["mujoco", "pinocchio", "drake"])
def test_there_and_back(other):
    m = tree()
    q, v = states(m)
    there = getattr(m, f"to_{other}")(q, v)
    q1, v1 = getattr(m, f"from_{other}")(*there)
    np.testing.assert_allclose(v1, v, atol=1e-12)
    np.testing.assert_allclose(m.poses(q1), m.poses(q), atol=1e-12)  # a ball joint may come back as the other quaternion of the pair
    assert [j.name for j in conventions.depth_first(m)] == ["base", "zig", "flat", "arm", "slide"]
    assert [j.name for j in conventions.depth_first(m, by_name=True)] == ["base", "arm", "slide", "zig", "flat"]


def test_a_free_body_in_each_convention():
    m = dal.Model("one")
    m.add_body("b", 1.0, I)
    turn = np.array([0.5, 0.5, 0.5, 0.5])  # x -> y -> z -> x
    q, v = np.array([1.0, 2.0, 3.0, *turn]), np.array([0.1, 0.2, 0.3, 4.0, 5.0, 6.0])
    np.testing.assert_allclose(np.concatenate(m.to_mujoco(q, v)), [1, 2, 3, *turn, 6, 4, 5, 0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(np.concatenate(m.to_pinocchio(q, v)), [1, 2, 3, *turn, 4, 5, 6, 0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(np.concatenate(m.to_drake(q, v)), [*turn, 1, 2, 3, 0.3, 0.1, 0.2, 6, 4, 5], atol=1e-15)


def test_quaternions_of_pinocchio_end_with_the_scalar():
    m = tree()
    q = m.neutral()
    assert m.to_pinocchio(q)[0][6] == 1.0  # free: x y z, qx qy qz qw
    np.testing.assert_array_equal(m.to_pinocchio(q)[0][7:11], [0, 0, 0, 1])  # arm comes first by name


def test_a_ball_joint_of_drake_is_roll_pitch_yaw():
    m = dal.Model("ball")
    m.add_body("b", 1.0, I)
    m.add_joint("ball", "spherical", "world", "b")
    rpy = np.array([0.3, -0.4, 0.5])
    R = pinocchio.rpy.rpyToMatrix(*rpy)
    q, v = m.from_drake(rpy, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(m.poses(q)[0, :3, :3], R, atol=1e-15)
    np.testing.assert_allclose(v, R.T @ [1.0, 2.0, 3.0], atol=1e-14)
    np.testing.assert_allclose(m.to_drake(q, v)[0], rpy, atol=1e-15)


@pytest.mark.parametrize("floating", [None, True])
def test_planar_and_continuous_joints_as_in_pinocchio(places, load, pinocchio_judge, floating):
    path = places.data / "rover.urdf"
    pinocchio_judge(load(path, floating_base=floating), path, bool(floating))


def test_a_floating_joint_counts_from_its_origin_in_pinocchio(tmp_path, load, pinocchio_judge):
    path = tmp_path / "kite.urdf"
    path.write_text(
        """<robot name="kite"><link name="world"/><link name="kite"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
        <joint name="string" type="floating"><parent link="world"/><child link="kite"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
        </robot>"""
    )
    model = load(path)
    assert model.joints[0].kind == "free"
    np.testing.assert_allclose(model.neutral()[:3], [1, 2, 3])
    np.testing.assert_allclose(model.to_pinocchio(model.neutral())[0], [0, 0, 0, 0, 0, 0, 1], atol=1e-15)
    pinocchio_judge(model, path, floating=False)


def test_wrong_shapes_and_names_are_named():
    m = tree()
    with pytest.raises(OptionError, match=r"expected \(\.\.\., 16\)"):
        m.to_mujoco(np.zeros(3))
    with pytest.raises(UnknownNameError, match="zag"):
        m.to_pinocchio(m.neutral(), None, ["base", "zag"])
    with pytest.raises(OptionError, match="flat"):
        m.to_drake(m.neutral(), None, ["base", "zig", "arm", "slide"])
