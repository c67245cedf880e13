"""Poses after many turns of a joint."""

import numpy as np
import pytest

import dalembert as dal

EPS = np.finfo(float).eps


def chain(kind, links):
    m = dal.Model(kind)
    rng = np.random.default_rng(1)
    for i in range(links):
        m.add_body(f"b{i}", 1.0, (1, 1, 1), com=(0.1, 0.2, 0.3), pose=((0.3 * i, 0.1, 0.2), (0.8, 0, 0.6, 0)))
        axis = rng.normal(size=3)
        more = {"axis2": np.cross(axis, (1, 2, 3))} if kind == "universal" else {}
        m.add_joint(f"j{i}", kind, f"b{i - 1}" if i else "world", f"b{i}", (0.3 * i, 0, 0), axis, **more)
    return m


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "universal", "planar"])
@pytest.mark.parametrize("angle", [1.0, 3500.0, 1e6, 1e9])
def test_poses_stay_orthogonal_after_many_turns(kind, angle):
    """|R^T R - 1| has sums of three products of numbers that are off by a few eps each, however many joints come before."""
    m = chain(kind, 6)
    R = m.poses(np.random.default_rng(2).uniform(-angle, angle, size=(50, m.nq)))[..., :3, :3]
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 20 * EPS


def test_a_chain_of_two_hundred_links_has_orthogonal_poses():
    m = chain("revolute", 200)
    R = m.poses(np.random.default_rng(3).uniform(-3, 3, size=m.nq))[..., :3, :3]
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 20 * EPS


def test_a_hinge_that_has_turned_a_million_radians_stands_where_its_sine_and_cosine_say():
    """The angle is taken as it is: |angle axis| of a skew axis would be off by eps 1e6 rad."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        m = dal.Model("hinge")
        m.add_body("b", 1.0, (1, 1, 1))
        m.add_joint("j", "revolute", "world", "b", axis=axis)
        angle = rng.uniform(-1e6, 1e6)
        hat = np.cross(np.eye(3), axis)
        want = np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat
        np.testing.assert_allclose(m.poses(np.array([angle]))[0, :3, :3], want, rtol=0, atol=20 * EPS)
