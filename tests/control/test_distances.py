"""Rulers and rows of distances: closed forms, coal beside sshlp, and subgradients beside differences."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import distances
from dalembert.control.distance_rows import Witnesses
from dalembert.control.distances import AT_HOME, Ruler
from dalembert.control.obstacles import solid

NONE, ZERO = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
CUBE = dal.Convex([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def placed(shape):
    return solid("world", shape.kind, shape, ZERO, NONE)


def away(x, y=0.0, z=0.0):
    return np.eye(3), np.array([x, y, z], dtype=float)


@pytest.mark.parametrize("judge", ["coal", "sshlp"])
@pytest.mark.parametrize(
    ("a", "b", "pose", "distance"),
    [
        (dal.Sphere(0.2), dal.Sphere(0.3), away(1.0), 0.5),
        (dal.Sphere(0.2), dal.Sphere(0.3), away(0.4), -0.1),
        (dal.Sphere(0.2), dal.Box((1, 1, 1)), away(1.0), 0.3),
        (dal.Capsule(0.1, 1.0), dal.Capsule(0.2, 1.0), away(0.7), 0.4),
        (dal.Capsule(0.1, 1.0), dal.Box((1, 1, 1)), away(0.0, 0.0, 1.5), 0.4),
        (dal.Box((1, 1, 1)), CUBE, away(1.2, 0.1, 0.2), 0.2),
        (dal.Plane(), dal.Box((1, 1, 1)), away(3.0, 4.0, 0.8), 0.3),
        (dal.Plane(), dal.Sphere(0.5), away(3.0, 4.0, 0.2), -0.3),
        (dal.Plane(), dal.Ellipsoid((0.1, 0.2, 0.3)), away(0.0, 0.0, 1.0), 0.7),
        (dal.Plane(), dal.Cylinder(0.2, 1.0), away(0.0, 0.0, 1.0), 0.5),
    ],
)
def test_rulers_measure_closed_forms(a, b, pose, distance, judge, monkeypatch):
    if judge == "sshlp":
        monkeypatch.setattr(distances, "_coal", lambda: None)
    ruler = Ruler(placed(a), placed(b))
    assert ruler(AT_HOME, pose) == pytest.approx(distance, abs=1e-9)


@pytest.fixture(scope="module")
def turned():
    """A flyer of two shapes turns on its way past a box."""
    m = dal.Model("flyer", gravity=(0, 0, 0))
    m.add_body("drone", 1.0, (0.01, 0.02, 0.03), shapes=[dal.Box((0.2, 0.3, 0.1)), dal.Capsule(0.05, 0.2, position=(0.2, 0, 0))])
    start, goal = np.array([0, 0, 0, *NONE]), np.array([2.0, 0, 0, np.cos(0.5), 0, 0, np.sin(0.5)])
    return dal.control.dmoc(m, 20, start, goal, h=0.1, avoid=[dal.Box((0.3, 0.3, 0.3), position=(1.0, 0.1, 0.0))]).solve()


def test_the_two_judges_agree_on_a_plan(turned, monkeypatch):
    first = distances.clearance(turned)
    monkeypatch.setattr(distances, "_coal", lambda: None)
    second = distances.clearance(turned)
    assert first.judge.startswith("coal") and second.judge == "sshlp" and list(first.pairs) == list(second.pairs)
    for name in first.pairs:
        assert first.pairs[name].least == pytest.approx(second.pairs[name].least, abs=1e-9)


def test_intervals_that_are_passed_over_hide_nothing(turned, monkeypatch):
    """Least distances with the bound that leaves intervals out, and without it."""
    quick = distances.clearance(turned)
    monkeypatch.setattr(distances, "_way", lambda s, T: np.full(len(T), np.inf))
    for name, least in distances.clearance(turned).pairs.items():
        assert quick.pairs[name].between == pytest.approx(least.between, abs=1e-12)


def test_signed_distances_as_rows_have_their_subgradients():
    """Rows of form="lp" and their Jacobian beside central differences of the rows: two turned boxes, where features do not change."""
    m = dal.Model("flyer", gravity=(0, 0, 0))
    m.add_body("drone", 1.0, (0.01, 0.02, 0.03), shapes=[dal.Box((0.2, 0.3, 0.1))])
    start, goal = np.array([0, 0, 0, *NONE]), np.array([2.0, 0.3, 0.1, np.cos(0.5), 0, 0, np.sin(0.5)])
    wall = dal.Box((0.3, 0.3, 0.3), position=(1.0, 0.6, 0.3), quaternion=(np.cos(0.3), 0, np.sin(0.3), 0))
    problem = dal.control.dmoc(m, 4, start, goal, h=0.5, avoid=dal.control.Avoid([("drone", wall)], form="lp", planes="chords"))
    z, program = problem.first_guess(seed=3), problem.program
    b = next(i for i, block in enumerate(program.blocks) if isinstance(block.live, Witnesses))
    block, at = program.blocks[b], int(program.assembly.starts[b])
    rows = slice(at, at + block.count)
    J = np.array(program._jacobian(z, program.parameters)[1].full())[rows]

    def value(x):
        return np.array(program.value(x, program.parameters)[1]).ravel()[rows]

    for column in np.unique(block.index)[::3]:
        e = np.zeros(len(z))
        e[column] = 1e-6
        np.testing.assert_allclose(J[:, column], (value(z + e) - value(z - e)) / 2e-6, atol=1e-7)  # truncation 1e-12, round-off 1e-10
    with pytest.raises(dal.UnsupportedError, match="does not know"):
        dal.control.dmoc(m, 4, start, goal, h=0.5, avoid=dal.control.Avoid([("drone", dal.Cylinder(0.1, 0.2), (1, 1, 1))], form="lp"))
