"""Dry friction of ball joints: the same about every axis, against the spin, and as the ball law says where a torque turns it."""

import numpy as np
import pytest
from contact_laws import H
from scipy.integrate import solve_ivp

import dalembert as dal


def ball(friction=2.0, inertia=(0.5, 0.5, 0.5)):
    m = dal.Model("ball", gravity=(0, 0, 0))
    m.add_body("b", 1.0, inertia)
    m.add_joint("j", "spherical", "world", "b", friction=friction)
    return m


AXES = [(1, 0, 0), (1, 1, 0), (1, 1, 1), (-0.3, 0.5, 0.8)]


@pytest.mark.parametrize("axis", AXES)
def test_it_holds_up_to_its_torque_about_any_axis(axis):
    n = np.array(axis) / np.linalg.norm(axis)
    for part, slips in ((0.99, False), (1.01, True)):
        traj = dal.simulate(ball(), "spook", h=H, t_end=1.0, control=lambda t, q, v, part=part: part * 2.0 * n)
        speed = np.linalg.norm(traj.joint("j").v[-1])
        assert (speed > 1e-2) == slips
        if slips:
            assert speed == pytest.approx(0.02 / 0.5, rel=0.1)  # from the second step on: the first knows no direction


@pytest.mark.parametrize("axis", AXES)
def test_it_stops_a_spin_about_any_axis_in_the_same_time(axis):
    """3 rad/s, 0.5 kg m^2, 2 N m: 0.75 s."""
    n = np.array(axis) / np.linalg.norm(axis)
    traj = dal.simulate(ball(), "spook", h=H, t_end=1.0, v0=3.0 * n)
    v = traj.joint("j").v
    moving = np.linalg.norm(v, axis=1) > 1e-6
    assert traj.t[np.flatnonzero(moving)[-1]] == pytest.approx(0.75, abs=H + 1e-9)
    some = traj.t < 0.7
    np.testing.assert_allclose(v[some] / np.linalg.norm(v[some], axis=1)[:, None], np.broadcast_to(n, v[some].shape), atol=1e-6)
    assert traj.account["joint_friction"].sum() == pytest.approx(-0.5 * 0.5 * 9.0, rel=1e-3)


def test_a_torque_across_the_spin_turns_it_as_the_law_of_the_ball_says():
    """I dw/dt = tau - f w/|w| from w = (3, 0, 0), tau = (0, 1.5, 0), in axes of the world: order one against SciPy."""
    exact = solve_ivp(lambda t, w: (np.array([0, 1.5, 0]) - 2.0 * w / np.linalg.norm(w)) / 0.5, (0, 0.5), [3.0, 0, 0], rtol=1e-10).y[:, -1]
    errors, hs = [], (1 / 60, 1 / 120, 1 / 240, 1 / 480)
    for h in hs:
        m = ball()
        m.add_force(dal.Wrench("b", torque=(0, 1.5, 0), frame="world"))
        traj = dal.simulate(m, "spook", h=h, t_end=0.5, v0=[3.0, 0, 0])
        w = traj.poses[-1, 0, :3, :3] @ traj.joint("j").v[-1]
        errors.append(np.linalg.norm(w - exact))
    assert errors[-1] < 0.01
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] > 0.8


def test_friction_of_a_ball_joint_never_gives_energy():
    traj = dal.simulate(ball(1.0, (0.2, 0.5, 0.6)), "spook", h=H, t_end=2.0, v0=[3.0, -2.0, 1.0])
    assert np.cumsum(traj.account["joint_friction"]).max() <= 0.0 and traj.account["joint_friction"].max() <= 1e-12
    assert traj.kinetic[-1] < 1e-12
