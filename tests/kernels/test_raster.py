"""Triangles in pixels, against the definition: a pixel is painted if its centre is inside."""

import numpy as np
import pytest

from dalembert.kernels.raster.triangles import finish, paint

SIZE = 12, 15  # height, width


def painted(triangles, colours, hidden=0.0, depth=None, image=None):
    depth = np.full(SIZE, -1e30, dtype=np.float32) if depth is None else depth
    image = np.zeros(SIZE, dtype=np.uint32) if image is None else image
    touched = np.tile([SIZE[1], -1], (SIZE[0], 1))
    paint(np.array(triangles, dtype=float), np.array(colours, dtype=float), hidden, depth, image, touched)
    for row, (first, last) in zip(depth > -1e29, touched, strict=True):
        columns = np.flatnonzero(row)
        assert [first, last] == ([columns[0], columns[-1]] if len(columns) else [SIZE[1], -1])
    return depth, image.view(np.uint8).reshape(*SIZE, 4)[..., :3]


def inside(triangle):
    """(height, width) bool, by the signs of three areas."""
    i, j = np.mgrid[: SIZE[0], : SIZE[1]]
    p = np.stack([j, i], axis=-1)
    a, b, c = (np.array(x[:2]) for x in triangle)
    areas = [(v - u)[0] * (p - u)[..., 1] - (v - u)[1] * (p - u)[..., 0] for u, v in ((a, b), (b, c), (c, a))]
    return np.all(np.array(areas) >= 0, axis=0) | np.all(np.array(areas) <= 0, axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_pixels_inside_are_painted_with_their_depth(seed):
    """Also triangles that reach out of the image; depths in single precision."""
    rng = np.random.default_rng(seed)
    triangle = rng.uniform(-8, 22, (3, 3))
    depth, image = painted([triangle], [[10, 20, 30, 1]])
    expected = inside(triangle)
    assert np.array_equal(image[..., 2] == 30, expected)
    if expected.any():
        i, j = np.argwhere(expected)[0]
        a, b, c = triangle
        u, w = np.linalg.solve(np.column_stack([b - a, c - a])[:2], np.array([j, i]) - a[:2])
        assert depth[i, j] == pytest.approx(a[2] + u * (b - a)[2] + w * (c - a)[2], rel=1e-5, abs=1e-4)


def test_the_nearer_hides_the_farther_in_any_order():
    near, far = [[0, 0, 5], [14, 0, 5], [0, 11, 5]], [[0, 0, 1], [14, 0, 1], [0, 11, 1]]
    red, green = [200, 0, 0, 1], [0, 200, 0, 1]
    for triangles, colours in (([near, far], [red, green]), ([far, near], [green, red])):
        assert painted(triangles, colours)[1][2, 2].tolist() == [200, 0, 0]


def test_what_shows_half_is_mixed_and_hides_nothing():
    whole = [[0, 0, 1], [14, 0, 1], [0, 11, 1]]
    nearer, farther = ([[x, y, z] for x, y, _ in whole] for z in (2, 0))
    depth, image = painted([whole, nearer], [[200, 0, 0, 1], [0, 0, 100, 0.5]])
    assert image[2, 2].tolist() == [100, 0, 50] and depth[2, 2] == 1.0
    assert painted([whole, farther], [[200, 0, 0, 1], [0, 0, 100, 1]], hidden=0.5)[1][2, 2].tolist() == [100, 0, 50]
    assert painted([whole, farther], [[200, 0, 0, 1], [0, 0, 100, 1]])[1][2, 2].tolist() == [200, 0, 0]


def test_degenerate_and_distant_triangles_paint_nothing():
    line = [[0, 0, 0], [5, 5, 0], [10, 10, 0]]
    away = [[100, 100, 0], [120, 100, 0], [100, 120, 0]]
    bad = [[[0, 0, 0], [9, 0, 0], [0, x, 0]] for x in (np.nan, np.inf, -np.inf)]
    assert not painted([line, away, [[0, -9, 0], [9, -9, 0], [0, -2, 0]], *bad], [[255, 255, 255, 1]] * 6)[1].any()


def test_four_pixels_become_their_mean_and_then_the_ground_again():
    image, ground = np.random.default_rng(0).integers(0, 256, (2, 6, 8, 4), dtype=np.uint8)
    small, depth, before = np.zeros((3, 4, 4), dtype=np.uint8), np.zeros((6, 8), dtype=np.float32), image.copy()
    touched = np.array([[8, -1], [8, -1], [2, 3], [8, -1], [0, 5], [3, 4]])
    pairs = (x.reshape(6, 32).view(np.uint64) for x in (image, ground))
    finish(*pairs, depth, -1.0, touched, small.reshape(3, 16).view(np.uint32))
    here = np.zeros((3, 4), dtype=bool)
    here[1, 1] = here[2, :3] = True
    mean = before.reshape(3, 2, 4, 2, 4).mean(axis=(1, 3))
    assert np.abs(small[here] - mean[here]).max() <= 0.5 and not small[~here].any()
    fine = here.repeat(2, axis=0).repeat(2, axis=1)
    assert np.array_equal(image, np.where(fine[..., None], ground, before)) and np.array_equal(depth, -1.0 * fine)
    assert (touched[2:] == [8, -1]).all()
