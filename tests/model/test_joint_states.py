"""Coordinates of joints from poses: every kind inverts its own transform and twist; `traj.joint` of trees and of loops."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.joints import KINDS
from dalembert.model.rotation import quat_about, quat_mul


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_and_rates_invert_transform_and_twist(kind):
    rng = np.random.default_rng(5)
    joint = KINDS[kind]
    for _ in range(20):
        axis, axis2 = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
        axes = joint.axes(axis, axis2)
        q = np.array([joint.random(rng) for _ in range(3)]).reshape(3, joint.nq)
        v = rng.normal(size=(3, joint.nv))
        position, quaternion = joint.transform(q, axes)
        for sign in (1.0, -1.0):  # both quaternions are the same turn
            found = joint.coordinates(position, sign * quaternion, axes)
            np.testing.assert_allclose(joint.difference(q, found), 0.0, atol=1e-13)
        near = 1.0 / (1.0 - abs(axes.axis @ axes.axis2)) if kind == "universal" else 1.0  # nearly parallel axes tell their rates badly
        np.testing.assert_allclose(joint.rates(q, joint.twist(q, v, axes), axes), v, atol=1e-13 * near)


@pytest.mark.parametrize("angle", [0.0, 1e-9, np.pi, -np.pi, np.pi - 1e-9, 3.0])
def test_angles_are_principal(angle):
    axis = np.array([0.6, 0.0, 0.8])
    found = KINDS["revolute"].coordinates(np.zeros(3), quat_about(axis, np.array([angle])), KINDS["revolute"].axes(axis, None))
    assert -np.pi < found[0] <= np.pi
    assert abs(np.exp(1j * found[0]) - np.exp(1j * angle)) < 1e-15


def parallelogram():
    m = dal.Model("parallelogram", gravity=(0, 0, 0))
    for name, x, z in (("left", 0, 0.5), ("top", 1.0, 1), ("right", 2, 0.5)):
        m.add_body(name, 1.0, (0.1, 0.12, 0.14), pose=((x, 0, z), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "world", "left", (0, 0, 0), (0, 1, 0))
    m.add_joint("j2", "revolute", "left", "top", (0, 0, 1), (0, 1, 0))
    m.add_joint("j3", "revolute", "top", "right", (2, 0, 1), (0, 1, 0))
    m.add_joint("j4", "revolute", "world", "right", (2, 0, 0), (0, 1, 0))
    m.add_joint("rod", "distance", "left", "right", (0, 0, 0.5), point=(2, 0, 0.5))
    return m


def test_the_angle_of_a_loop_joint_counts_turns():
    """In a parallelogram both cranks turn by the same angle: that of the tree joint is the judge of the loop joint."""
    m = parallelogram()
    t = np.linspace(0, 5, 101)
    angle = 4.0 * t + np.sin(t)
    rate = 4.0 + np.cos(t)
    q = np.stack([angle, -angle, angle], axis=1)
    traj = dal.Trajectory.of_nodes(m, t, q, np.stack([rate, -rate, rate], axis=1))
    assert np.abs(traj.constraint).max() < 1e-13
    found = traj.joint("j4")
    assert found._fields == ("q", "v")
    np.testing.assert_allclose(found.q[:, 0], angle, atol=1e-13)
    np.testing.assert_allclose(found.v[:, 0], rate, atol=1e-13)
    tree = traj.joint("j1")
    np.testing.assert_array_equal(tree.q, q[:, :1])
    np.testing.assert_array_equal(tree.v[:, 0], rate)


def test_the_rate_of_a_loop_joint_is_the_derivative_of_its_angle():
    m = parallelogram()
    m.remove_joint("rod")
    traj = dal.simulate(m, h=0.01, t_end=2.0, q0=[0.3, -0.3, 0.3], v0=[2.0, -2.0, 2.0])
    fine = traj.joint("j4")
    slope = (fine.q[2:, 0] - fine.q[:-2, 0]) / 0.02
    assert np.abs(slope - fine.v[1:-1, 0]).max() < 1e-3 * np.abs(slope).max()  # h^2/6 of the third derivative


def test_placed_loops_are_measured_from_where_they_are_to_be():
    """`point` and `turn`: a child that is to stand elsewhere than at the reference has q = 0 there."""
    m = dal.Model()
    m.add_body("a", 1.0, (1, 1, 1), pose=((3, 0, 0), (1, 0, 0, 0)))
    turn = quat_about(np.array([1.0, 0, 0]), np.array([0.5]))
    m.add_loop("hinge", "revolute", "world", "a", (0, 0, 1), (0, 0, 1), point=(3, 0, 0), turn=turn)
    m.add_loop("ball", "spherical", "world", "a", (0, 0, 1), point=(3, 0, 0))
    wanted = np.concatenate([[0, 0, 1], turn])
    assert np.abs(m.loop_errors(wanted)["hinge"]).max() < 1e-15
    about = quat_about(np.array([0, 0, 1.0]), np.array([0.7]))
    q = np.array([wanted, np.concatenate([[0, 0, 1], quat_mul(about, turn)])])
    traj = dal.Trajectory.of_nodes(m, [0.0, 1.0], q, np.zeros((2, 6)))
    np.testing.assert_allclose(traj.joint("hinge").q[:, 0], [0.0, 0.7], atol=1e-15)
    assert traj.joint("ball").q.shape == (2, 4)


def test_quaternions_of_loops_do_not_change_sign_along_a_run():
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_loop("ball", "spherical", "world", "a")
    traj = dal.simulate(m, h=0.05, t_end=10.0, v0=[1.0, 2.0, -1.0, 0, 0, 0])
    q = traj.joint("ball").q
    assert np.sum(q[1:] * q[:-1], axis=1).min() > 0.9
    assert q[:, 0].min() < -0.9  # and it went round


def test_joints_that_are_none_are_named():
    m = parallelogram()
    traj = dal.Trajectory.of_nodes(m, [0.0], m.neutral()[None], np.zeros((1, 3)))
    with pytest.raises(dal.UnknownNameError, match=r"unknown joint 'j5'.*j4"):
        traj.joint("j5")
    with pytest.raises(dal.UnsupportedError, match=r"joint 'rod': a distance loop has no coordinates; traj.constraint has its residuals"):
        traj.joint("rod")
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)
    run = dal.simulate(s, h=0.01, t_end=0.1, q0=[1.0])
    with pytest.raises(dal.UnsupportedError, match="has no joints"):
        run.joint("x")
