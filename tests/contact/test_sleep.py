"""Islands that sleep cost nothing, stay bit for bit, and wake as if they had never slept. The judge is mostly the run without sleep."""

import pickle

import numpy as np
import pytest
from contact_laws import add_ball, add_box, floor

import dalembert as dal
from dalembert.contact.sleep import CALM

H, SLEEP = 1 / 60, 0.3


def stack(n=3, at=(0.0, 0.0), m=None, name="b"):
    """n cubes of 0.2 m and 1 kg on a plane."""
    m = floor() if m is None else m
    for k in range(n):
        add_box(m, f"{name}{k}", (*at, 0.1 + 0.2 * k))
    return m


def with_ball(distance=1.0, speed=2.0, restitution=0.0, friction=0.3):
    """A stack of three, and a ball that rolls towards it and reaches its lowest box at distance/speed."""
    m = stack()
    add_ball(m, "ball", (-0.2 - distance, 0.0, 0.1), friction=friction, restitution=restitution)
    return m, {"ball": (0.0, 10.0 * speed, 0.0, speed, 0.0, 0.0)}


def simulation(m, sleep=SLEEP, **more):
    return dal.Simulation(m, "spook", h=H, sleep=sleep, **more)


def machine(sim):
    return sim._run.engine.machine


def asleep(sim):
    """Names of the bodies that sleep."""
    m = machine(sim)
    return {name for name, sleeps in zip(m.bodies.names, m.sleep.asleep, strict=True) if sleeps}


def at_rest(m, **more):
    """A simulation of which all sleep, and one of the same age without sleep."""
    sims = simulation(m, **more), simulation(m, sleep=0.0, **more)
    for sim in sims:
        sim.step(60)
    assert len(asleep(sims[0])) == machine(sims[0]).n
    return sims


def balance(traj):
    """What is not in the account, J."""
    return np.abs(traj.energy - traj.energy[0] - traj.work).max()


# rest --------------------------------------------------------------------------------------------------------------------------------


def test_a_stack_falls_asleep_and_stays_bit_for_bit():
    traj = dal.simulate(stack(), "spook", h=H, t_end=3.0, sleep=SLEEP)
    sleeps = traj.solver["asleep"] == 3
    first = int(np.argmax(sleeps))
    assert SLEEP / H - 1 <= first + 1 <= SLEEP / H + 30  # it settles from its start without overlap within half a second
    assert sleeps[first:].all() and not traj.solver["asleep"][:first].any()
    assert np.array_equal(traj.q[first + 1 :], np.broadcast_to(traj.q[first + 1], traj.q[first + 1 :].shape))
    assert not traj.v[first + 1 :].any()
    # a body takes at most m CALM^2/2 with it, and the account knows
    kept = dal.simulate(stack(), "spook", h=H, t_end=3.0)
    assert np.abs(traj.q - kept.q).max() < CALM * SLEEP
    assert balance(traj) < 1e-13 * traj.energy[0]
    report = traj.report()
    assert report.verdict == "pass", report.text
    slept = 3.0 - (first + 0.5) * H
    assert abs(report["sleep"].measured - slept) < H and "up to 3 of 3 bodies slept at once" in report.text


def test_contacts_of_what_sleeps_are_shown_with_the_weight_that_they_carry():
    """Of the last step before the sleep, whose velocities are zero to some 1e-9 m/s."""
    traj = dal.simulate(stack(), "spook", h=H, t_end=2.0, sleep=SLEEP)
    rows = traj.contacts.of(-1)
    assert len(rows) == 12 and np.array_equal(rows, traj.contacts.of(-30))
    for a, b, weight in ((-1, 0, 3), (0, 1, 2), (1, 2, 1)):
        here = rows[(rows[:, 0] == a) & (rows[:, 1] == b)]
        assert len(here) == 4
        np.testing.assert_allclose(here[:, 11].sum() / H, weight * 9.81, atol=3.0 * 1e-7 / H)
    counts = traj.contacts.counts
    assert (counts[1:] == 12).all()  # nor are any shown twice in the step in which they fall asleep


def test_what_sleeps_costs_nothing():
    sim = simulation(stack())
    sim.step(60)
    m = machine(sim)
    assert asleep(sim) == {"b0", "b1", "b2"} and m.contacts == 0 and m.detector.count == 0
    solver = sim.trajectory().solver
    assert not solver["contacts"][-10:].any() and not solver["iterations"][-10:].any()


def test_nothing_sleeps_unless_asked():
    never, later = (dal.simulate(stack(1), "spook", h=H, t_end=2.0, **more) for more in ({}, {"sleep": 5.0}))
    assert "asleep" not in never.solver and never.states.shape[1] + 1 == later.states.shape[1]
    assert not later.solver["asleep"].any() and np.array_equal(never.q, later.q)


def test_of_two_islands_one_sleeps():
    """The rolling ball has one contact; those of the stack are neither detected nor solved."""
    m, v0 = with_ball(distance=20.0)
    sim = simulation(m, v0=v0)
    sim.step(90)
    before = machine(sim).states[:3].copy()
    sim.step(60)
    assert asleep(sim) == {"b0", "b1", "b2"}
    assert machine(sim).detector.count == 1 and machine(sim).contacts == 1
    assert np.array_equal(before, machine(sim).states[:3])
    other = simulation(m, sleep=0.0, v0=v0)
    other.step(150)
    # steps are solved to 1e-9 m/s: 150 of them at 0.1 m are 1.5e-6 rad/s, in 2.5 s
    np.testing.assert_allclose(machine(sim).states[3], machine(other).states[3], atol=4e-6)


@pytest.mark.parametrize(
    "shape",
    [
        dal.Sphere(0.1, friction=0.5),
        dal.Capsule(0.1, 0.2, friction=0.5),
        dal.Cylinder(0.1, 0.2, friction=0.5),
        dal.Convex([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.0)] + [(0, 0, 0.1)], friction=0.5),
        dal.Ellipsoid((0.2, 0.1, 0.1), friction=0.5),
    ],
    ids=lambda shape: shape.kind,
)
def test_every_kind_of_shape_sleeps_undetected(shape):
    """Beside a ball that rolls: the contact that is detected is its own."""
    m = floor()
    turned = dal.quat.exp(np.array([0.0, 0.5 * np.pi, 0.0])) if shape.kind == "capsule" else (1, 0, 0, 0)
    for k in range(2):
        m.add_body(f"b{k}", 1.0, (0.01, 0.01, 0.01), pose=((k, 0, 0.1), turned), shapes=[shape])
    add_ball(m, "ball", (-5, 1, 0.1), friction=0.3)
    sim = simulation(m, v0={"ball": (0, 10.0, 0, 1.0, 0, 0)})
    sim.step(120)
    d = machine(sim).detector
    assert asleep(sim) == {"b0", "b1"}
    assert d.count == 1 and d.contacts.bodies.tolist() == [[-1, 2]]
    assert len(sim.trajectory().contacts.of(-1)) > 2


# what stays awake --------------------------------------------------------------------------------------------------------------------


def test_bodies_in_flight_do_not_sleep():
    """Neither at the apex, where a ball is slow for long where gravity is small, nor at rest where nothing holds them."""
    m = dal.Model("flight", gravity=(0, 0, -1e-5))
    m.add_shape("world", dal.Plane())
    add_ball(m, "ball", (0, 0, 1.0))
    traj = dal.simulate(m, "spook", h=H, t_end=4.0, sleep=SLEEP, v0={"ball": (0, 0, 0, 0, 0, 2e-5)})
    assert np.abs(traj.v).max() < CALM and not traj.solver["asleep"].any()
    floating = dal.Model("floating", gravity=(0, 0, 0))
    for k in range(2):
        add_box(floating, f"b{k}", (0.2 * k, 0, 0))  # they touch, but nothing presses them together
    assert not dal.simulate(floating, "spook", h=H, t_end=1.0, sleep=SLEEP).solver["asleep"].any()


def test_bodies_with_joints_or_forces_do_not_sleep_nor_what_lies_on_them():
    m = stack(2)
    m.add_joint("hinge", "revolute", "world", "b0", axis=(0, 0, 1))
    assert not dal.simulate(m, "spook", h=H, t_end=1.0, sleep=SLEEP).solver["asleep"].any()
    m = stack(2)
    m.add_force(dal.Wrench("b0", force=(1.0, 0, 0)))
    traj = dal.simulate(m, "spook", h=H, t_end=1.0, sleep=SLEEP)
    assert not traj.solver["asleep"].any() and np.abs(traj.v[-1]).max() < CALM


def test_a_slow_slide_does_not_sleep():
    """A force just above friction moves a box by less than a tenth of a millimetre in the time that would be enough."""
    sim = simulation(stack(1))
    for _ in range(40):
        sim.apply_force("b0", force=(0.5 * 9.81 + 1e-3, 0, 0))
        sim.step()
        assert not asleep(sim)


def test_neighbours_that_came_to_rest_one_after_the_other_all_sleep():
    """3 mm apart: near enough to wake each other. They sleep together, and no one wakes any more."""
    m = stack(2)
    stack(2, at=(0.203, 0.0), m=m, name="c")
    start = {"c1": (0.203, 0, 0.35, 1, 0, 0, 0)}
    traj = dal.simulate(m, "spook", h=H, t_end=3.0, q0=start, sleep=SLEEP)
    count = traj.solver["asleep"]
    assert set(np.unique(count)) == {0.0, 4.0} and np.all(np.diff(count) >= 0)


# waking ------------------------------------------------------------------------------------------------------------------------------


def test_the_first_step_awake_begins_from_the_contacts_and_impulses_of_the_last_before_sleep():
    """A force of 1e-6 N changes velocities by 2e-8 m/s: the impulses that were held are the solution but for that (from none it would be
    g h = 0.16 m/s), and one factor is enough, as at rest."""
    sim = simulation(stack())
    while len(asleep(sim)) < 3:
        last = machine(sim).detector.memory()
        sim.step()
    m = machine(sim)
    held, shown = m.detector.memory(), sim.trajectory().contacts.of(-1)
    assert np.array_equal(held["features"], last["features"]) and not m.detector.glance()[0]["keys"].size
    np.testing.assert_allclose(held["impulses"], last["impulses"], atol=1e-8)
    sim.step(20)
    sim.apply_force("b2", force=(1e-6, 0, 0))
    sim.step()
    after, traj = m.detector.memory(), sim.trajectory()
    assert not asleep(sim) and traj.solver["iterations"][-1] <= 1 and traj.solver["contacts"][-1] == 12
    assert sim._run.engine._last.first < 1e-7
    assert np.array_equal(held["axis_codes"], after["axis_codes"]) and np.array_equal(held["features"], after["features"])
    np.testing.assert_allclose(after["impulses"], held["impulses"], atol=1e-8)
    np.testing.assert_allclose(traj.contacts.of(-1)[:, 9:12], shown[:, 9:12], atol=1e-8)


@pytest.mark.parametrize("impact", ["exact", "post-facto", "preemptive", "combined"])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_what_is_hit_moves_as_if_it_had_never_slept(impact, restitution):
    """Sleep stops velocities below CALM, so places differ by what these would still have made of them: less than CALM times SLEEP. The
    ball has 2 m/s."""
    m, v0 = with_ball(restitution=restitution)
    runs = [dal.simulate(m, "spook", h=H, t_end=0.5 + 20 * H, v0=v0, sleep=s, impact=impact) for s in (SLEEP, 0.0)]
    slept, awake = runs[0].solver["asleep"][:28], runs[0].solver["asleep"][31:36]
    assert slept.max() == 3 and not awake.any()
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=CALM)
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=CALM * SLEEP)
    hits = [max(np.abs(run.contacts.of(k)[run.contacts.of(k)[:, 1] == 3, 9]).max(initial=0.0) for k in range(len(run))) for run in runs]
    assert hits[1] > 0.1 and abs(hits[0] - hits[1]) < 1.0 * CALM  # N s, of a ball of 1 kg
    assert np.abs(runs[1].v[:, :18]).max() > 0.1
    for run in runs:
        assert balance(run) < 1e-12 * run.energy[0]
    if restitution > 0.0:
        assert len(runs[0].events.rows) == len(runs[1].events.rows) > 0
        np.testing.assert_allclose(runs[0].events.rows, runs[1].events.rows, atol=CALM)


def test_waking_goes_on_within_the_step():
    """A hammer of 50 kg drives a box over a gap of 1 cm, wider than the margin, into the next within one step."""
    m = floor()
    for k in range(3):
        add_box(m, f"b{k}", (0.21 * k, 0, 0.1))
    pair = at_rest(m)
    for sim in pair:
        sim.apply_force("b0", force=(6000.0, 0, 0))
        sim.step()
    assert not asleep(pair[0])
    np.testing.assert_allclose(machine(pair[0]).states, machine(pair[1]).states, atol=1e-6)


def test_what_rests_on_a_support_that_is_drawn_away_falls_with_it():
    pair = at_rest(stack(2))
    for sim in pair:
        for _ in range(30):
            sim.apply_force("b0", force=(60.0, 0, 0))
            sim.step()
    assert not asleep(pair[0])
    np.testing.assert_allclose(machine(pair[0]).states, machine(pair[1]).states, atol=1e-5)
    assert machine(pair[0]).states[0, 0] > 1.0 and machine(pair[0]).states[1, 2] < 0.25


def test_an_edit_wakes_all():
    """A support that is removed: free fall over 6 steps of first order, -g h^2 k (k + 1)/2."""
    sim, _ = at_rest(stack(3))
    height = machine(sim).states[1, 2]
    with sim.edit() as m:
        m.remove_body("b0")
    assert not asleep(sim)
    sim.step(6)
    np.testing.assert_allclose(machine(sim).states[0, 2] - height, -9.81 * H**2 * 21, rtol=1e-6)
    sim, _ = at_rest(stack(1))
    with sim.edit() as m:
        m.gravity = (0, 0, 9.81)
    sim.step(6)
    np.testing.assert_allclose(machine(sim).states[0, 2] - 0.1, 9.81 * H**2 * 21, rtol=1e-4)  # it had sunk by 2e-8 m
    sim.reset()
    assert not asleep(sim)


def test_another_step_wakes_all():
    sim, _ = at_rest(stack(2))
    sim.h = H / 2
    sim.step()
    assert not asleep(sim)
    sim.step(60)
    assert asleep(sim) == {"b0", "b1"}
    rows = sim.trajectory().contacts.of(-1)
    np.testing.assert_allclose(rows[rows[:, 0] < 0, 11].sum() / sim.h, 2 * 9.81, atol=2.0 * 1e-7 / H)


def test_a_control_of_nothing_lets_them_sleep_and_a_torque_wakes_them():
    def control(t, q, v):
        tau = np.zeros(12)
        tau[8] = 0.5 if t > 0.999 else 0.0
        return tau

    traj = dal.simulate(stack(2), "spook", h=H, t_end=1.5, sleep=SLEEP, control=control)
    count = traj.solver["asleep"]
    assert count[55] == 2 and not count[62:].any()


# checkpoints -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_is_resumed_in_its_sleep_bit_for_bit(tmp_path, every):
    m, v0 = with_ball(distance=2.0)
    run = {"h": H, "v0": v0, "every": every, "sleep": SLEEP}
    whole = dal.simulate(m, "spook", t_end=2.0, **run)
    half = dal.simulate(m, "spook", t_end=0.8, save=tmp_path / "run.h5", **run)
    assert half.solver["asleep"][-1] == 3 * every and not whole.solver["asleep"][len(half) :].all()
    again = dal.resume(tmp_path / "run.h5", 2.0)
    assert np.array_equal(whole.states, again.states)
    assert whole.contacts == again.contacts
    assert np.array_equal(whole.solver["asleep"], again.solver["asleep"])
    loaded = dal.load(tmp_path / "run.h5")
    assert np.array_equal(loaded.q, whole.q) and np.array_equal(loaded.account["contact"], whole.account["contact"])
    assert loaded.report().verdict == whole.report().verdict


def test_a_simulation_pickles_in_its_sleep():
    m, v0 = with_ball(distance=2.0)
    sim = simulation(m, v0=v0)
    sim.step(50)
    other = pickle.loads(pickle.dumps(sim))
    assert asleep(sim) == asleep(other) == {"b0", "b1", "b2"}
    for s in (sim, other):
        s.step(15)
    assert np.array_equal(machine(sim).states, machine(other).states) and not asleep(sim)
    assert sim.trajectory().contacts == other.trajectory().contacts


def test_a_state_without_memory_is_awake():
    sim, _ = at_rest(stack(2))
    engine = sim._run.engine
    engine.restart(engine.state, engine.steps)
    assert not asleep(sim)
    sim.step(60)
    assert asleep(sim) == {"b0", "b1"}


def test_memory_that_is_held_comes_back_bit_for_bit():
    sim = simulation(stack(3), sleep=0.0)
    sim.step(20)
    d = machine(sim).detector
    before = d.memory()
    for awake in ([False, False, True], [False] * 3, [True, False, False], [True] * 3):
        d.watch(np.array(awake))
        after = d.memory()
        assert all(np.array_equal(before[name], after[name]) for name in before)
        used = d.glance()[0]["keys"]
        owner = d.scene.shapes.owner
        pairs = np.stack([owner[k] for k in np.divmod(used, len(owner))], axis=1)
        assert all(awake[a] or awake[b] for a, b in np.where(pairs < 0, pairs[:, ::-1], pairs))
    assert len(d.glance()[0]["keys"]) == 12 and not len(d.glance()[1]["keys"])
