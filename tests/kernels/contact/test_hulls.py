"""Convex polytopes against boxes, whose kernels are other ones, and against coal."""

import coal
import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.polytopes import polytope
from dalembert.contact.scene import Scene
from dalembert.kernels.contact.tables import HULL, LARGE_HULL

UP = np.array([1.0, 0.0, 0.0, 0.0])
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def detector(*shapes, **options):
    m = dal.Model("hulls")
    for k, shape in enumerate(shapes):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[shape])
    return Detector(Scene.of(m), **options)


def unit(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def prism(n, radius, half):
    angle = 2 * np.pi * np.arange(n) / n
    ring = radius * np.c_[np.cos(angle), np.sin(angle)]
    return np.concatenate([np.c_[ring, np.full(n, z)] for z in (-half, half)])


def rows(c):
    """Contacts in an order of their own."""
    table = np.c_[c.gap, c.point, c.normal]
    return table[np.lexsort(table.round(7).T[1:4])]


def test_boxes_as_hulls_touch_like_boxes():
    """Random pairs, box-box by one kernel, hull-hull and hull-box by the other: the same points, normals and gaps."""
    rng, met = np.random.default_rng(5), 0
    for _ in range(120):
        half, q = rng.uniform(0.05, 0.2, (2, 3)), unit(rng, 2)
        x = np.array([np.zeros(3), rng.uniform(-0.2, 0.2, 3)])
        boxes, hulls = [dal.Box(2 * h) for h in half], [dal.Convex(CORNERS * h) for h in half]
        found = []
        for pair in (boxes, hulls, (boxes[0], hulls[1]), (hulls[0], boxes[1])):
            d = detector(*pair)
            d.detect(x, q)
            assert d._others is None
            found.append(rows(d.contacts))
        met += len(found[0]) > 0
        for other in found[1:]:
            assert other.shape == found[0].shape
            np.testing.assert_allclose(other, found[0], atol=1e-12)
    assert met > 60


def test_depth_is_that_of_coal():
    """Overlapping random hulls: the least gap is minus the penetration depth, to what coal's EPA stops at. Edge contacts and faces."""
    rng, deep = np.random.default_rng(6), 0
    for _ in range(80):
        points = [rng.normal(size=(14, 3)) for _ in range(2)]
        points = [0.15 * p / np.linalg.norm(p, axis=1)[:, None] for p in points]
        q, x = unit(rng, 2), np.array([np.zeros(3), rng.uniform(-0.16, 0.16, 3)])
        d = detector(*(dal.Convex(p) for p in points), slack=0.0, angle=0.0)
        hulls = [_coal_hull(p) for p in points]
        places = [coal.Transform3s(dal.quat.to_matrix(q[k]), x[k]) for k in range(2)]
        result = coal.DistanceResult()
        distance = coal.distance(hulls[0], places[0], hulls[1], places[1], coal.DistanceRequest(True, True), result)
        count = d.detect(x, q)
        if distance < -1e-4:
            deep += 1
            assert count >= 1
            assert d.contacts.gap.min() == pytest.approx(distance, abs=2e-5)
        elif distance > 0.005:
            assert count == 0
    assert deep > 40


def _coal_hull(points):
    vertices = coal.StdVec_Vec3s()
    for p in points:
        vertices.append(p)
    return coal.Convex.convexHull(vertices, False, "Qt")


def test_a_prism_on_a_prism_touches_with_all_its_corners():
    """Hexagons, one turned by a twelfth: twelve corners, each clipped at most 1e-4 outside."""
    d = detector(dal.Convex(prism(6, 0.1, 0.1)), dal.Convex(prism(6, 0.1, 0.1)))
    q = np.array([UP, dal.quat.exp([0, 0, np.pi / 6])])
    assert d.detect(np.array([[0, 0, 0], [0, 0, 0.199]]), q) == 12
    c = d.contacts
    np.testing.assert_allclose(c.gap, -0.001, atol=1e-14)
    np.testing.assert_allclose(c.normal, np.tile([0, 0, 1], (12, 1)), atol=1e-14)
    assert len(set(c.feature.tolist())) == 12


@pytest.mark.parametrize("place", [(0, 0, 0.2), (0.05, 0.03, 0.1999)])
def test_features_stay_under_small_motions(place):
    rng = np.random.default_rng(8)
    d = detector(dal.Convex(prism(7, 0.15, 0.1)), dal.Convex(prism(5, 0.1, 0.1)))
    x, q, seen = np.array([(0, 0, 0), place]), np.array([UP, dal.quat.exp([0, 0, 0.3])]), set()
    for _ in range(300):
        near = np.array([dal.quat.mul(y, dal.quat.exp(rng.uniform(-1e-5, 1e-5, 3))) for y in q])
        d.detect(x + rng.uniform(-1e-5, 1e-5, (2, 3)), near)
        seen.add(tuple(d.contacts.feature.tolist()))
    assert len(seen) == 1 and len(next(iter(seen))) >= 5


def test_faces_of_a_cube_are_squares():
    rng = np.random.default_rng(1)
    turned = CORNERS @ dal.quat.to_matrix(unit(rng, 1)[0]).T  # not along the axes, so that triangles are coplanar to round-off alone
    cube = polytope(turned)
    assert [len(f) for f in cube.faces] == [4] * 6 and len(cube.edges) == 12
    for face, n in zip(cube.faces, cube.normals, strict=True):
        p = turned[face]
        np.testing.assert_allclose(p @ n, 1.0, atol=1e-12)
        area = sum(np.cross(p[i], p[(i + 1) % 4]) for i in range(4)) / 2
        np.testing.assert_allclose(area, 4 * n, atol=1e-12)  # counter-clockwise
    for u, v, f, g in cube.edges.tolist():
        assert {u, v} <= set(cube.faces[f]) & set(cube.faces[g]) and f != g


def test_large_and_flat_hulls_are_left_to_mujoco():
    rng = np.random.default_rng(2)
    ball = rng.normal(size=(200, 3))
    ball *= 0.1 / np.linalg.norm(ball, axis=1)[:, None]
    d = detector(dal.Convex(ball), dal.Convex(0.1 * CORNERS))
    assert sorted(d.scene.shapes.kind.tolist()) == [HULL, LARGE_HULL]
    assert d.detect(np.array([[0, 0, 0], [0.199, 0, 0]]), np.tile(UP, (2, 1))) >= 1
    assert polytope(np.c_[ball[:5, :2], np.zeros(5)]) is None
