"""Robots from files, as a user of robotics runs them: loaded, controlled, standing, falling."""

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact import exclude_overlaps
from dalembert.model import body_state, cut

HERE = Path(__file__).parents[1] / "data" / "models"
EXAMPLES = Path(__file__).parents[2] / "examples"
SHARE = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))


def robot(folder, file, floating_base=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dal.load_model(SHARE / "example-robot-data" / "robots" / folder / file, floating_base=floating_base)


def quadruped(motors=True):
    """The quadruped of the examples on its feet, and the pose that it is to hold."""
    m = dal.load_model(EXAMPLES / "quadruped.xml")
    angles = {"roll": 0.0, "pitch": 0.6, "knee": -1.2}
    pose = {j.name: angles[j.name.split("_")[-1]] for j in m.joints if j.kind == "revolute"}
    q = m.check_q(pose)
    q[2] -= feet(m, q)[:, 2].min() - 0.028
    if motors:
        for name in pose:
            m.add_motor(name, name, "position", kp=100.0, kv=2.0, limit=40.0)
    return m, q, pose


def feet(m, q):
    """Centres of the feet, spheres of 28 mm."""
    shanks = [k for k, b in enumerate(m.bodies) if b.name.endswith("shank")]
    return (m.poses(q)[..., shanks, :, :] @ np.array([0, 0, -0.21, 1.0]))[..., :3]


@pytest.mark.parametrize(("h", "how"), [(1 / 60, "motors"), (1 / 240, "motors"), (1 / 240, "tau")])
def test_a_quadruped_stands_on_its_feet(h, how):
    """Five seconds by position motors, and by a law of Python: it stays up and its feet stay where they are.

    Legs settle for some 3 s, while round feet roll by some 0.4 mm; what goes on is the creep of contacts, 4 eps Y/h per newton along them.
    """
    m, q0, pose = quadruped(how == "motors")
    wanted = np.array(list(pose.values()))

    def law(t, q, v):
        return pose if how == "motors" else np.concatenate([np.zeros(6), 100.0 * (wanted - q[7:]) - 2.0 * v[6:]])

    sim = dal.Simulation(m, "spook", h=h, q0=q0, control=law)
    early = feet(m, sim.step(round(1.0 / h)).q)
    late = sim.step(round(4.0 / h))
    assert np.abs(feet(m, late.q) - early).max() < 1e-3
    assert late.q[2] == pytest.approx(q0[2], abs=0.02)
    assert np.abs(late.v).max() < 1e-3
    traj = sim.trajectory()
    forces = traj.contacts.of(-1)
    assert forces[:, 11].sum() / h == pytest.approx(m.total_mass * 9.81, rel=1e-3)
    across = np.linalg.norm(forces[:, 9:11], axis=1) / h
    np.testing.assert_allclose(forces[:, 12], 4 * 1e-8 / 9 / h * across, rtol=0.05)  # Y = 1/9
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-10)
    assert traj.report().verdict != "fail"


def test_torques_of_a_standing_robot_are_those_of_statics():
    """tau = g(q) - J^T f with the forces on its feet: inverse dynamics of the tree, which knows nothing of rows."""
    m, q0, pose = quadruped()
    h = 1 / 240
    sim = dal.Simulation(m, "spook", h=h, q0=q0, control=lambda t, q, v: pose)
    state = sim.step(round(3.0 / h))
    traj = sim.trajectory()
    tau = m.inverse_dynamics(state.q, np.zeros(m.nv), np.zeros(m.nv))
    leads = [b.name for b in m.bodies]
    for a, b, *row in traj.contacts.of(-1):
        assert a == -1
        tau -= m.generalised_force(state.q, leads[int(b)], np.array(row[7:10]) / h, (0, 0, 0), row[:3])
    np.testing.assert_allclose(tau[:6], 0.0, atol=0.05)  # N, N m of 110 N: it still settles
    np.testing.assert_allclose(traj.control[-1, 6:], tau[6:], atol=0.05)


def test_a_ur5_swings_within_its_limits():
    """All joints follow gravity; beside the variational stepper while no limit is met, and within the limits afterwards."""
    m = robot("ur_description/urdf", "ur5_joint_limited_robot.urdf", floating_base=False)
    exclude_overlaps(m)
    q0 = [0.3, -1.0, 0.8, 0.2, 0.3, 0.0]
    near = dal.simulate(m, "spook", h=5e-4, t_end=0.3, q0=q0, ignore=("contact",))
    exact = dal.simulate(m, "midpoint", h=5e-4, t_end=0.3, q0=q0, ignore=("contact", "joint friction", "damping", "limits"))
    angles = np.concatenate([near.joint(j.name).q[-1] for j in m.joints if j.coordinates.nv])
    if not any(j.damping or j.friction for j in m.joints):
        np.testing.assert_allclose(angles, exact.q[-1], atol=0.01)
    long = dal.simulate(m, "spook", h=1 / 240, t_end=4.0, q0=q0, ignore=("contact",))
    for j in m.joints:
        if j.limits is not None:
            q = long.joint(j.name).q[:, 0]
            assert j.limits[0] - 5e-3 < q.min() and q.max() < j.limits[1] + 5e-3, j.name


def test_solo_stands_by_position_motors():
    """Hulls of its base and thighs overlap by some 4 mm: a warning says so, and what to do about it."""
    m = robot("solo_description/robots", "solo12.urdf")
    m.add_shape("world", dal.Plane(friction=0.8))
    pose = {j.name: {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}[j.name[3:]] for j in m.joints if j.kind == "revolute"}
    for name in pose:
        m.add_motor(name, name, "position", kp=5.0, kv=0.1, limit=2.7)
    q0 = m.check_q(pose)
    q0[2] = 0.26
    with pytest.warns(UserWarning, match=r"'base_link' and 'FL_UPPER_LEG' \(4\.\d mm\).*exclude_overlaps"):
        dal.Simulation(m, "spook", h=1 / 240, q0=q0)
    assert len(exclude_overlaps(m)) == 4
    sim = dal.Simulation(m, "spook", h=1 / 120, q0=q0, control=lambda t, q, v: pose, contacts="none")
    down = sim.step(120)
    later = sim.step(120)
    assert 0.18 < later.q[2] < 0.26
    assert np.abs(later.q[:3] - down.q[:3]).max() < 1e-2 and abs(later.q[3]) > 0.99


def test_anymal_is_dropped_and_stands_by_position_motors():
    """30 kg, from 12 cm, at h = 1/60 s. It stands: the floor carries its weight, and it sinks slower than 0.1 mm/s, as its feet creep."""
    m = robot("anymal_b_simple_description/robots", "anymal.urdf")
    m.add_shape("world", dal.Plane(friction=0.8))
    bend = {"F_HFE": 0.7, "F_KFE": -1.4, "H_HFE": -0.7, "H_KFE": 1.4}
    pose = {j.name: bend.get(j.name[1:], 0.0) for j in m.joints if j.kind == "revolute"}
    for name in pose:
        m.add_motor(name, name, "position", kp=400.0, kv=10.0, limit=80.0)
    q0 = m.check_q(pose)
    q0[2] = 0.5
    exclude_overlaps(m)
    sim = dal.Simulation(m, "spook", h=1 / 60, q0=q0, control=lambda t, q, v: pose)
    landed = sim.step(120)
    later = sim.step(120)
    assert 0.35 < later.q[2] < 0.4 and abs(later.q[3]) > 0.9999
    assert np.abs(later.q[:3] - landed.q[:3]).max() < 2e-4
    traj = sim.trajectory()
    assert traj.contacts.of(-1)[:, 11].sum() * 60 == pytest.approx(m.total_mass * 9.81, rel=1e-6)
    assert traj.report().verdict != "fail"


def ragdoll():
    """In the air, bent and turned."""
    m = dal.load_model(HERE / "ragdoll.xml")
    q = m.check_q({"left_hip_pitch": -0.5, "left_knee": 0.6, "neck_nod": 0.2})
    q[2:7] = q[2] + 0.3, np.cos(0.2), 0.6 * np.sin(0.2), 0.8 * np.sin(0.2), 0.0
    return m, q


def test_a_ragdoll_falls_and_comes_to_rest():
    """Several hinges on one body, balls with a greatest angle, armature, friction, limits, contacts of all its parts."""
    m, q0 = ragdoll()
    with pytest.warns(UserWarning, match="'head.neck_yaw'.*take a small share of what they carry"):
        traj = dal.simulate(m, "spook", h=1 / 120, t_end=5.0, q0=q0)
    assert traj.status == "ok" and traj.solver["unsolved"].mean() < 0.01
    assert traj.kinetic.max() > 100.0 and traj.kinetic[-1] < 1e-3
    assert traj.solver["penetration"].max() < 0.01 and np.abs(traj.constraint[-1]).max() < 1e-6
    for j in m.joints:
        if j.limits is not None and j.kind == "revolute":
            q = traj.joint(j.name).q[:, 0]
            assert max(j.limits[0] - q.min(), q.max() - j.limits[1]) < 0.01, j.name
    assert np.all(np.diff(traj.energy) < 0.1)  # J of 934: nothing gives energy but what comes out of overlaps
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-9)


def test_frames_between_hinges_are_lent_inertia_that_changes_the_motion_little():
    """Mass matrix of the tree, and of the machine cut free seen through the rates of its joints, at bent configurations."""
    m, _ = ragdoll()
    free = cut(m, lend=True)
    assert free.total_mass == pytest.approx(m.total_mass, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = m.integrate(m.neutral(), 0.5 * rng.normal(size=m.nv))
        x, _ = body_state(m, q, np.zeros(m.nv))
        P = np.array([body_state(m, q, e)[1] for e in np.eye(m.nv)]).T
        M = m.without("armature").mass_matrix(q)
        difference = P.T @ free.mass_matrix(x) @ P - M
        size = np.sqrt(np.diag(M))
        assert np.abs(difference / np.outer(size, size)).max() < 0.02  # l/20 of the head, of its inertia about the neck: 1.1 %


def test_slender_rods_and_point_masses_run_in_body_coordinates():
    """A mathematical pendulum: its period is that of the tree to the 1e-4 of the inertia that it is lent."""
    m = dal.Model()
    m.add_body("bob", 1.0, (0, 0, 0), com=(0, 0, -1.0), physical=False)
    m.add_joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    with pytest.warns(UserWarning, match="'bob' have no inertia"):
        traj = dal.simulate(m, "spook", h=1e-3, t_end=2.0, q0=[0.3])
    exact = dal.simulate(m, "mk4", h=1e-3, t_end=2.0, q0=[0.3])
    np.testing.assert_allclose(traj.joint("hinge").q[:, 0], exact.q[:, 0], atol=2e-3)


def test_mimicking_joints_follow():
    """A torque on one finger of a gripper moves both alike; without couplings it moves one."""
    m = robot("panda_description/urdf", "panda.urdf", floating_base=False)
    push = np.zeros(m.nv)
    push[m.v_slices()["panda_finger_joint1"]] = 1.0
    start = {"panda_joint4": -1.5, "panda_joint6": 1.5, "panda_finger_joint1": 0.01, "panda_finger_joint2": 0.01}
    for ignore, together in ((("contact",), True), (("contact", "couplings"), False)):
        traj = dal.simulate(m, "spook", h=1 / 240, t_end=0.1, q0=start, control=lambda t, q, v: push, ignore=ignore)
        first, second = (traj.joint(f"panda_finger_joint{k}").q[:, 0] for k in (1, 2))
        assert np.ptp(first) > 1e-3
        assert (np.abs(first - second).max() < 1e-6) == together
