"""Which nodes a replay shows, and their poses."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.rotation import matrix
from dalembert.view.page.frames import choose_frames, most_frames, packed, poses_at, quaternions


def wheel(turns, nodes=5000):
    """A body that turns so often about a fixed axis, (model, t, q)."""
    m = dal.Model("wheel")
    m.add_body("disk", 1.0, (1.0, 1.0, 2.0))
    m.add_joint("axle", "revolute", "world", "disk", axis=(0, 0, 1))
    return m, np.linspace(0.0, 10.0, nodes), np.linspace(0.0, 2 * np.pi * turns, nodes)[:, None]


def test_quaternions_give_their_matrices_back_at_every_angle():
    rng = np.random.default_rng(3)
    axes = rng.normal(size=(60, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 40), np.pi * np.ones(10), np.zeros(10)])
    q = np.concatenate([np.cos(angles / 2)[:, None], np.sin(angles / 2)[:, None] * axes], axis=1)
    R = np.array([matrix(x) for x in q])
    found = quaternions(R)
    np.testing.assert_allclose(np.array([matrix(x) for x in found]), R, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)


def test_short_runs_are_shown_whole():
    m, t, q = wheel(3, 200)
    frames = choose_frames(m, t, q, 2000, 1.0)
    np.testing.assert_array_equal(frames.times, t)
    assert frames.segments == [(0, 199)] and frames.whole


def test_slow_motion_is_thinned_evenly_from_beginning_to_end():
    m, t, q = wheel(3)
    frames = choose_frames(m, t, q, 500, 1.0)
    assert frames.whole and len(frames.times) == 500
    assert frames.times[0] == 0.0 and frames.times[-1] == 10.0


def test_quick_motion_is_shown_in_windows_that_the_eye_can_follow():
    m, t, q = wheel(300)
    frames = choose_frames(m, t, q, 500, 1.0)
    assert len(frames.segments) == 3 and len(frames.times) <= 500
    assert frames.times[0] == 0.0 and frames.times[-1] > 9.9
    for a, b in frames.segments:
        turn = 2 * np.pi * 300 / 10.0 * np.diff(frames.times[a : b + 1])
        assert turn.max() < 0.8
    assert [a for a, _ in frames.segments[1:]] == [b + 1 for _, b in frames.segments[:-1]]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_nodes_that_cannot_be_drawn_are_left_out(value):
    m, t, q = wheel(3, 100)
    q[60:] = value
    assert choose_frames(m, t, q, 2000, 1.0).times[-1] == t[59]


def test_many_bodies_have_fewer_frames():
    assert most_frames(1, 3_000_000) == 2000
    assert 28 * 1000 * most_frames(1000, 3_000_000) <= 3_000_000


def test_poses_at_nodes_are_those_of_the_run_and_between_them_on_the_way(chain_run):
    at = poses_at(chain_run, chain_run.t[:50])
    np.testing.assert_allclose(at, packed(chain_run.poses[:50]), atol=1e-6)  # single precision
    middle = poses_at(chain_run, 0.5 * (chain_run.t[10:11] + chain_run.t[11:12]))[0]
    np.testing.assert_allclose(middle[:, :3], 0.5 * (at[10] + at[11])[:, :3], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(middle[:, 3:], axis=1), 1.0, atol=1e-6)


def test_there_are_no_poses_behind_the_end(chain_run):
    found = poses_at(chain_run, np.array([chain_run.t[-1], chain_run.t[-1] + 0.5]))
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()


def test_the_two_quaternions_of_a_rotation_do_not_turn_the_long_way():
    m = dal.Model("wheel")
    m.add_body("disk", 1.0, (1.0, 1.0, 2.0))
    m.add_joint("axle", "revolute", "world", "disk", axis=(0, 0, 1))
    run = dal.Trajectory.of_nodes(m, [0.0, 1.0], [[1.5 * np.pi - 0.1], [1.5 * np.pi + 0.1]], [[0.2], [0.2]])
    ends, middle = packed(run.poses)[:, 0], poses_at(run, np.array([0.5]))[0, 0]
    assert ends[0, 3:] @ ends[1, 3:] < 0.0  # one has the other sign
    assert middle[3] * middle[6] == pytest.approx(-0.5, abs=1e-6)  # three quarters of a turn about z
