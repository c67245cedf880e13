"""Frames of contacts along an axis of a body."""

import numpy as np
import pytest

from dalembert.contact.materials import COLUMNS, FURTHER, PLAIN
from dalembert.kernels.contact.axes import turn_frames
from dalembert.kernels.contact.match import frames
from dalembert.model.rotation import matrix


@pytest.mark.nojit
def test_first_tangents_are_the_part_of_the_axis_across_the_normal():
    rng = np.random.default_rng(0)
    count = 12
    normals, axes, q = rng.normal(size=(count, 3)), rng.normal(size=(3, 3)), rng.normal(size=(2, 4))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    states = np.zeros((2, 13))
    states[:, 3:7] = q / np.linalg.norm(q, axis=1)[:, None]
    materials = np.tile((0.5, 0.0, np.nan, np.nan, *PLAIN), (4, 1))
    assert materials.shape[1] == len(COLUMNS) + len(FURTHER)
    for k, side in ((1, 1.0), (2, 2.0), (3, 1.0)):
        materials[k, -4:] = side, *axes[k - 1]
    material = np.arange(count) % 4
    pair = np.where((material == 3)[:, None], [-1, 1], [0, 1])  # the last one: an axis of the world
    plain = np.zeros((count, 3, 3))
    frames(normals, count, plain)
    found = plain.copy()
    turn_frames(count, pair, material, materials, states, found)
    for k in range(count):
        if material[k] == 0:
            np.testing.assert_array_equal(found[k], plain[k])
            continue
        body = pair[k, int(materials[material[k], -4]) - 1]
        e = axes[material[k] - 1] if body < 0 else matrix(states[body, 3:7]) @ axes[material[k] - 1]
        t = e - (e @ normals[k]) * normals[k]
        np.testing.assert_allclose(found[k, 1], t / np.linalg.norm(t), atol=1e-14)
        np.testing.assert_allclose(found[k] @ found[k].T, np.eye(3), atol=1e-14)
        assert np.linalg.det(found[k]) == pytest.approx(1.0)


@pytest.mark.nojit
def test_an_axis_along_the_normal_changes_nothing():
    materials = np.array([(0.5, 0.0, np.nan, np.nan, *PLAIN)])
    materials[0, -4:] = 1.0, 0.0, 0.0, 1.0
    found = np.zeros((1, 3, 3))
    frames(np.array([[0.0, 0.0, 1.0]]), 1, found)
    plain = found.copy()
    turn_frames(1, np.array([[-1, 0]]), np.array([0]), materials, np.zeros((1, 13)), found)
    np.testing.assert_array_equal(found, plain)
