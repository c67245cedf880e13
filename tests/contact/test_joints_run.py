"""Joints and all that acts on them through `simulate(..., "spook")`: trees and loops against closed forms and the steppers of trees."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.tables import BROKEN

G = 9.81
HS = (4e-3, 2e-3, 1e-3, 5e-4)


def rods(n, **joint):
    """A chain of rods of 1 m and 1 kg that hang below each other."""
    m = dal.Model(f"{n} rods")
    for i in range(n):
        m.add_body(f"rod{i}", 1.0, (1 / 12, 1 / 12, 0.01), com=(0, 0, -0.5), pose=((0, 0, -i), (1, 0, 0, 0)))
        m.add_joint(f"pin{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", (0, 0, -i), (0, 1, 0), **joint)
    return m


def wheel(gravity=(0, 0, -G), **joint):
    """A wheel of 2 kg m^2 about its own axle: nothing but what is given acts on its angle."""
    m = dal.Model("wheel", gravity=gravity)
    m.add_body("wheel", 1.0, (1.5, 2.0, 1.5))
    m.add_joint("axle", "revolute", "world", "wheel", axis=(0, 1, 0), **joint)
    return m


def lift(**joint):
    """A weight of 2 kg on a vertical slider."""
    m = dal.Model("lift")
    m.add_body("cage", 2.0, (0.1, 0.1, 0.1))
    m.add_joint("rail", "prismatic", "world", "cage", axis=(0, 0, 1), **joint)
    return m


def slope(errors, hs=HS):
    return np.polyfit(np.log(hs), np.log(errors), 1)[0]


def last_angles(m, traj):
    return np.concatenate([traj.joint(j.name).q[-1] for j in m.joints])


def converges(m, q0, v0, t_end, reference="mk4", hs=HS, **more):
    """The order that is observed in joint angles against a stepper of trees, over three halvings; it may be better than 1."""
    exact = dal.simulate(m, reference, h=1e-3, t_end=t_end, q0=q0, v0=v0, **more).q[-1]
    errors = [np.abs(last_angles(m, dal.simulate(m, "spook", h=h, t_end=t_end, q0=q0, v0=v0, **more)) - exact).max() for h in hs]
    assert errors[-1] < 5e-3, errors
    return slope(errors, hs)


@pytest.mark.parametrize("n", [1, 2])
def test_pendulums_approach_those_of_trees_by_order_one(n):
    assert converges(rods(n), np.full(n, 0.8), np.zeros(n), 1.0) == pytest.approx(1.0, abs=0.15)


def test_damping_stiffness_and_armature_approach_those_of_trees_by_order_one():
    m = rods(2, damping=0.3, stiffness=2.0, armature=0.2)
    assert converges(m, [0.8, -0.5], [0.0, 1.0], 1.0) == pytest.approx(1.0, abs=0.15)


def test_armature_of_sliders_on_turning_arms_approaches_that_of_trees():
    """Where the row of a rotor turns with its bodies: a rate that was computed anew would miss the term of Coriolis."""
    m = dal.Model("arm", gravity=(0, 0, 0))
    m.add_body("arm", 1.0, (0.3, 0.3, 0.3))
    m.add_joint("axle", "revolute", "world", "arm", axis=(0, 0, 1))
    m.add_body("bead", 0.5, (0.01, 0.01, 0.01), pose=((0.5, 0, 0), (1, 0, 0, 0)))
    m.add_joint("rail", "prismatic", "arm", "bead", (0, 0, 0), (1, 0, 0), armature=2.0)
    assert converges(m, [0.0, 0.0], [3.0, 0.5], 0.5) == pytest.approx(1.0, abs=0.15)
    traj = dal.simulate(m, "spook", h=1e-3, t_end=0.5, v0=[3.0, 0.5])
    assert traj.energy[0] == pytest.approx(m.energy(m.neutral(), [3.0, 0.5]), rel=1e-12)  # the rotor's energy is counted
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-12)


def test_armature_adds_to_the_inertia_of_a_wheel():
    traj = dal.simulate(wheel(armature=0.5), "spook", h=0.01, t_end=0.1, control=lambda t, q, v: [5.0])
    np.testing.assert_allclose(traj.joint("axle").v[-1], 5.0 * 0.1 / 2.5, rtol=1e-4)  # w is the rate to order h^2


def slider_crank():
    """Crank and rod in the xz plane; the piston runs along x."""
    m = dal.Model("slider crank")
    m.add_body("crank", 1.0, (0.02, 0.02, 0.02), com=(0.15, 0, 0))
    m.add_joint("shaft", "revolute", "world", "crank", (0, 0, 0), (0, 1, 0))
    m.add_body("rod", 1.0, (0.02, 0.1, 0.1), com=(0.4, 0, 0), pose=((0.3, 0, 0), (1, 0, 0, 0)))
    m.add_joint("pin", "revolute", "crank", "rod", (0.3, 0, 0), (0, 1, 0))
    m.add_body("piston", 0.5, (0.01, 0.01, 0.01), pose=((1.1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("wrist", "revolute", "rod", "piston", (1.1, 0, 0), (0, 1, 0))
    m.add_loop("bore", "prismatic", "world", "piston", (1.1, 0, 0), (1, 0, 0))
    return m


def test_a_slider_crank_runs_through_its_dead_points():
    """Over a whole turn the bore is redundant in the plane; the piston is where the crank's angle says."""
    m = slider_crank()
    start = {"shaft": 0.1}
    q0, v0 = m.assemble(start, {"shaft": 14.0}, fixed=("shaft",))
    traj = dal.simulate(m, "spook", h=1e-3, t_end=2.0, q0=q0, v0=v0)
    angle, shift = traj.joint("shaft").q[:, 0], traj.joint("bore").q[:, 0]
    assert angle[-1] - angle[0] > 2 * np.pi
    exact = 0.3 * np.cos(angle) + np.sqrt(0.64 - (0.3 * np.sin(angle)) ** 2) - 1.1
    np.testing.assert_allclose(shift, exact, atol=2e-4)  # joints close to (h rate)^2 of their length


def test_four_bars_approach_those_of_trees():
    """By order two here, where nothing but weight acts and the start is in the middle of the swing."""
    scene = dal.scenes.find("four-bar")
    m = scene.build()
    q0, v0 = m.neutral(), m.check_v({"foot0": 1.0, "foot1": 1.0, "left1": -1.0})
    exact = dal.simulate(m, "trapezoidal", h=2.5e-4, t_end=0.5, q0=q0, v0=v0).q[-1]
    errors = [np.abs(last_angles(m, dal.simulate(m, "spook", h=h, t_end=0.5, q0=q0, v0=v0)) - exact).max() for h in HS]
    assert slope(errors) > 0.9, errors


# what acts on joints -----------------------------------------------------------------------------------------------------------------


def test_a_motor_lifts_at_its_speed_and_sinks_where_its_limit_is_too_small():
    """Limit 25 N > m g = 19.62 N: it lifts at u less the droop m g/kv. Limit 15 N: it sinks with g - 15/m."""
    for limit, check in ((25.0, "lifts"), (15.0, "sinks")):
        m = lift()
        m.add_motor("winch", "rail", "velocity", kv=500.0, limit=limit)
        traj = dal.simulate(m, "spook", h=1 / 60, t_end=2.0, control=lambda t, q, v: {"winch": 0.5})
        v = traj.joint("rail").v[:, 0]
        if check == "lifts":
            assert v[-1] == pytest.approx(0.5 - 2 * G / 500.0, rel=1e-6)
            assert traj.control[-1, 0] == pytest.approx(2 * G, rel=1e-6)
        else:
            np.testing.assert_allclose(v, (15.0 / 2 - G) * traj.t, atol=1e-6)
            np.testing.assert_allclose(traj.control[:, 0], 15.0, rtol=1e-9)


def test_a_motor_with_a_limit_holds_a_pendulum_up_to_its_torque():
    """Weight torque m g l/2 sin(q) = 4.905 sin(q); a motor of 3 N m gets it up to asin(3/4.905) and no further."""
    m = rods(1)
    m.add_motor("motor", "pin0", "position", kp=1000.0, kv=100.0, limit=3.0)
    traj = dal.simulate(m, "spook", h=1 / 60, t_end=20.0, control=lambda t, q, v: {"motor": min(0.05 * t, 1.2)})
    assert np.abs(traj.control[:, 0]).max() <= 3.0 * (1 + 1e-12)
    slow = traj.t < 10.0  # here it still follows
    np.testing.assert_allclose(traj.joint("pin0").q[slow, 0], 0.05 * traj.t[slow], atol=0.02)
    assert traj.joint("pin0").q[:, 0].max() < 0.95


def test_dry_friction_holds_a_pendulum_and_lets_a_heavier_one_go():
    """4.905 sin(0.5) = 2.35 N m: friction of 2.4 holds, creep below that of its compliance; 2.0 lets it go."""
    held = dal.simulate(rods(1, friction=2.4), "spook", h=1 / 60, t_end=5.0, q0=[0.5])
    assert np.abs(held.joint("pin0").q - 0.5).max() < 1e-5
    gone = dal.simulate(rods(1, friction=2.0), "spook", h=1e-3, t_end=0.05, q0=[0.5])
    acceleration = (4.905 * np.sin(0.5) - 2.0) / (1 / 3)
    assert gone.joint("pin0").v[-1, 0] == pytest.approx(-acceleration * 0.05, rel=0.01)


def test_dry_friction_stops_a_wheel_at_the_time_of_its_closed_form():
    """2 kg m^2 at 3 rad/s under 4 N m: at rest after 1.5 s, turned by 2.25 rad; then it rests."""
    traj = dal.simulate(wheel(friction=4.0), "spook", h=0.01, t_end=3.0, v0=[3.0])
    q, v = traj.joint("axle")
    assert q[-1, 0] == pytest.approx(2.25, abs=0.02)  # h v0/2 of order one
    assert np.abs(v[152:, 0]).max() < 1e-9
    assert traj.account["joint_friction"].sum() == pytest.approx(-9.0, rel=1e-3)


def test_a_spring_hangs_by_weight_over_stiffness():
    traj = dal.simulate(lift(stiffness=100.0, damping=20.0), "spook", h=1 / 60, t_end=10.0)
    assert traj.joint("rail").q[-1, 0] == pytest.approx(-2 * G / 100.0, rel=1e-6)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_soft_joint_gives_way_by_compliance_times_force_whatever_h(h):
    m = lift(compliance=1e-4, damping_time=0.05)
    m.add_force(dal.Wrench("cage", (30.0, 0, 0)))
    traj = dal.simulate(m, "spook", h=h, t_end=2.0, control=lambda t, q, v: [2 * G])
    assert traj.q[-1, 0] == pytest.approx(30.0 * 1e-4, rel=1e-6)


def test_a_hard_limit_stops_a_pendulum_without_overshoot():
    """It falls from 1.2 rad upon a limit at -0.2: at 3.7 rad/s it would pass it by 0.06 rad in one step of 1/60 s."""
    traj = dal.simulate(rods(1, limits=(-0.2, 2.0)), "spook", h=1 / 60, t_end=3.0, q0=[1.2])
    q = traj.joint("pin0").q[:, 0]
    assert q.min() == pytest.approx(-0.2, abs=1e-4)
    assert np.abs(traj.joint("pin0").v[-1]).max() < 10.0 and traj.account["limits"].max() <= 1e-12
    assert traj.energy.max() <= traj.energy[0] + 1e-9


def test_a_pendulum_rests_on_its_limit():
    traj = dal.simulate(rods(1, limits=(0.5, 2.0)), "spook", h=1 / 60, t_end=5.0, q0=[0.8])
    assert traj.joint("pin0").q[-1, 0] == pytest.approx(0.5, abs=1e-8)  # eps times the torque
    assert np.abs(traj.joint("pin0").v[-1]).max() < 1e-9


def test_a_start_beyond_a_limit_comes_back_gently():
    traj = dal.simulate(wheel(limits=(-0.5, 0.5)), "spook", h=1 / 60, t_end=4.0, q0=[1.0])
    q, v = traj.joint("axle")
    assert np.abs(v).max() < 0.5 and np.abs(q[-1]).max() < 0.5 + 1e-6


def test_a_loop_joint_has_limits_friction_and_motors_too():
    """A four-bar whose closing hinge is motored and limited: it turns at the motor's speed, and stops at the limit."""
    m = dal.scenes.find("four-bar").build().without("gravity").copy()
    m.remove_loop("right1")
    m.add_loop("right1", "revolute", "upright1", "bar1", (1, 0, 1), (0, 1, 0), limits=(-0.6, 0.6), friction=0.1)
    m.add_motor("motor", "right1", "velocity", kv=200.0, limit=30.0)
    traj = dal.simulate(m, "spook", h=1 / 120, t_end=3.0, control=lambda t, q, v: {"motor": 0.5})
    q, v = traj.joint("right1")
    assert v[60, 0] == pytest.approx(0.5, abs=0.01)
    assert q.max() == pytest.approx(0.6, abs=1e-4)
    assert traj.joint("foot0").q[-1, 0] == pytest.approx(-0.6, abs=1e-3)


def test_a_driven_crank_follows_its_function():
    m = dal.Model("driven")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.5))
    m.add_joint("crank", "revolute", "world", "rod", axis=(0, 1, 0), drive=lambda t: 0.5 * t + 0.2 * t**2)
    traj = dal.simulate(m, "spook", h=1e-3, t_end=2.0)
    np.testing.assert_allclose(traj.joint("crank").q[:, 0], 0.5 * traj.t + 0.2 * traj.t**2, atol=1e-5)


def test_a_joint_breaks_at_its_strength_and_says_so():
    """Force on the hinge of a rod that falls from rest at 90 degrees: m g (1 + 9 cos^2 a ...)/4; it is 10 m g/4 at the bottom."""
    traj = dal.simulate(rods(1, strength=2.0 * G), "spook", h=1e-3, t_end=2.0, q0=[np.pi / 2])
    assert [int(row[1]) for row in traj.events.rows] == [BROKEN]
    when = traj.events.rows[0, 0]
    k = round(when / 1e-3)
    angle = traj.joint("pin0").q[k, 0]
    along, across = G * 2.5 * np.cos(angle), G * np.sin(angle) / 4  # along the rod, across it
    assert np.hypot(along, across) == pytest.approx(2.0 * G, rel=0.01)
    com = traj.poses[k:, 0, :3, 3] - 0.5 * traj.poses[k:, 0, :3, 2]
    np.testing.assert_allclose(np.diff(com, 2, axis=0), np.broadcast_to([0, 0, -G * 1e-6], (len(com) - 2, 3)), atol=1e-12)  # free fall


@pytest.mark.parametrize("acting", [{}, {"armature": 0.5}, {"stiffness": 5.0, "damping": 0.2}])
def test_a_pendulum_strikes_a_wall_with_its_restitution(acting):
    """The rate behind the impact is -e times the one before, whatever acts on the joint: springs and dampers do nothing in no time."""
    m = rods(1, **acting).without("gravity").copy()
    m.add_contact("rod0", "world", restitution=0.5, friction=0.0)
    ball = dal.Sphere(0.1, position=(0, 0, -1))
    m.add_shape("rod0", ball)
    m.add_shape("world", dal.Box((0.2, 2, 2), position=(-0.5, 0, -1)))
    traj = dal.simulate(m, "spook", h=1 / 60, t_end=0.3, q0=[0.0], v0=[2.0], impact="preemptive")
    v = traj.joint("pin0").v[:, 0]
    k = int(np.argmax(v < 0))
    assert len(traj.events.rows) >= 1
    assert v[k] / v[k - 1] == pytest.approx(-0.5, abs=0.02 if not acting else 0.1)  # what acts does so over the step behind it


def test_joints_of_one_machine_act_in_one_account():
    """Springs, dampers, friction, limits, rotors and a motor at once: the balance says where the energy went."""
    m = rods(3, damping=0.1, friction=0.2, armature=0.05, limits=(-1.0, 1.0))
    m.add_motor("motor", "pin1", "velocity", kv=2.0, limit=4.0)
    traj = dal.simulate(
        m, "spook", h=1 / 120, t_end=2.0, q0=[0.9, 0.8, -0.9], v0=[0, 3.0, -3.0], control=lambda t, q, v: {"motor": np.sin(3 * t)}
    )
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-10)
    for what in ("damping", "joint_friction", "limits"):
        assert traj.account[what].max() <= 1e-6 and traj.account[what].sum() < -1e-3  # a limit gives what it takes to come back


def test_reactions_are_those_of_the_rows():
    """A hanging rod of 1 kg: its hinge carries m g. Two of them: the upper one twice that. Under a control the wall takes the torque."""
    traj = dal.simulate(rods(2, damping=1.0), "spook", h=0.01, t_end=0.5)
    assert np.isnan(traj.reaction("pin0")[0]).all()
    np.testing.assert_allclose(traj.reaction("pin0")[-1, :3], [0, 0, 2 * G], atol=1e-6)
    np.testing.assert_allclose(traj.reaction("pin1")[-1, :3], [0, 0, G], atol=1e-6)
    driven = dal.Model()
    driven.add_body("rod", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.5))
    driven.add_joint("crank", "revolute", "world", "rod", axis=(0, 1, 0), drive=0.5)
    held = dal.simulate(driven, "spook", h=0.01, t_end=0.5, control=lambda t, q, v: [1.0])
    assert held.reaction("crank", drive=True)[-1, 0] == pytest.approx(0.5 * G * np.sin(0.5) - 1.0, rel=1e-5)
    with pytest.raises(dal.UnknownNameError, match="crank"):
        held.reaction("cramk")


def test_a_comparison_with_steppers_of_trees_is_in_the_coordinates_of_the_machine():
    """Errors at the end fall with h, by order one, beside a reference in joint coordinates."""
    found = dal.compare(rods(2), [("spook", 4e-3), ("spook", 1e-3), ("mk4", 4e-3)], t_end=0.5, q0=[0.8, 0.3])
    coarse, fine, tree = (row.attitude for row in found.rows)
    assert tree < 1e-6 < fine < coarse < 0.05
    assert coarse / fine == pytest.approx(4.0, abs=1.0)
    assert all(np.isnan(row.momentum) for row in found.rows)  # the wall takes it
