"""Cylinders that stand on planes and boxes, and roll on planes."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene

RADIUS, HEIGHT = 0.1, 0.3
TURNED = (np.cos(0.15), 0, 0, np.sin(0.15))
GROUNDS = {"plane": lambda mu: dal.Plane(friction=mu), "box": lambda mu: dal.Box((2, 2, 1), position=(0, 0, -0.5), friction=mu)}


def can(ground, lean, heading, height=0.5 * HEIGHT, friction=3.0):
    """A cylinder on level ground; the weight leans by an angle towards a heading."""
    s, g = dal.Cylinder(RADIUS, HEIGHT, friction=friction), 9.81
    pull = (g * np.sin(lean) * np.cos(heading), g * np.sin(lean) * np.sin(heading), -g * np.cos(lean))
    m = dal.Model("can", gravity=pull)
    m.add_shape("world", GROUNDS[ground](friction))
    m.add_body("can", 1.0, s.inertia(1.0), pose=((0, 0, height), TURNED), shapes=[s])
    return m


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("heading", np.radians([0, 45, 77, 210, 240]))
def test_a_cylinder_tips_where_its_weight_leaves_the_rim(ground, heading):
    """atan(r/(H/2)) = 33.69 degrees in every direction: it stands 0.2 degrees below, and has fallen some time after 0.2 degrees above: the
    rate is sqrt(m g l/I) = 6/s with l = 0.18 m about the rim, so 0.0035 rad become 1 rad within 1.5 s."""
    limit = np.arctan(RADIUS / (0.5 * HEIGHT))
    stands = dal.simulate(can(ground, limit - np.radians(0.2), heading), "spook", h=1 / 60, t_end=3)
    assert stands.poses[-1, 0, 2, 2] > 1 - 1e-6
    falls = dal.simulate(can(ground, limit + np.radians(0.2), heading), "spook", h=1 / 60, t_end=3)
    assert falls.poses[-1, 0, 2, 2] < 0.8


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("degrees", [0.0, 20.0, 33.0])
def test_a_standing_cylinder_rests(ground, degrees):
    """Dropped by 1 mm: within 3 s its kinetic energy is below 1e-12 J, and stays there. On a slope it
    creeps with sigma times the impulse of friction, 1.6e-5 m/(s N s) times 1/60 of 3 to 5 N among 8 points."""
    t = dal.simulate(can(ground, np.radians(degrees), 0.3, 0.5 * HEIGHT + 1e-3), "spook", h=1 / 60, t_end=5)
    assert t.kinetic[-120:].max() < 1e-12
    assert np.linalg.norm(t.poses[-1, 0, :3, 3] - t.poses[-120, 0, :3, 3]) < 2e-6


def test_points_of_a_flat_end_are_named_and_persist_while_it_slides():
    """The same features from step to step: 8 of the rim, and the one towards which it slides."""
    m = can("box", 0.0, 0.0, friction=0.2)
    detector = Detector(Scene.of(m))
    q, way = np.array([TURNED]), np.array([[0, 0, 0, 0.01, 0.005, -1e-3]])
    for k in range(5):
        assert detector.detect(np.array([[0.01 * k, 0.005 * k, 0.15]]), q, None, way) == 9
        matched = detector.match()
        assert k == 0 or matched.tolist() == list(range(9))
        detector.remember(np.ones((9, 3)))
    c = detector.contacts
    np.testing.assert_allclose(np.linalg.norm(c.point[:, :2] - (0.04, 0.02), axis=1), RADIUS, atol=1e-12)
    np.testing.assert_allclose(c.point[8, :2] - (0.04, 0.02), RADIUS * np.array([2, 1]) / np.sqrt(5), atol=1e-12)
    np.testing.assert_allclose(c.normal, np.tile([0, 0, 1], (9, 1)), atol=1e-12)
    np.testing.assert_allclose(c.gap, 0.0, atol=1e-12)


def test_an_end_that_stands_over_the_edge_of_a_box_is_clipped():
    """Its centre 3 cm within the edge x = 1 it stands, 1 cm beyond it falls."""
    for x, stands in ((0.97, True), (1.01, False)):
        m = dal.Model("edge")
        s = dal.Cylinder(RADIUS, HEIGHT, friction=1)
        m.add_shape("world", GROUNDS["box"](1.0))
        m.add_body("can", 1.0, s.inertia(1.0), pose=((x, 0, 0.15), TURNED), shapes=[s])
        t = dal.simulate(m, "spook", h=1 / 60, t_end=2)
        assert (t.poses[-1, 0, 2, 2] > 1 - 1e-6) == stands
        points = t.contacts.of(1)[:, 2:4]
        assert points[:, 0].max() < 1.0 + 2e-4  # faces are clipped 0.1 mm outside


@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.14, 0.16, 1.0, np.pi / 2, np.pi])
def test_gaps_over_a_plane_are_exact_at_every_tilt(tilt):
    """Least height: (H/2) |cos| + r sin below the centre."""
    m = can("plane", 0.0, 0.0)
    detector = Detector(Scene.of(m))
    low = 0.5 * HEIGHT * abs(np.cos(tilt)) + RADIUS * np.sin(tilt)
    q = dal.quat.mul(dal.quat.exp([0.6 * tilt, 0.8 * tilt, 0]), TURNED)
    for gap in (-1e-3, 3e-3):
        count = detector.detect(np.array([[0.2, 0.1, low + gap]]), np.array([q]))
        least = detector.contacts.gap.min()
        # of a tilt up to 1e-3 rad the lowest point is one of eight: r (1 - cos(22.5)) tilt
        assert count >= 1 and least == pytest.approx(gap, abs=1e-12 + (7.7e-6 if tilt <= 1e-3 else 0.0))
        np.testing.assert_allclose(detector.contacts.normal, np.tile([0, 0, 1], (count, 1)), atol=1e-15)
    assert detector.detect(np.array([[0.2, 0.1, low + 5e-3]]), np.array([q])) == 0


def test_a_can_that_slides_to_rest_never_loses_the_floor():
    """At angles of 1e-15 rad too, where MuJoCo finds no contact of a cylinder with a plane."""
    s = dal.Cylinder(0.1, 0.2, friction=0.4)
    m = dal.Model("can")
    m.add_shape("world", dal.Plane(friction=0.4))
    m.add_body("can", 1.0, s.inertia(1.0), pose=((-4, 0.11, 0.1), (1, 0, 0, 0)), shapes=[s])
    t = dal.simulate(m, "spook", h=1 / 60, t_end=2, v0={"can": (0, 0, 0, 3, 0.7, 0)})
    assert abs(t.poses[:, 0, 2, 3] - 0.1).max() < 1e-6
