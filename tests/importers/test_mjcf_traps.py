"""Each feature of MJCF that an importer can get wrong, one test each; MuJoCo is the judge."""

import re
import warnings

import mujoco
import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, OptionError
from dalembert.importers import ModelImportWarning, load_model

BOX = '<geom type="box" size=".1 .2 .3"/>'


def mjcf(worldbody, rest=""):
    return f"<mujoco>{rest}<worldbody>{worldbody}</worldbody></mujoco>"


def test_a_file_with_a_bit_of_everything(places, load, mujoco_judge):
    path = places.data / "gripper.xml"
    model, mj = load(path), mujoco.MjModel.from_xml_path(str(path))
    mujoco_judge(model, mj)
    assert model.name == "gripper"
    assert [j.name for j in model.joints] == ["lift", "yaw", "pitch", "left_finger", "right_finger", "tip_fixed", "fly"]
    assert [b.name for b in model.bodies if b.massless] == ["base.lift", "base.yaw"]
    lift = model.joint("lift")
    np.testing.assert_allclose(lift.limits, (-0.3, 0.2), atol=1e-15)  # the file counts from ref = 0.1
    assert (lift.stiffness, lift.rest) == (50.0, pytest.approx(-0.05))
    assert model.joint("yaw").friction == 0.2
    assert model.joint("pitch").limits == pytest.approx((-np.pi / 2, np.pi / 4))
    assert model.joint("right_finger").stiffness == 2.0
    assert {j.damping for j in model.joints if j.name in ("lift", "yaw", "pitch")} == {0.1}
    assert model.joint("fly").damping == 0.0
    np.testing.assert_allclose(model.body("ball").inertia, [[2e-3, 1e-4, 2e-4], [1e-4, 3e-3, 3e-4], [2e-4, 3e-4, 4e-3]], rtol=1e-9)


def test_ball_joints_and_free_joints_spin_the_same_way(load, mujoco_judge):
    xml = mjcf(
        f'<body pos="1 2 3" quat="1 2 3 4"><freejoint/>{BOX}'
        f'<body name="b" pos=".3 0 0" euler="10 20 30"><joint type="ball" pos=".1 .2 .3"/>{BOX}</body></body>'
    )
    mujoco_judge(load(xml), mujoco.MjModel.from_xml_string(xml))


def test_several_joints_on_one_body_keep_their_order_and_names(load, mujoco_judge):
    """Hinge, slide and hinge, then slide and ball, at different points: only the order of the file gives these poses."""
    joints = (
        '<joint name="a" axis="1 0 0" pos="0 .1 0"/><joint name="s" type="slide" axis="1 1 0"/><joint name="b" axis="0 1 1" pos="0 0 .3"/>'
    )
    xml = mjcf(
        f'<body name="x" euler="5 6 7">{joints}{BOX}'
        f'<body pos="0 0 1"><joint type="slide" axis="0 1 0"/><joint type="ball" pos=".1 0 0"/>{BOX}</body></body>'
    )
    model = load(xml)
    mujoco_judge(model, mujoco.MjModel.from_xml_string(xml))
    assert [j.name for j in model.joints][:3] == ["a", "s", "b"]
    assert model.body("x.a").massless
    assert model.total_mass == pytest.approx(2 * 1000 * 0.2 * 0.4 * 0.6)


def test_settotalmass_densities_and_several_roots_count(load):
    """Pinocchio's MJCF reader ignores all three."""
    xml = mjcf(
        f'<body name="a"><freejoint/><geom size=".1" density="3000"/></body><body name="b"><joint/>{BOX}</body>',
        '<compiler settotalmass="7"/>',
    )
    model = load(xml)
    assert model.total_mass == pytest.approx(7.0, rel=1e-12)
    assert model.body("a").mass / model.body("b").mass == pytest.approx(3 * (4 / 3 * np.pi * 0.001) / 0.048, rel=1e-9)
    assert {j.parent for j in model.joints} == {"world"}


def test_bodies_without_joints_are_fixed_and_keep_their_mass(load, mujoco_judge):
    xml = mjcf(
        f'<body name="wall" pos="0 0 1">{BOX}<body name="arm"><joint/>{BOX}'
        '<body name="hand" pos="1 0 0"><geom size=".1"/></body></body></body>'
    )
    model = load(xml)
    mujoco_judge(model, mujoco.MjModel.from_xml_string(xml))
    assert [(j.name, j.kind) for j in model.joints] == [("wall_fixed", "fixed"), ("arm_revolute", "revolute"), ("hand_fixed", "fixed")]


def test_geometry_and_contact_parameters(places, load):
    model = load(places.data / "gripper.xml")
    box, mesh = model.body("base").shapes
    assert isinstance(box, dal.Box) and box.size == pytest.approx((0.1, 0.12, 0.14)) and box.friction == 0.8
    assert box.extra["friction"] == [0.8, 0.01, 0.001] and box.extra["rgba"] == [1, 0, 0, 1]
    assert {"contype", "conaffinity", "condim", "solref", "solimp", "margin"} <= set(box.extra)
    corners = np.array(mesh.points) @ _matrix(mesh.quaternion).T + mesh.position
    expected = np.array([[0.1, 0, 0], [0.2, 0, 0], [0.1, 0.1, 0], [0.1, 0, 0.1]])
    assert all(np.abs(corners - e).max(axis=1).min() < 1e-7 for e in expected)  # MuJoCo keeps vertices in float32
    (capsule,) = model.body("left").shapes
    assert isinstance(capsule, dal.Capsule) and capsule.length == pytest.approx(0.06)
    (floor,) = model.world_shapes
    assert isinstance(floor, dal.Plane) and floor.extra["name"] == "floor"


def _matrix(q):
    from dalembert.model.rotation import matrix

    return matrix(np.array(q))


def test_motors(places, load):
    model, mj = load(places.data / "gripper.xml"), mujoco.MjModel.from_xml_path(str(places.data / "gripper.xml"))
    turn, raise_, close = model.motors
    assert (turn.kind, turn.gear, turn.limit) == ("torque", 5.0, (-10.0, 15.0))
    assert (raise_.kind, raise_.kp, raise_.kv, raise_.limit) == ("position", 20.0, 1.5, (-8.0, 8.0))
    assert (close.kind, close.kv, close.limit) == ("velocity", 7.0, None)
    assert any("pull" in line for line in model.import_report)
    data, rng = mujoco.MjData(mj), np.random.default_rng(8)
    for _ in range(20):
        q, v, u = model.random(rng), rng.normal(size=model.nv), 2.0 * rng.normal(size=3)
        data.qpos[:], data.qvel[:] = model.to_mujoco(q, v)
        data.ctrl[:3] = u
        mujoco.mj_forward(mj, data)
        np.testing.assert_allclose(model.motor_forces(u, q, v), data.qfrc_actuator, atol=1e-11)


def test_armature_and_damping_of_a_motor_act_through_its_gear(load, mujoco_judge):
    xml = mjcf(f'<body name="a"><joint name="j" armature="0.25" damping="0.5"/>{BOX}</body>')
    xml = xml.replace("</worldbody>", '</worldbody><actuator><motor joint="j" gear="3" armature="0.5" damping="0.7"/></actuator>')
    model = load(xml)
    assert model.joint("j").armature == 0.25 + 9 * 0.5
    assert model.joint("j").damping == 0.5 + 9 * 0.7
    mj = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj)
    data.qvel[:] = 2.0
    mujoco.mj_forward(mj, data)
    assert data.qfrc_passive[0] == pytest.approx(-2.0 * model.joint("j").damping)


def test_keyframes_are_states(places, load):
    model = load(places.data / "gripper.xml")
    home = model.keyframe("home")
    qpos, _ = model.to_mujoco(home.q, home.v)
    np.testing.assert_allclose(qpos, [0.2, 0.3, 0.4, 0.01, 1, 0, 0, 0, 1, 2, 3, 0, 1, 0, 0], atol=1e-15)


def test_gravity_and_its_switch(load):
    assert load(mjcf("", '<option gravity="1 2 3"/>')).gravity.tolist() == [1, 2, 3]
    assert load(mjcf("", '<option><flag gravity="disable"/></option>')).gravity.tolist() == [0, 0, 0]


def test_effects_that_the_file_switches_off_are_off(load):
    body = f'<body><joint name="j" range="-1 1" damping="2" stiffness="3" frictionloss="4"/>{BOX}</body>'
    j = load(mjcf(body, '<compiler autolimits="true"/><option><flag limit="disable" damper="disable"/></option>')).joint("j")
    assert (j.limits, j.damping, j.stiffness, j.friction) == (None, 0.0, 3.0, 4.0)
    m = load(mjcf(body, '<option><flag constraint="disable"/></option>'))
    assert (m.joint("j").limits, m.joint("j").friction) == (None, 0.0)


@pytest.mark.parametrize(
    "switch", ["constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "actuation", "gravity"]
)
def test_what_a_file_switches_off_and_is_off_here_too_is_no_news(switch):
    body = f'<body><joint name="j" range="-1 1" damping="2" stiffness="3" frictionloss="4"/>{BOX}</body>'
    rest = f'<compiler autolimits="true"/><actuator><motor name="m" joint="j"/></actuator><option><flag {switch}="disable"/></option>'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not load_model(mjcf(body, rest)).import_report


def test_limits_of_inputs_that_are_switched_off_and_hold_here_are_named(load):
    body = f'<body><joint name="j"/>{BOX}</body><!-- -->'
    rest = (
        '<actuator><motor name="m" joint="j" ctrlrange="-1 1" ctrllimited="true"/></actuator><option><flag clampctrl="disable"/></option>'
    )
    assert any("clampctrl" in line for line in load(mjcf(body, rest)).import_report)


def test_everything_that_is_not_carried_over_is_named_in_one_warning(places):
    with pytest.warns(ModelImportWarning) as caught:
        model = load_model(places.data / "gripper.xml")
    (warning,) = caught
    for name in ("tendons (1): both", "sites (1): tool", "held (weld)", "sensors (1): angle", "lights"):
        assert name in str(warning.message)
        assert any(name in line for line in model.import_report)
    assert warning.filename == __file__


def test_fluids_are_named(load):
    assert any("fluid" in line for line in load(mjcf("", '<option density="1000"/>')).import_report)


def test_a_plain_model_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(mjcf(f"<body><joint/>{BOX}</body>")).import_report == []


def test_names_with_slashes_and_without(load):
    xml = mjcf(f'<body name="arm/upper"><joint name="arm/hinge"/>{BOX}<body><joint/>{BOX}</body></body>')
    m = load(xml)
    assert [b.name for b in m.bodies] == ["arm.upper", "body2"]
    assert [j.name for j in m.joints] == ["arm.hinge", "body2_revolute"]
    assert any("arm/hinge" in line for line in m.import_report)
    assert m.source["joint names"] == {"arm.hinge": "arm/hinge"}


def test_joints_may_have_the_names_of_bodies(load, mujoco_judge):
    xml = mjcf(f'<body name="a"><joint name="b"/><joint name="a" axis="1 0 0"/>{BOX}<body name="b"><joint name="c"/>{BOX}</body></body>')
    m = load(xml)
    mujoco_judge(m, mujoco.MjModel.from_xml_string(xml))
    assert [j.name for j in m.joints] == ["b", "a", "c"]


def test_floating_base_of_an_mjcf_file(load):
    bare = mjcf(f'<body name="a" pos="1 0 0">{BOX}</body>')
    assert [j.kind for j in load(bare).joints] == ["fixed"]
    assert [j.kind for j in load(bare, floating_base=True).joints] == ["free"]
    free = mjcf(f'<body name="a"><freejoint/>{BOX}</body>')
    assert [j.kind for j in load(free, floating_base=False).joints] == ["fixed"]
    assert [j.kind for j in load(free, floating_base=True).joints] == ["free"]
    with pytest.raises(ModelError, match="there are 2"):
        load(mjcf(f"<body>{BOX}</body><body>{BOX}</body>"), floating_base=True)
    with pytest.raises(OptionError, match="floating_base"):
        load(bare, floating_base="yes")


def test_includes_attached_models_and_mesh_directories(tmp_path, load, mujoco_judge):
    """Paths relative to the main file, to the included one, to the attached one, and mesh names from file names."""
    (tmp_path / "parts" / "stl").mkdir(parents=True)
    wedge = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    for name in ("a.obj", "parts/stl/b.c.obj"):
        (tmp_path / name).write_text(wedge)
    (tmp_path / "parts" / "defaults.xml").write_text('<mujocoinclude><geom density="500"/></mujocoinclude>')
    (tmp_path / "parts" / "common.xml").write_text('<mujoco><default><include file="defaults.xml"/></default></mujoco>')
    (tmp_path / "parts" / "hand.xml").write_text(
        '<mujoco><compiler meshdir="stl"/><asset><mesh file="b.c.obj"/></asset><worldbody><body name="palm"><joint axis="0 1 0"/>'
        '<geom type="mesh" mesh="b.c"/></body></worldbody></mujoco>'
    )
    main = tmp_path / "main.xml"
    main.write_text(
        '<mujoco><include file="parts/common.xml"/><asset><mesh file="a.obj" scale=".1 .1 .1"/>'
        '<model name="hand" file="parts/hand.xml"/></asset>'
        '<worldbody><body name="arm"><joint/><geom type="mesh" mesh="a"/><body pos="1 0 0" name="wrist">'
        '<attach model="hand" body="palm" prefix="h_"/>'
        "</body></body></worldbody></mujoco>"
    )
    mujoco_judge(load(main), mujoco.MjModel.from_xml_path(str(main)))


def test_a_missing_mesh_of_an_mjcf_file_is_named(load):
    with pytest.raises(ModelError, match=re.escape("'gone.stl' is missing")):
        load(mjcf('<body><joint/><geom type="mesh" mesh="gone"/></body>', '<asset><mesh file="gone.stl"/></asset>'), package_dirs=["."])


def test_pictures_are_not_read(load):
    """A texture whose file is missing does not stop the import: nothing of it matters to the motion."""
    rest = '<asset><texture name="t" type="2d" file="gone.png"/><material name="m" texture="t" rgba="0 1 0 1"/></asset>'
    m = load(mjcf('<body><joint/><geom type="box" size=".1 .2 .3" material="m"/></body>', rest))
    assert m.bodies[0].shapes[0].extra["rgba"] == [0, 1, 0, 1]
    assert any("textures (1): t" in line for line in m.import_report)


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass and inertia"),
        ("<mujoco><foo/></mujoco>", "foo"),
        (mjcf('<body pos="nan 0 0"><joint/><geom size="1"/></body>'), "body_pos"),
        (mjcf('<body pos="1e300 0 0"><joint/><geom size="1"/></body>'), "body_pos"),
        (mjcf('<replicate count="100000000"><body><joint/><geom size="1"/></body></replicate>'), "replicate"),
        (mjcf('<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>'), "replicate"),
        ("<mujoco><asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset></mujoco>", "hfield"),
    ],
)
def test_what_cannot_be_is_refused_by_name(load, xml, words):
    with pytest.raises(ModelError, match=words):
        load(xml)


def test_memory_that_a_file_asks_for_is_not_given(load):
    assert load('<mujoco><size memory="100T" nuserdata="1000000000"/></mujoco>').nv == 0


def test_ellipsoids_and_height_fields_are_read():
    xml = """<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="2 1 0.5 0.3" elevation="0 1 2 3 4 5"/></asset><worldbody>
      <geom type="hfield" hfield="h" pos="0 0 1"/>
      <body><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"""
    m = dal.load_model(xml)
    (field,), (ball,) = m.world_shapes, m.bodies[0].shapes
    assert ball.radii == (0.1, 0.2, 0.3) and isinstance(ball, dal.Ellipsoid)
    assert (field.size, field.depth, field.position) == ((4.0, 2.0), 0.3, (0.0, 0.0, 1.0))
    heights = np.array(field.heights)
    assert heights.shape == (2, 3) and heights.max() == pytest.approx(0.5) and heights.min() == 0.0
