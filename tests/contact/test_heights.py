"""Height fields: flat ones are planes, ridges and valleys are where they are. Formulas: `Heights`, kernels/contact/heights.py."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.others import heights
from dalembert.contact.scene import Scene
from dalembert.kernels.contact.heights import possible

UP = (1.0, 0.0, 0.0, 0.0)
CUBE = dal.Box((0.2, 0.2, 0.2), friction=0)


def down(angle, shape, friction, h, v=3.0, yaw=0.0, seconds=2.0):
    """Way along the slope of a height field of 25 cm cells, sideways, and out of it."""
    a, x = np.radians(angle), np.linspace(-10, 10, 81)
    m = dal.Model("slope")
    m.add_shape("world", dal.HeightField(np.tile(-np.tan(a) * x, (21, 1)), size=(20, 5), friction=friction))
    along, out = np.array([np.cos(a), 0, -np.sin(a)]), np.array([np.sin(a), 0, np.cos(a)])
    start = np.array([-5, 0.11, 5 * np.tan(a)]) + 0.1 * out
    q = dal.quat.mul((np.cos(a / 2), 0, np.sin(a / 2), 0), (np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)))
    m.add_body("b", 1.0, shape.inertia(1.0), pose=(start, q), shapes=[shape])
    v0 = v * np.array([np.cos(yaw), -np.sin(yaw), 0])
    d = dal.simulate(m, "spook", h=h, t_end=seconds, v0={"b": (0, 0, 0, *v0)}).poses[-1, 0, :3, 3] - start
    return d @ along, d[1], d @ out


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("shape", [dal.Sphere(0.1, friction=0), CUBE, dal.Cylinder(0.1, 0.2, friction=0)], ids=lambda s: s.kind)
@pytest.mark.parametrize("angle", [0.0, 20.0])
def test_what_slides_over_even_ground_goes_straight_on(angle, shape, h):
    """v t + g sin(angle) t^2/2, which a step of first order exceeds by g sin(angle) t h/2. To 5 mm: MuJoCo finds points by
    iterations, up to some um."""
    pull = 9.81 * np.sin(np.radians(angle))
    np.testing.assert_allclose(down(angle, shape, 0.0, h), (6 + 2 * pull + pull * h, 0, 0), atol=5e-3)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_g(h):
    """4.79 m in 2 s from rest, and g sin(20) 5/7 t h/2 more by a step of first order."""
    pull = 5 / 7 * 9.81 * np.sin(np.radians(20.0))
    way, aside, out = down(20.0, dal.Sphere(0.1, friction=0.8), 0.8, h, v=0.0)
    assert way == pytest.approx(2 * pull + pull * h, rel=2e-3)
    assert abs(aside) < 1e-3 and abs(out) < 1e-4


def test_a_box_on_its_way_over_even_ground_is_braked_by_friction_alone():
    """mu = 0.4, 3 m/s, turned by 0.3 rad about the vertical: v^2/(2 mu g) within v h/2."""
    way, aside, _ = down(0.0, dal.Box((0.2, 0.2, 0.2), friction=0.4), 0.4, 1 / 240, yaw=0.3)
    assert way == pytest.approx(9 / (2 * 0.4 * 9.81), abs=3 / 480 + 1e-3)
    assert abs(aside) < 5e-3


def field(z, size=(2.0, 2.0)):
    return dal.HeightField(np.asarray(z, dtype=float), size)


def asked(shape, n, q):
    """`possible` of a height field alone."""
    m = dal.Model("field")
    m.add_shape("world", shape)
    m.add_body("b", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    n = np.array(n, dtype=float) / np.linalg.norm(n)
    found, _, free = possible(heights(Scene.of(m)), 0, tuple(n.tolist()), tuple(float(x) for x in q))
    return np.array(found), n, free


def test_normals_on_ridges_are_those_between_their_faces_and_no_others():
    """A roof along y, slopes of +-0.5: n_x of unit normals from -sin to sin of atan(0.5)."""
    roof = field(np.tile([0.0, 0.5, 0.0], (3, 1)))
    top, s = (0.0, 0.2, 0.5), 1 / np.sqrt(1.25)
    for n in ((0, 0, 1), (0.3, 0, 1), (-0.49, 0, 1)):
        found, given, free = asked(roof, n, top)
        assert free and np.array_equal(found, given)
    for n, wanted in (((0.9, 0, 1), (0.5, 0, 1)), ((-2, 0, 1), (-0.5, 0, 1)), ((0.2, 0.5, 1), (0.5, 0, 1))):
        found, _, free = asked(roof, n, top)
        assert not free
        np.testing.assert_allclose(found, s * np.array(wanted), atol=1e-12)


def test_normals_in_valleys_and_on_faces_are_those_of_faces():
    valley, s = field(np.tile([0.5, 0.0, 0.5], (3, 1))), 1 / np.sqrt(1.25)
    for n, q in (((0.2, 0, 1), (0.0, 0.3, 0.0)), ((-0.4, 0, 1), (0.5, 0.2, 0.25))):
        found, _, free = asked(valley, n, q)
        assert not free
        np.testing.assert_allclose(found, s * np.array([0.5 if q[0] == 0 else -0.5, 0, 1]), atol=1e-12)
    found, _, free = asked(field(np.zeros((3, 3))), (3e-4, 0, 1), (0.3, 0.1, 0.0))  # an error of iteration
    assert free and np.array_equal(found, (0, 0, 1))


def test_rims_of_a_field_keep_normals_outward():
    found, given, free = asked(field(np.zeros((3, 3))), (1, 0, 0.5), (1.0, 0.1, 0.0))
    assert free and np.array_equal(found, given)


def test_a_ball_over_even_ground_has_contacts_along_its_normal_only():
    """Within a reach of 5 cm of cells of 5 cm: before, there were contacts with edges all around."""
    m = dal.Model("ball")
    m.add_body("b", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    m.world_shapes = (field(np.zeros((41, 41))),)
    d = Detector(Scene.of(m))
    d.detect(np.array([[0.012, 0.021, 0.11]]), np.array([UP]), np.array([0.05]))
    assert d.count >= 1
    np.testing.assert_allclose(d.contacts.normal, np.tile([0, 0, 1], (d.count, 1)), atol=1e-12)
    np.testing.assert_allclose(d.contacts.gap, 0.01, atol=1e-5)
