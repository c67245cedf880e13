"""Separations of boxes against coal, and manifolds that can be worked out by hand."""

import coal
import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.kernels.contact.boxes import NEAREST_FEATURE, NO_AXIS, choose, direction, give_way, separations

UP = np.array([1.0, 0.0, 0.0, 0.0])
CUBE = (0.2, 0.2, 0.2)


def about(axis, angle):
    return dal.quat.exp(angle * np.asarray(axis, dtype=float))


def two(sizes=(CUBE, CUBE), **options):
    m = dal.Model("two")
    for k, size in enumerate(sizes):
        m.add_body(f"box{k}", 1.0, (1, 1, 1), shapes=[dal.Box(size)])
    return Detector(Scene.of(m), **options)


def found(detector, x, q):
    detector.detect(np.array(x, dtype=float), np.array(q, dtype=float))
    return detector.contacts


def features(contacts):
    return sorted(zip(contacts.key.tolist(), contacts.feature.tolist(), strict=True))


def random_pairs(n, seed):
    """Boxes that overlap, or nearly so."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        half = rng.uniform(0.05, 0.3, (2, 3))
        q = rng.normal(size=(2, 4))
        q /= np.linalg.norm(q, axis=1)[:, None]
        R = np.array([dal.quat.to_matrix(x) for x in q])
        yield half, np.array([np.zeros(3), rng.uniform(-0.4, 0.4, 3)]), R


def by_coal(half, c, R):
    """Signed distance, and the normal from the first to the second box."""
    boxes = [coal.Box(*(2.0 * h)) for h in half]
    places = [coal.Transform3s(R[k], c[k]) for k in range(2)]
    result = coal.DistanceResult()
    request = coal.DistanceRequest(True, True)
    distance = coal.distance(boxes[0], places[0], boxes[1], places[1], request, result)
    return distance, np.array(result.normal)


def test_the_greatest_separation_is_the_depth_that_coal_finds():
    """Of overlapping boxes; coal's EPA stops within 1e-6. Of boxes that are apart it is a lower bound of the distance, and positive."""
    C, s, deep = np.zeros((3, 3)), np.zeros(15), 0
    for half, c, R in random_pairs(400, 3):
        distance, normal = by_coal(half, c, R)
        assert separations(c, R, half, 0, 1, np.inf, C, s)
        code = int(np.argmax(s))
        if distance < -1e-5:
            deep += 1
            assert s[code] == pytest.approx(distance, abs=2e-5)
            if np.sort(s)[-2] < s[code] - 1e-3:  # one axis is clearly the best
                np.testing.assert_allclose(direction(c, R, 0, 1, code), normal, atol=1e-2)
        elif distance > 1e-5:
            assert 0.0 < s[code] <= distance + 1e-5
    assert deep > 50


def test_separations_are_widths_between_projected_corners():
    """The definition, with all corners of both boxes."""
    C, s = np.zeros((3, 3)), np.zeros(15)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    for half, c, R in random_pairs(50, 4):
        separations(c, R, half, 0, 1, np.inf, C, s)
        A, B = ((signs * half[k]) @ R[k].T + c[k] for k in range(2))
        for code in range(15):
            n = np.array(direction(c, R, 0, 1, code))
            assert s[code] == pytest.approx((B @ n).min() - (A @ n).max(), abs=1e-14)
        assert separations(c, R, half, 0, 1, s.max() - 1e-9, C, s) is False


@pytest.mark.nojit
def test_an_axis_is_kept_while_another_is_little_better():
    s = np.full(15, -1.0)
    s[2], s[4], s[9] = -0.010, -0.0099, -0.0095
    assert choose(s, NO_AXIS, 2e-4) == 9  # edges are better by more than the slack
    s[9] = -0.0098
    assert choose(s, NO_AXIS, 2e-4) == 4
    assert choose(s, 2, 2e-4) == 2
    s[9] = -0.0097
    assert choose(s, 2, 2e-4) == 4  # no longer
    assert choose(s, 9, 2e-4) == 9
    s[4] = -0.0096
    assert choose(s, 9, 2e-4) == 4  # edges that are deeper than a face are left


@pytest.mark.nojit
def test_a_cube_on_a_cube_touches_at_four_corners():
    c = found(two(), [(0, 0, 0), (0, 0, 0.199)], [UP, UP])
    assert len(c.gap) == 4 and c.bodies.tolist() == [[0, 1]] * 4
    np.testing.assert_allclose(c.gap, -0.001, atol=1e-15)
    np.testing.assert_allclose(c.normal, [[0, 0, 1]] * 4, atol=1e-15)
    assert {tuple(p) for p in c.point.round(12)} == {(x, y, 0.0995) for x in (-0.1, 0.1) for y in (-0.1, 0.1)}


@pytest.mark.nojit
def test_a_cube_that_is_turned_by_half_a_right_angle_touches_at_eight():
    c = found(two(), [(0, 0, 0), (0, 0, 0.2)], [UP, about((0, 0, 1), np.pi / 4)])
    assert len(c.gap) == 8 and len(set(c.feature.tolist())) == 8
    a = 0.1 * (np.sqrt(2) - 1)
    assert np.sort(np.abs(c.point[:, :2]), axis=1) == pytest.approx(np.tile([a, 0.1], (8, 1)), abs=2e-4)  # clipped 1e-4 outside


@pytest.mark.nojit
def test_crossed_edges_touch_at_one_point():
    height = 0.2 * np.sqrt(2) - 0.001
    c = found(two(), [(0, 0, 0), (0, 0, height)], [about((1, 0, 0), np.pi / 4), about((0, 1, 0), np.pi / 4)])
    assert len(c.gap) == 1
    assert c.gap[0] == pytest.approx(-0.001, abs=1e-15)
    np.testing.assert_allclose(c.normal[0], (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(c.point[0], (0, 0, 0.5 * height), atol=1e-15)


@pytest.mark.nojit
def test_a_vertex_touches_a_face_at_one_point():
    corner = np.cross((1, 1, 1), (0, 0, -1.0))
    turn = about(corner / np.linalg.norm(corner), np.arccos(-1 / np.sqrt(3)))
    np.testing.assert_allclose(dal.quat.to_matrix(turn) @ (0.1, 0.1, 0.1), (0, 0, -0.1 * np.sqrt(3)), atol=1e-15)
    c = found(two(), [(0, 0, 0), (0.03, 0.02, 0.1 + 0.1 * np.sqrt(3) + 0.001)], [UP, turn])
    assert len(c.gap) == 1 and c.gap[0] == pytest.approx(0.001, abs=1e-15)
    np.testing.assert_allclose(c.point[0], (0.03, 0.02, 0.1005), atol=1e-15)
    np.testing.assert_allclose(c.normal[0], (0, 0, 1), atol=1e-15)


@pytest.mark.nojit
def test_the_normal_points_from_the_first_body_to_the_second_whichever_has_the_face():
    wide = ((1.0, 1.0, 0.2), CUBE)
    for sizes, z in ((wide, 0.2), (wide[::-1], -0.2)):
        c = found(two(sizes), [(0, 0, 0), (0, 0, z)], [UP, UP])
        assert len(c.gap) == 4
        np.testing.assert_allclose(c.normal, [[0, 0, np.sign(z)]] * 4, atol=1e-15)
        np.testing.assert_allclose(np.abs(c.point[:, :2]), 0.1, atol=1.01e-4)  # clipped 1e-4 outside


@pytest.mark.nojit
def test_a_box_on_a_plane_touches_with_all_low_vertices():
    m = dal.Model("a")
    m.add_body("box", 1.0, (1, 1, 1), com=(0.01, 0, 0), shapes=[dal.Box((0.2, 0.4, 0.6))])
    m.world_shapes = (dal.Plane(position=(0, 0, 1.0), quaternion=about((0, 1, 0), np.pi / 2)),)  # normal along x
    c = found(Detector(Scene.of(m)), [(0.1 + 0.01 + 0.002, 0, 1)], [UP])
    assert len(c.gap) == 4 and c.bodies.tolist() == [[-1, 0]] * 4
    np.testing.assert_allclose(c.gap, 0.002, atol=1e-15)
    np.testing.assert_allclose(c.normal, [[1, 0, 0]] * 4, atol=1e-15)
    assert {tuple(p) for p in c.point.round(12)} == {(0.001, y, z) for y in (-0.2, 0.2) for z in (0.7, 1.3)}


STANDING = {
    "cube on cube": [(0, 0, 0.1999), UP],
    "overhanging": [(0.1, 0.07, 0.2), UP],
    "turned": [(0.01, 0.02, 0.2), about((0, 0, 1), 0.5)],
    "on its edge": [(0.0, 0.0, 0.1 + 0.1 * np.sqrt(2)), about((1, 0, 0), np.pi / 4)],
    "crossed edges": [(0, 0, 0.2 * np.sqrt(2)), about((0, 1, 0), np.pi / 4)],
}


@pytest.mark.parametrize("name", STANDING)
def test_features_stay_under_a_thousand_small_motions(name):
    """Positions by up to 1e-5 m, angles by up to 1e-5 rad, one after the other: neither axes nor corners change."""
    detector, rng = two(), np.random.default_rng(7)
    first = about((1, 0, 0), np.pi / 4) if name == "crossed edges" else UP
    x, q = np.array([(0, 0, 0), STANDING[name][0]], dtype=float), np.array([first, STANDING[name][1]])
    expected = features(found(detector, x, q))
    assert expected
    for _ in range(1000):
        near = [dal.quat.mul(y, dal.quat.exp(rng.uniform(-1e-5, 1e-5, 3))) for y in q]
        assert features(found(detector, x + rng.uniform(-1e-5, 1e-5, (2, 3)), near)) == expected


@pytest.mark.nojit
def test_edges_give_way_to_a_face_within_an_angle_and_come_back_beyond_twice_that():
    """The axis of edges 10 is tilted away from face 2 of the first box; 0.035 rad to enter, 0.07 to leave."""
    turned = about((1, 2, 3) / np.sqrt(14), 1.0)
    R = np.array([np.eye(3), dal.quat.to_matrix(turned)])
    for angle, new, kept in ((0.030, 2, 2), (0.040, 10, 2), (0.068, 10, 2), (0.072, 10, 10)):
        n = (np.sin(angle), 0.0, np.cos(angle))
        assert give_way(R, 0, 1, n, 10, NO_AXIS, 0.035) == new
        assert give_way(R, 0, 1, n, 10, 2, 0.035) == kept
    n = tuple(-R[1][:, 1])  # a face of the second box, from inside
    assert give_way(R, 0, 1, n, 10, 2, 0.035) == 4


def test_a_long_tilted_edge_across_a_face_keeps_its_points():
    """A bar on a bar, tilted step by step by up to 0.06 rad about both axes: the face of the start stays, so that no point jumps."""
    detector = two(((2.0, 0.2, 0.2), (0.2, 2.0, 0.2)))
    for tilt in np.linspace(0.0, 0.06, 30):
        q = dal.quat.mul(about((0, 1, 0), tilt), about((1, 0, 0), tilt))
        assert len(found(detector, [(0, 0, 0), (0, 0, 0.1997)], [UP, q]).gap) >= 1
        (axis,) = detector.memory()["axis_codes"] % 16
        assert axis in (2, 5)


def test_boxes_that_are_apart_are_found_at_their_distance_or_nearer():
    """Random fast pairs: a contact if coal's distance is within the margin and the reach of both, with a gap of at most that distance."""
    rng, corners = np.random.default_rng(11), 0
    for half, c, R in random_pairs(1500, 12):
        c = c * rng.uniform(1.5, 2.5)
        distance, _ = by_coal(half, c, R)
        if not 0.0 < distance < 0.06:
            continue
        detector = two(2 * half)
        detector.detect(c, np.array([dal.quat.from_matrix(r) for r in R]), np.full(2, 0.023))
        contacts = detector.contacts
        if 1e-4 < distance < 0.049:
            assert len(contacts.gap) >= 1 and 0.0 < contacts.gap.min() <= distance + 1.1e-3  # ten times the tolerance of clipping
        if NEAREST_FEATURE in contacts.feature:
            corners += 1
            assert contacts.gap[contacts.feature == NEAREST_FEATURE] == pytest.approx(distance, abs=1e-6)
    assert corners > 5
