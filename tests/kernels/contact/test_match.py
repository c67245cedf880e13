"""Frames, and which contact of the last step a contact continues."""

import numpy as np
import pytest

from dalembert.kernels.contact.match import frames, match, to_frames, to_world

NEAR = 0.02


def matched(new, old, scale=(1.0, 1.0, 1.0)):
    """new, old: rows (key, feature, x) with points along x; three shapes."""
    parts = []
    for rows in (new, old):
        key, feature, x = (np.array([r[k] for r in rows], dtype=t) for k, t in ((0, np.int64), (1, np.int64), (2, float)))
        parts.append((key, feature, np.c_[x, np.zeros((len(rows), 2))]))
    out = np.zeros(len(new), dtype=np.int64)
    count = match(*parts[0], len(new), *parts[1], np.array(scale), NEAR, out)
    assert count == np.count_nonzero(out >= 0)
    return out.tolist()


@pytest.mark.nojit
def test_feature_before_distance_and_never_another_pair():
    old = [(1, 5, 0.0), (1, 6, 0.010), (2, 5, 0.0)]
    assert matched([(1, 6, 0.001)], old) == [1]  # the same feature, though another is nearer
    assert matched([(1, 7, 0.004)], old) == [0]  # an unknown feature: the nearest
    assert matched([(1, 5, 0.029)], old) == [0]  # the same feature, however far: it slides fast
    assert matched([(1, 7, 0.031)], old) == [-1]
    assert matched([(0, 5, 0.0), (5, 5, 0.0)], old) == [-1, -1]
    assert matched([(1, -1, 0.006), (2, 9, 0.0)], [(1, -1, 0.0), (1, -1, 0.007), (2, 5, 0.01)]) == [1, 2]


@pytest.mark.nojit
def test_the_distance_shrinks_with_small_shapes():
    old = [(1, 5, 0.0)]  # shapes 0 and 1
    assert matched([(1, 6, 0.01)], old, (1.0, 0.1, 1.0)) == [-1]
    assert matched([(1, 6, 0.0015)], old, (1.0, 0.1, 1.0)) == [0]


@pytest.mark.nojit
def test_without_features_as_many_contacts_as_before_are_the_same_ones():
    old = [(1, -1, 0.0), (1, -1, 0.2)]
    assert matched([(1, -1, 0.1), (1, -1, 0.3)], old) == [0, 1]  # a cylinder that rolls by 0.1 m in a step
    assert matched([(1, -1, 0.1)], old) == [-1]
    assert matched([(1, -1, 0.1), (1, 3, 0.3)], old) == [0, -1]  # a feature is a feature
    assert matched([(1, -1, 0.201), (1, -1, 0.3)], old) == [1, 1]  # the nearest first


@pytest.mark.nojit
def test_many_keys_are_merged_as_a_dictionary_would():
    rng = np.random.default_rng(1)
    for _ in range(20):
        new, old = (sorted({(int(k), int(f), 0.0) for k, f in rng.integers(0, 9, (12, 2))}) for _ in range(2))
        for row, at in zip(new, matched(new, old), strict=True):
            same = [i for i, o in enumerate(old) if o[0] == row[0]]
            exact = [i for i in same if old[i][1] == row[1]]
            assert at == (exact[0] if exact else same[0] if same else -1)


@pytest.mark.nojit
def test_frames_are_right_handed_and_impulses_come_back():
    rng = np.random.default_rng(2)
    normal = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(30, 3))])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    n = len(normal)
    out, world, lam, back = np.zeros((n, 3, 3)), np.zeros((n, 3)), rng.normal(size=(n, 3)), np.zeros((n, 3))
    frames(normal, n, out)
    np.testing.assert_array_equal(out[:, 0], normal)
    np.testing.assert_allclose(out @ out.transpose(0, 2, 1), np.tile(np.eye(3), (n, 1, 1)), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(out), 1.0, atol=1e-15)
    to_world(out, lam, n, world)
    np.testing.assert_allclose(world, np.einsum("kri,kr->ki", out, lam), atol=1e-15)
    to_frames(out, np.arange(n), world, n, back)
    np.testing.assert_allclose(back, lam, atol=1e-14)
    to_frames(out, np.full(n, -1), world, n, back)
    assert not back.any()
