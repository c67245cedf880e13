"""What other tests leave of tests/data/contact_impact.json: Zeno times and paths, impulses of cradles, phases of sticking and slipping."""

import numpy as np
import pytest
from contact_laws import REFERENCE, Steps, add_ball, add_box, floor

import dalembert as dal
from dalembert.contact.tables import STRUCK


@pytest.mark.parametrize("case", REFERENCE["bouncing_ball_zeno"], ids=lambda c: f"{c['drop_height']}m e{c['e']}")
def test_a_ball_has_bounced_its_whole_path_and_rests_from_its_zeno_time_on(case):
    """The way within a step in which it bounces is shortened by at most h v, sum of all: h v0/(1 - e). Bounces below 0.05 m/s, and what
    weight adds in two steps, are none."""
    height, e, g = (float(case[k]) for k in ("drop_height", "e", "g"))
    h, zeno = 1 / 480, float(case["zeno_time"])
    slowest = 0.05 + 2 * g * h
    m = floor(0.0, e, gravity=(0, 0, -g))
    add_ball(m, "ball", (0, 0, 0.1 + height), restitution=e)
    s, z, struck = Steps(m, v=(0, 0, 0.5 * g * h), h=h), [height], 0.0
    while s.t < zeno + 0.2:
        t = s.t
        s.step()
        z.append(s.x[0, 2] - 0.1)
        struck = t + s.machine.impacts.times[-1] if s.machine.impacts.times else struck
    lost = h * np.sqrt(2 * g * height) / (1 - e)
    assert float(case["total_path"]) - lost < np.abs(np.diff(z)).sum() < float(case["total_path"]) * (1 + 1e-4)
    assert zeno - 2 * slowest / (g * (1 - e)) - h < struck < zeno + h
    assert np.abs(z[round((zeno + 0.05) / h) :]).max() < 1e-6


@pytest.mark.parametrize("case", REFERENCE["newton_cradle"]["moreau_newton_simultaneous"])
def test_impulses_between_touching_balls_are_those_of_the_reference(case):
    """Of restitution: as events; without: as impulses of the contacts of the step."""
    e, n = float(case["e"]), case["n"]
    m = dal.Model(gravity=(0, 0, 0))
    for k in range(n):
        add_ball(m, f"b{k}", (0.2 * k, 0, 0), restitution=e)
    s = Steps(m)
    s.v[:, 0] = case["v_minus"]
    s.step()
    pairs = s.machine.detector.contacts.bodies[s.machine.chosen[: s.machine.contacts]]
    lam = s.machine.lam[: 3 * s.machine.contacts : 3]
    found = {tuple(sorted(map(int, p))): x for p, x in zip(pairs, lam, strict=True)}
    np.testing.assert_allclose([found[k, k + 1] for k in range(n - 1)], [float(x) for x in case["P"]], atol=3e-5)
    strikes = [x for kind, *_, x in s.machine.events if kind == STRUCK]
    assert len(strikes) == (0 if e == 0.0 else sum(a > b for a, b in zip(case["v_minus"], case["v_minus"][1:], strict=False)))


def test_a_sphere_has_slid_as_far_as_the_reference_when_it_rolls():
    ref, h = REFERENCE["sphere_slide_to_roll"], 1 / 240
    m = floor(0.2)
    add_ball(m, "ball", (0, 0, 0.11), radius=0.11, friction=0.2)
    s = Steps(m, v=(5.0, 0, 0), h=h).run(np.floor(float(ref["t_roll"]) / h) * h)
    rest = float(ref["t_roll"]) - s.t
    assert s.x[0, 0] + rest * s.v[0, 0] == pytest.approx(float(ref["x_roll"]), abs=h * 5.0)  # order one


def test_a_block_begins_to_slip_and_to_stick_at_the_times_of_the_reference():
    """|v| above the creep: from one node behind the start of a slip to one behind its end; f is held over a step."""
    segments, h = REFERENCE["stick_slip_block_potra2006"]["segments"], 1 / 240
    m = floor(0.8)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), friction=0.8)
    s, moving = Steps(m, h=h), []
    while s.t < 10.0:
        s.step((0, 0, 0, 8.0 * np.cos(s.t), 0, 0))
        moving.append(np.sign(s.v[0, 0]) if abs(s.v[0, 0]) > 1e-5 else 0.0)
    moving = np.array([0.0, *moving])
    change = np.flatnonzero(np.diff(moving)) + 1
    wanted = [float(x["t0"]) for x in segments]
    phases = {"stick": 0.0, "slip +1": 1.0, "slip -1": -1.0}
    assert [moving[k] for k in change] == [phases[x["phase"]] for x in segments]
    np.testing.assert_allclose(change * h, wanted, atol=3.5 * h)


def test_an_oscillator_with_dry_friction_turns_and_stops_at_its_times():
    """Half periods of pi/10 s, five of them; it stands from 1.5708 s on."""
    ref, h = REFERENCE["coulomb_damped_oscillator"], 1 / 960
    m = floor(0.1)
    add_box(m, "block", (0.1, 0, 0.025), (0.4, 0.4, 0.05), friction=0.1)
    s, v = Steps(m, h=h), [0.0]
    while s.t < 2.0:
        s.step((0, 0, 0, -100.0 * s.x[0, 0], 0, 0))
        v.append(s.v[0, 0])
    v = np.array(v)
    moving = np.where(np.abs(v) > 1e-4, np.sign(v), 0.0)
    turns = [
        k * h
        for k in range(2, len(v))
        if moving[k] * moving[k - 1] < 0 or (moving[k] != 0 and moving[k - 1] == 0 and moving[k - 2] == -moving[k])
    ]
    half = float(ref["half_period"])
    np.testing.assert_allclose(turns, half * np.arange(1, ref["stops_after_half_cycles"]), atol=3 * h)
    stopped = (np.flatnonzero(moving)[-1] + 1) * h
    assert stopped == pytest.approx(float(ref["stop_time"]), abs=4 * h)
