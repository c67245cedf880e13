"""Shapes whose contacts MuJoCo finds: gaps by closed forms, filters and margins of ours."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.others import Others
from dalembert.contact.scene import Scene

UP = np.array([1.0, 0.0, 0.0, 0.0])
TO_X = dal.quat.exp([0, np.pi / 2, 0])
OCTAHEDRON = 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
CUBE = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def detector(shapes, world=(), **options):
    m = dal.Model("others")
    for k, shape in enumerate(shapes):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[shape])
    m.world_shapes = tuple(world)
    return Detector(Scene.of(m), **options)


def find(d, *places):
    x, q = np.array([p[0] for p in places], dtype=float), np.array([p[1] if len(p) > 1 else UP for p in places])
    d.detect(x, q)
    return d.contacts


@pytest.mark.parametrize(
    ("shape", "half"),
    [
        (dal.Capsule(0.1, 0.3), 0.25),
        (dal.Cylinder(0.1, 0.3), 0.15),
        (dal.Ellipsoid((0.1, 0.2, 0.15)), 0.15),
        (dal.Convex(OCTAHEDRON), 0.1),
        (dal.Mesh(CUBE, triangles=[[0, 1, 2], [1, 3, 2]]), 0.1),
    ],
)
@pytest.mark.parametrize("ground", [dal.Plane(), dal.Box((2, 2, 2), position=(0, 0, -1)), dal.HeightField(np.zeros((5, 5)), (2, 2))])
def test_a_shape_stands_on_the_ground(shape, half, ground):
    """Gaps to 1e-5: iterations of MuJoCo stop at 1e-6. Within the margin of 4 mm it is listed, beyond it is not.

    Cells of a height field push from their inner edges too, so there the deepest contact is looked at.
    """
    d = detector([shape], [ground])
    for gap in (-2e-3, 3.5e-3):
        c = find(d, [(0.013, 0.021, half + gap)])
        assert len(c.gap) >= 1 and np.all(c.bodies == [-1, 0])
        assert c.gap.min() == pytest.approx(gap, abs=1e-5)
        some = c.gap < c.gap.min() + 1e-6 if ground.kind == "height-field" else c.gap < np.inf
        np.testing.assert_allclose(c.normal[some], np.tile([0, 0, 1], (some.sum(), 1)), atol=1e-3)
        np.testing.assert_allclose(c.point[some, 2], 0.5 * c.gap[some], atol=1e-5)
    assert len(find(d, [(0.013, 0.021, half + 4.5e-3)]).gap) == 0


def test_heights_are_where_they_are_said_to_be():
    """A ramp along x that begins below zero, and a step in y: rows are along y."""
    ramp = np.tile(np.linspace(-0.5, 1.0, 4), (3, 1))  # over x from -1.5 to 1.5: z = 0.25 + 0.5 x
    d = detector([dal.Sphere(0.1)], [dal.HeightField(ramp, (3.0, 2.0), position=(0, 0, 0.1))])
    n = np.array([-0.5, 0, 1.0]) / np.sqrt(1.25)
    for x in (-0.7, 0.1, 0.9):
        foot = np.array([x, 0.3, 0.35 + 0.5 * x])
        c = find(d, [foot + 0.1 * n])
        assert abs(c.gap).min() < 1e-5
        np.testing.assert_allclose(c.point[abs(c.gap).argmin()], foot, atol=1e-4)
    step = np.array([[0.0, 0.0], [0.0, 0.0], [0.6, 0.6], [0.6, 0.6]])
    d = detector([dal.Sphere(0.1)], [dal.HeightField(step, (2.0, 3.0))])
    assert find(d, [(0.2, 1.2, 0.7)]).gap.min() == pytest.approx(0.0, abs=1e-5)
    assert find(d, [(0.2, -1.2, 0.1)]).gap.min() == pytest.approx(0.0, abs=1e-5)


def test_pairs_of_all_kinds_meet_once():
    """Every kind beside every other, 1 mm apart: normals point from the first to the second, and no pair is found by both sides."""
    kinds = {
        "sphere": (dal.Sphere(0.1), 0.1),
        "box": (dal.Box((0.2, 0.2, 0.2)), 0.1),
        "capsule": (dal.Capsule(0.1, 0.1), 0.1),
        "cylinder": (dal.Cylinder(0.1, 0.2), 0.1),
        "ellipsoid": (dal.Ellipsoid((0.1, 0.2, 0.15)), 0.1),
        "convex": (dal.Convex(CUBE), 0.1),
    }
    for a, (first, r) in kinds.items():
        for b, (second, s) in kinds.items():
            d = detector([first, second])
            c = find(d, [(0, 0, 0)], [(r + s + 0.001, 0, 0)])
            assert 1 <= len(c.gap) <= 8 and c.gap.min() == pytest.approx(0.001, abs=2e-5), (a, b)
            assert np.all(c.bodies == [0, 1]), (a, b)
            np.testing.assert_allclose(c.normal, np.tile([1, 0, 0], (len(c.gap), 1)), atol=5e-3, err_msg=f"{a} {b}")
            assert len(np.unique(c.point.round(6), axis=0)) == len(c.gap), (a, b)


def test_filters_hold_for_what_mujoco_finds():
    m = dal.Model("crowd")
    for k in range(4):
        extra = {"contype": 2, "conaffinity": 2} if k == 3 else {}
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[dal.Capsule(0.1, 0.1, extra=extra)])
    m.exclude("b0", "b1")
    d = Detector(Scene.of(m))
    d.detect(np.array([[0.01 * k, 0, 0] for k in range(4)]), np.tile(UP, (4, 1)))
    assert {tuple(b) for b in d.contacts.bodies.tolist()} == {(0, 2), (1, 2)}


def test_contacts_of_both_sides_are_sorted_and_matched():
    """Capsules that lie on boxes that stand on the ground."""
    shapes = [dal.Box((0.2, 0.2, 0.2)), dal.Capsule(0.05, 0.1), dal.Box((0.2, 0.2, 0.2)), dal.Capsule(0.05, 0.1)]
    d = detector(shapes, [dal.Plane()])
    places = [[(0, 0, 0.1)], [(0, 0, 0.25), TO_X], [(1, 0, 0.1)], [(1, 0, 0.25), TO_X]]
    c = find(d, *places)
    assert np.all(np.diff(c.key) >= 0) and len(c.gap) == 2 * (4 + 2)
    d.remember(np.arange(36.0).reshape(12, 3))
    find(d, *places)
    lam = np.empty((12, 3))
    assert d.warm_start(lam).tolist() == list(range(12))
    np.testing.assert_allclose(lam, np.arange(36.0).reshape(12, 3), atol=1e-13)


def test_room_for_contacts_grows():
    m = dal.Model("many")
    for k in range(30):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[dal.Cylinder(0.1, 0.2)])
    scene = Scene.of(m)
    x, q, still = np.random.default_rng(1).uniform(-0.03, 0.03, (30, 3)), np.tile(UP, (30, 1)), np.zeros(30)
    ample = Others(scene).find(x, q, still, 4e-3)
    tight = Others(scene, room=300_000)
    assert tight.find(x, q, still, 4e-3) == ample > 435 and tight.room > 300_000


def test_mujoco_is_not_asked_where_it_has_nothing_to_do():
    boxes = [dal.Box((0.2, 0.2, 0.2)), dal.Sphere(0.1)]
    assert detector(boxes, [dal.Plane()])._others is None
    assert detector([dal.Convex(CUBE), dal.Convex(OCTAHEDRON), dal.Box((1, 1, 1))], [dal.Plane()])._others is None
    assert detector([dal.Convex(CUBE), dal.Sphere(0.1)])._others is not None
    assert detector([*boxes, dal.Capsule(0.1, 0.1)])._others is not None
