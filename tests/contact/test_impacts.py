"""Impacts: restitution, energy, instants, cradles. Judged by closed forms and tests/data/contact_impact.json."""

import numpy as np
import pytest
from contact_laws import REFERENCE, G, H, Steps, add_ball, add_box, floor

import dalembert as dal
from dalembert.contact.accounts import COLUMNS
from dalembert.model.cut import cut

METHODS = ("exact", "post-facto", "preemptive", "combined")


def bouncer(restitution, height=1.0, gravity=G, friction=0.0):
    m = floor(friction, restitution, gravity=(0, 0, -gravity))
    add_ball(m, "ball", (0, 0, 0.1 + height), restitution=restitution, friction=friction)
    return m


def energy(s, gravity=G):
    """Of the motion between nodes: v of a node is that of the step before it, half a kick behind."""
    return 0.5 * (s.v[0, 2] - 0.5 * gravity * s.h) ** 2 + gravity * (s.x[0, 2] - 0.1)


@pytest.mark.parametrize(("h", "wanted"), [(1 / 60, 1000), (1 / 97, 100), (1 / 20, 1000)])
def test_elastic_bounces_keep_their_energy_and_never_gain(h, wanted):
    s = Steps(bouncer(1.0), h=h)
    start, last, bounces, gains = energy(s), energy(s), 0, []
    while bounces < wanted:
        s.step()
        bounces += len(s.machine.impacts.times)
        gains.append(energy(s) - last)
        last = energy(s)
    assert abs(last / start - 1.0) < 1e-3
    assert max(gains) < 1e-12 * start  # round-off of a step


@pytest.mark.parametrize("case", REFERENCE["bouncing_ball_zeno"], ids=lambda c: f"{c['drop_height']}m e{c['e']}")
def test_bounces_happen_at_their_instants(case):
    height, e, g = (float(case[k]) for k in ("drop_height", "e", "g"))
    wanted = [float(t) for t in case["impact_times"]]
    s, found = (
        Steps(bouncer(e, height, g), v=(0, 0, 0.5 * g * H)),
        [],
    )  # at rest at t = 0, half a kick after the velocity of the step before
    while s.t < float(case["zeno_time"]) + 0.5:
        t = s.t
        s.step()
        found += [t + x for x in s.machine.impacts.times]
    fast = [t for k, t in enumerate(wanted) if e ** (k + 1) * np.sqrt(2 * g * height) > 0.2]  # bounces of more than two steps
    # impacts lose 1e-5 of their restitution to the compliance, and no more
    np.testing.assert_allclose(found[: len(fast)], fast, atol=1e-4)
    assert abs(s.x[0, 2] - 0.1) < 1e-6 and s.kinetic < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
def test_restitution_is_achieved(method, restitution):
    """One bounce without weight: v+ = -e v-."""
    s = Steps(bouncer(restitution, 0.31, gravity=0.0), v=(0, 0, -3.0), impact=method)
    s.run(0.2)
    assert s.v[0, 2] == pytest.approx(3.0 * restitution, rel=2e-5 if method in ("exact", "preemptive") or restitution > 0.3 else 1.0)
    assert s.x[0, 2] > 0.1


@pytest.mark.parametrize("speed", [0.5, 3.0, 12.0])
def test_without_restitution_nothing_bounces(speed):
    s = Steps(bouncer(0.0, 0.5), v=(0, 0, -speed))
    heights = []
    for _ in range(120):
        s.step()
        heights.append(s.x[0, 2] - 0.1)
    touched = next(k for k, z in enumerate(heights) if z < 1e-4)
    assert max(heights[touched:]) < 1e-4
    assert min(heights) > -2e-5  # compliance of 1e-8 m/N under v/h, 720 N at 12 m/s, times at most 2


def test_post_facto_bounces_lose_energy_as_the_thesis_computes():
    """v(0) = -10, x(0) = 2, g = 9.8: energy less g h v/2 falls by g^2 h/2 = 0.800 J/s, from 70.4 to 21.8 J in 60 s (Fig. 10.6)."""
    s = Steps(bouncer(1.0, 2.0, 9.8), v=(0, 0, -10.0), impact="post-facto")
    modified = lambda: 0.5 * s.v[0, 2] ** 2 + 9.8 * (s.x[0, 2] - 0.1) - 0.5 * 9.8 * H * s.v[0, 2]  # noqa: E731
    assert modified() == pytest.approx(70.4, abs=0.05)
    s.run(60.0)
    assert modified() == pytest.approx(21.8, abs=0.3)


def test_a_ball_that_has_penetrated_comes_out_by_the_double_root():
    """v(0) = -10, x(0) = 2, psi = 0, post facto (Fig. 10.9): stopped where it is found below the floor, it comes out monotonically, as
    (1 + 2 k/3) 3^-k, some 0.37 per step on its way to x = -eps m g.

    No method of impacts lets it get there: contacts ahead of a step are met at its end. So it is put there with the velocity with which
    free flight comes there, and `push`, which bounds the speed of coming out, is taken off.
    """
    g, x, v = 9.8, 2.0, -10.0
    while x >= 0.0:
        v -= H * g
        x += H * v
    m = floor(0.0, gravity=(0, 0, -g))
    add_ball(m, "ball", (0, 0, 0.1))
    s, depth = Steps(m, v=(0, 0, v), push=np.inf), [x]
    s.x[0, 2] += x
    for _ in range(40):
        s.step()
        depth.append(s.x[0, 2] - 0.1)
    off = np.array(depth) + 1e-8 * g
    k = np.arange(21)
    np.testing.assert_allclose(off[:21], (1 + 2 * k / 3) * 3.0**-k * off[0], rtol=5e-3)  # sigma of S: 4 eps Y/h^2 = 1.6e-5, per step
    assert (np.diff(depth) > -1e-9 * H).all()  # rows are solved to 1e-9 m/s
    assert (off[25] / off[0]) ** (1 / 25) == pytest.approx(0.37, abs=0.005)
    assert depth[-1] == pytest.approx(-1e-8 * g, rel=1e-4)
    above = Steps(bouncer(0.0, 2.0, g), v=(0, 0, -10.0))
    assert min(above.step() and above.x[0, 2] - 0.1 for _ in range(60)) > -1e-5  # what is true of a ball that falls


def test_exact_bounces_stay_where_the_thesis_computes():
    """The same ball: 70.41 ... 70.42 over 25 bounces (Fig. 10.5)."""
    s, found, bounces = Steps(bouncer(1.0, 2.0, 9.8), v=(0, 0, -10.0)), [], 0
    while bounces < 25:
        s.step()
        bounces += len(s.machine.impacts.times)
        found.append(0.5 * s.v[0, 2] ** 2 + 9.8 * (s.x[0, 2] - 0.1) - 0.5 * 9.8 * H * s.v[0, 2])
    assert min(found) > 70.40 and max(found) < 70.43


def row_of_balls(n, restitution, gap=0.0):
    m = dal.Model(gravity=(0, 0, 0))
    for k in range(n):
        add_ball(m, f"b{k}", (k * (0.2 + gap), 0, 0), restitution=restitution)
    return m


@pytest.mark.parametrize("case", REFERENCE["newton_cradle"]["moreau_newton_simultaneous"])
@pytest.mark.parametrize("method", ["exact", "preemptive"])
def test_touching_balls_part_by_newtons_law_of_all_contacts(case, method):
    e = float(case["e"])
    s = Steps(row_of_balls(case["n"], e), impact=method)
    s.v[:, 0] = case["v_minus"]
    s.run(0.1)
    np.testing.assert_allclose(s.v[:, 0], [float(v) for v in case["v_plus"]], atol=2e-5)


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("moving", [1, 2])
def test_balls_a_little_apart_hand_their_velocities_on(n, moving):
    """Gaps of 0.1 mm: k balls in, k out, several instants within one step."""
    s = Steps(row_of_balls(n, 1.0, 1e-4))
    s.v[:moving, 0] = 1.0
    s.run(0.3)
    np.testing.assert_allclose(s.v[:, 0], [0.0] * (n - moving) + [1.0] * moving, atol=1e-4)


def test_kinetic_energy_never_grows_in_random_impacts():
    """Boxes, spheres and a pendulum of two boxes thrown at a floor and at one another, restitutions 0 ... 1, friction 0 ... 2."""
    rng = np.random.default_rng(4)
    for trial in range(12):
        m = floor(rng.uniform(0, 2), rng.uniform(0, 1), gravity=(0, 0, 0))
        for k in range(4):
            q = rng.normal(size=4)
            mu, e, at = rng.uniform(0, 2), rng.uniform(0, 1), (0.35 * k, 0, 0.3)
            (add_ball if k == 3 else add_box)(
                m,
                f"b{k}",
                at,
                mass=rng.uniform(0.2, 5),
                friction=mu,
                restitution=e,
                **({} if k == 3 else {"quat": tuple(q / np.linalg.norm(q))}),
            )
        m.add_joint("ball", "spherical", "b0", "b1", anchor=(0.17, 0, 0.3))
        method = METHODS[trial % 4]
        s = Steps(cut(m), impact=method)
        s.v[:] = rng.uniform(-3, 3, (4, 3)) - (0, 0, 3)
        s.omega[:] = rng.uniform(-4, 4, (4, 3))
        for _ in range(40):
            before = s.machine.account.copy()
            s.step()
            gained = dict(zip(COLUMNS, s.machine.account - before, strict=True))
            assert gained["impact"] <= 1e-12


def test_friction_acts_inside_an_impact():
    """A ball that strikes a rough floor aslant: friction gives it spin; Coulomb's bound mu (1 + e) |v_n|, or rolling."""
    for mu, vx in ((0.1, 3.0), (0.8, 1.0)):
        m = floor(mu, 0.7, gravity=(0, 0, 0))
        add_ball(m, "ball", (0, 0, 0.3), friction=mu, restitution=0.7)
        s = Steps(m, v=(vx, 0, -2.0)).run(0.3)
        lost = min(mu * 1.7 * 2.0, 2.0 / 7.0 * vx)
        assert s.v[0, 2] == pytest.approx(1.4, rel=1e-4)
        assert s.v[0, 0] == pytest.approx(vx - lost, rel=1e-4)
        assert s.omega[0, 1] == pytest.approx(lost / (0.4 * 0.1), rel=2e-2)  # body rate is h^2 from w


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("start", [-0.3, -0.31, -0.33])
@pytest.mark.parametrize("offset", [0.2, 0.5, 0.9])
def test_balls_part_along_the_line_of_their_centres_at_the_instant(h, start, offset):
    """Billiards: struck at b = offset 2 r the ball leaves at asin(offset) with v cos, wherever in a step they meet."""
    r, speed = 0.0286, 3.0
    m = dal.Model(gravity=(0, 0, 0))
    for name, at in (("cue", (start, 2 * r * offset, 0)), ("object", (0, 0, 0))):
        add_ball(m, name, at, r, 0.17, restitution=1.0)
    s = Steps(m, h=h)
    s.v[0] = (speed, 0, 0)
    s.run(0.2)
    n = np.array([np.sqrt(1 - offset**2), -offset, 0])
    # impacts lose 1e-5 of their restitution to the compliance
    np.testing.assert_allclose(s.v, [np.array([speed, 0, 0]) - speed * n[0] * n, speed * n[0] * n], atol=2e-5 * speed)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("height", [0.3, 0.29, 0.28])
def test_the_spin_that_a_slipping_bounce_takes_does_not_depend_on_the_phase_of_the_step(h, height):
    """mu (1 + e) v/(0.4 r), at the radius of the ball, and as much speed, mu (1 + e) v."""
    m = floor(0.1, 0.8, gravity=(0, 0, 0))
    add_ball(m, "ball", (0, 0, height), friction=0.1, restitution=0.8)
    s = Steps(m, v=(0, 0, -3.0), h=h)
    s.omega[0] = (0, 30.0, 0)
    s.run(0.2)
    # body rates are those of a step, |omega| h/2 of it in the angle: its sine is taken off and put back
    assert 30.0 - s.omega[0, 1] == pytest.approx(13.5, rel=5e-5)
    assert s.v[0, 0] == pytest.approx(0.54, rel=5e-5)


@pytest.mark.parametrize("start", [-1.0, -1.01, -1.03])
def test_a_ball_strikes_a_turned_box_where_it_is_at_the_instant(start):
    """The velocities behind do not depend on the phase of the step, and angular momentum stays: turned by 0.6 rad, nothing else moves."""
    found = []
    for at in (start, -1.0):
        m = dal.Model(gravity=(0, 0, 0))
        add_box(m, "box", (0, 0, 0), (0.3, 0.3, 0.3), 2.0, (np.cos(0.3), 0, 0, np.sin(0.3)), 0.3, 0.8)
        add_ball(m, "ball", (at, 0.17, 0.02), friction=0.3, restitution=0.8)
        s = Steps(m)
        s.v[1] = (3.0, 0, 0)
        s.run(0.8)
        found.append(s.v.copy())
    np.testing.assert_allclose(*found, atol=1e-9)  # rows are solved to 1e-9 m/s


@pytest.mark.parametrize("kind", ["box", "ball", "hull"])
def test_bodies_that_strike_in_flight_keep_their_angular_momentum(kind):
    """All contacts act at one point. What turns is a step of order 1 behind: 1e-3 of L at h = 1/60."""
    shape = {"box": dal.Box((0.2, 0.3, 0.1), restitution=0.8), "ball": dal.Sphere(0.1, restitution=0.8)}.get(kind)
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)]
    shape = shape or dal.Convex([*corners, (0.14, 0, 0)], restitution=0.8)
    for phase in (0.0, 0.01, 0.03):
        m, block = dal.Model(gravity=(0, 0, 0)), dal.Box((0.3, 0.3, 0.3), friction=0.3, restitution=0.8)
        m.add_body("a", 1.0, (0.008, 0.005, 0.011), pose=((-1 - phase, 0.17, 0.02), (1, 0, 0, 0)), shapes=[shape])
        m.add_body("b", 2.0, block.inertia(2.0), pose=((0, 0, 0), (np.cos(0.3), 0, 0, np.sin(0.3))), shapes=[block])
        traj = dal.simulate(m, "spook", h=H, t_end=0.8, v0={"a": (0, 0, 3.0, 3.0, 0, 0)})
        L = traj.momentum[:, :3]
        assert traj.account["impact"].sum() < -0.1
        assert np.abs(L - L[0]).max() < 3e-3 * np.abs(L[0]).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("h", [1 / 60, 1 / 120])
def test_impulses_of_contacts_are_the_change_of_momentum_with_impacts_too(method, h):
    """Sum of j over the run = m dv + m g T, tangents included; rows are solved to 1e-9 m/s per step."""
    m = floor(0.3, 0.7)
    add_ball(m, "ball", (0, 0, 0.5), friction=0.3, restitution=0.7)
    add_box(m, "box", (2, 0, 0.1), friction=0.3)
    traj = dal.simulate(m, "spook", h=h, t_end=2.0, impact=method, v0={"ball": (0, 0, 0, 1.0, 0.5, 0)})
    at, body = traj.contacts.columns.index("jx"), traj.contacts.columns.index("b")
    total = np.zeros((2, 3))
    for k in range(len(traj)):
        for row in traj.contacts.of(k):
            total[int(row[body])] += row[at : at + 3]
    assert sum(len(traj.events.of(k)) for k in range(len(traj))) > 2
    ends = [traj.poses[-1, k, :3, :3] @ traj.v[-1, 6 * k + 3 : 6 * k + 6] for k in range(2)]  # v has axes of the body
    np.testing.assert_allclose(total, np.array(ends) - [(1.0, 0.5, 0), (0, 0, 0)] + (0, 0, G * 2.0), atol=1e-9 * len(traj))


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_contact_that_strikes_before_its_step_is_one_row(method):
    """A ball without spin: it strikes, and sticks."""
    m = floor(0.3, 0.7)
    add_ball(m, "ball", (0, 0, 0.5), friction=0.3, restitution=0.7)
    traj = dal.simulate(m, "spook", h=H, t_end=2.0, impact=method)
    assert all(len(traj.contacts.of(k)) <= 1 for k in range(len(traj)))
    struck = [row for k in range(len(traj)) for row in traj.contacts.of(k) if row[11] > 1.0]
    assert len(struck) >= 2 and all(row[13] == 1.0 and row[12] < 1e-9 for row in struck)  # sticks: no slip


def test_the_account_closes_with_impacts():
    m = floor(0.3, 0.6)
    for k in range(3):
        add_ball(m, f"ball{k}", (0.05 * k, 0.02 * k, 0.4 + 0.4 * k), friction=0.3, restitution=0.6)
    s = Steps(m, v=(0.4, 0, -1.0))
    total = lambda: s.kinetic + G * s.x[:, 2].sum()  # noqa: E731
    start = total()
    for _ in range(120):
        s.step()
        assert total() - start == pytest.approx(s.machine.account.sum(), abs=1e-12 * start)


def test_nothing_is_braked_on_its_way():
    """A fast ball that passes a wall at 1 mm, and one that falls towards the floor, keep free flight until they touch."""
    m = floor()
    add_ball(m, "ball", (0, 0, 0.1 + 1.0))
    s, v = Steps(m), 0.0
    while s.x[0, 2] - 0.1 + H * (v - G * H) > 0.0:
        s.step()
        v -= G * H
        assert s.v[0, 2] == pytest.approx(v, abs=1e-12)
    m = floor(gravity=(0, 0, 0))
    add_ball(m, "ball", (0, 0, 0.101))
    s = Steps(m, v=(5.0, 0, 0)).run(0.5)
    np.testing.assert_allclose(s.v[0], (5.0, 0, 0), atol=1e-12)


def test_many_balls_that_bounce_do_not_pass_through_one_another():
    """64 balls dropped at 3 m/s between walls: many impacts in one step, and impacts that follow from them."""
    rng = np.random.default_rng(1)
    m = floor(0.3, 0.6)
    for at, size in (((-0.25, 0), (0.1, 2)), ((0.95, 0), (0.1, 2)), ((0, -0.25), (2, 0.1)), ((0, 0.95), (2, 0.1))):
        m.add_shape("world", dal.Box((*size, 2), position=(*at, 1), friction=0.3))
    for k in range(64):
        x, y = 0.22 * np.array([k % 4, k // 4 % 4]) + 0.002 * rng.normal(size=2)
        add_ball(m, f"b{k}", (x, y, 0.3 + 0.25 * (k // 16)), friction=0.3, restitution=0.6)
    s = Steps(m, v=(0, 0, -3.0))
    start = s.kinetic + G * s.x[:, 2].sum()
    for _ in range(120):
        before = s.machine.account[COLUMNS.index("impact")]
        s.step()
        assert s.machine.account[COLUMNS.index("impact")] <= before
        assert s.kinetic + G * s.x[:, 2].sum() <= start * (1 + 1e-9)
    assert max(r.penetration for r in s.reports) < 0.02  # a fall of one step is 0.05 m


@pytest.mark.parametrize("height", [0.087, 0.094, 0.125])
def test_a_latch_stops_what_spins_even_where_it_strikes_the_floor_at_once(height):
    """The rates of a new joint fall by 1 + 4 tau/h = 9 per step, tau = 2 h; an impact in the same step must not send them back."""
    m = dal.Model("latch")
    m.add_shape("world", dal.Plane(friction=0.5))
    box, egg = dal.Box((0.2, 0.2, 0.2), friction=0.5), dal.Ellipsoid((0.07, 0.085, 0.11), restitution=0.4)
    m.add_body("box", 2.4, box.inertia(2.4), pose=((0, 0, 0.1), (1, 0, 0, 0)), shapes=[box])
    m.add_body("egg", 1.0, egg.inertia(1.0), pose=((1.75, 0, height), (1, 0, 0, 0)), shapes=[egg])
    sim = dal.Simulation(m, "spook", h=1 / 60, keep=0)
    sim.reset(sim.state.q, [0, 0, 0, 0, 0, 0, 1.0, 15.0, -2.0, 0, 0, -1.0])
    with sim.edit() as edited:
        edited.add_loop("latch", "fixed", "box", "egg", **sim.here("box", "egg"))
    assert np.abs(sim.step(1).v[6:9]).max() < 15.0 / 9.0 + 0.5  # the strike itself turns the pair a little
    assert np.abs(sim.step(60).v).max() < 1e-3
