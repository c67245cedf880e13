"""Runs again: without a browser, by what the page calls."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.web.fronts import view_trajectories

from .conftest import arm, boxes


@pytest.fixture(scope="module")
def swing():
    return dal.simulate(arm(), "midpoint", h=0.01, t_end=2.0, q0=[0.5])


@pytest.fixture(scope="module")
def bouncing():
    m = dal.Model("bounce")
    m.add_shape("world", dal.Plane(restitution=0.8))
    ball = dal.Sphere(0.1, restitution=0.8)
    m.add_body("ball", 1.0, ball.inertia(1.0), pose=((0, 0, 0.6), (1, 0, 0, 0)), shapes=[ball])
    return dal.simulate(m, "spook", h=0.01, t_end=1.5)


def test_a_time_between_nodes_is_on_the_geodesic(replay, swing):
    view = replay(swing)
    view.seek(0.505)
    view.draw()
    q, _ = swing.at(0.505)
    pose = swing.model.poses(q)[0]
    frame = view.tracks[0].bodies.frames[0]
    assert np.allclose(frame.position, pose[:3, 3], atol=1e-12)


def test_the_slider_seeks_and_play_goes_on_and_loops(replay, swing, until):
    view = replay(swing)
    view.panel.slider.value = 1.9
    until(lambda: view.t == pytest.approx(1.9))
    view.play()
    until(lambda: view.t < 1.0)  # past the end, a new round
    assert view.playing
    view.loop = False
    view.speed = 8.0
    until(lambda: not view.playing)
    assert view.t == view.end
    view.play()
    assert view.t < view.end


def test_events_are_visited_in_order(replay, bouncing):
    view = replay(bouncing)
    assert len(view.events) >= 2
    first = view.next_event()
    assert first.t == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=0.02) and "ball" in first.words and "world" in first.words
    second = view.next_event()
    assert second.t > first.t and view.t == pytest.approx(second.t)
    assert view.next_event(back=True) == first
    assert view.next_event(back=True) is None
    assert "1 of" in view.panel.event.content


def test_contacts_of_the_node_are_drawn(replay):
    traj = dal.simulate(boxes(), "spook", h=1 / 60, t_end=0.5)
    view = replay(traj)
    view.seek(0.4)
    view.draw()
    arrows = view.tracks[0].overlays.nodes["contacts"]
    assert arrows.visible and len(arrows.points) == 12


def test_several_runs_are_ghosts_or_side_by_side(replay, swing):
    other = dal.simulate(arm(), "mk4", h=0.02, t_end=1.0, q0=[0.5])
    view = replay(swing, other)
    assert view.end == 2.0 and view.tracks[0].bodies.opacity == 1.0 and view.tracks[1].bodies.opacity < 0.5
    view.seek(1.5)
    view.draw()
    assert np.allclose(view.tracks[1].bodies.frames[0].position, other.poses[-1, 0, :3, 3])  # it has ended, and stands
    view.set_beside(True)
    assert np.linalg.norm(view.tracks[1].bodies.top.position) > 0.5 and view.tracks[1].bodies.meshes[0][2].opacity is None
    view.set_beside(False)
    assert np.linalg.norm(view.tracks[1].bodies.top.position) == 0.0 and view.tracks[1].bodies.meshes[0][2].opacity < 0.5


def test_a_list_of_runs_is_a_bundle(swing):
    view = view_trajectories([[swing] * 5], port=0)
    try:
        assert len(view.tracks) == 5
    finally:
        view.close()


def test_traj_view_is_a_page_that_can_be_closed(swing):
    view = swing.view(port=0)
    assert view.url.startswith("http://127.0.0.1:")
    view.close()
    assert not view.thread.is_alive()


def test_one_node_alone_can_be_shown(replay, arm_sim):
    view = replay(arm_sim.trajectory())
    view.play()
    view.draw()
    assert view.t == 0.0


def test_a_machine_in_directors_is_shown(replay):
    traj = dal.simulate(dal.Directors(arm()), h=0.01, t_end=0.1)
    view = replay(traj)
    view.seek(0.05)
    view.draw()
    assert np.isfinite(view.tracks[0].bodies.frames[0].position).all()


def test_what_is_no_run_is_refused(swing):
    with pytest.raises(dal.OptionError, match="no trajectory"):
        swing.view("run.h5", port=0)
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        dal.simulate(s, h=0.1, t_end=1.0, q0=[1.0]).view(port=0)
    with pytest.raises(dal.OptionError, match=r"expected 1 \.\.\. 64"):
        view_trajectories([[swing] * 65], port=0)
