"""Attachments that move by themselves (lacoursiere2007, 14.11): a point that follows a path on a body, a turn that is given as a whole."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as dal

OMEGA = 3.0


def circle(t):
    """1 at t = 0, so that a body that stands there starts on it."""
    return 0.5 * np.cos(OMEGA * t) - 0.5, 0.5 * np.sin(OMEGA * t), 0.1 * t


def turns(t):
    """Two whole turns in 4 s about a tilted axis; of the length 2, which does not matter."""
    return 2 * np.cos(0.5 * np.pi * t), 1.2 * np.sin(0.5 * np.pi * t), 0, 1.6 * np.sin(0.5 * np.pi * t)


def rotation(pose):
    return Rotation.from_matrix(pose[..., :3, :3])


def led(h, t_end=1.0):
    """A ball of 1 kg at the end of a path in the world, hung above its centre: (trajectory, how far from its place)."""
    m = dal.Model("led")
    m.add_body("bob", 1.0, (0.02, 0.03, 0.04))
    m.add_joint("crane", "path", "world", "bob", (0, 0, 0.3), drive=circle)
    v0 = np.r_[np.zeros(3), 0.0, 0.5 * OMEGA, 0.1]
    traj = dal.simulate(m, "spook", h=h, t_end=t_end, v0=v0)
    place = (traj.poses[:, 0] @ np.array([0, 0, 0.3, 1.0]))[:, :3]
    return traj, np.linalg.norm(place - np.array(circle(traj.t)).T - [0, 0, 0.3], axis=1)


def test_a_point_follows_its_path_and_the_body_swings_below_it():
    """Of second order, as rows on positions are: (1 + 2 d)/4 h^2 of accelerations, d = 2, of the path and of the swing below it."""
    errors = [led(h)[1].max() for h in (0.02, 0.01, 0.005, 0.0025)]
    assert errors[-1] < 1.25 * 0.0025**2 * (0.5 * OMEGA**2 + 9.81)
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0] > 1.8


def test_a_path_on_a_body_turns_with_that_body_and_takes_its_momentum():
    """Without gravity: a slide that moves along the x axis of a free body. Momentum of both stays; in the axes of the carrier the rider is
    where the path says."""
    m = dal.Model("pair", gravity=(0, 0, 0))
    m.add_body("carrier", 2.0, (0.5, 0.6, 0.7))
    m.add_body("rider", 1.0, (0.1, 0.1, 0.1), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("slide", "path", "carrier", "rider", (1, 0, 0), drive=(lambda t: 0.3 * np.sin(2 * t) ** 2, 0.0, 0.0))
    v0 = np.r_[0, 0, 1.0, 0, 0, 0, np.zeros(3), 0, 1.0, 0]
    traj = dal.simulate(m, "spook", h=1e-3, t_end=3.0, v0=v0)
    inside = np.linalg.solve(traj.poses[:, 0], traj.poses[:, 1, :, 3:])[:, :3, 0]
    np.testing.assert_allclose(inside, np.array([1 + 0.3 * np.sin(2 * traj.t) ** 2, 0 * traj.t, 0 * traj.t]).T, atol=1e-5)
    drift = np.abs(traj.momentum - traj.momentum[0]).max(axis=0)
    assert drift[3:].max() < 1e-12
    assert drift[:3].max() < 1e-6  # h^2: turning under known and unknown torques is not exact
    assert np.abs(traj.poses[-1, 0, :3, 3]).max() > 0.1  # the carrier is pushed


def turned(h, t_end=4.0, drive=turns, **more):
    m = dal.Model("gimbal", gravity=(0, 0, 0))
    m.add_body("base", 3.0, (1, 1.5, 2))
    m.add_body("head", 1.0, (0.1, 0.2, 0.25))
    m.add_joint("ball", "spherical", "base", "head")
    m.add_joint("turn", "orientation", "base", "head", drive=drive, **more)
    return dal.simulate(m, "spook", h=h, t_end=t_end, q0=None, v0=None)


def test_an_orientation_is_followed_through_whole_turns():
    """Relative turn of head against base = that of the quaternion, to second order in h; angular momentum stays 0 as well
    as turning under multipliers keeps it, to first order."""
    errors, lost = [], []
    for h in (0.02, 0.01, 0.005, 0.0025):
        traj = turned(h)
        p = np.array(np.broadcast_arrays(*(np.asarray(x) + 0.0 * traj.t for x in turns(traj.t)))).T
        wanted = Rotation.from_quat(p[:, [1, 2, 3, 0]])
        off = (rotation(traj.poses[:, 0]).inv() * rotation(traj.poses[:, 1]) * wanted.inv()).magnitude()
        errors.append(off[traj.t > 1.0].max())  # from rest at the start, while the drive has a rate: a jump dies out
        lost.append(np.abs(traj.momentum).max())
    assert errors[-1] < 1e-5 and lost[-1] < 0.0025
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0] > 1.8
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(lost), 1)[0] > 0.9
    assert rotation(traj.poses[:, 0]).magnitude().max() > 0.1  # the base turns the other way


def test_an_orientation_comes_back_from_far():
    """Held at a turn of 170 degrees while it starts at none."""
    traj = turned(1 / 60, 2.0, drive=(np.cos(np.radians(85)), 0.0, np.sin(np.radians(85)), 0.0))
    found = rotation(traj.poses[-1, 0]).inv() * rotation(traj.poses[-1, 1])
    np.testing.assert_allclose(found.as_rotvec(), [0, np.radians(170), 0], atol=1e-6)


def test_a_turn_with_a_bound_slips():
    """Greatest torque 0.01 N m on the head of 0.25 kg m^2 about z: it cannot follow."""
    traj = turned(0.01, 1.0, drive=lambda t: (np.cos(t**2), 0, 0, np.sin(t**2)), drive_limits=0.01)
    assert np.abs(traj.reaction("turn", drive=True)[1:]).max() <= 0.01 * (1 + 1e-9)
    assert (rotation(traj.poses[-1, 0]).inv() * rotation(traj.poses[-1, 1])).magnitude() < 0.2


def test_they_survive_a_file(tmp_path):
    m = dal.Model("led")
    m.add_body("bob", 1.0, (0.02, 0.03, 0.04))
    m.add_joint("crane", "path", "world", "bob", (0, 0, 0.3), drive=circle, compliance=0.0)
    m.add_joint("turn", "orientation", "world", "bob", drive=turns)
    again = dal.Model.from_dict(m.to_dict())
    assert again.to_dict() == m.to_dict()
    a, b = (dal.simulate(x, "spook", h=0.01, t_end=0.5) for x in (m, again))
    np.testing.assert_array_equal(a.q, b.q)
    a.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(dal.load(tmp_path / "run.h5").q, a.q)


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("path", {}, "a path needs a drive; expected one function of 3 numbers, x, y, z, or 3 functions"),
        ("path", {"drive": lambda t: (t, t)}, "expected one function of 3 numbers"),
        ("orientation", {"drive": lambda t: t}, "expected one function of 4 numbers"),
        ("orientation", {"drive": {0: 1.0, 1: 0.0}}, "expected one function of 4 numbers"),
        ("path", {"drive": (0.0, 0.0, np.nan)}, "nan"),
        ("path", {"drive": (0.0, 0.0, 0.0), "force_limits": 1.0}, "expected drive_limits"),
        ("path", {"drive": (0.0, 0.0, 0.0), "stiffness": 1.0}, "takes no stiffness"),
        ("orientation", {"drive": (0.0, 0.0, 0.0, 0.0)}, "is 0 at t = 0"),
    ],
)
def test_what_is_missing_or_wrong_is_said(kind, given, says):
    m = dal.Model()
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(dal.ModelError, match=says):
        m.add_joint("j", kind, "world", "a", **given)


def test_steppers_of_trees_refuse_them_by_name():
    m = dal.Model()
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("j", "path", "world", "a", drive=circle)
    with pytest.raises(dal.DalembertError, match="loop drive"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.1)
    assert dal.simulate(m, "midpoint", h=0.01, t_end=0.1, ignore=("loop drive",)).status == "ok"
