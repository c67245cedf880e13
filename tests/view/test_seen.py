"""Which shapes are drawn: the same ones by every painter."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.links import pieces_of
from dalembert.view.meshes import meshes_of
from dalembert.view.page.geometry import geometry_of
from dalembert.view.seen import seen
from dalembert.view.web.looks import batches_of

LOOK = {"contype": 0, "conaffinity": 0, "group": 1}
TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def model(*shapes):
    m = dal.Model("m")
    m.add_body("a", 1.0, (1, 1, 1), shapes=shapes)
    return m


def box(group=0):
    return dal.Box((1, 1, 1), extra={"contype": 1, "conaffinity": 1, "group": group, "rgba": [1, 0, 0, 1]})


def look():
    return dal.Mesh(*TETRAHEDRON, collide=False, extra={**LOOK, "rgba": [0, 0, 1, 1]})


def test_all_painters_draw_the_same():
    m = model(box(), look())
    assert [len(p.solid.faces) for p in pieces_of(m)] == [4]
    (mesh,) = meshes_of(m)
    np.testing.assert_array_equal(mesh.colours[0], (0, 0, 1))
    page = geometry_of(m, np.zeros((1, 1, 3)), 1.0)
    assert page.parts == [[0, 0]] and page.solids[0]["palette"] == [[0, 0, 255]]
    (batch,) = batches_of(m)
    assert batch.colours.tolist() == [[0, 0, 255]] and len(batch.triangles) == 4


@pytest.mark.parametrize("ignored", [False, True])
def test_what_is_drawn_does_not_depend_on_what_a_run_ignores(ignored):
    m = model(box(3), look())
    m.add_shape("world", dal.Plane())
    kept = m.without("contact") if ignored else m
    assert [s.kind for s in seen(kept.body("a").shapes)] == ["mesh"]


def test_shapes_made_in_python_are_all_drawn():
    shapes = (dal.Sphere(0.1), dal.Capsule(0.02, 0.5, collide=False), dal.Mesh(*TETRAHEDRON, collide=False))
    assert seen(shapes) == list(shapes)


def test_a_mesh_in_the_world_is_one_thing_of_many():
    assert len(seen([box(), look()], world=True)) == 2 and len(seen([box(3), look()], world=True)) == 1


def test_links_without_shapes_that_are_fixed_to_others_are_not_drawn():
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    m = dal.load_model(
        f"""<robot name="r"><link name="world"/>
        <link name="leg">{inertial}<visual><geometry><box size="1 1 1"/></geometry></visual></link><link name="sole">{inertial}</link>
        <joint name="j" type="revolute"><parent link="world"/><child link="leg"/><limit lower="-1" upper="1" effort="0" velocity="0"/>
        </joint>
        <joint name="k" type="fixed"><parent link="leg"/><child link="sole"/></joint></robot>"""
    )
    assert {p.body for p in pieces_of(m)} == {0}
