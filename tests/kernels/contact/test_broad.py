"""Sweep and prune against all pairs."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.kernels.contact.broad import sort_by_low
from dalembert.kernels.contact.tables import PAIRS


def crowd(n, rng):
    m = dal.Model("crowd")
    for k in range(n):
        shape = dal.Box(rng.uniform(0.05, 0.3, 3)) if k % 2 else dal.Sphere(rng.uniform(0.02, 0.2))
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[shape])
    return Detector(Scene.of(m))


def candidates(detector):
    work = detector._work
    return [(i, int(j)) for i in range(len(work.start) - 1) for j in work.second[work.start[i] : work.start[i + 1]]]


def all_pairs(detector):
    low, high = detector._work.low, detector._work.high
    meet = np.all((low[:, None] <= high[None]) & (high[:, None] >= low[None]), axis=-1)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(meet, 1))]


def test_pairs_are_those_of_all_boxes_that_meet_in_the_order_of_their_keys():
    """Flying about, so that the order changes a little, a lot, and the axis of the sort changes."""
    rng = np.random.default_rng(2)
    detector, n = crowd(150, rng), 150
    q = np.tile([1.0, 0, 0, 0], (n, 1))
    x, v = rng.uniform(-1, 1, (n, 3)), rng.normal(size=(n, 3))
    axes = set()
    for step in range(60):
        x = x + 0.02 * v if step % 20 else rng.uniform(-1, 1, (n, 3)) * rng.permutation([3.0, 1.0, 0.5])
        detector.detect(x, q)
        axes.add(int(detector._work.counts[3]))
        pairs = candidates(detector)
        assert pairs == all_pairs(detector) and len(pairs) > 20
        assert np.all(np.diff(detector.contacts.key) >= 0)
    assert len(axes) > 1


@pytest.mark.parametrize("awake", [1, 10, 16, 17, 80])
def test_pairs_of_bodies_that_sleep_are_left_out(awake):
    """Few are compared one by one, more are swept; those that sleep stay where they were placed."""
    rng = np.random.default_rng(4)
    detector, n = crowd(150, rng), 150
    q, x, found = np.tile([1.0, 0, 0, 0], (n, 1)), rng.uniform(-0.6, 0.6, (n, 3)), 0
    for _ in range(4):
        wakes = np.zeros(n, dtype=bool)
        wakes[rng.permutation(n)[:awake]] = True
        detector.watch(wakes)
        for _ in range(3):
            x[wakes] += rng.uniform(-0.05, 0.05, (awake, 3))
            detector.detect(x, q)
            pairs = candidates(detector)
            detector.watch(np.ones(n, dtype=bool))
            detector.detect(x, q)
            assert pairs == [(i, j) for i, j in all_pairs(detector) if wakes[i] or wakes[j]]
            detector.watch(wakes)
            found += len(pairs)
    assert found >= 10


@pytest.mark.parametrize("n", [0, 1, 2, 7, 500])
def test_any_order_is_sorted(n):
    """Small disorder by insertion, a reversed list by heap sort; ties in any order."""
    rng = np.random.default_rng(n)
    low = rng.integers(0, max(n // 2, 1), (n, 3)).astype(float)
    for order in (np.arange(n), np.argsort(low[:, 1])[::-1].copy(), rng.permutation(n)):
        sort_by_low(order, low, 1)
        assert np.all(np.diff(low[order, 1]) >= 0) and sorted(order) == list(range(n))


def test_arrays_grow_when_all_bodies_are_in_one_place():
    """More pairs and more contacts than there was room for, and the same again when there is."""
    rng = np.random.default_rng(3)
    detector = crowd(60, rng)
    x, q = np.zeros((60, 3)), np.tile([1.0, 0, 0, 0], (60, 1))
    x += rng.uniform(-0.01, 0.01, x.shape)
    assert detector.detect(x, q) > 64 + 16 * 60
    assert int(detector._work.counts[PAIRS]) == 60 * 59 // 2
    before = [a.copy() for a in detector.contacts]
    detector.forget()
    detector.detect(x, q)
    assert all(np.array_equal(a, b) for a, b in zip(before, detector.contacts, strict=True))
