"""Bodies that are flat, thin, repeated, huge or not convex, contacts of faces and edges, and input that cannot be."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from polytope_pairs import CUBE, coal_distance, direction, ellipsoid, facet_value, rotation, shape
from scipy.spatial.transform import Rotation

import dalembert as dal
from dalembert.errors import OptionError, UnknownNameError

sshlp = dal.contact.sshlp
BOX = CUBE - 0.5
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=float)


def shifted(points, x, y, z):
    return points + np.array([x, y, z])


# (A, B, signed distance, normal or None where any will do)
CLOSED = {
    "two points": ([[1, 2, 2]], [[0, 0, 0]], 3.0, (1 / 3, 2 / 3, 2 / 3)),
    "one point twice": ([[1, 2, 3]], [[1, 2, 3]], 0.0, None),
    "point over a segment": ([[0.5, 0, 2]], [[0, 0, 0], [1, 0, 0]], 2.0, (0, 0, 1)),
    "point beside a segment": ([[4, 4, 0]], [[0, 0, 0], [1, 0, 0]], 5.0, (0.6, 0.8, 0)),
    "point on a segment": ([[0.25, 0, 0]], [[0, 0, 0], [1, 0, 0]], 0.0, None),
    "point over a triangle": ([[0.2, 0.2, -0.5]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]], 0.5, (0, 0, -1)),
    "point in a cube": ([[0.5, 0.5, 0.9]], CUBE, -0.1, (0, 0, 1)),
    "point at a corner of a cube": ([[1, 1, 1]], CUBE, 0.0, None),
    "segments that cross at a height": ([[-1, 0, 0.3], [1, 0, 0.3]], [[0, -1, 0], [0, 1, 0]], 0.3, (0, 0, 1)),
    "segments that cross": ([[-1, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 1, 0]], 0.0, (0, 0, 1)),
    "parallel segments": ([[0, 0, 1], [2, 0, 1]], [[1, 0, 0], [3, 0, 0]], 1.0, (0, 0, 1)),
    "segments in one line": ([[0, 0, 0], [1, 0, 0]], [[3, 0, 0], [4, 0, 0]], 2.0, (-1, 0, 0)),
    "one segment on another": ([[0, 0, 0], [2, 0, 0]], [[1, 0, 0], [3, 0, 0]], 0.0, None),
    "squares in one plane that overlap": (shifted(SQUARE, 0.5, 0.5, 0), SQUARE, 0.0, (0, 0, 1)),
    "squares in one plane apart": (shifted(SQUARE, 1.5, 0, 0), SQUARE, 0.5, (1, 0, 0)),
    "square over a square": (shifted(SQUARE, 0.3, 0, 0.25), SQUARE, 0.25, (0, 0, 1)),
    "square through a cube": (SQUARE * [1, 1, 0] + [0, 0, 0.9], CUBE, -0.1, (0, 0, 1)),
    "segment in a cube": ([[0.5, 0.5, 0.7], [0.5, 0.5, 0.9]], CUBE, -0.3, (0, 0, 1)),
    "cube on a cube": (shifted(CUBE, 0.2, 0, 1), CUBE, 0.0, (0, 0, 1)),
    "cubes side by side over an edge": (shifted(CUBE, 1, 1, 0), CUBE, 0.0, None),
    "cubes corner to corner": (CUBE + 1.0, CUBE, 0.0, None),
    "a cube in itself": (CUBE, CUBE, -1.0, None),
    "a small cube in a large one": (0.2 * CUBE + 0.6, CUBE, -0.4, None),
}


def supports(r, A, B):
    """The planes support the bodies, by definition."""
    assert (A @ r.normal).min() == pytest.approx(r.a1, abs=1e-12)
    assert (B @ r.normal).max() == pytest.approx(r.a2, abs=1e-12)
    assert r.a1 - r.a2 == pytest.approx(r.distance, abs=1e-12)
    np.testing.assert_allclose(r.point1 - r.point2, r.value * r.beta, atol=1e-12)
    assert np.isfinite(r.centre).all()


@pytest.mark.parametrize("case", CLOSED)
@pytest.mark.parametrize("turned", [False, True])
def test_closed_forms(case, turned):
    A, B, h, n = CLOSED[case]
    A, B = np.array(A, dtype=float), np.array(B, dtype=float)
    R = rotation(np.random.default_rng(len(case))) if turned else np.eye(3)
    A, B = A @ R.T, B @ R.T
    r = sshlp(A, B)
    assert r.distance == pytest.approx(h, abs=1e-14) and r.exact and r.status == "solved"
    supports(r, A, B)
    if n is not None:
        dot = r.normal @ R @ n
        assert (abs(dot) if h == 0.0 else dot) == pytest.approx(1.0, abs=1e-12)
    back = sshlp(B, A)
    assert back.distance == pytest.approx(h, abs=1e-14)
    lower = sshlp(A, B, beta="centroids")
    assert lower.status == "solved" and lower.distance <= h + 1e-12 and abs(lower.value) >= abs(h) - 1e-12


def test_bodies_of_lattice_points_agree_with_qhull_whatever_lies_in_one_plane_or_line():
    """Whole coordinates: most supporting planes hold many points of K1 - K2. Qhull judges where the origin is inside."""
    rng, inside = np.random.default_rng(1), 0
    for k in range(400):
        A, B = (rng.integers(-2, 3, (rng.integers(5, 14), 3)).astype(float) for _ in range(2))
        R = rotation(rng) if k % 2 else np.eye(3)
        A, B = A @ R.T, B @ R.T + rng.integers(-2, 3, 3) @ R.T
        r = sshlp(A, B)
        supports(r, A, B)
        assert r.slack < 1e-13  # bounds from both sides
        if r.h < 0.0:
            inside += 1
            assert r.h == pytest.approx(facet_value(A, B), abs=1e-12)
    assert inside > 100


def test_repeated_and_inner_points_change_nothing():
    rng = np.random.default_rng(2)
    for _ in range(50):
        A, B = ellipsoid(rng, 10) + rng.uniform(0, 2) * direction(rng), ellipsoid(rng, 10)
        weights = rng.dirichlet(np.ones(10), 20)
        more = rng.permutation(np.vstack([A, A, weights @ A]))
        r, s = sshlp(A, B), sshlp(more, np.vstack([B, B]))
        assert s.h == pytest.approx(r.h, abs=1e-14)
        np.testing.assert_allclose(s.h_normal, r.h_normal, atol=1e-7)


@pytest.mark.parametrize("size", [1e-200, 1e-70, 1e-8, 1e8, 1e70, 1e200])
def test_distances_scale_with_the_bodies(size):
    rng = np.random.default_rng(3)
    for t in (0.3, 2.5):
        A, B = ellipsoid(rng, 12) + t * direction(rng), ellipsoid(rng, 9)
        r, s = sshlp(A, B), sshlp(size * A, size * B)
        assert s.h / size == pytest.approx(r.h, rel=1e-12)
        np.testing.assert_allclose(s.centre / size, r.centre, atol=1e-12)
        assert s.exact


def test_bodies_far_from_the_origin_lose_only_the_digits_of_their_coordinates():
    rng = np.random.default_rng(4)
    for _ in range(100):
        A, B, far = ellipsoid(rng, 12) + rng.uniform(0, 2) * direction(rng), ellipsoid(rng, 9), 1e6 * direction(rng)
        assert sshlp(A + far, B + far).h == pytest.approx(sshlp(A, B).h, abs=1e-9)  # 1e6 eps = 2e-10


@pytest.mark.parametrize("n", [200, 1000])
def test_many_vertices_deep_in_each_other_get_the_room_they_need(n):
    rng = np.random.default_rng(5)
    A, B = (p / np.linalg.norm(p, axis=1)[:, None] for p in rng.standard_normal((2, n, 3)))
    r = sshlp(A, B)
    assert r.status == "solved" and r.slack < 1e-14
    assert r.h == pytest.approx(coal_distance(shape(A), shape(B)), abs=1e-12)


CONTACTS = {
    "face": Rotation.from_euler("z", 0.7),
    "edge": Rotation.from_euler("xz", [np.pi / 4, 0.4]),
    "corner": Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0],
}


@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.parametrize("gap", [s * g for g in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15) for s in (1, -1)] + [0.0])
def test_touching_bodies_keep_normal_and_point_through_zero(kind, gap):
    """A box on a larger one, off its middle: the point is below the middle of what touches, to round-off, however small the gap."""
    rng = np.random.default_rng(6)
    upper = BOX @ CONTACTS[kind].as_matrix().T
    upper -= [0, 0, upper[:, 2].min()]
    lower = BOX * [4, 4, 1] - [0, 0, 0.5]
    for _ in range(10):
        R, t, off = rotation(rng), rng.standard_normal(3), np.array([*rng.uniform(-1, 1, 2), gap])
        r = sshlp((upper + off) @ R.T + t, lower @ R.T + t)
        assert r.h == pytest.approx(gap, abs=2e-14)
        np.testing.assert_allclose(R.T @ r.normal, [0, 0, 1], atol=1e-13)
        np.testing.assert_allclose(R.T @ (r.centre - t), [off[0], off[1], gap / 2], atol=1e-11)


def test_boxes_that_nearly_lie_on_each_other_have_bounds_that_meet_and_witnesses_that_fit():
    """Tilted by 1e-16 to 0.1, gaps of either sign from 1e-17 to 0.1, sizes 1e-3 to 1e3: nothing is lost near parallel or touching."""
    rng, worst = np.random.default_rng(9), np.zeros(2)
    for _ in range(2000):
        tilt = Rotation.from_rotvec(10.0 ** rng.integers(-16, 0) * rng.standard_normal(3)).as_matrix()
        gap = 10.0 ** rng.integers(-17, 0) * rng.standard_normal()
        upper = BOX @ tilt.T + [rng.uniform(-0.9, 0.9), 0.5 * rng.integers(-1, 2), 1.0 + gap]
        lower = BOX * rng.choice([1e-3, 1, 2, 1e3])
        R = rotation(rng)
        r = sshlp(upper @ R.T, lower @ R.T)
        mismatch = np.abs(r.point1 - r.point2 - r.h * r.h_normal).max()
        size = max(np.abs(upper).max(), np.abs(lower).max())
        worst = np.maximum(worst, np.array([r.slack, mismatch]) / size)
        assert r.status == "solved"
    assert worst.max() < 1e-11  # observed 3e-14 and 3e-12


@pytest.mark.parametrize("gap", [1e-4, 1e-8, 1e-12])
def test_a_point_near_the_middle_of_an_edge_or_near_its_end_keeps_all_digits_of_a_small_gap(gap):
    """The direction of a short p that is a sum of long vectors is lost unless it is made perpendicular to the edge again."""
    rng = np.random.default_rng(10)
    for _ in range(100):
        n = direction(rng)
        e = np.cross(n, direction(rng))
        e /= np.linalg.norm(e)
        edge = np.array([-1.0, 1.0])[:, None] * e
        at = rng.choice([0.0, 0.3, 1.0]) * e
        point = at + gap * n
        assert sshlp([point], edge).h == pytest.approx(gap, abs=2e-15)  # coordinates have 1e-16
        assert sshlp(edge, [point]).slack < 2e-14


def test_a_push_at_the_middle_of_a_patch_does_not_turn_a_box_and_at_a_witness_it_may():
    upper, lower = shifted(BOX, 0.9, 0.4, 1.0), BOX * [4, 4, 1]
    r = sshlp(upper, lower)
    origin = upper.mean(axis=0)
    np.testing.assert_allclose(r.subgradient(origin, at="centre")[0], [0, 0, 0, 0, 0, 1], atol=1e-12)
    assert np.abs(r.subgradient(origin)[0, :3]).max() > 0.1  # a corner of the patch


PATCHES = {
    "face half over another": (shifted(BOX, 0.5, 0, 1), BOX, (0.25, 0, 0.5)),
    "faces over a corner": (shifted(BOX, 0.75, 0.75, 1), BOX, (0.375, 0.375, 0.5)),
    "edge over a face": ([[-2, 0.1, 0.5], [0.3, 0.1, 0.5], [0, 0.1, 2]], BOX, (-0.1, 0.1, 0.5)),
    "edge on the side of a face": ([[-2, 0.5, 0.5], [0.3, 0.5, 0.5], [0, 0.5, 2]], BOX, (-0.1, 0.5, 0.5)),
    "edges along each other": ([[0, 0, 0], [2, 0, 0], [0, 0, 1]], [[1, 0, 0], [4, 0, 0], [0, 0, -1]], (1.5, 0, 0)),
    "edges that cross": ([[-1, 0.2, 0], [1, 0.2, 0], [0, 0.2, 1]], [[0.3, -1, 0], [0.3, 1, 0], [0.3, 0, -1]], (0.3, 0.2, 0)),
    "triangle in a face": ([[0, 0, 0.5], [0.3, 0, 0.5], [0, 0.3, 0.5], [0, 0, 2]], BOX, (0.1, 0.1, 0.5)),
}


@pytest.mark.parametrize("case", PATCHES)
def test_the_common_point_is_the_middle_of_the_patch(case):
    A, B, middle = PATCHES[case]
    rng = np.random.default_rng(7)
    for _ in range(20):
        R = rotation(rng)
        for X, Y in ((A, B), (B, A)):
            r = sshlp(np.array(X) @ R.T, np.array(Y) @ R.T)
            assert r.h == pytest.approx(0.0, abs=1e-14)
            np.testing.assert_allclose(R.T @ r.centre, middle, atol=1e-11)


def test_a_union_has_the_distance_of_its_nearest_parts():
    """Two L of boxes: the notch of one takes the other, whose hull would overlap."""
    L = [BOX * [2, 1, 1], BOX * [1, 2, 1] + [-0.5, 0.5, 0]]
    one = shifted(BOX, 0.75, 1.125, 0.0)
    r = sshlp(one, L)
    assert r.distance == pytest.approx(0.125) and r.pair == (0, 0)
    np.testing.assert_allclose(r.normal, [0, 1, 0], atol=1e-14)
    np.testing.assert_allclose(r.all, [[0.125, 0.25]], atol=1e-14)
    assert sshlp(one, np.vstack(L)).distance < 0.0  # the hull
    r = sshlp([one + 5.0, one], tuple(L), beta="centroids")
    assert r.pair[0] == 1 and r.all.shape == (2, 2)
    assert sshlp(np.stack([one, one + 1.0]), L).pair == (0, 0)  # an array (parts, n, 3)
    assert sshlp(one, BOX).all is None


def test_lists_and_whole_numbers_are_vertices_too():
    assert sshlp([[0, 0, 0]], [(3, 4, 0)]).distance == 5.0
    assert sshlp(CUBE.astype(int) + 2, CUBE.astype(np.float32)).distance == pytest.approx(np.sqrt(3.0))
    assert sshlp(np.asfortranarray(shifted(CUBE, 2, 0, 0)), CUBE[::-1]).distance == 1.0
    assert sshlp(np.hstack([CUBE, CUBE])[:, :3] + [0, 0, 2], CUBE).distance == 1.0


def test_results_of_threads_do_not_mix():
    rng = np.random.default_rng(8)
    pairs = [(ellipsoid(rng, 10) + rng.uniform(0, 2) * direction(rng), ellipsoid(rng, 10)) for _ in range(200)]
    expected = [sshlp(*pair).h for pair in pairs]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda pair: sshlp(*pair).h, pairs)) == expected


@pytest.mark.parametrize(
    ("A", "says"),
    [
        ([], "A has shape (0,)"),
        (np.zeros((0, 3)), "A has shape (0, 3)"),
        (np.zeros((4, 2)), "A has shape (4, 2)"),
        (np.zeros(3), "A has shape (3,)"),
        ([[0, 0, 0], [1, np.nan, 0]], "A: vertex 1 is [1.0, nan, 0.0]"),
        ([[0, 0, np.inf]], "A: vertex 0"),
        (np.array([[0, 0, np.nan]]), "A: vertex 0"),
        ("cube", "A is no array of numbers"),
        (None, "A has shape ()"),
        ([CUBE, CUBE[:, :2]], "part 1 of A has shape (8, 2)"),
        ([CUBE, []], "part 1 of A has shape (0,)"),
        ([[CUBE]], "A union is a list of parts"),
        ([[0, 0, 0], [1, 0]], "A is no array of numbers"),
    ],
)
def test_what_is_no_body_is_said_in_a_sentence(A, says):
    for pair in ((A, CUBE), (CUBE, A)):
        with pytest.raises(OptionError) as found:
            sshlp(*pair)
        text = str(found.value) if pair[0] is A else str(found.value).replace("B has", "A has").replace("B:", "A:").replace("B is", "A is")
        assert says in text.replace("of B", "of A")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"beta": [0, 0, 0]}, "beta is"),
        ({"beta": [1, 0]}, "beta is"),
        ({"beta": [1, np.nan, 0]}, "beta is"),
        ({"beta": None}, "beta is"),
        ({"starts": 3, "beta": "iterated"}, "starts is 3"),
        ({"starts": [[0, 0, 0]], "beta": "iterated"}, "starts is"),
        ({"starts": 14}, "only beta='iterated'"),
    ],
)
def test_options_that_cannot_be(options, says):
    with pytest.raises(OptionError, match=says):
        sshlp(CUBE, CUBE, **options)


def test_names_that_do_not_exist():
    with pytest.raises(UnknownNameError, match="did you mean 'centroids'"):
        sshlp(CUBE, CUBE, beta="centroid")
    with pytest.raises(UnknownNameError, match="did you mean 'highs'"):
        sshlp(CUBE, CUBE, method="high")
    r = sshlp(CUBE + 2.0, CUBE)
    with pytest.raises(UnknownNameError, match="centre"):
        r.subgradient(at="center")
    with pytest.raises(OptionError, match="origin1"):
        r.subgradient([0, 0])
    assert "distance=1.73" in repr(r)
