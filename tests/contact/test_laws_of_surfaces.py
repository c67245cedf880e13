"""Friction beyond one coefficient: static and kinetic, belts, torques about the normal and against rolling. Judged by closed forms."""

import numpy as np
import pytest
from contact_laws import G, H, Steps, add_ball, add_box, floor

import dalembert as dal


def block(**law):
    m = floor(0.5)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05))
    m.add_contact("block", "world", **law)
    return m


@pytest.mark.parametrize("law", ["smooth", "linear"])
def test_it_sticks_to_mu_s_and_slides_with_mu_k(law):
    """mu_s = 0.5, mu_k = 0.3: holds 0.49 m g, slides under 0.51 m g with acceleration (0.51 - 0.3) g once it is fast."""
    for pull, slides in ((0.49, False), (0.51, True)):
        s = Steps(block(friction=0.5, kinetic_friction=0.3, slip_speed=0.02, friction_law=law))
        speeds = []
        for _ in range(90):
            s.step((0, 0, 0, pull * G, 0, 0))
            speeds.append(s.v[0, 0])
        assert (speeds[-1] > 0.1) == slides
        if slides:
            assert (speeds[-1] - speeds[-31]) / (30 * H) == pytest.approx(0.21 * G, rel=2e-3)


@pytest.mark.parametrize(
    ("law", "formula"), [("smooth", lambda v: 0.5 - 0.2 * v / np.hypot(0.4, v)), ("linear", lambda v: 0.5 - 0.2 * min(v / 0.4, 1))]
)
def test_friction_falls_with_the_slip_speed_by_the_formula(law, formula):
    """(10.55) with the slip speed of the step before: v+ = v - h mu(v) g."""
    s = Steps(block(friction=0.5, kinetic_friction=0.3, slip_speed=0.4, friction_law=law), v=(1.0, 0, 0))
    for _ in range(10):
        v = s.v[0, 0]
        s.step()
        assert s.v[0, 0] == pytest.approx(v - H * formula(v) * G, abs=1e-5)


@pytest.mark.parametrize("order", [("world", "block"), ("block", "world")])
def test_a_belt_carries_along(order):
    """A world that moves with 0.6 m/s under the block, or a block whose sole runs: until they move together, with mu g."""
    m = floor(0.5)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05))
    m.add_contact(*order, friction=0.5, surface_velocity=(0.6, 0, 0))
    sign = 1.0 if order[0] == "world" else -1.0  # a running sole pushes its block the other way
    s = Steps(m)
    s.step()
    assert sign * s.v[0, 0] == pytest.approx(0.5 * G * H, rel=1e-4)
    s.run(1.0)
    assert sign * s.v[0, 0] == pytest.approx(0.6, abs=1e-5)


def test_belts_between_bodies_know_whose_surface_moves():
    for a, b, sign in (("low", "top", 1.0), ("top", "low", -1.0)):
        m = floor(100.0)
        add_box(m, "low", (0, 0, 0.05), (0.6, 0.6, 0.1), mass=50.0, friction=100.0)
        add_box(m, "top", (0, 0, 0.125), (0.2, 0.2, 0.05))
        m.add_contact(a, b, friction=0.5, surface_velocity=(0.2, 0, 0))
        s = Steps(m).run(0.5)
        assert s.v[1, 0] == pytest.approx(sign * 0.2, abs=1e-4)


@pytest.mark.parametrize("speed", [1.0, 4.0])
@pytest.mark.parametrize("shape", [dal.Sphere(0.1, friction=0.8), dal.Cylinder(0.1, 0.2, friction=0.8)], ids=["ball", "cylinder"])
def test_rolling_friction_slows_what_is_fast_too(shape, speed):
    """a = -rolling g/(r (1 + I/(m r^2))). At 4 m/s a contact moves by 7 cm in a step; its force of the step before still counts.

    A cylinder at 4 m/s errs by 1.8 %, and by h^2 less at smaller steps (0.43, 0.11, 0.027 %).
    """
    m = dal.Model("rolling")
    m.add_shape("world", dal.Plane(friction=0.8))
    m.add_body("body", 1.0, shape.inertia(1.0), pose=((0, 0, 0.1), (0.5**0.5, 0.5**0.5, 0, 0)), shapes=[shape])  # its z axis along -y
    m.add_contact("body", "world", rolling=0.004)
    traj = dal.simulate(m, "spook", h=1 / 60, t_end=1.0, v0={"body": (0, 0, -speed / 0.1, speed, 0, 0)})
    slope = np.polyfit(traj.t[6:], traj.momentum[6:, 3], 1)[0]
    assert -slope == pytest.approx(0.04 * G / (1.0 + shape.inertia(1.0)[2] / 0.01), rel=0.025)


def test_rolling_friction_stops_a_ball():
    """a = -(5/7) rolling g/r, whatever the heading."""
    for heading in (0.0, 0.7):
        m = floor(0.8)
        add_ball(m, "ball", (0, 0, 0.1), friction=0.8)
        m.add_contact("ball", "world", rolling=0.004)
        way = np.array([np.cos(heading), np.sin(heading), 0.0])
        s = Steps(m, v=way)
        s.omega[0] = (-10.0 * way[1], 10.0 * way[0], 0.0)
        s.run(0.5)
        assert s.v[0] @ way == pytest.approx(1.0 - 5 / 7 * 0.04 * G * 0.5, abs=5e-3)
        assert abs(s.v[0] @ (-way[1], way[0], 0)) < 1e-6
        s.run(4.0)
        assert np.abs(s.v).max() < 1e-6


def test_torsion_stops_a_spinning_ball():
    """A ball on its point has no other way to lose its spin: d omega/dt = -torsion m g/I."""
    m = floor(0.8)
    add_ball(m, "ball", (0, 0, 0.1), friction=0.8)
    m.add_contact("ball", "world", torsion=0.002)
    s = Steps(m)
    s.omega[0] = (0, 0, 5.0)
    s.run(0.5)
    # in the first step the normal impulse is not known yet
    assert s.omega[0, 2] == pytest.approx(5.0 - 0.002 * G / 0.004 * 29 * H, rel=1e-4)
    s.run(1.0)
    assert abs(s.omega[0, 2]) < 1e-6


def test_laws_are_checked_and_kept():
    m = floor()
    add_box(m, "a", (0, 0, 0.1))
    with pytest.raises(dal.DalembertError, match="friction_law"):
        m.add_contact("a", "world", kinetic_friction=0.2, friction_law="square")
    with pytest.raises(dal.DalembertError, match="kinetic_friction"):
        m.add_contact("a", "world", slip_speed=0.1)
    with pytest.raises(dal.DalembertError, match="slip_speed"):
        m.add_contact("a", "world", kinetic_friction=0.2, slip_speed=0.0)
    law = m.add_contact("a", "world", friction=0.3, kinetic_friction=0.2, slip_speed=0.1, friction_law="linear", surface_velocity=(1, 0, 0))
    again = dal.Model.from_dict(m.to_dict())
    assert again.contacts == [law]
