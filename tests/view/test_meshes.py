"""A machine as triangles: where they are, their volume, their colours."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.meshes import meshes_of


def volume(mesh):
    return np.linalg.det(mesh.points[mesh.triangles]).sum() / 6.0


def test_a_box_has_twelve_triangles_that_enclose_it():
    m = dal.Model("box")
    m.add_body("box", 1.0, (1, 1, 1), shapes=[dal.Box((1, 2, 3), position=(5, 0, 0))])
    (mesh,) = meshes_of(m)
    assert mesh.body == 0 and len(mesh.triangles) == 12 and len(mesh.points) == 8 and mesh.closed
    assert volume(mesh) == pytest.approx(6.0, rel=1e-14)  # corners run counter-clockwise seen from outside
    np.testing.assert_allclose(mesh.points.mean(axis=0), (5, 0, 0), atol=1e-14)


@pytest.mark.filterwarnings("error")  # a material that is a colour is carried over as a whole
def test_colours_of_a_file_are_kept_and_its_default_is_not():
    m = dal.load_model(
        """<mujoco><asset><material name="red" rgba="1 0 0 .5"/></asset><worldbody><geom type="box" size="1 1 .1"/>
        <body pos="0 0 2"><freejoint/><geom type="box" size=".1 .1 .1" material="red"/><geom type="sphere" size=".1" pos="1 0 0"/></body>
        </worldbody></mujoco>"""
    )
    red, plain, world = meshes_of(m)
    np.testing.assert_array_equal(red.colours, np.tile([1.0, 0.0, 0.0], (12, 1)))
    assert red.opacity == 0.5 and plain.opacity == 1.0 and world.body == -1
    assert not np.allclose(plain.colours, 0.5, atol=0.02)


def test_bodies_without_shapes_are_rods():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", (0, 0, 0), (0, 1, 0))
    assert all(mesh.body == 0 and len(mesh.triangles) > 10 for mesh in meshes_of(m))
