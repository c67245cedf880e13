"""Contacts from step to step: memory, reach, small shapes, states that are not finite."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import MEMORY, Detector
from dalembert.contact.scene import Scene


def heap(n, rng):
    """Boxes of all sizes, spheres and a hull, close together over a plane."""
    m = dal.Model("heap")
    for k in range(n):
        shape = dal.Sphere(rng.uniform(0.05, 0.1)) if k % 5 == 0 else dal.Box(rng.uniform(0.1, 0.3, 3))
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[shape])
    m.add_body("wedge", 1.0, (1, 1, 1), shapes=[dal.Convex(rng.uniform(-0.1, 0.1, (12, 3)))])
    m.world_shapes = (dal.Plane(),)
    return m


def states(n, rng, steps):
    """Poses that move by some millimetres per step."""
    x, q = rng.uniform((-0.4, -0.4, 0.05), (0.4, 0.4, 0.6), (n, 3)), rng.normal(size=(n, 4))
    for _ in range(steps):
        x = x + rng.uniform(-2e-3, 2e-3, (n, 3))
        q = q / np.linalg.norm(q, axis=1)[:, None] + rng.uniform(-2e-3, 2e-3, (n, 4))
        yield x, q / np.linalg.norm(q, axis=1)[:, None]


def step(detector, x, q):
    """All that a step gives, with impulses that tell contacts apart."""
    count = detector.detect(x, q)
    lam = np.zeros((count, 3))
    matched = detector.warm_start(lam).copy()
    found = [a.copy() for a in (*detector.contacts, detector.frames, lam, matched)]
    detector.remember(lam + np.arange(3 * count).reshape(-1, 3))
    return found


def test_a_restored_detector_goes_on_bit_for_bit():
    rng = np.random.default_rng(5)
    m = heap(30, rng)
    first, path = Detector(Scene.of(m)), list(states(31, rng, 20))
    for x, q in path[:10]:
        step(first, x, q)
    second = Detector(Scene.of(dal.Model.from_dict(m.to_dict())))
    kept = first.memory()
    assert set(kept) == set(MEMORY) and all(len(a) for a in kept.values())
    second.restore({name: a.tolist() for name, a in kept.items()})
    for x, q in path[10:]:
        a, b = step(first, x, q), step(second, x, q)
        assert len(a[0]) > 50 and np.any(a[-1] >= 0)
        assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))
    with pytest.raises(dal.OptionError, match="impulses missing"):
        second.restore({name: kept[name] for name in MEMORY[:-1]})


def test_memory_is_a_copy_and_can_be_forgotten():
    rng = np.random.default_rng(6)
    detector = Detector(Scene.of(heap(10, rng)))
    for x, q in states(11, rng, 3):
        step(detector, x, q)
    kept = detector.memory()
    kept["points"][:] = 0.0
    assert detector.memory()["points"].any()
    detector.forget()
    detector.detect(x, q)
    assert np.all(detector.match() == -1)


def test_impulses_stay_with_their_contacts():
    """The same state again: every contact finds itself, and gets the impulse that it had."""
    rng = np.random.default_rng(7)
    detector = Detector(Scene.of(heap(20, rng)))
    ((x, q),) = states(21, rng, 1)
    count = detector.detect(x, q)
    lam = rng.normal(size=(count, 3))
    detector.remember(lam)
    assert detector.detect(x, q) == count
    again = np.empty((count, 3))
    assert detector.warm_start(again).tolist() == list(range(count))
    np.testing.assert_allclose(again, lam, atol=1e-14)


CUBE = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
FOUR = [dal.Sphere(0.1), dal.Box((0.2, 0.2, 0.2)), dal.Capsule(0.1, 0.2), dal.Convex(CUBE)]


@pytest.mark.parametrize("shape", FOUR, ids=lambda s: s.kind)
def test_reach_finds_what_comes_near(shape):
    """A body 8 cm over the ground and one 8 cm beside it: within reach if both bodies' reaches and the margin exceed the gap."""
    m = dal.Model("fast")
    for k in range(2):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[shape])
    m.world_shapes = (dal.Plane(),)
    detector = Detector(Scene.of(m))
    low = 0.2 if shape.kind == "capsule" else 0.1
    x, q = np.array([[0, 0, low + 0.08], [0.28, 0, low + 0.08]]), np.tile([1.0, 0, 0, 0], (2, 1))
    assert detector.detect(x, q) == 0
    detector.detect(x, q, np.array([0.077, 0.0]))
    assert {tuple(b) for b in detector.contacts.bodies.tolist()} == {(-1, 0), (0, 1)}  # one reach is enough for both
    assert detector.contacts.gap[0] == pytest.approx(0.08, abs=1e-6)
    detector.detect(x, q, np.array([0.1, 0.1]))
    assert {(-1, 0), (-1, 1), (0, 1)} <= {tuple(b) for b in detector.contacts.bodies.tolist()}


def test_tolerances_shrink_with_small_shapes():
    """Cubes of 1 mm: the margin is 4 mm times the ratio of bounding radius and 5 cm."""
    m = dal.Model("grains")
    for k in range(2):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[dal.Box((1e-3, 1e-3, 1e-3))])
    detector = Detector(Scene.of(m))
    margin = 4e-3 * 0.5e-3 * np.sqrt(3) / 0.05
    q = np.tile([1.0, 0, 0, 0], (2, 1))
    for gap, count in ((0.99 * margin, 4), (1.01 * margin, 0)):
        assert detector.detect(np.array([[0, 0, 0], [0, 0, 1e-3 + gap]]), q) == count


def test_a_state_that_is_not_finite_gives_no_contacts():
    detector = Detector(Scene.of(heap(3, np.random.default_rng(1))))
    x, q = np.zeros((4, 3)), np.tile([1.0, 0, 0, 0], (4, 1))
    x[2, 1] = np.nan
    assert detector.detect(x, q) == -1 and detector.count == 0
