"""Geometry for pictures: Collada files, colours, what is drawn, and that nothing of it touches."""

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError
from dalembert.importers import ModelImportWarning, collada, load_model
from dalembert.importers.coarse import coarse
from dalembert.model.features import acting
from dalembert.model.shapes import from_dict
from dalembert.view.meshes import meshes_of

CORNERS = [(x, y, z) for x in (0, 100) for y in (0, 200) for z in (0, 300)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
OBJ = "".join(f"v {0.001 * x} {0.001 * y} {0.001 * z}\n" for x, y, z in CORNERS) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
)


def effect(name, inside):
    return (
        f'<effect id="{name}-fx"><profile_COMMON><technique sid="common"><lambert><diffuse>{inside}</diffuse></lambert></technique>'
        "</profile_COMMON></effect>"
    )


def dae(scene='<node><translate>1000 0 0</translate><instance_geometry url="#box">BIND</instance_geometry></node>', polygons=None, more=""):
    """A box of 100 x 200 x 300 units of 1 mm, moved along x by 1000; four faces red, the others of a texture that is nowhere."""
    index = [" ".join(f"{a} {b} {c}" for a, b, c in some) for some in (FACES[:4], FACES[4:])]
    bind = "".join(f'<instance_material symbol="{m}" target="#{m}"/>' for m in ("red", "wood"))
    bind = f"<bind_material><technique_common>{bind}</technique_common></bind_material>"
    materials = "".join(f'<material id="{m}"><instance_effect url="#{m}-fx"/></material>' for m in ("red", "wood"))
    faces = polygons or "".join(
        f'<triangles count="4" material="{m}"><input semantic="VERTEX" source="#v" offset="0"/><p>{i}</p></triangles>'
        for m, i in zip(("red", "wood"), index, strict=True)
    )
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
      <library_effects>{effect("red", "<color>1 0 0 1</color>")}{effect("wood", '<texture texture="gone" texcoord="U"/>')}</library_effects>
      <library_materials>{materials}</library_materials>
      <library_geometries><geometry id="box"><mesh><source id="p"><float_array id="pa" count="24">
        {" ".join(str(x) for corner in CORNERS for x in corner)}</float_array>
        <technique_common><accessor source="#pa" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
        <param name="Z" type="float"/></accessor></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{faces}</mesh></geometry></library_geometries>{more}
      <library_visual_scenes><visual_scene id="s">{scene.replace("BIND", bind)}</visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def link(name, visual, collision='<collision><geometry><box size="0.5 0.5 0.5"/></geometry></collision>'):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>{visual}{collision}</link>'


def visual(file, material=""):
    return f'<visual><geometry><mesh filename="{file}"/></geometry>{material}</visual>'


@pytest.fixture
def robot(tmp_path, load):
    """Writes files and loads a robot of one link."""

    def make(visuals, collide=True, **files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        path = tmp_path / "robot.urdf"
        path.write_text(f'<robot name="r">{link("a", visuals, **({} if collide else {"collision": ""}))}</robot>')
        return load(path, floating_base=True)

    return make


def box_of(mesh):
    return np.array([mesh.points.min(axis=0), mesh.points.max(axis=0)])


def test_a_collada_file_has_its_unit_its_places_and_its_colours(robot):
    m = robot(visual("box.dae"), box_dae=dae())
    box, red, wood = m.body("a").shapes
    assert (box.kind, box.collide, red.collide, wood.collide) == ("box", True, False, False)
    assert red.extra["rgba"] == [1, 0, 0, 1] and wood.extra["rgba"] == [0.6, 0.6, 0.6, 1]
    drawn = meshes_of(m)
    assert sorted(len(mesh.triangles) for mesh in drawn) == [4, 8]
    np.testing.assert_allclose(box_of(drawn[1]), [(1.0, 0, 0), (1.1, 0.2, 0.3)], atol=1e-6)  # as it stands, whatever is up
    np.testing.assert_array_equal(drawn[0].colours, np.tile([1.0, 0, 0], (4, 1)))
    assert not any("pictures" in line or "mesh" in line for line in m.import_report)


def test_what_is_looked_at_changes_no_physics(robot):
    without = robot("")
    m = robot(visual("box.dae") + visual("box.obj"), box_dae=dae(), box_obj=OBJ)
    for model in (m, without):
        model.add_shape("world", dal.Plane())
    assert acting(m) == acting(without) and m.nq == without.nq and m.total_mass == without.total_mass
    runs = [dal.simulate(model, "spook", h=0.01, t_end=0.2) for model in (m, without)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    only = robot(visual("box.obj"), collide=False, box_obj=OBJ)
    only.add_shape("world", dal.Plane())
    assert "contact" not in acting(only)


def test_pictures_show_what_is_for_pictures_and_each_has_its_colour(robot):
    green = '<material name="g"><color rgba="0 1 0 1"/></material>'
    ball = '<visual><geometry><sphere radius="0.1"/></geometry><material name="b"><color rgba="0 0 1 0.5"/></material></visual>'
    m = robot(visual("box.obj", green) + ball, box_obj=OBJ)
    mesh, sphere = meshes_of(m)
    assert len(mesh.triangles) == 12 and sphere.opacity == 0.5
    np.testing.assert_array_equal(mesh.colours[0], (0, 1, 0))
    assert [x.body for x in meshes_of(m.without("contact"))] == [0, 0]
    assert len(meshes_of(robot("", collide=True))) == 1  # that for contacts, where there is no other
    assert len(meshes_of(robot(ball))) == 1


def test_collada_for_contacts_is_noted_and_touches_nothing(robot, tmp_path, load):
    (tmp_path / "box.dae").write_text(dae())
    text = link("a", "", '<collision><geometry><mesh filename="box.dae"/></geometry></collision>')
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{text}</robot>')
    m = load(tmp_path / "robot.urdf")
    assert m.body("a").shapes == () and "MuJoCo does not read" in "\n".join(m.import_report)


def test_without_pycollada_a_note_says_what_to_install(robot, monkeypatch):
    monkeypatch.setattr(collada, "library", lambda: None)
    m = robot(visual("box.dae"), box_dae=dae())
    assert [s.kind for s in m.body("a").shapes] == ["box"]
    assert "pip install 'dalembert[view]'" in "\n".join(m.import_report)


NODES = "".join(f'<node id="n{i}"><instance_node url="#n{i + 1}"/><instance_node url="#n{i + 1}"/></node>' for i in range(40))
HUGE = '<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>999999999</vcount><p>0</p></polylist>'
BAD = {
    "nothing": "",
    "no XML": "<COLLADA",
    "an entity": dae().replace('"1.0"?>', '"1.0"?><!DOCTYPE a [<!ENTITY b "c">]>'),
    "nothing in it": "<COLLADA/>",
    "a zip": "PK\x03\x04",
    "no scene": dae("<node/>"),
    "not numbers": dae().replace("100 200 300", "x y z"),
    "infinite": dae().replace("100 200 300", "nan inf 300"),
    "corners that are not there": dae().replace("<p>0 1 3", "<p>0 1 3000"),
    "a huge polygon": dae(polygons=HUGE),
    "nodes by the million": dae('<node><instance_node url="#n0"/></node>', more=f"<library_nodes>{NODES}</library_nodes>"),
    "a node in itself": dae('<node id="a"><instance_node url="#a"/></node>'),
    "no unit": dae().replace('meter="0.001"', 'meter="0"'),
}


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_collada_file_is_noted(robot, what):
    m = robot(visual("bad.dae"), bad_dae=BAD[what])
    assert [s.kind for s in m.body("a").shapes] == ["box"]
    assert "for pictures that cannot be read (1): bad.dae" in "\n".join(m.import_report)


def test_visual_geometry_never_ends_the_import_of_a_link_that_can_touch(robot):
    flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n"
    m = robot(
        visual("flat.obj") + visual("../../outside.stl") + visual("gone.stl") + visual("broken.stl"), flat_obj=flat, broken_stl="no mesh"
    )
    report = "\n".join(m.import_report)
    assert [s.kind for s in m.body("a").shapes] == ["box", "mesh"]  # a sheet is a thing to look at
    assert "outside.stl" in report and "gone.stl" in report and "broken.stl" in report
    with pytest.raises(ModelError, match="outside of the directories"):
        robot(visual("../../outside.stl"), collide=False)


@pytest.mark.parametrize(
    ("look", "touch", "drawn"), [((2, "mesh"), 3, ["mesh"]), ((1, "mesh"), 0, ["mesh"]), ((2, "sphere"), 3, ["sphere"])]
)
def test_mjcf_bodies_are_drawn_by_what_is_for_pictures(look, touch, drawn):
    group, kind = look
    shape = 'type="mesh" mesh="m"' if kind == "mesh" else 'type="sphere" size=".1"'
    m = load_mjcf(f'<geom {shape} contype="0" conaffinity="0" group="{group}"/>', f'<geom type="box" size=".1 .1 .1" group="{touch}"/>')
    assert len(m.bodies[0].shapes) == 2 and len(meshes_of(m)) == len(drawn)
    assert (len(meshes_of(m)[0].triangles) == 4) == (kind == "mesh")


def test_marks_on_mjcf_bodies_and_hidden_meshes_leave_them_as_they_are():
    box = '<geom type="box" size=".1 .1 .1" group="{}"/>'
    eye = '<geom type="sphere" size=".01" contype="0" conaffinity="0"/>'
    assert len(meshes_of(load_mjcf(eye, box.format(0)))) == 2
    hidden = load_mjcf('<geom type="mesh" mesh="m" contype="0" conaffinity="0" group="4"/>', box.format(3))
    assert len(hidden.bodies[0].shapes) == 1 and "hidden meshes" in hidden.import_report[0]


def load_mjcf(*geoms):
    asset = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelImportWarning)
        return load_model(f"<mujoco>{asset}<worldbody><body><freejoint/>{''.join(geoms)}</body></worldbody></mujoco>")


def ball(n):
    """Points and triangles of a ball of radius 1."""
    u, v = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, 2 * n, endpoint=False), indexing="ij")
    points = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n - 1), np.arange(2 * n), indexing="ij"))
    a, b = i * 2 * n + j, i * 2 * n + (j + 1) % (2 * n)
    return points, np.concatenate([np.stack([a, a + 2 * n, b], axis=-1), np.stack([b, a + 2 * n, b + 2 * n], axis=-1)])


def test_coarse_meshes_are_where_the_fine_ones_are():
    points, triangles = ball(150)
    some, few = coarse(points, triangles, 4000)
    assert 1000 < len(few) <= 4000
    np.testing.assert_allclose(np.linalg.norm(some, axis=1), 1.0, atol=5e-3)
    volume = abs(np.linalg.det(some[few]).sum()) / 6.0
    assert volume == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert coarse(points, triangles, len(triangles))[1] is triangles


def test_large_meshes_are_packed_in_files_and_come_back_bit_for_bit():
    points, triangles = ball(20)
    exact = dal.Mesh(points.astype(np.float32).astype(float), triangles, collide=False)
    data = exact.to_dict()
    assert "points" not in data and len(data["packed"]["data"]) < 12 * len(triangles)
    assert from_dict(data) == exact
    assert "points" in dal.Mesh(points, triangles).to_dict()  # float32 would not do
    for damage in ({"data": "!"}, {"data": ""}, {"points": 10**12}, {"triangles": -1}, {"points": 1}):
        with pytest.raises(ModelError, match="packed triangles cannot be read"):
            from_dict({**data, "packed": {**data["packed"], **damage}})
