"""Pairs of solids seen from the link that carries both: distances of their points are those of the poses of the model."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dalembert as dal
from dalembert.control.avoidance import pairs
from dalembert.control.machine import machine_of
from dalembert.control.sides import Between, Clouds


@pytest.fixture(scope="module")
def humanoid():
    model = dal.load_model(Path(dal.scenes.__file__).parent / "humanoid.xml")
    return machine_of(model, ignore=("joint friction",))


@pytest.mark.parametrize(
    ("a", "b", "joints"),
    [
        ("left_forearm", "right_forearm", ["left_shoulder", "left_elbow", "right_shoulder", "right_elbow"]),
        ("left_forearm", "chest", ["left_shoulder", "left_elbow"]),
        ("head", "left_shin", ["neck", "waist", "left_hip_roll", "left_hip_pitch", "left_knee"]),
        ("head", "world", ["root", "waist", "neck"]),
    ],
)
def test_only_the_joints_between_two_bodies_count(humanoid, a, b, joints):
    slices = humanoid.whole.q_slices()
    [pair] = pairs(humanoid, [(a, b) if b != "world" else (a, dal.Sphere(0.1), (1.0, 2.0, 3.0))])[:1]
    assert sorted(Between(humanoid, pair).which) == sorted(i for name in joints for i in range(slices[name].start, slices[name].stop))


def test_distances_of_points_are_those_of_the_model(humanoid):
    rng, whole = np.random.default_rng(2), humanoid.whole
    q = np.array([whole.random(rng) for _ in range(3)])
    T, names = whole.poses(q), [b.name for b in whole.bodies]
    having = [b.name for b in whole.bodies if any(s.collide for s in b.shapes)]
    for a, b in list(combinations(having, 2))[::5]:
        pair = pairs(humanoid, [(a, b)])[0]
        between = Between(humanoid, pair)
        X, Y = Clouds(between)(q[:, between.which])
        for k in range(len(q)):
            first, second = (s.cloud @ T[k, names.index(s.owner), :3, :3].T + T[k, names.index(s.owner), :3, 3] for s in pair)
            np.testing.assert_allclose(cdist(X[k], Y[k]), cdist(first, second), atol=1e-12)
