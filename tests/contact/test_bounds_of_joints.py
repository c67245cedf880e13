"""Velocity drives, velocity limits and force limits of joints (lacoursiere2007, 7.11, 10.7-10.10), and strengths. Judges: closed forms."""

import numpy as np
import pytest
from contact_laws import H

import dalembert as dal
from dalembert.contact.tables import BROKEN
from dalembert.model.cut import cut

G = 9.81
CREEP = 1e-6  # of rates, relative: sigma lam with a compliance of 1e-10 is below it for all forces here


def slider(gravity=(0, 0, 0), **joint):
    m = dal.Model("slider", gravity=gravity)
    m.add_body("bead", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("rail", "prismatic", "world", "bead", axis=(1, 0, 0), **joint)
    return m


def wheel(**joint):
    m = dal.Model("wheel", gravity=(0, 0, 0))
    m.add_body("wheel", 1.0, (1.5, 2.0, 1.5))
    m.add_joint("axle", "revolute", "world", "wheel", axis=(0, 1, 0), **joint)
    return m


# velocity limits ---------------------------------------------------------------------------------------------------------------------


def oscillator(h, t_end=20.0):
    """Unit mass and spring from x = v = 3/2, limit 1 (Fig. 10.10)."""
    m = slider(max_velocity=1.0)
    m.add_force(dal.Spring("bead", "world", stiffness=1.0))
    return dal.simulate(m, "spook", h=h, t_end=t_end, q0=[1.5], v0=[1.5])


def test_a_limited_oscillator_turns_at_root_3_25_returns_at_its_limit_and_ends_with_amplitude_one():
    """Notes: x_max 1.8097, x = 0 at 2.70, late amplitude 1.00001 at h = 1/60; continuous 1.80278, 2.676."""
    traj = oscillator(H)
    x, v = traj.joint("rail").q[:, 0], traj.joint("rail").v[:, 0]
    assert np.abs(v[1:]).max() < 1.0 + CREEP
    assert x.max() == pytest.approx(1.8097, abs=5e-4)
    back = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0))[0]
    assert traj.t[back + 1] == pytest.approx(2.70, abs=H)
    some = (traj.t > 1.3) & (traj.t < 2.6)
    np.testing.assert_allclose(v[some], -1.0, atol=CREEP)
    assert np.abs(x[traj.t > 10.0]).max() == pytest.approx(1.0, abs=2e-3)  # (h/2)^2 of nodes, and half a kick
    assert traj.account["limits"].max() <= 1e-12


def test_a_velocity_limit_takes_what_its_identity_says():
    """-zeta rho - (delta/h) zeta^2 - zeta^2/(2 m) of one step from v_free = 3/2 to rho = 1: (1 - 9/4)/2."""
    traj = dal.simulate(slider(max_velocity=1.0), "spook", h=H, t_end=H, v0=[1.5])
    assert traj.account["limits"].sum() == pytest.approx(-0.625, rel=CREEP)
    assert traj.joint("rail").v[-1, 0] == pytest.approx(1.0, rel=CREEP)


def test_the_limited_oscillator_approaches_its_closed_form_by_order_one():
    errors = [abs(oscillator(h, 2.0).joint("rail").q[:, 0].max() - np.sqrt(3.25)) for h in (1 / 60, 1 / 120, 1 / 240, 1 / 480)]
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "planar", "universal", "spherical"])
def test_every_joint_with_coordinates_keeps_its_greatest_velocity_either_way(kind):
    more = {"axis2": (1, 0, 0)} if kind == "universal" else {}
    m = dal.Model("j", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1.0, 1.0, 1.0))
    m.add_joint("j", kind, "world", "b", axis=(0, 0, 1), max_velocity=0.5, **more)
    for sign in (1.0, -1.0):
        push = np.zeros(m.nv)
        push[:] = sign * np.array([3.0, 2.0, 1.0])[: m.nv]
        traj = dal.simulate(m, "spook", h=H, t_end=0.5, control=lambda t, q, v, push=push: push)
        v = traj.joint("j").v[2:]  # a speed of 0 has no direction: the first step from rest is free
        speed = np.linalg.norm(v, axis=1) if kind == "spherical" else np.abs(v).max(axis=1)
        assert speed[-1] == pytest.approx(0.5, rel=2e-3)  # w of a step is a rate to h^2 w^2/24
        assert speed.max() < 0.5 * (1 + 2e-3)


def test_a_free_body_falls_no_faster_than_its_greatest_speed_and_turns_freely():
    """Thrown aslant at 3 m/s with a limit of 2: clamped to 2, turned down by its weight, at 2 m/s in the end; its spin stays."""
    m = dal.Model("stone")
    m.add_body("stone", 1.0, (0.1, 0.1, 0.1))
    m.add_joint("flight", "free", "world", "stone", max_velocity=2.0)
    traj = dal.simulate(m, "spook", h=1e-3, t_end=3.0, v0=[0, 0, 5.0, 3.0, 0, 0])
    v = np.gradient(traj.poses[:, 0, :3, 3], 1e-3, axis=0)[1:-1]
    speed = np.linalg.norm(v, axis=1)
    assert speed.max() < 2.0 * (1 + 1e-4)  # the limit is along v of the node: (g h)^2/2 across it
    np.testing.assert_allclose(v[-1], [0, 0, -2.0], atol=2e-3)
    np.testing.assert_allclose(traj.v[:, 2], 5.0, rtol=1e-9)
    turned = np.unwrap(np.arctan2(v[:, 2], v[:, 0]))
    # d(angle)/dt = -g cos(angle)/rho while it is clamped: sin(angle) = -tanh(g t/rho)
    np.testing.assert_allclose(np.sin(turned[:800]), -np.tanh(9.81 * traj.t[1:801] / 2.0), atol=5e-3)


def test_steppers_of_trees_refuse_what_bounds_a_joint_by_name():
    for given, feature in (
        ({"max_velocity": 1.0}, "velocity limits"),
        ({"velocity": 1.0}, "velocity drive"),
        ({"force_limits": 5.0}, "force limits"),
    ):
        with pytest.raises(dal.DalembertError, match=feature):
            dal.simulate(wheel(**given), "mk4", h=0.01, t_end=0.1)
        assert dal.simulate(wheel(**given), "mk4", h=0.01, t_end=0.1, ignore=(feature,)).status == "ok"


# velocity drives ---------------------------------------------------------------------------------------------------------------------


def test_a_rate_that_is_driven_follows_its_function():
    """Rates over a step are those of its middle, so the angle is the integral to second order: |w''| h^2 t/24 and the start."""
    traj = dal.simulate(wheel(velocity=lambda t: 2.0 + np.sin(3.0 * t)), "spook", h=H, t_end=4.0)
    q = traj.joint("axle").q[:, 0]
    exact = 2.0 * traj.t + (1 - np.cos(3.0 * traj.t)) / 3.0
    off = (9.0 / 8 + 3.0**3 / 24) * H**2  # rates: of the middle by Taylor's rule, and sin(h w/2) for h w/2
    np.testing.assert_allclose(q, exact, atol=4.0 * off)
    rates = traj.joint("axle").v[1:, 0]
    np.testing.assert_allclose(rates, 2.0 + np.sin(3.0 * (traj.t[1:] - H / 2)), atol=off + CREEP)


def test_a_constant_rate_is_kept_from_the_first_step_under_load():
    """gamma = 0: v = u in one step (chapter 4, ii)."""
    m = slider(gravity=(-9.81, 0, 0), velocity=0.7)
    traj = dal.simulate(m, "spook", h=H, t_end=1.0)
    np.testing.assert_allclose(traj.joint("rail").v[1:, 0], 0.7, rtol=CREEP)
    assert traj.reaction("rail", drive=True)[-1, 0] == pytest.approx(9.81, rel=1e-6)


def test_a_velocity_drive_with_a_bound_slips_where_the_load_is_larger():
    """Greatest force 5 N against 9.81 N: the bead falls with g - 5/m; against 3 N it keeps its rate."""
    traj = dal.simulate(slider(gravity=(-9.81, 0, 0), velocity=0.0, drive_limits=5.0), "spook", h=H, t_end=1.0)
    np.testing.assert_allclose(traj.joint("rail").v[:, 0], (5.0 - 9.81) * traj.t, atol=1e-6)
    traj = dal.simulate(slider(gravity=(-3.0, 0, 0), velocity=0.0, drive_limits=5.0), "spook", h=H, t_end=1.0)
    assert np.abs(traj.joint("rail").v).max() < CREEP


def test_spins_of_a_ball_joint_are_driven_in_axes_of_the_child():
    m = dal.Model("ball", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (0.3, 0.2, 0.1))
    m.add_joint("j", "spherical", "world", "b", velocity={0: 0.0, 1: 0.4, 2: lambda t: 1.0 + t})
    traj = dal.simulate(m, "spook", h=1e-3, t_end=1.0)
    np.testing.assert_allclose(traj.joint("j").v[-1], [0.0, 0.4, 2.0], atol=2e-3)  # rates of the middle of the step


def test_a_driven_rate_and_bounds_survive_a_file(tmp_path):
    m = wheel(velocity=lambda t: 1.0 + t, max_velocity=3.0, force_limits=(-50.0, 60.0), drive_limits=7.0, torque_strength=90.0)
    again = dal.Model.from_dict(m.to_dict())
    assert again.to_dict() == m.to_dict()
    a, b = (dal.simulate(x, "spook", h=H, t_end=0.5) for x in (m, again))
    np.testing.assert_array_equal(a.q, b.q)
    a.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(dal.load(tmp_path / "run.h5").q, a.q)


# limits of forces --------------------------------------------------------------------------------------------------------------------


def hung(kind="distance", **joint):
    m = dal.Model("hung")
    m.add_body("weight", 2.0, (0.1, 0.1, 0.1))
    m.add_joint("rope", kind, "world", "weight", (0, 0, 1.0), **joint)
    return m


def test_a_distance_that_only_pulls_is_a_rope():
    """Thrown up at 2 m/s it flies freely, v^2/(2 g) high, and hangs in the end."""
    m = hung(force_limits=(-np.inf, 0.0), point=(0, 0, 0))
    v0 = m.check_v({"weight": (0, 0, 0, 0, 0, 2.0)})
    traj = dal.simulate(m, "spook", h=1e-3, t_end=2.0, v0=v0)
    z = traj.poses[:, 0, 2, 3]
    assert z.max() == pytest.approx(4.0 / (2 * G), abs=2e-3)  # h v
    assert z[-1] == pytest.approx(0.0, abs=1e-6)
    assert traj.reaction("rope")[-1, 0] == pytest.approx(2 * G, rel=1e-6)  # of a row that counts how much too long it is as negative
    stays = dal.simulate(hung(point=(0, 0, 0)), "spook", h=1e-3, t_end=0.2, v0=v0)
    assert stays.poses[:, 0, 2, 3].max() < 1e-3  # a rod does not let it go


def test_a_joint_yields_at_its_greatest_force_and_goes_no_faster():
    """A weld of at most 12 N under a weight of 19.62 N sinks with g - 12/m; of 25 N it holds."""
    for most, pull in ((12.0, G - 6.0), (25.0, 0.0)):
        traj = dal.simulate(hung("fixed", force_limits=most), "spook", h=1e-3, t_end=0.3)
        np.testing.assert_allclose(traj.poses[-1, 0, 2, 3], -0.5 * pull * 0.3**2, atol=0.3 * pull * 1e-3 + 1e-7)
        assert np.abs(traj.reaction("rope")[1:]).max() <= most * (1 + 1e-9)
    with pytest.raises(dal.ModelError, match="contains 0"):
        hung("fixed", force_limits=(1.0, 2.0))


def test_a_joint_that_yields_takes_energy_only():
    traj = dal.simulate(hung("fixed", force_limits=12.0), "spook", h=1e-3, t_end=0.3)
    assert np.cumsum(traj.account["joints"]).max() <= 1e-9
    assert traj.account["joints"].sum() == pytest.approx(12.0 * traj.poses[-1, 0, 2, 3], rel=0.01)  # h/t


# strengths ---------------------------------------------------------------------------------------------------------------------------


def beam(**joint):
    """A beam of 2 kg, 1 m long, fixed to a wall at its end: force 2 g, torque g."""
    m = dal.Model("beam")
    m.add_body("beam", 2.0, (0.01, 0.2, 0.2), pose=((0.5, 0, 0), (1, 0, 0, 0)))
    m.add_joint("wall", "fixed", "world", "beam", (0, 0, 0), **joint)
    return m


@pytest.mark.parametrize(
    ("joint", "breaks"), [({"torque_strength": 9.7}, True), ({"torque_strength": 9.9}, False), ({"strength": 19.7}, False)]
)
def test_a_beam_breaks_by_its_torque(joint, breaks):
    """It carries 9.81 N m and 19.62 N, from the first step on."""
    traj = dal.simulate(beam(**joint), "spook", h=1e-3, t_end=0.1)
    assert [int(row[1]) for row in traj.events.rows] == ([BROKEN] if breaks else [])
    if breaks:
        assert traj.events.rows[0, -1] == pytest.approx(9.81, rel=1e-3)  # compliance of the first step
        assert traj.poses[-1, 0, 2, 3] == pytest.approx(-0.5 * G * 0.1**2, rel=0.05)


def test_a_rope_survives_a_file(tmp_path):
    """Its range has no lower end."""
    traj = dal.simulate(hung(force_limits=(-np.inf, 0.0), point=(0, 0, 0)), "spook", h=H, t_end=0.1)
    traj.save(tmp_path / "rope.h5")
    again = dal.load(tmp_path / "rope.h5")
    np.testing.assert_array_equal(again.reaction("rope"), traj.reaction("rope"))
    assert again.model.loop("rope").force_limits == (-np.inf, 0.0)


def test_a_coordinate_has_one_drive():
    m = dal.Model()
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(dal.ModelError, match="drive and velocity both prescribe coordinate 0"):
        m.add_joint("j", "revolute", "world", "a", axis=(0, 1, 0), drive=lambda t: t, velocity=1.0)


# greatest lengths --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 20.0, 45.0, 77.0])
def test_a_weld_yields_at_one_length_of_its_force_whatever_its_direction(angle):
    """(10.10), ||lam|| <= lam_max: 12 N under 19.62 N along any direction sinks straight along it with g - 12/m. By rows the diagonal would
    hold 12 sqrt(2) N."""
    a = np.radians(angle)
    down = np.array([np.sin(a) * 0.6, np.sin(a) * 0.8, -np.cos(a)])
    m = dal.Model("hung", gravity=G * down)
    m.add_body("weight", 2.0, (0.1, 0.1, 0.1))
    m.add_joint("rope", "fixed", "world", "weight", max_force=12.0)
    traj = dal.simulate(m, "spook", h=1e-3, t_end=0.3)
    x = traj.poses[-1, 0, :3, 3]
    pull = G - 6.0
    np.testing.assert_allclose(x, 0.5 * pull * 0.3**2 * down, atol=0.3 * pull * 1e-3 + 1e-7)
    np.testing.assert_allclose(np.linalg.norm(traj.reaction("rope")[1:, :3], axis=1), 12.0, rtol=1e-9)
    assert np.cumsum(traj.account["joints"]).max() <= 1e-9  # it takes energy only
    assert traj.solver["residual"].max() <= 1e-8


def test_a_force_that_turns_is_held_up_to_its_length():
    """A ball joint of at most 30 N on a mass of 1 kg that is pulled round: holds at 29 N in all directions, and lets it go at 31 N."""
    for pull, holds in ((29.0, True), (31.0, False)):
        m = dal.Model("turned", gravity=(0, 0, 0))
        m.add_body("mass", 1.0, (0.1, 0.1, 0.1))
        m.add_joint("tie", "spherical", "world", "mass", max_force=30.0)
        turn = lambda t, q, v, pull=pull: pull * np.array([0, 0, 0, np.cos(3 * t), np.sin(3 * t), 0])  # noqa: E731
        traj = dal.simulate(cut(m), "spook", h=1e-3, t_end=1.0, control=turn)
        far = np.linalg.norm(traj.poses[:, 0, :3, 3], axis=1).max()
        assert (far < 1e-5) == holds
        length = np.linalg.norm(traj.reaction("tie")[1:], axis=1)
        assert length.max() <= 30.0 * (1 + 1e-8)
        assert length.min() > (28.9 if holds else 29.9)


def test_a_torque_yields_by_its_length():
    """A beam of 9.81 N m at its wall: 9.7 N m let it turn down, 9.9 hold it; forces are not bounded."""
    for most, holds in ((9.7, False), (9.9, True)):
        traj = dal.simulate(beam(max_torque=most), "spook", h=1e-3, t_end=0.5)
        assert (abs(traj.poses[-1, 0, 2, 3]) < 1e-5) == holds
        assert np.linalg.norm(traj.reaction("wall")[1:, 3:], axis=1).max() <= most * (1 + 1e-8)
    with pytest.raises(dal.ModelError, match="expected one of them"):
        beam(max_torque=1.0, force_limits=2.0)


def test_greatest_lengths_survive_a_file_and_can_be_taken_out(tmp_path):
    m = beam(max_torque=9.7, max_force=100.0)
    again = dal.Model.from_dict(m.to_dict())
    a, b = (dal.simulate(x, "spook", h=H, t_end=0.3) for x in (m, again))
    np.testing.assert_array_equal(a.q, b.q)
    a.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(dal.load(tmp_path / "run.h5").q, a.q)
    assert np.abs(dal.simulate(m, "spook", h=H, t_end=0.3, ignore=("force limits",)).poses[-1, 0, 2, 3]) < 1e-5
