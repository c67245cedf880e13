"""Coulomb's law through whole runs: inclines, stops, rolling, stick and slip. Judged by closed forms and tests/data/contact_impact.json."""

from itertools import pairwise

import numpy as np
import pytest
from contact_laws import REFERENCE, G, H, Steps, add_ball, add_box, floor, incline

import dalembert as dal

DEGREES = np.pi / 180.0


@pytest.mark.parametrize(("angle", "mu"), [(15, 0.2), (28, 0.5), (30, 0.5), (35, 0.5), (50, 0.5), (60, 1.2), (40, 0.0)])
def test_a_block_slides_down_with_g_sin_minus_mu_cos(angle, mu):
    s = Steps(incline(angle * DEGREES, mu)).run(1.0)
    wanted = G * (np.sin(angle * DEGREES) - mu * np.cos(angle * DEGREES))
    assert s.v[0, 0] == pytest.approx(wanted, rel=1e-4)
    assert abs(s.x[0, 2] - 0.05) < 1e-6  # neither lifts off nor sinks
    assert s.worst <= 1e-6


@pytest.mark.parametrize(("angle", "mu"), [(10, 0.2), (20, 0.5), (26, 0.5), (44, 1.0)])
def test_no_slip_below_the_angle_of_friction(angle, mu):
    """The contact gives way by sigma per impulse: four corners share the load, creep = sigma |lam_t|, sigma = 4 eps Y/h^2;
    more where two carry most."""
    s = Steps(incline(angle * DEGREES, mu)).run(1.0)
    load = G * H * np.sin(angle * DEGREES)
    creep = 4e-8 / 9.0 / H**2 * load / 4.0
    assert 0.95 * creep < s.v[0, 0] < 2.0 * creep


def test_just_above_the_angle_it_slides_and_just_below_it_does_not():
    for off, slides in ((-0.1, False), (0.1, True)):
        s = Steps(incline(np.arctan(0.5) + off * DEGREES, 0.5)).run(1.0)
        assert (s.v[0, 0] > 1e-3) == slides


@pytest.mark.parametrize("heading", [0.0, 22.5, 45.0, 77.0])
def test_a_sliding_disc_stops_as_computed_whatever_its_heading(heading):
    """v0 = 2, mu = 0.5, g = 9.8: 25 steps, 0.3917 m (lacoursiere2007, notes on 10.11); the way does not bend."""
    m = floor(0.5, gravity=(0, 0, -9.8))
    inertia = (0.0026, 0.0026, 0.005)
    m.add_body("disc", 1.0, inertia, pose=((0, 0, 0.001), (1, 0, 0, 0)), shapes=[dal.Cylinder(0.1, 0.002, friction=0.5)])
    way = np.array([np.cos(heading * DEGREES), np.sin(heading * DEGREES), 0.0])
    s, steps = Steps(m, v=2.0 * way), 0
    while np.linalg.norm(s.v[0]) > 1e-3 and steps < 60:
        s.step()
        steps += 1
    assert steps == 25
    assert s.x[0] @ way == pytest.approx(0.3917, abs=2e-4)
    assert abs(np.cross(way, s.x[0])[2]) < 1e-3 * 0.3917


@pytest.mark.parametrize("angle", [0.0, 30.0, 45.0, 60.0])
def test_the_cone_is_the_same_in_all_directions(angle):
    """A block under a horizontal force just below and just above mu N."""
    way = np.array([np.cos(angle * DEGREES), np.sin(angle * DEGREES), 0.0])
    for part, slides in ((0.99, False), (1.01, True)):
        m = floor(0.4)
        add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), friction=0.4)
        s = Steps(m)
        for _ in range(30):
            s.step(np.concatenate([np.zeros(3), part * 0.4 * G * way]))
        assert (np.linalg.norm(s.v[0]) > 1e-2) == slides
        if slides:
            np.testing.assert_allclose(s.v[0] / np.linalg.norm(s.v[0]), way, atol=1e-4)


@pytest.mark.parametrize("case", REFERENCE["block_on_incline"], ids=lambda c: f"alpha {c['alpha']} mu {c['mu']}")
def test_a_block_pushed_up_an_incline(case):
    """First order in h: h = 1/240, errors of the size h v."""
    alpha, mu, v0 = (float(case[k]) for k in ("alpha", "mu", "v0_up"))
    h = 1 / 240
    s, up = Steps(incline(alpha, mu), v=(-v0, 0, 0), h=h), []
    while s.t < 1.5:
        s.step()
        up.append((s.t, -s.x[0, 0], -s.v[0, 0]))
    up = np.array(up)
    top = np.argmax(up[:, 1])
    stop = up[np.flatnonzero(np.abs(up[:, 2]) < 1e-3)[0], 0] if not case["slides_back"] else up[top, 0]
    assert stop == pytest.approx(float(case["t_stop"]), abs=1.5 * h)
    assert up[top, 1] == pytest.approx(float(case["x_stop"]), abs=h * v0)
    if case["slides_back"]:
        back = up[top + np.flatnonzero(up[top:, 1] <= 0.0)[0]]
        assert back[0] == pytest.approx(float(case["t_return"]), abs=3 * h)
        assert -back[2] == pytest.approx(float(case["v_return"]), rel=0.01)
    else:
        assert abs(up[-1, 2]) < 1e-5


@pytest.mark.parametrize("omega", [0.0, -60.0])
def test_a_sphere_slides_then_rolls(omega):
    ref = REFERENCE["sphere_slide_to_roll"]
    case = ref if omega == 0.0 else ref["backspin_case"]
    h, r = 1 / 240, 0.11
    m = floor(0.2)
    add_ball(m, "ball", (0, 0, r), radius=r, friction=0.2)
    s = Steps(m, v=(5.0, 0, 0), h=h)
    s.omega[0] = (0.0, omega, 0.0)
    while abs(s.v[0, 0] - r * s.omega[0, 1]) > 1e-3 and s.t < 3.0:
        s.step()
    assert s.t == pytest.approx(float(case["t_roll"]), abs=2 * h)
    s.run(0.25)
    assert s.v[0, 0] == pytest.approx(float(case["v_roll"]), rel=2e-3)
    assert s.v[0, 0] == pytest.approx(r * s.omega[0, 1], rel=1e-3)


def test_a_block_sticks_and_slips_under_a_periodic_force():
    """m = 1, mu = 0.8, f = 8 cos t (potra2006): where it sticks, and for how long."""
    segments = REFERENCE["stick_slip_block_potra2006"]["segments"]
    h = 1 / 240
    m = floor(0.8)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), friction=0.8)
    s, x = Steps(m, h=h), []
    while s.t < 9.5:
        s.step((0, 0, 0, 8.0 * np.cos(s.t), 0, 0))
        x.append((s.t, s.x[0, 0], s.v[0, 0]))
    x = np.array(x)
    for now, then in pairwise(segments):
        a, b = float(now["t0"]), float(then["t0"])
        if now["phase"] == "stick" and b < 9.5:
            held = x[(x[:, 0] > a + 3 * h) & (x[:, 0] < b - 3 * h)]
            assert np.abs(held[:, 2]).max() < 4e-8 / 9.0 / h * 8.0 / 2.0  # creep
            assert held[:, 1] == pytest.approx(float(now["x"]), abs=3e-4)  # f is held over a step: h times the way


def test_an_oscillator_with_dry_friction_stops_where_it_should():
    """m = 1, k = 100, mu = 0.1, from 0.1 m: amplitudes fall by 2 mu m g/k, five half cycles."""
    ref, h = REFERENCE["coulomb_damped_oscillator"], 1 / 960
    m = floor(0.1)
    add_box(m, "block", (0.1, 0, 0.025), (0.4, 0.4, 0.05), friction=0.1)
    s, x = Steps(m, h=h), [0.1]
    while s.t < 2.0:
        s.step((0, 0, 0, -100.0 * s.x[0, 0], 0, 0))
        x.append(s.x[0, 0])
    x = np.abs(x)
    turning = [x[0]] + [x[k] for k in range(1, len(x) - 1) if x[k] > x[k - 1] and x[k] >= x[k + 1] and x[k] > 0.01]
    np.testing.assert_allclose(turning[:5], [float(a) for a in ref["turning_amplitudes"]], atol=1e-3)
    assert x[-1] == pytest.approx(float(ref["final_abs_x"]), abs=1e-3)
    assert abs(s.v[0, 0]) < 1e-5


def test_dry_friction_with_drag_and_forcing_follows_the_event_driven_solution():
    """(10.91): q'' + 2 g q' + mu sgn q' + q = A cos(w t), g = 0.1, mu = 4, A = 2, w = pi, q = 3, q' = 4. N = 1, error 0.0228 at
    h = 1/60 (notes), of first order; the multiplier stays within +-4."""
    stuck = [(2.0352, 2.628127, 3.21652), (3.727197, 4.684882, 2.902573), (5.617946, 6.719354, 2.728284), (7.551352, 8.743675, 2.614165)]
    m = floor(4.0, gravity=(0, 0, -1.0))
    add_box(m, "block", (3.0, 0, 0.005), (0.4, 0.4, 0.01), friction=4.0)
    s, x = Steps(m, v=(4.0, 0, 0)), []
    while s.t < 10.0:
        # drag as in the notes, implicit: f = -2 g v+, given by the velocity that comes out
        push = 2.0 * np.cos(np.pi * s.t) - s.x[0, 0]
        s.step((0, 0, 0, push - 0.2 * s.v[0, 0], 0, 0))
        x.append((s.t, s.x[0, 0]))
        assert np.abs(s.machine.lam[s.machine.joint_rows + 1 :: 3][:8]).sum() / H <= 4.0 * 1.001 * np.sqrt(2.0)
    x = np.array(x)
    for a, b, where in stuck:
        held = x[(x[:, 0] > a + 3 * H) & (x[:, 0] < b - 3 * H), 1]
        assert held == pytest.approx(where, abs=0.03)


def test_friction_opposes_slip_at_every_contact():
    rng = np.random.default_rng(2)
    m = floor(0.6)
    for k in range(6):
        q = rng.normal(size=4)
        add_box(m, f"b{k}", (0.15 * k, 0.1 * (k % 2), 0.4 + 0.3 * k), quat=tuple(q / np.linalg.norm(q)), friction=0.6)
    s = Steps(m, v=(1.0, 0.5, 0))
    for _ in range(150):
        found, n = s.step(), s.machine.contacts
        lam = s.machine.lam[: 3 * n].reshape(n, 3)
        slip = (s.machine._problem(n).jacobian() @ s.machine.x).reshape(n, 3)[:, 1:]
        assert (np.hypot(lam[:, 1], lam[:, 2]) <= 0.6 * lam[:, 0] + 1e-12).all()
        assert ((lam[:, 1:] * slip).sum(1) <= 1e-5 * lam[:, 0] + 1e-12).all()  # but for the creep
        sliding = (np.hypot(*slip.T) > 1e-2) & (lam[:, 0] > 1e-6)
        against = -(lam[:, 1:] * slip).sum(1)[sliding]
        if found.converged:  # parallel, and on the cone
            np.testing.assert_allclose(against, 0.6 * lam[sliding, 0] * np.hypot(*slip[sliding].T), rtol=1e-3)
