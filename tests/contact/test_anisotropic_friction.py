"""Friction with two coefficients, along and across an axis of a body: ellipses. Judged by closed forms of the law of the most work."""

import numpy as np
import pytest
from contact_laws import G, H, Steps, add_box, floor

import dalembert as dal
from dalembert.model.rotation import matrix

MU = np.array([0.6, 0.3])
DEGREES = np.pi / 180.0


def about_z(angle):
    return (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))


def block(order=("world", "block"), yaw=0.0, axis=(1, 0, 0), **law):
    m = floor(0.5)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), quat=about_z(yaw))
    m.add_contact(*order, **{"friction": tuple(MU), "friction_axis": axis, **law})
    return m


def pushed(m, force, steps=30, **options):
    """Velocity after a constant force in world axes."""
    s = Steps(m, **options)
    for _ in range(steps):
        s.step(np.concatenate([np.zeros(3), matrix(s.q[0]).T @ force]))
    return s


@pytest.mark.parametrize("angle", [0.0, 30.0, 60.0, 90.0])
@pytest.mark.parametrize(
    ("order", "yaw"), [(("world", "block"), 0.0), (("world", "block"), 0.7), (("block", "world"), 0.0), (("block", "world"), 0.7)]
)
def test_it_sticks_up_to_the_ellipse(order, yaw, angle):
    """|f| <= m g/sqrt((cos/mu_1)^2 + (sin/mu_2)^2), the angle counted from the axis: that of the world, or of the block as it lies."""
    e = np.array([np.cos(angle * DEGREES), np.sin(angle * DEGREES)])
    most = G / np.hypot(*(e / MU))
    turn = matrix(np.array(about_z(yaw if order[0] == "block" else 0.0)))
    for part, slides in ((0.995, False), (1.005, True)):
        s = pushed(block(order, yaw), part * most * turn @ (*e, 0.0))
        assert (np.linalg.norm(s.v[0]) > 1e-3) == slides
        assert s.worst <= 1e-6


@pytest.mark.parametrize("solver", ["direct", "gauss-seidel"])
def test_what_slides_does_the_most_work(solver):
    """f = -m g A^2 v/|A v|, A = diag(mu_1, mu_2), with the velocity at the end of each step."""
    s = Steps(block(), v=(1.0, 0.7, 0), solver=solver)
    for _ in range(8):
        v = s.v[0, :2].copy()
        s.step()
        new = s.v[0, :2]
        # Coulomb's law counts slip below 1e-5 m/s as none
        np.testing.assert_allclose(new, v - H * G * MU**2 * new / np.hypot(*(MU * new)), atol=1e-5)


def test_the_way_bends_as_a_power():
    """d v_1/d v_2 = (mu_1/mu_2)^2 v_1/v_2, so v_1 = c v_2^4; the error falls with h (first order)."""
    found = []
    for h in (1 / 120, 1 / 240, 1 / 480):
        s = Steps(block(), v=(1.0, 1.0, 0), h=h)
        while s.t < 0.15:
            s.step()
        found.append(np.log(s.v[0, 0]) - 4.0 * np.log(s.v[0, 1]))
    assert abs(found[0]) < 0.1
    np.testing.assert_allclose(np.array(found[:-1]) / found[1:], 2.0, rtol=0.15)


@pytest.mark.parametrize("law", ["cylinder", "box", "pyramid", "polygon"])
def test_other_laws_are_stretched_too(law):
    """Along the axis mu_1, across mu_2."""
    for way, mu in (((1.0, 0, 0), 0.6), ((0, 1.0, 0), 0.3)):
        s = Steps(block(), v=way, law=law)
        for _ in range(5):
            s.step()
        assert 1.0 - s.v[0] @ way == pytest.approx(5 * H * mu * G, rel=1e-3)


def test_a_skate_runs_along_its_axis():
    """No friction along the axis, much across: a block that starts askew to its axis keeps its way along it."""
    s = Steps(block(("block", "world"), yaw=0.5, friction=(0.0, 0.8)), v=(1.0, 0, 0)).run(0.5)
    axis = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    along = s.v[0] @ axis
    assert along == pytest.approx(np.cos(0.5), abs=2e-3)  # friction across slows nothing along it, but for the turn of the block
    assert np.linalg.norm(s.v[0] - along * axis) < 1e-4


def test_two_almost_equal_coefficients_are_one():
    """A tumbling box: rows are scaled by 1 + 1e-9, and the run is the same but for tolerances of steps."""
    runs = []
    for friction in (0.4, (0.4, 0.4 * (1.0 - 1e-9))):
        m = floor(0.5)
        add_box(m, "block", (0, 0, 0.2), quat=(0.9, 0.3, 0.1, 0.3))
        m.add_contact("world", "block", friction=friction, friction_axis=(1, 0, 0))
        s = Steps(m, v=(0.5, 0.3, 0)).run(0.5)
        assert s.machine.is_stretched == (friction != 0.4)
        runs.append(s.x.copy())
    np.testing.assert_allclose(*runs, atol=1e-5)


def test_kinetic_friction_falls_in_proportion():
    for way, mu in (((1.0, 0, 0), 0.4), ((0, 1.0, 0), 0.2)):
        s = Steps(block(kinetic_friction=0.4, slip_speed=0.001, friction_law="linear"), v=way)
        for _ in range(5):
            s.step()
        assert 1.0 - s.v[0] @ way == pytest.approx(5 * H * mu * G, rel=1e-3)


def test_the_axis_goes_with_bodies_that_carry_others():
    """A sole fixed askew below a block: the axis is that of the sole."""
    m = floor(0.5)
    m.add_body("block", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 0.1), (1, 0, 0, 0)))
    add_box(m, "sole", (0, 0, 0.025), (0.4, 0.4, 0.05), quat=about_z(0.5), mass=1.0)
    m.add_joint("glue", "fixed", "block", "sole")
    m.add_contact("sole", "world", friction=(0.6, 0.3), friction_axis=(1, 0, 0))
    axis = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    traj = dal.simulate(m, "spook", h=H, t_end=0.1, v0={"block": (0, 0, 0, *axis)})
    speed = (traj.poses[-1, 0, :3, 3] - traj.poses[-2, 0, :3, 3]) @ axis / H
    assert 1.0 - speed == pytest.approx(6 * H * 0.6 * G, rel=5e-3)


def test_directions_are_checked_and_kept():
    m = block()
    law = m.contacts[0]
    assert dal.Model.from_dict(m.to_dict()).contacts == [law]
    m.remove_contact("world", "block")
    with pytest.raises(dal.ModelError, match="friction_axis, which is missing"):
        m.add_contact("world", "block", friction=(0.5, 0.3))
    with pytest.raises(dal.ModelError, match="expected numbers >= 0"):
        m.add_contact("world", "block", friction=(0.5, -0.3), friction_axis=(1, 0, 0))
    with pytest.raises(dal.ModelError, match="friction_axis"):
        m.add_contact("world", "block", friction=(0.5, 0.3), friction_axis=(0, 0, 0))
    with pytest.raises(dal.ModelError, match="friction"):
        m.add_contact("world", "block", friction=(0.5, 0.3, 0.1), friction_axis=(1, 0, 0))


def test_an_axis_turns_the_square_of_other_laws():
    """|f| <= sqrt(2) mu N along the axis of a block whose box of friction is turned by 45 degrees, mu N at 45 degrees to it."""
    axis = (np.sqrt(0.5), np.sqrt(0.5), 0.0)
    for part, slides in ((0.998, False), (1.002, True)):
        straight = pushed(block(friction=0.4, axis=axis), part * 1.4142 * 0.4 * G * np.array([1.0, 0, 0]), law="box")
        askew = pushed(block(friction=0.4, axis=axis), part * 0.4 * G * np.array(axis), law="box")
        assert (np.linalg.norm(straight.v[0]) > 1e-3) == slides == (np.linalg.norm(askew.v[0]) > 1e-3)
