"""Each feature of URDF that an importer can get wrong, one test each; Pinocchio is the judge where it can be."""

import shutil

import numpy as np
import pinocchio
import pytest

import dalembert as dal
from dalembert.errors import ModelError
from dalembert.importers import ModelImportWarning, load_model

INERTIAL = '<inertial><mass value="{m}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name, mass=None, extra=""):
    return f'<link name="{name}">{INERTIAL.format(m=mass) if mass is not None else ""}{extra}</link>'


def joint(name, parent, child, kind="revolute", extra='<limit lower="-1" upper="1" effort="0" velocity="0"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>{extra}</joint>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


PAIR = (link("a", 2), link("b", 3), joint("j", "a", "b"))


def test_the_root_keeps_its_mass_and_is_fixed_with_a_warning():
    with pytest.warns(ModelImportWarning, match="fixed to the world, although it has mass") as caught:
        model = load_model(robot(*PAIR))
    assert len(caught) == 1
    assert model.total_mass == 5.0
    assert [(j.name, j.kind) for j in model.joints] == [("a_fixed", "fixed"), ("j", "revolute")]


def test_floating_base_frees_the_root_and_keeps_its_mass(load):
    model = load(robot(*PAIR), floating_base=True)
    assert model.total_mass == 5.0
    assert [(j.name, j.kind) for j in model.joints] == [("root_joint", "free"), ("j", "revolute")]
    assert (model.nq, model.nv) == (8, 7)


def test_floating_base_false_does_not_warn(recwarn):
    assert load_model(robot(*PAIR), floating_base=False).total_mass == 5.0
    assert not recwarn.list


def test_a_root_called_world_is_the_world(load):
    text = robot(link("world"), link("a", 2), joint("w", "world", "a", "fixed", ""), link("b", 3), joint("j", "a", "b"))
    model = load(text)
    assert [b.name for b in model.bodies] == ["a", "b"]
    assert model.joint("w").parent == "world"
    floating = load(text, floating_base=True)
    assert [b.name for b in floating.bodies] == ["world_body", "a", "b"]
    assert floating.total_mass == 5.0


def test_fixed_links_are_not_fused(load):
    model = load(
        robot(
            *PAIR,
            link("tool", 0.5),
            joint("t", "b", "tool", "fixed", '<origin xyz="0 0 1"/>'),
            link("frame"),
            joint("f", "tool", "frame", "fixed", ""),
        )
    )
    assert [b.name for b in model.bodies] == ["a", "b", "tool", "frame"]
    assert model.body("tool").mass == 0.5
    assert model.body("frame").massless
    assert model.total_mass == 5.5


def test_links_without_inertia_have_no_mass_even_with_geometry(load):
    """MuJoCo would take a density of water; the format says: none."""
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    model = load(robot(*PAIR, link("knob", None, ball), joint("k", "b", "knob", "fixed", "")))
    assert model.total_mass == 5.0
    assert isinstance(model.body("knob").shapes[0], dal.Sphere)


@pytest.mark.parametrize(
    "numbers", ['ixx="1" iyy="1" izz="5"', 'ixx="0" iyy="0" izz="0"', 'ixx="1e-9" iyy="2e-9" izz="2.5e-9"', 'ixx="-1" iyy="1" izz="1"']
)
def test_unphysical_inertias_are_kept_as_they_are(tmp_path, load, pinocchio_judge, numbers):
    """MuJoCo refuses or balances these; the data of many real robots are such."""
    path = tmp_path / "r.urdf"
    inertia = f'<mass value="1"/><inertia {numbers} ixy="0" ixz="0" iyz="0"/>'
    bad = f'<link name="c"><inertial><origin xyz="1 2 3" rpy="0.3 0.2 0.1"/>{inertia}</inertial></link>'
    path.write_text(robot(*PAIR, bad, joint("k", "b", "c")))
    model = load(path, floating_base=True)
    pinocchio_judge(model, path, True)
    assert np.isfinite(model.to_dict()["bodies"][2]["inertia"]).all()


def test_a_negative_inertia_is_refused_when_it_is_run(tmp_path, load):
    """It may sit in a machine that is sound as a whole; where the mass matrix is indefinite the body is named."""
    path = tmp_path / "r.urdf"
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="-2" ixy="0" ixz="0" iyz="0"/>'
    path.write_text(robot(*PAIR, f'<link name="c"><inertial>{inertia}</inertial></link>', joint("k", "b", "c")))
    model = load(path, floating_base=False)
    with pytest.raises(dal.ModelError, match=r"mass matrix is indefinite.*body 'c' has the principal moments \[-2.0, .*Correct it"):
        dal.simulate(model, "mk4", h=0.01, t_end=0.1, ignore=("limits", "contact"))


def test_limits_damping_friction_effort_velocity_and_mimic(places, load):
    model = load(places.data / "rover.urdf")
    assert model.joint("telescope").limits == (-0.1, 0.4)
    assert model.joint("axle").limits is None
    assert (model.joint("axle").damping, model.joint("axle").friction) == (0.3, 0.1)
    assert model.source["effort"] == {"telescope": 30.0, "elbow": 10.0}
    assert model.source["velocity"] == {"telescope": 0.2, "elbow": 3.0}
    assert model.source["continuous"] == ["axle"]
    report = "\n".join(model.import_report)
    assert "<transmission> elements (1): drive" in report and "<gazebo> elements (1): wheel" in report and "effort" in report
    twin = robot(*PAIR, link("c", 1), joint("k", "a", "c", extra='<limit lower="-1" upper="1"/><mimic joint="j" multiplier="-2"/>'))
    mimic = load(twin)
    assert mimic.source["mimic"] == {"k": {"joint": "j", "multiplier": -2.0, "offset": 0.0}}
    loop = mimic.loop("k_mimic")
    assert (loop.kind, loop.parent, loop.child, loop.polynomial) == ("coupling", "j", "k", (0.0, -2.0))
    assert not any("mimic" in line for line in mimic.import_report)
    lost = load(twin.replace('mimic joint="j"', 'mimic joint="gone"'))
    assert not lost.loops and any("mimic" in line and "k (of gone)" in line for line in lost.import_report)


def test_a_planar_joint_is_planar(places, load):
    model = load(places.data / "rover.urdf")
    assert model.joint("board").kind == "planar"
    assert model.nv == 1 + 1 + 1 + 3


def test_meshes_of_packages(places, tmp_path, load, monkeypatch):
    """package:// through package_dirs (its parent or the package itself), the model's own directory, and ROS_PACKAGE_PATH."""
    here = places.data
    mesh = load(here / "rover.urdf").body("mast").shapes[0]  # the model's own directory holds the package
    assert isinstance(mesh, dal.Mesh) and len(mesh.points) == 4
    extent = np.ptp(np.array(mesh.points), axis=0)
    assert sorted(extent.round(3).tolist())[-1] > 0.29  # scaled three times along z
    alone = tmp_path / "rover.urdf"
    shutil.copy(here / "rover.urdf", alone)
    for dirs in ([here], [here / "pack"], here):
        assert len(load(alone, package_dirs=dirs).body("mast").shapes) == 1
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(here))
    assert len(load(alone).body("mast").shapes) == 1
    text = (here / "rover.urdf").read_text()
    assert len(load(text, package_dirs=[here]).body("mast").shapes) == 1


def test_a_missing_mesh_is_named_and_the_rest_is_imported(places, tmp_path, load, pinocchio_judge, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    alone = tmp_path / "rover.urdf"
    shutil.copy(places.data / "rover.urdf", alone)
    with pytest.warns(ModelImportWarning, match="package://pack/meshes/wedge.stl"):
        model = load_model(alone, floating_base=True)
    assert model.body("mast").shapes == ()
    pinocchio_judge(model, alone, True)


def test_a_broken_or_unreadable_mesh_is_named_and_the_rest_is_imported(places, tmp_path, load):
    (tmp_path / "pack" / "meshes").mkdir(parents=True)
    for name, data in (("wedge.stl", b"not a mesh"), ("pretty.dae", b"<COLLADA/>")):
        (tmp_path / "pack" / "meshes" / name).write_bytes(data)
    text = (places.data / "rover.urdf").read_text()
    text = text.replace('<sphere radius="0.05"/>', '<mesh filename="package://pack/meshes/pretty.dae"/>')
    (tmp_path / "rover.urdf").write_text(text)
    model = load(tmp_path / "rover.urdf")
    report = "\n".join(model.import_report)
    assert "MuJoCo cannot use (1): package://pack/meshes/wedge.stl" in report
    assert "pretty.dae" in report
    assert model.total_mass == pytest.approx(17.1)


def test_geometry_without_extent_is_left_out(load):
    flat = '<collision><geometry><box size="0 1 1"/></geometry></collision><visual><geometry><cone/></geometry></visual>'
    report = "\n".join(load(robot(*PAIR, link("c", 1, flat), joint("k", "b", "c"))).import_report)
    assert "c (box)" in report and "c (cone)" in report


def test_joints_that_move_no_mass_are_named(load):
    model = load(robot(*PAIR, link("c"), joint("idle", "b", "c")))
    assert any("idle" in line and "mass" in line for line in model.import_report)


def test_limits_of_infinity_in_other_words(load):
    model = load(robot(link("a", 1), link("b", 1), joint("j", "a", "b", extra='<limit lower="-1e16" upper="1e16"/>')))
    assert model.joint("j").limits is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (robot(), "has no links"),
        (robot(link("a"), link("a")), "two links are called 'a'"),
        (robot(link("a", 1), link("b", 1)), "root links are a, b"),
        (robot(*PAIR, joint("k", "b", "a")), "none .a loop."),
        (robot(*PAIR, link("c", 1), link("d", 1), joint("k", "c", "d"), joint("l", "d", "c")), "c, d form a loop"),
        (robot(*PAIR, joint("k", "a", "b")), "child of two joints"),
        (robot(*PAIR, joint("k", "a", "gone")), "'gone' does not exist"),
        (robot(*PAIR, link("c", 1), joint("j", "a", "c")), "two joints are called 'j'"),
        (robot(*PAIR, link("c", 1), joint("k", "a", "c", "ball")), "type is 'ball'"),
        (robot(*PAIR, link("c", 1), joint("k", "b", "c", "floating", "")), "floats on 'b'"),
        (robot(link("a", "nan")), "finite number"),
        (robot(link("a", "-1")), "mass is -1"),
        (robot(link("a", "x")), "value is 'x'"),
        (robot(*PAIR).replace('xyz="0 0 1"', 'xyz="0 0 0"'), "expected a direction"),
        (robot(*PAIR).replace('xyz="0 0 1"', 'xyz="0 1"'), "3 finite numbers"),
    ],
)
def test_what_cannot_be_is_refused_by_name(load, text, words):
    with pytest.raises(ModelError, match=words):
        load(text)


def test_the_order_of_joints_is_that_of_pinocchio(tmp_path, load):
    """Children by the names of their joints, whatever the order of the file."""
    path = tmp_path / "r.urdf"
    path.write_text(
        robot(link("a", 1), link("z", 1), link("y", 1), link("x", 1), joint("3", "a", "z"), joint("1", "a", "y"), joint("2", "z", "x"))
    )
    model = load(path)
    names = list(pinocchio.buildModelFromUrdf(str(path)).names)[1:]
    from dalembert.importers.conventions import depth_first

    assert [j.name for j in depth_first(model, by_name=True) if j.coordinates.nv] == names == ["1", "3", "2"]


def test_links_have_the_colours_of_their_materials(load):
    """Of their own, by the name of one of the robot, or none; geometry for contacts is painted as its link."""
    box = '<geometry><box size="1 1 1"/></geometry>'
    m = load(
        f"""<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material>
        <link name="a"><visual>{box}<material name="red"/></visual><collision>{box}</collision></link>
        <link name="b"><visual>{box}<material name="own"><color rgba="0 0.5 2 0.4"/></material></visual></link>
        <link name="c"><visual>{box}<material name="nowhere"/></visual></link>
        <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
        <joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint></robot>"""
    )
    colours = {b.name: b.shapes[0].extra["rgba"] for b in m.bodies}
    assert colours == {"a": [1, 0, 0, 1], "b": [0, 0.5, 1, 0.4], "c": [0.5, 0.5, 0.5, 1]}


def test_a_colour_that_is_none_is_noted():
    with pytest.warns(ModelImportWarning, match=r"colours that are not four numbers \(1\): a \(nan 0 0 1\)"):
        m = dal.load_model(
            """<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry>
            <material name="m"><color rgba="nan 0 0 1"/></material></visual></link></robot>"""
        )
    assert m.bodies[0].shapes[0].extra["rgba"] == [0.5, 0.5, 0.5, 1]
