"""Contacts with a compliance of their own: springs whatever h and tau are. Judged by closed forms of a mass on a spring."""

import numpy as np
import pytest
from contact_laws import G, Steps, add_ball, add_box, floor

import dalembert as dal


def ball_on(compliance, height=0.0, gravity=G, radius=0.1):
    m = floor(0.0, gravity=(0, 0, -gravity))
    add_ball(m, "ball", (0, 0, radius + height), radius)
    m.add_contact("ball", "world", compliance=compliance)
    return m


@pytest.mark.parametrize("compliance", [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240, 1e-3])
def test_a_soft_contact_gives_way_by_its_compliance_at_every_step_size(compliance, h):
    """eps m g in the mean; what still swings, exp(-z w t) with 2 z w = tau/eps, tau = 2 h, of order h beside that, is symmetric to it."""
    s, sunk = Steps(ball_on(compliance), h=h).run(2.0), []
    while s.t < 4.0:
        s.step()
        sunk.append(0.1 - s.x[0, 2])
    assert np.mean(sunk) == pytest.approx(compliance * G, rel=2e-2)
    assert max(sunk) < 1.6 * compliance * G  # twice that at the start


@pytest.mark.parametrize("tau", [0.0, 0.25, 2.0])
@pytest.mark.parametrize("speed", [0.3, 3.0, 6.0])
def test_a_blow_on_a_soft_contact_is_that_on_a_spring(tau, speed):
    """Deepest v sqrt(m eps), and it leaves with v less what tau steps of damping take: of order h, a slope over three halvings."""
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        s, depth = Steps(ball_on(1e-3, 0.001, gravity=0.0, radius=1.0), v=(0, 0, -speed), h=h, tau=tau), []
        while s.t < 0.2:
            s.step()
            depth.append(1.0 - s.x[0, 2])
        assert s.v[0, 2] <= speed
        errors.append((abs(max(depth) / (speed * np.sqrt(1e-3)) - 1.0), abs(s.v[0, 2] / speed - 1.0)))
    # half a step of way is h/2 sqrt(k) = 0.4 % of the depth; zeta = (tau/h + 1/4) h sqrt(k)/2 takes exp(-pi zeta), pi/2 zeta of the depth
    assert np.max(errors[-1]) < 0.03
    assert np.all(np.array(errors[0]) > 2.0 * np.array(errors[-1]))


def test_what_carries_a_heavy_load_gives_way_by_the_default_compliance():
    """sigma at its bound 1e-4 J M^-1 J^T = 4e-4/kg at a corner, eps = sigma h^2/(4 Y) = 9e-10 m/N; sigma lam = 2.9 m/s, beyond `push`."""
    m = floor()
    add_box(m, "light", (0, 0, 0.1), mass=1.0)
    add_box(m, "heavy", (0, 0, 0.3), mass=3e6)
    s = Steps(m, h=1e-3).run(4.0)
    # the load swings with w = 27/s (two layers) and loses tau w^2/2 = 0.7 per second: 5 % of it are left
    assert 0.1 - s.x[0, 2] == pytest.approx(9e-10 * 3e6 * G / 4, rel=0.07)


def test_an_overlap_at_the_start_is_undone_gently_beside_a_load():
    """A box 5 cm deep under a heavy one: `push` bounds the speed, whatever the floor carries."""
    m = floor()
    add_box(m, "light", (0, 0, 0.05), mass=1.0)
    add_box(m, "heavy", (0, 0, 0.25), mass=1e3)
    s, fastest = Steps(m, push=0.2), 0.0
    for _ in range(120):
        s.step()
        fastest = max(fastest, s.v[:, 2].max())
    # push, and what the load gives way by in a step: sigma h m g is at most 1e-4 m_heavy/m_light g h
    assert 0.1 < fastest <= 0.2 + 1e-4 * 1e3 * G / 60
    assert abs(s.x[0, 2] - 0.1) < 1e-3


@pytest.mark.parametrize("h", [1 / 60, 1 / 240, 1e-3])
def test_what_a_soft_contact_gives_back_is_no_gain(h):
    """Stored d^2/(2 eps), and returned."""
    for speed in (0.0, 2.0):
        traj = dal.simulate(ball_on(1e-3, radius=1.0), "spook", h=h, t_end=1.0, v0={"ball": (0, 0, 0, 0, 0, -speed)})
        assert traj.report()["dissipation"].verdict == "pass"
        assert traj.report().verdict == "pass", traj.report().text
