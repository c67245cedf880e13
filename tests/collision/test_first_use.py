"""Machines that were not made for these tests, very short steps, and many impacts: what a first user tries."""

import warnings

import numpy as np
import pytest
from tests.collision.conftest import G, add_walls, ball, facing, twists

import dalembert as dal
from dalembert.errors import UnsupportedError

URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -.25"/><mass value="2"/><inertia ixx=".05" iyy=".05" izz=".005"
 ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -.25"/><geometry><box size=".06 .06 .45"/></geometry></collision></link>
<link name="fore"><inertial><origin xyz="0 0 -.2"/><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".002"
 ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -.2"/><geometry><box size=".05 .05 .3"/></geometry></collision>
<collision><origin xyz="0 0 -.42"/><geometry><sphere radius=".05"/></geometry></collision></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0 0 -.5"/>
<axis xyz="0 1 0"/></joint></robot>"""
MJCF = """<mujoco><worldbody><geom type="plane" pos="-.4 0 0" zaxis="1 0 0" size="2 2 .1"/>
<body name="upper" pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 -.05 0 0 -.45" size=".03" mass="2"/>
<body name="fore" pos="0 0 -.5"><joint name="elbow" type="hinge" axis="0 1 0" damping=".1"/>
<geom type="capsule" fromto="0 0 -.05 0 0 -.35" size=".03" mass="1"/><geom type="sphere" pos="0 0 -.42" size=".05" mass=".2"/></body></body>
</worldbody></mujoco>"""


def arm(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what an importer does not carry over
        return dal.load_model(text, floating_base=False)


def walled(m, e):
    m.add_shape("world", dal.Plane(position=(-0.4, 0, 0), quaternion=facing(np.array([1.0, 0, 0])), friction=0, restitution=e))
    return m


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_an_arm_from_a_file_swings_against_a_wall(e):
    start = {"shoulder": -1.2, "elbow": -0.5}
    with pytest.raises(UnsupportedError, match="smooth=True"):
        dal.simulate(walled(arm(URDF), e), "collision", h=0.002, t_end=0.1, q0=start)
    traj = dal.simulate(walled(arm(URDF), e), "collision", h=0.002, t_end=3, q0=start, smooth=True, restitution=e)
    report = traj.report()
    assert (traj.events["kind"] == 1).sum() >= 2 and report.verdict == "pass", report.text
    if e == 1.0:
        assert np.ptp(traj.energy) < 1e-3 * traj.kinetic.max()
    other = dal.simulate(arm(MJCF), "collision", h=0.002, t_end=3, q0=start, smooth=True, restitution=e)
    assert len(other.events.rows) >= 1 and other.report().verdict == "pass"


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_box_thrown_into_a_corner_bounces_there_or_comes_to_lie(e):
    m = dal.Model("corner")
    for n in np.eye(3):
        m.add_shape("world", dal.Plane(quaternion=facing(n), friction=0, restitution=e))
    box = dal.Box((0.2, 0.3, 0.4), friction=0, restitution=e)
    m.add_body("box", 1.0, box.inertia(1.0), shapes=[box])
    Q = dal.quat.exp([0.3, 0.4, 0.1])
    traj = dal.simulate(m, "collision", h=0.002, t_end=3, q0=[1, 1, 1, *Q], v0=twists([Q], [(-3, -3, -1, 3, 1, 2)]))
    report = traj.report()
    assert len(traj.events.rows) > 5 and report.verdict == "pass", report.text
    assert (traj.energy[-1] > 0.999 * traj.energy[0]) if e == 1.0 else (traj.energy[-1] < 0.1 * traj.energy[0])


def funnel(e, count):
    """Balls above four planes that meet in a point."""
    m, rng = dal.Model("funnel"), np.random.default_rng(0)
    for k in range(4):
        axis = np.array([np.sin(k * np.pi / 2), -np.cos(k * np.pi / 2), 0])
        m.add_shape("world", dal.Plane(quaternion=tuple(dal.quat.exp(0.6 * axis)), friction=0, restitution=e))
    for k in range(count):
        x = np.array([0.15 * (k % 3 - 1), 0.15 * (k // 3 % 3 - 1), 0.6 + 0.15 * (k // 9)]) + 0.01 * rng.normal(size=3)
        m.add_particle(f"b{k}", 0.1 + 0.05 * (k % 3), position=tuple(x), shapes=[dal.Sphere(0.05, friction=0, restitution=e)])
    return m


@pytest.mark.parametrize(("e", "count", "t_end"), [(1.0, 20, 2.0), (0.8, 20, 1.5), (0.3, 6, 1.5)])
def test_balls_in_a_funnel_neither_overlap_nor_gain(e, count, t_end):
    traj = dal.simulate(funnel(e, count), "collision", h=0.002, t_end=t_end)
    report = traj.report()
    assert len(traj.events.rows) > 100 and report.verdict == "pass", report.text
    assert np.diff(traj.energy).max() < 1e-7 * traj.energy[0]  # (h omega)^2 of balls that slide on each other, held; else round-off


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_hulls_that_roll_on_each_other_and_on_the_ground(e):
    m, rng = dal.Model("hulls"), np.random.default_rng(0)
    m.add_shape("world", dal.Plane(friction=0, restitution=e))
    for k in range(2):
        points = rng.normal(size=(20, 3))
        hull = dal.Convex(0.15 * points / np.linalg.norm(points, axis=1)[:, None], friction=0, restitution=e)
        m.add_body(f"h{k}", 1.0, (0.009, 0.009, 0.009), shapes=[hull], pose=((0.03 * k, 0.01 * k, 0.2 + 0.32 * k), (1, 0, 0, 0)))
    traj = dal.simulate(m, "collision", h=0.002, t_end=1, v0=[0.5, 1, 0.2, 0, 0, 0, -1, 0.3, 0.5, 0, 0, 0])
    report = traj.report()
    assert len(traj.events.rows) > 10 and report.verdict == "pass", report.text
    assert traj.account["hops"].sum() < 1e-3 * traj.energy[0]


def between_walls(room, v0=(0.1, 0, 1.0), e=1.0):
    m = dal.Model("vice", gravity=(0, 0, 0))
    add_walls(m, (None, None, 0.2 + room), e)
    m.add_particle("ball", 1.0, shapes=[dal.Sphere(0.1, friction=0, restitution=e)])
    return dal.simulate(m, "collision", h=0.01, t_end=1, v0=v0)


@pytest.mark.parametrize("room", [0.0, 1e-9])
def test_a_ball_without_room_between_two_walls_stops_across_them_and_slides_on(room):
    """Each rebound closes the other contact at the same instant: without an end, so that the last is without a bounce."""
    traj = between_walls(room)
    assert abs(traj.q[-1, 0] - 0.1) < 1e-12 and np.abs(traj.q[:, 2]).max() <= 0.5 * room + 1e-12 and abs(traj.v[-1, 2]) < 1e-3
    assert traj.report().verdict == "pass"


def test_a_ball_with_little_room_between_two_walls_strikes_ten_thousand_times_in_a_second():
    traj = between_walls(1e-4)
    assert len(traj.events.rows) == 10_000 and abs(traj.energy[-1] / traj.energy[0] - 1) < 1e-9


def test_a_cube_keeps_its_energy_in_twenty_thousand_impacts():
    m = dal.Model("cube", gravity=(0, 0, 0))
    add_walls(m, (0.6, 0.7, 0.8), 1.0)
    box = dal.Box((0.2, 0.2, 0.2), friction=0, restitution=1.0)
    m.add_body("cube", 1.0, box.inertia(1.0), shapes=[box])
    Q = dal.quat.exp([0.3, 0.5, -0.2])
    traj = dal.simulate(m, "collision", h=0.01, t_end=1500, q0=[0, 0, 0, *Q], v0=twists([Q], [(3, 2, 1, 1, -2, 0.5)]), every=100)
    assert len(traj.events.rows) > 20_000 and traj.report().verdict == "pass"
    assert np.abs(traj.energy / traj.energy[0] - 1).max() < 1e-4


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_steps_of_a_microsecond_find_the_same_instants(e):
    traj = dal.simulate(ball(1e-3, e), "collision", h=1e-6, t_end=0.03, every=1000)
    fall, found = np.sqrt(2e-3 / G), traj.events["t"][traj.events["kind"] == 1]
    exact = fall * (1 + 2 * np.cumsum([0, *e ** np.arange(1.0, len(found))]))
    assert len(found) == (1 if e == 1.0 else 2) and np.abs(found - exact).max() < 1e-10  # 3e4 steps of eps of 0.1 m over 0.1 m/s
    assert traj.report().verdict == "pass"


SQUARE = [(-0.1, -0.1, 0), (0.1, -0.1, 0), (0.1, 0.1, 0), (-0.1, 0.1, 0)]


@pytest.mark.parametrize(
    "more", [[], SQUARE, [(0, 0, 1e-13)], [(0.05, 0.0, 0.0)]], ids=["sheet", "each point twice", "nearly flat", "a point inside"]
)
def test_flat_hulls_are_the_figures_that_they_are(more):
    from dalembert.collision.solids import points_of

    points, radius = points_of(dal.Convex([*SQUARE, *more]), "body 'sheet'")
    assert radius == 0.0 and np.allclose(sorted(map(tuple, points)), sorted(SQUARE), atol=1e-12)


def test_a_hull_of_points_in_a_row_is_a_line():
    from dalembert.collision.solids import points_of

    points, _ = points_of(dal.Convex([(0, 0, 0), (0.1, 0, 0), (-0.2, 0, 0), (0.05, 0, 0)]), "body 'rod'")
    assert sorted(points[:, 0]) == [-0.2, 0.1] and len(points) == 2
