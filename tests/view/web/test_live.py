"""A simulation that runs under a page: without a browser, by what the page calls."""

import math
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.web import changes
from dalembert.view.web.live_panel import pace_words, reading

from .conftest import arm, boxes


def place(view, name):
    snap = view.driver.snapshot
    return snap.model.poses(snap.q)[[b.name for b in snap.model.bodies].index(name), :3, 3]


def settle(view, until):
    """Wait for the next step of a run."""
    t = view.driver.snapshot.t
    until(lambda: view.driver.snapshot.t > t)


# the clock -----------------------------------------------------------------------------------------------------------------------------


def test_it_runs_and_pauses_and_steps(live, box_sim, until):
    view = live(box_sim)
    until(lambda: view.driver.snapshot.t > 0.1)
    view.panel.press("pause")
    until(lambda: not view.driver.playing)
    time.sleep(0.1)
    t = view.driver.snapshot.t
    time.sleep(0.3)
    assert view.driver.snapshot.t == t
    view.panel.press("step")
    until(lambda: view.driver.snapshot.t > t)
    assert view.driver.snapshot.t == pytest.approx(t + 1 / 60, abs=1e-12)
    view.panel.press("play")
    until(lambda: view.driver.snapshot.t > t + 0.1)


def test_reset_goes_back_to_the_start(live, arm_sim, until):
    first = arm_sim.state.q.copy()
    view = live(arm_sim)
    until(lambda: view.driver.snapshot.t > 0.2)
    view.panel.press("pause")
    assert view.reset().wait(30)
    until(lambda: view.driver.snapshot.t == 0.0)
    assert np.array_equal(view.driver.snapshot.q, first)


def test_time_is_that_of_the_clock_on_the_wall(live, arm_sim, until):
    """Bounds of a loaded machine: it may be slower, which it then says; faster than the wall it never is."""
    view = live(arm_sim, speed=0.5)
    until(lambda: view.driver.snapshot.t > 0.1)
    t, wall = view.driver.snapshot.t, time.monotonic()
    until(lambda: view.driver.snapshot.t > t + 0.5)
    assert view.driver.snapshot.t - t < 0.5 * (time.monotonic() - wall) + 0.1
    view.driver.speed = 4.0
    t, wall = view.driver.snapshot.t, time.monotonic()
    until(lambda: view.driver.snapshot.t > t + 2.0)
    assert time.monotonic() - wall > 0.3


def test_too_slow_a_machine_says_so(live, until):
    def slow(t, q, v):
        time.sleep(0.05)
        return np.zeros(1)

    view = live(dal.Simulation(arm(), "midpoint", h=0.01, keep=0, control=slow))
    until(lambda: view.driver.pace.ratio < 0.5)
    words = pace_words(view.driver)
    assert "running at 0." in words and "of real time" in words
    until(lambda: "running at" in view.panel.words.content)


def test_another_step_size(live, box_sim, until):
    view = live(box_sim)
    view.panel.h.value = 5.0
    until(lambda: box_sim.h == pytest.approx(5e-3))


def test_another_stepper_goes_on_from_here_at_its_time(live, until):
    seen = []

    def control(t, q, v):
        seen.append(t)
        return np.array([np.sin(t)])

    sim = dal.Simulation(arm(), "midpoint", h=0.01, keep=0, q0=np.array([0.5]), control=control)
    assert {"mk4", "spook"} <= set(changes.able_steppers(sim.model))
    view = live(sim, play=False)
    view.driver.step(30)
    until(lambda: view.driver.snapshot.t > 0.29)
    before = view.driver.snapshot
    for name, t in (("mk4", 0.3), ("spook", 0.31), ("midpoint", 0.32)):
        view.panel.stepper.value = name
        until(lambda name=name: view.driver.snapshot.stepper == name)
        now = view.driver.snapshot
        assert now.t == pytest.approx(t, abs=1e-12) and sim.stepper.name == name
        assert np.allclose(now.q, before.q, atol=1e-9) and np.allclose(now.v, before.v, atol=1e-9)
        view.driver.step()
        until(lambda t=now.t: view.driver.snapshot.t > t)
        before = view.driver.snapshot
        assert seen[-1] == pytest.approx(t, abs=1e-12), "the control is asked at the true time"
    assert view.driver.trouble == view.driver.said == ""


def test_a_stepper_that_is_refused_changes_nothing(live, box_sim, until):
    view = live(box_sim, play=False)
    view.driver.step(3)
    until(lambda: view.driver.snapshot.t > 0.04)
    before = box_sim.state
    assert view.driver.change(lambda s: s.switch("midpoint")).wait(60)
    assert "contact" in view.driver.said and box_sim.stepper.name == "spook"
    assert box_sim.state.t == before.t and np.array_equal(box_sim.state.q, before.q)


def test_sliders_of_contacts_come_and_go_with_the_stepper_that_knows_them(live, until):
    m = arm()
    m.add_shape("world", dal.Plane())
    view = live(dal.Simulation(m, "midpoint", h=0.01, keep=0), play=False)
    sliders = (view.panel.friction, view.panel.compliance)
    assert not any(s.visible for s in sliders)
    assert view.driver.change(lambda s: s.switch("spook")).wait(60)
    until(lambda: all(s.visible for s in sliders))
    view.panel.friction.value = 0.25
    until(lambda: view.sim.model.world_shapes[0].friction == 0.25)
    assert view.driver.change(lambda s: s.switch("trapezoidal")).wait(60)
    until(lambda: not any(s.visible for s in sliders))
    assert view.driver.trouble == view.driver.said == ""


# what acts -----------------------------------------------------------------------------------------------------------------------------


def test_a_dragged_body_goes_where_it_is_pulled(live, box_sim, until):
    view = live(box_sim)
    there = np.array([0.4, 0.0, 0.8])
    start = place(view, "box1")
    view.drag("box1", "start", start, start)
    view.drag("box1", "update", start, there)
    until(lambda: np.linalg.norm(place(view, "box1") - there) < 0.05)
    assert np.linalg.norm(place(view, "box0") - [0, -0.6, 0.1]) < 0.01
    view.drag("box1", "end", start, there)
    assert view.driver.drag is None
    until(lambda: place(view, "box1")[2] < 0.15)


def test_a_body_in_joints_is_pulled_along_them(live, arm_sim, until):
    view = live(arm_sim)
    start = place(view, "rod")
    view.drag("rod", "start", start, np.array([-0.5, 0.0, 0.0]))
    until(lambda: view.driver.snapshot.q[0] > 1.0)  # the axis is y: positive towards -x
    assert view.driver.trouble == ""


@pytest.mark.parametrize("end", [(np.nan, 0, 0), (np.inf, 0, 0), (1e9, 0, 0)])
def test_a_mouse_that_is_nowhere_lets_go(live, box_sim, end):
    view = live(box_sim, play=False)
    start = place(view, "box1")
    view.drag("box1", "start", start, start)
    assert view.driver.drag is not None
    view.drag("box1", "update", start, end)
    assert view.driver.drag is None


def test_a_kick_is_an_impulse(live, box_sim, until):
    view = live(box_sim, play=False)
    view.kick(3.0)
    assert "click a body first" in view.driver.said
    view.choose("box2")
    view.kick(3.0, (0, 0, 1))
    view.driver.step()
    until(lambda: view.driver.snapshot.t > 0)
    v = view.driver.snapshot.v[view.driver.snapshot.model.v_slices()[view.driver.snapshot.model.joints[2].name]]
    assert v[5] == pytest.approx(3.0 - 9.81 / 60, abs=1e-6)


def test_twenty_boxes_are_added_and_one_is_deleted(live, box_sim, until):
    view = live(box_sim)
    for _ in range(20):
        assert view.add("box").wait(60)
    until(lambda: len(view.driver.snapshot.model.bodies) == 23)
    assert view.driver.said == view.driver.trouble == ""
    settle(view, until)
    view.draw(view.driver.snapshot)
    view.choose("box 7")
    assert view.delete().wait(60)
    until(lambda: "box 7" not in [b.name for b in view.driver.snapshot.model.bodies])
    view.draw(view.driver.snapshot)
    assert view.chosen == "" and len(view.model.bodies) == 22
    assert view.reset().wait(60)
    until(lambda: view.driver.snapshot.t < 1.0)
    assert len(view.driver.snapshot.model.bodies) == 22


def test_a_ball_of_a_page_rolls_into_the_same_world(live, box_sim, until):
    view = live(box_sim)
    assert view.add("ball", (2.0, 0.0, 0.5)).wait(60)
    until(lambda: len(view.driver.snapshot.model.bodies) == 4 and abs(place(view, "ball 1")[2] - 0.1) < 5e-3)


def test_sliders_of_nature_act(live, box_sim, until):
    view = live(box_sim)
    view.panel.gravity.value = 1.62
    until(lambda: np.allclose(box_sim.model.gravity, (0, 0, -1.62)))
    view.panel.friction.value = 0.1
    until(lambda: {s.friction for b in box_sim.model.bodies for s in b.shapes} == {0.1})
    assert box_sim.model.world_shapes[0].friction == 0.1
    view.panel.compliance.value = -5.0
    until(lambda: box_sim.options["eps"] == pytest.approx(1e-5))
    settle(view, until)
    assert view.driver.said == view.driver.trouble == ""


def test_no_friction_lets_a_kicked_box_slide(live, until):
    sim = dal.Simulation(boxes(), "spook", h=1 / 60, keep=0)
    view = live(sim, play=False)
    assert view.driver.change(lambda s: changes.set_friction(s, 0.0)).wait(60)
    view.choose("box1")
    view.kick(1.0, (1, 0, 0))
    view.driver.step(60)
    until(lambda: view.driver.snapshot.t > 0.99)
    assert place(view, "box1")[0] == pytest.approx(1.0, abs=0.05)


def test_motors_by_sliders(live, arm_sim, until):
    view = live(arm_sim)
    assert list(view.panel.motors) == ["motor"]
    view.panel.motors["motor"].value = 15.0
    until(lambda: view.driver.snapshot.q[0] > 2.0)
    assert view.driver.trouble == view.driver.said == ""


def test_motors_by_keys(live, until):
    m = arm()
    m.add_motor("second", "hinge", limit=5.0)
    view = live(dal.Simulation(m, "midpoint", h=0.01, keep=0), play=False)
    keys, motors = view.panel.keys, view.panel.motors
    assert keys.motor == "motor" and {"space", "N", "R", "B", "I", "K", "J", "L", "O"} == set(keys.commands)
    for _ in range(12):
        keys.turn(0.1)
    assert motors["motor"].value == 20.0, "within the limit of the motor"
    keys.choose(1)
    keys.turn(-0.1)
    assert keys.motor == "second" and motors["second"].value == pytest.approx(-0.5)
    view.driver.step(50)
    until(lambda: view.driver.snapshot.t > 0.49)
    assert view.driver.snapshot.q[0] > 0.5 and view.driver.said == ""
    keys.rest()
    keys.choose(1)
    assert keys.motor == "motor" and [s.value for s in motors.values()] == [0.0, 0.0]


def test_a_machine_without_motors_has_keys_of_the_clock_alone(live):
    assert set(live(dal.Simulation(boxes(), "spook", h=1 / 60, keep=0), play=False).panel.keys.commands) == {"space", "N", "R", "B"}


def test_motors_of_bodies_cut_free(live, until):
    view = live(dal.Simulation(arm(), "spook", h=0.01, keep=0))
    view.panel.motors["motor"].value = 15.0
    until(lambda: view.driver.snapshot.q[0] > 2.0)


# trouble -------------------------------------------------------------------------------------------------------------------------------


def test_a_step_that_is_refused_stops_the_clock_and_reset_goes_on(live, until):
    broken = [True]

    def control(t, q, v):
        if broken[0] and t > 0.1:
            raise ValueError("the gripper is jammed")
        return np.zeros(1)

    view = live(dal.Simulation(arm(), "midpoint", h=0.01, keep=0, control=control))
    until(lambda: view.driver.trouble)
    assert "the gripper is jammed" in view.driver.trouble and not view.driver.playing
    until(lambda: view.panel.trouble.visible and "the gripper is jammed" in view.panel.trouble.content)
    view.panel.press("play")
    view.panel.press("step")
    assert not view.driver.playing
    broken[0] = False
    view.panel.press("reset")
    until(lambda: view.driver.snapshot.t > 0.3)
    assert view.driver.trouble == "" and view.driver.playing


def test_a_change_that_is_refused_is_told_and_changes_nothing(live, box_sim, until):
    view = live(box_sim)
    assert view.driver.change(lambda s: changes.remove_body(s, "nobody")).wait(30)
    until(lambda: "nobody" in view.driver.said)
    settle(view, until)
    assert view.driver.trouble == "" and len(box_sim.model.bodies) == 3


def test_a_formula_has_nothing_to_show():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        dal.Simulation(s, h=0.1).view(port=0)


@pytest.mark.parametrize("speed", [0.0, -1.0, math.inf, "fast"])
def test_a_speed_that_is_none_is_refused(box_sim, speed):
    with pytest.raises(dal.OptionError, match="speed"):
        box_sim.view(port=0, speed=speed)


def test_whatever_a_page_sends_a_slider_stays_within_its_ends(live, box_sim, until):
    view = live(box_sim)
    for slider in (view.panel.speed, view.panel.h, view.panel.gravity, view.panel.friction, view.panel.compliance):
        slider._impl.value = math.nan  # what a message of a page writes before callbacks are called
        assert reading(slider) == slider.min
        slider._impl.value = 1e300
        assert reading(slider) == slider.max
    settle(view, until)


def test_the_last_body_stays(live, until):
    view = live(dal.Simulation(boxes(1), "spook", h=1 / 60, keep=0))
    view.choose("box0")
    assert view.delete().wait(60)
    assert "no degree of freedom" in view.driver.said and view.driver.trouble == ""
    settle(view, until)
    assert [b.name for b in view.driver.snapshot.model.bodies] == ["box0"]


# what is drawn -------------------------------------------------------------------------------------------------------------------------


def test_equal_bodies_are_one_node_and_arrows_are_forces(live, box_sim, until):
    view = live(box_sim)
    assert len(view.bodies.shared) == 1 and not view.bodies.frames
    until(lambda: len(view.driver.snapshot.contacts) >= 12)
    view.panel.press("pause")
    until(lambda: not view.driver.playing)
    snap = view.driver.snapshot
    view.draw(snap)
    node = view.bodies.shared[0][1]
    assert np.allclose(node.batched_positions[:, 1], [-0.6, 0.0, 0.6], atol=1e-3)
    ends = view.overlays[0].nodes["contacts"].points
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum()
    assert length == pytest.approx(3 * view.bodies.size, rel=0.02)  # the weight of three boxes, each as long as a box is large


def test_every_overlay_can_be_ticked(live, box_sim, until):
    view = live(box_sim)
    for box in view.panel.boxes.values():
        if isinstance(box.value, bool):
            box.value = True
    until(lambda: all(view.overlays[0].on.values()))
    view.choose("box1")
    view.kick(3.0, (1, 0, 1))
    t = view.driver.snapshot.t
    until(lambda: view.driver.snapshot.t > t + 0.2)
    view.panel.press("pause")
    for _ in range(3):
        view.draw(view.driver.snapshot)
    over = view.overlays[0]
    assert over.axes.visible and over.nodes["momentum"].visible


def test_plots_are_fed(live, box_sim, until):
    view = live(box_sim)
    until(lambda: len(view.panel.plots.rows) >= 4)
    assert len(view.panel.plots.plots["energy, J"].data[0]) >= 3
    rows = list(view.panel.plots.rows)
    assert all(np.isfinite(list(row.values())).all() for row in rows)
    assert [row["energy, J: potential"] for row in rows] == pytest.approx([3 * 9.81 * 0.1] * len(rows), rel=1e-3)
    assert max(abs(row["energy, J: balance"]) for row in rows) < 1e-2
    assert rows[-1]["contacts: contacts"] == 12


def test_a_simulation_that_keeps_its_nodes_is_whole_afterwards(until):
    sim = dal.Simulation(boxes(), "spook", h=1 / 60)
    view = sim.view(port=0)
    until(lambda: view.driver.snapshot.t > 0.2)
    view.close()
    traj = sim.trajectory()
    assert traj.t[-1] == sim.state.t and len(traj) == round(60 * sim.state.t) + 1
    assert sim.step().t == pytest.approx(traj.t[-1] + 1 / 60)
    assert not view.driver.thread.is_alive() and not view.thread.is_alive()
