"""Kernels of separation one by one, with and without the compiler: statuses, limits, room, and what stands in a row."""

import math

import numpy as np
import pytest

from dalembert.kernels.separation import layout as at
from dalembert.kernels.separation.depth import depth
from dalembert.kernels.separation.distance import signed_distance
from dalembert.kernels.separation.nearest import nearest
from dalembert.kernels.separation.patch import centre
from dalembert.kernels.separation.ray import LEVEL, cast, lclp
from dalembert.kernels.separation.run import many, run
from dalembert.kernels.separation.support import across, sizes, support

pytestmark = pytest.mark.nojit
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
TOL, PATCH, LIMIT = (*at.OPTIONS[:2], 1000)


def workspace(room=at.ROOM, n=16):
    return np.full((at.rows(n, n, room), at.WIDTH), np.nan)  # contents do not matter


def ball(rng, n, shift=0.0):
    p = rng.standard_normal((n, 3))
    return p / np.linalg.norm(p, axis=1)[:, None] + np.array([shift, 0.0, 0.0])


def solve(X, Y, room=at.ROOM, limit=LIMIT):
    out = np.full(at.SIZE, np.nan)
    status = signed_distance(X, Y, TOL, PATCH, limit, workspace(room, max(len(X), len(Y))), out)
    return status, out


def test_the_support_of_a_difference_is_that_of_its_vertices():
    rng = np.random.default_rng(0)
    X, Y, d = ball(rng, 9), ball(rng, 7), rng.standard_normal(3)
    s, i, j = support(X, Y, tuple(d))
    all_of_them = ((X[:, None] - Y[None]) @ d).ravel()
    assert s == pytest.approx(all_of_them.min(), abs=1e-15)
    assert (i, j) == divmod(int(all_of_them.argmin()), 7)


@pytest.mark.parametrize("d", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, 0.0, -0.8), (1 / math.sqrt(3),) * 3])
def test_frames_are_orthonormal_and_right_handed(d):
    u, v = across(tuple(map(float, d)))
    frame = np.array([u, v, d])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0)


def test_sizes_find_what_is_not_finite():
    X, Y = CUBE.copy(), CUBE + 1.0
    R, bad, c = sizes(X, Y)
    assert (R, bad) == (6.0, -1)
    np.testing.assert_allclose(c, -1.0)
    Y[3, 1], X[6, 2] = np.nan, np.inf
    assert sizes(X, Y)[1] == 6
    X[6, 2] = 0.0
    assert sizes(X, Y)[1] == 8 + 3
    assert sizes(X[:0], CUBE)[1] == 0


def test_a_ray_along_an_axis_meets_the_face_of_a_difference_of_cubes():
    """K = [1, 3] x [-1, 1] x [-1, 1]: t = 1, alpha = (1, 0, 0)."""
    work = workspace()
    status, pivots, g, alpha = cast(CUBE + np.array([2.0, 0, 0]), CUBE, (1.0, 0.0, 0.0), 10.0, TOL, LIMIT, work)
    assert status == at.SOLVED and 0 < pivots < 10
    assert g == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(alpha, [1, 0, 0], atol=1e-15)
    assert (work[:3, LEVEL] >= -1e-15).all() and work[:3, LEVEL].sum() == pytest.approx(1.0)


def test_a_ray_that_misses_ends_with_a_direction_that_proves_it():
    X = CUBE + np.array([3.0, 0, 0])
    out = np.zeros(at.SIZE)
    status = lclp(X, CUBE, (0.0, 0.0, 1.0), 10.0, TOL, LIMIT, workspace(), out)
    d = out[at.ALPHA : at.ALPHA + 3]
    assert status == at.SEPARATED == out[at.RAY_STATUS] and out[at.G] == math.inf
    assert d[2] == 0.0 and np.linalg.norm(d) == pytest.approx(1.0)
    assert (X @ d).min() > (CUBE @ d).max()


def test_a_ray_along_a_side_is_bounded():
    """The line t (0, 0, 1) lies in a facet of K = [0, 2] x [-1, 1] x [1, 3]: feasible, but on its rim."""
    X = CUBE + np.array([1.0, 0, 2.0])
    status, _, g, alpha = cast(X, CUBE, (0.0, 0.0, 1.0), 10.0, TOL, LIMIT, workspace())
    assert status == at.SOLVED and g == pytest.approx(1.0, abs=1e-14)
    assert ((X @ alpha).min() - (CUBE @ alpha).max()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("Y", [[[0, 0, 0]], [[0, 0, 0], [0, 0, 1]], [[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
def test_rows_that_say_nothing_stay_out_of_the_way(Y):
    """A point over a point, a segment along or across beta, a triangle: K lies in a line or plane with beta."""
    Y = np.array(Y, dtype=float)
    status, _, g, alpha = cast(np.array([[0.0, 0.0, 3.0]]), Y, (0.0, 0.0, 1.0), 4.0, TOL, LIMIT, workspace())
    assert status == at.SOLVED
    assert g == pytest.approx(3.0 - Y[:, 2].max()) and alpha[2] == pytest.approx(1.0)


def test_blands_rule_comes_to_the_same_end():
    """From half of the limit on; a limit just above the pivots that are needed makes it choose at the end."""
    rng, used = np.random.default_rng(1), 0
    for _ in range(40):
        X, Y, work = ball(rng, 12, 1.2), ball(rng, 12), workspace()
        beta = X.mean(axis=0) - Y.mean(axis=0)
        beta = tuple(beta / np.linalg.norm(beta))
        _, pivots, g, _ = cast(X, Y, beta, 5.0, TOL, LIMIT, work)
        status, more, value, _ = cast(X, Y, beta, 5.0, TOL, pivots + 40, work)
        assert status == at.SOLVED and value == pytest.approx(g, abs=1e-14)
        status, more, value, _ = cast(X, Y, beta, 5.0, TOL, pivots + 1, work)  # too few for Bland, most often
        if status == at.SOLVED:
            used += 1
            assert value == pytest.approx(g, abs=1e-14)
        else:
            assert status == at.LIMIT and more == pivots + 1
    assert used > 0


def test_cubes_on_a_lattice_do_not_cycle():
    """Degenerate at every pivot: K has 27 points on its sides."""
    for shift in np.ndindex(5, 5, 5):
        X = CUBE + 0.5 * np.array(shift)
        status, out = solve(X, CUBE)
        gaps = 0.5 * np.array(shift) - 1.0
        expected = np.linalg.norm(np.maximum(gaps, 0.0)) if gaps.max() > 0.0 else gaps.max()
        assert status == at.SOLVED and out[at.H] == pytest.approx(expected, abs=1e-14)
        assert out[at.STEPS] < 60


def test_the_nearest_point_of_every_kind_of_feature():
    for shift, p, columns in (((2, 0, 0), (1, 0, 0), 3), ((2, 2, 0), (1, 1, 0), 2), ((2, 2, 2), (1, 1, 1), 1)):
        work = workspace()
        X = CUBE + np.array(shift) + 0.01 * np.array(shift) * CUBE.sum(axis=1)[:, None]  # no two points of K at one distance
        status, _, count, size, n = nearest(X, CUBE, 0, 0, 10.0, TOL, LIMIT, work)
        assert status == at.SOLVED and count <= columns
        assert size == pytest.approx(np.linalg.norm(p))
        np.testing.assert_allclose(n, np.array(p) / np.linalg.norm(p), atol=1e-12)


def test_the_depth_is_that_of_the_nearest_facet():
    status, _, deep, n, inner = depth(CUBE + np.array([0.7, 0.1, 0.2]), CUBE, (1.0, 0.0, 0.0), 6.0, TOL, LIMIT, workspace())
    assert status == at.SOLVED and deep == pytest.approx(0.3) == pytest.approx(inner)
    np.testing.assert_allclose(n, [-1, 0, 0], atol=1e-15)  # outwards


def test_too_little_room_is_a_status_and_what_is_found_is_a_bound():
    rng = np.random.default_rng(2)
    X, Y = ball(rng, 60), ball(rng, 60)
    status, out = solve(X, Y, room=400)
    assert status == at.SOLVED
    short, _, deep, n, inner = depth(X, Y, (1.0, 0.0, 0.0), 4.0, TOL, LIMIT, workspace(8, 1))
    assert short == at.LIMIT and inner < -out[at.H] < deep
    assert deep == pytest.approx((X @ n).max() - (Y @ n).min(), abs=1e-14)
    short, bound = solve(X, Y, room=400, limit=12)
    assert short == at.LIMIT and bound[at.H] < out[at.H]
    n = bound[at.N : at.N + 3]
    assert bound[at.H] == pytest.approx((X @ n).min() - (Y @ n).max(), abs=1e-14)


def test_bad_input_is_a_status():
    X = CUBE.copy()
    X[5, 1] = np.nan
    status, out = solve(X, CUBE)
    assert status == at.BAD and out[at.PLACE] == 5
    status, out = solve(CUBE, X)
    assert status == at.BAD and out[at.PLACE] == 8 + 5
    assert solve(CUBE[:0], CUBE)[0] == at.BAD


def test_the_middle_of_a_patch_of_many_corners():
    """Two regular polygons of 40 corners, one over a half of the other: a lens, symmetric about both of its axes."""
    angle = 2 * np.pi * np.arange(40) / 40
    ring = np.c_[np.cos(angle), np.sin(angle), np.zeros(40)]
    X, Y = ring + np.array([1.0, 0, 0]), ring.copy()
    c = centre(X, Y, (0.0, 0.0, 1.0), 0.0, 0.0, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), 1e-9, workspace(n=40))
    np.testing.assert_allclose(c, [0.5, 0.0, 0.0], atol=1e-12)


def test_many_pairs_have_the_rows_of_single_calls():
    rng = np.random.default_rng(3)
    bodies = [ball(rng, n, 0.4 * k) for k, n in enumerate((4, 9, 6, 12))]
    first = np.concatenate([[0], np.cumsum([len(b) for b in bodies])])
    pairs = np.array([[0, 1], [3, 0], [2, 1], [1, 1]])
    for mode in (at.NEAREST, at.CENTROIDS, at.ITERATED, at.GIVEN):
        options, starts = np.array(at.OPTIONS), np.eye(3)
        options[at.MODE], options[at.CHOSEN :] = mode, (1.0, 2.0, 3.0)
        rows = np.empty((4, at.SIZE))
        assert many(np.vstack(bodies), first, pairs, options, starts, workspace(), rows) == at.SOLVED
        for k, (a, b) in enumerate(pairs):
            bound, out = run.bind(options, starts, workspace()), np.empty(at.SIZE)
            assert bound.call(bound.address, bodies[a], bodies[b], out) == at.SOLVED
            np.testing.assert_array_equal(out, rows[k])
