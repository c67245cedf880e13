"""Equality constraints of MJCF files as loops: residuals at random states are those of MuJoCo."""

import json

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

from dalembert.cli import app

TOL = 1e-10
XML = """
<mujoco>
  <worldbody>
    <body name="a" pos="0 0 1" euler="10 20 30">
      <joint name="ja" ref="20" axis="0 1 0"/><joint name="jc" axis="1 0 0" pos=".1 .2 .3"/>
      <geom size=".1"/><site name="sa" pos=".1 .2 .3" euler="0 40 10"/>
    </body>
    <body name="b" pos="1 0 1" euler="40 20 30">
      <joint name="jb" type="slide" ref="0.3" axis="1 1 0"/><geom size=".1"/><site name="sb" pos=".1 .1 .3" euler="10 0 0"/>
      <body name="d" pos="0 .5 0"><joint name="jd" type="ball"/><geom size=".1"/></body>
    </body>
    <body name="c" pos="2 0 1" euler="0 0 70"><freejoint/><geom size=".1"/></body>
    <body name="still" pos="3 0 0"><geom size=".1"/></body>
    <site name="s0" pos="1 1 1" euler="5 6 7"/>
  </worldbody>
  <equality>
    <connect name="pin" body1="a" body2="b" anchor=".5 .6 .7"/>
    <connect name="hang" body1="d" anchor=".1 0 0"/>
    <connect name="sites" site1="sa" site2="sb"/>
    <connect name="nail" site1="sa" site2="s0"/>
    <connect body1="d" body2="still" anchor="0 0 0"/>
    <weld name="glue" body1="a" body2="c"/>
    <weld name="offset" body1="c" body2="d" anchor=".1 .2 0" relpose="1 2 3 .5 .5 .5 .5"/>
    <weld name="ground" body1="c" relpose="1 2 3 .5 -.5 .5 .5" anchor=".1 0 0"/>
    <weld name="frames" site1="sa" site2="sb"/>
    <weld name="jig" site1="sb" site2="s0"/>
    <joint name="ja" joint1="ja" joint2="jb" polycoef=".1 2 3 4 5"/>
    <joint name="held" joint1="jc" polycoef=".1 2 0 0 0"/>
  </equality>
</mujoco>
"""
CONNECTS = ("pin", "hang", "sites", "nail", "d_still_connect")
WELDS = ("glue", "offset", "ground", "frames", "jig")


@pytest.fixture
def machine(load):
    mj = mujoco.MjModel.from_xml_string(XML)
    return load(XML), mj, mujoco.MjData(mj)


def rows_of_mujoco(mj, data, qpos):
    """Residuals of every equality constraint, in the order of the file."""
    data.qpos[:] = qpos
    mujoco.mj_forward(mj, data)
    equal = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return [data.efc_pos[equal & (data.efc_id == i)] for i in range(mj.neq)]


def test_all_of_them_are_loops(machine):
    model, mj, _ = machine
    kinds = {loop.name: loop.kind for loop in model.loops}
    assert kinds == {
        **dict.fromkeys(CONNECTS, "spherical"),
        **dict.fromkeys(WELDS, "fixed"),
        "ja_loop": "coupling",  # the joint has the name already
        "held": "coupling",
    }
    assert not any("equality" in line for line in model.import_report)
    assert model.source.get("joint names") is None
    assert (model.nq, model.nv) == (mj.nq, mj.nv)
    for name in ("hang", "nail", "ground", "jig"):
        assert model.loop(name).parent == "world"


def test_residuals_are_those_of_mujoco(machine):
    """Points and couplings up to sign; of the turn of a weld MuJoCo gives the vector part of its quaternion: sin(angle / 2) long."""
    model, mj, data = machine
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = model.random(rng)
        found = list(model.loop_errors(q).items())
        theirs = rows_of_mujoco(mj, data, model.to_mujoco(q)[0])
        assert len(found) == len(theirs) == mj.neq
        for (name, ours), rows in zip(found, theirs, strict=True):
            sign = -1.0 if np.abs(ours[0] + rows[0]) < np.abs(ours[0] - rows[0]) else 1.0
            np.testing.assert_allclose(ours[:3], sign * rows[:3], atol=TOL, err_msg=name)
            if name in WELDS:
                angle = np.linalg.norm(ours[3:])
                assert np.sin(angle / 2) == pytest.approx(np.linalg.norm(rows[3:]), abs=TOL), name


def test_what_is_closed_at_qpos0_is_closed_here(machine):
    model, mj, data = machine
    theirs = rows_of_mujoco(mj, data, mj.qpos0)
    closed = 0
    for ours, rows in zip(model.loop_errors(model.neutral()).values(), theirs, strict=True):
        assert np.linalg.norm(ours) == pytest.approx(0.0, abs=1e-12) or np.linalg.norm(rows) > 0.01
        closed += np.linalg.norm(rows) < 1e-12
    assert closed == 4  # pin, hang, the one without a name, glue


def test_what_is_not_a_loop_is_reported(load):
    bodies = '<body name="a"><joint name="j"/><geom size=".1"/></body><body name="b" pos="1 0 0"><joint name="k"/><geom size=".1"/></body>'
    tendons = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
    equal = """<equality><weld name="off" body1="a" body2="b" active="false"/><tendon name="rope" tendon1="t"/>
    <connect name="soft" body1="a" body2="b" anchor="0 0 0" solref="0.1 1"/></equality>"""
    flag = '<option><flag equality="disable"/></option>'
    model = load(f"<mujoco><worldbody>{bodies}</worldbody>{tendons}{equal}</mujoco>")
    assert [loop.name for loop in model.loops] == ["soft"]
    report = "\n".join(model.import_report)
    assert "equality constraints that are not active (1): off (weld)" in report
    assert "equality constraints (1): rope (tendon)" in report
    assert "softness of equality constraints (1): soft (connect)" in report
    switched_off = load(f"<mujoco>{flag}<worldbody>{bodies}</worldbody>{tendons}{equal}</mujoco>")
    assert not switched_off.loops
    assert any("soft (connect)" in line for line in switched_off.import_report)


def test_mimic_joints_of_a_urdf_file(load):
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    joint = '<joint name="{}" type="{}"><parent link="a"/><child link="{}"/><axis xyz="0 0 1"/>{}<limit lower="-1" upper="1"/></joint>'
    text = "".join(
        (
            '<robot name="r">',
            *(link.format(x) for x in "abcd"),
            joint.format("f", "prismatic", "b", '<mimic joint="lead" multiplier="-2" offset="0.3"/>'),
            joint.format("lead", "revolute", "c", ""),
            joint.format("g", "fixed", "d", '<mimic joint="lead"/>'),
            "</robot>",
        )
    )
    model = load(text)
    assert [(x.name, x.parent, x.child, x.polynomial) for x in model.loops] == [("f_mimic", "lead", "f", (0.3, -2.0))]
    q = model.check_q({"lead": 0.7, "f": 0.3 - 2 * 0.7})
    assert model.loop_errors(q)["f_mimic"] == pytest.approx([0.0], abs=1e-15)
    assert any("mimic" in line and "g (of lead)" in line for line in model.import_report)


def test_inspect_shows_loops(tmp_path):
    path = tmp_path / "loops.xml"
    path.write_text(XML)
    out = CliRunner().invoke(app, ["inspect", str(path)]).output
    for words in ("loops", "pin", "spherical", "ja_loop", "coupling", "0.1, 2, 3, 4, 5"):
        assert words in out
    data = json.loads(CliRunner().invoke(app, ["inspect", str(path), "--json"]).output)
    assert len(data["loops"]) == 12
