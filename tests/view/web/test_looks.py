"""Triangles as a browser draws them."""

import numpy as np

import dalembert as dal
from dalembert.view.web.looks import batches_of, creased, sizes_of_bodies

from .conftest import boxes


def volume(points, triangles):
    return np.linalg.det(points[triangles]).sum() / 6.0


def test_a_box_keeps_its_edges_and_a_ball_is_round():
    (box,) = batches_of(boxes(1))
    assert len(box.points) == 24  # three corners in one place, one for each face
    assert np.isclose(volume(box.points, box.triangles), 0.2**3)
    m = dal.Model("ball")
    m.add_body("ball", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    parts = batches_of(m)
    assert len(parts) == 2  # two tones, by which it is seen to turn
    for part in parts:
        assert len(part.points) < 1.1 * len(np.unique(np.round(part.points, 9), axis=0))


def test_creases_change_no_triangle():
    (box,) = batches_of(boxes(1))
    points, triangles = creased(box.points, box.triangles)
    assert np.array_equal(points[triangles], box.points[box.triangles])


def test_equal_bodies_share_one_batch_and_keep_their_colours():
    (batch,) = batches_of(boxes(5))
    assert batch.bodies.tolist() == [0, 1, 2, 3, 4] and len(np.unique(batch.colours, axis=0)) == 5
    assert np.allclose(sizes_of_bodies(boxes(5), [batch]), 0.2)
