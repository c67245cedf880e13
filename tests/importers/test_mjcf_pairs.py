"""Friction of contact pairs: what MuJoCo's file says, and how MuJoCo itself slides."""

import mujoco
import numpy as np
import pytest

import dalembert as dal
from dalembert.importers import ModelImportWarning

XML = """<mujoco><worldbody>
<geom name="floor" type="plane" size="9 9 1"/><geom name="wall" type="box" size=".1 .1 .1" pos="5 5 5"/>
<body name="box" pos="0 0 0.05"><freejoint/><geom name="cube" type="box" size="0.2 0.2 0.05" mass="1"/></body>
<body name="other" pos="3 0 1"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1"/></body>
</worldbody><contact>{pairs}</contact></mujoco>"""
FLOOR = '<pair geom1="floor" geom2="cube" condim="{}" friction="{}"/>'
WALL = '<pair geom1="wall" geom2="cube" condim="{}" friction="{}"/>'


def loaded(condim, friction, pairs="{0}{1}"):
    """Both shapes of the world have the pair, so that all contacts of the two bodies do."""
    return dal.load_model(XML.format(pairs=pairs.format(FLOOR.format(condim, friction), WALL.format(condim, friction))))


def test_coefficients_of_a_pair_are_those_of_its_bodies():
    law = loaded(3, "0.6 0.6")
    assert [(x.a, x.b, x.friction, x.torsion, x.rolling) for x in law.contacts] == [("world", "box", 0.6, 0.0, 0.0)]  # not those of geoms
    law = loaded(6, "0.6 0.3 0.02 0.001 0.001").contacts[0]
    assert law.friction == (0.6, 0.3) and law.friction_axis == (0.0, 1.0, 0.0) and (law.torsion, law.rolling) == (0.02, 0.001)
    assert loaded(1, "0.6 0.6").contacts[0].friction == 0.0


@pytest.mark.parametrize("direction", [0, 1])
def test_it_slides_as_in_mujoco(direction):
    """The same file: the deceleration along x and along y, of MuJoCo's elliptic cone with small steps."""
    pairs = FLOOR.format(3, "0.6 0.2") + WALL.format(3, "0.6 0.2")
    xml = XML.format(pairs=pairs)
    model = mujoco.MjModel.from_xml_string(xml)
    model.opt.cone, model.opt.timestep = mujoco.mjtCone.mjCONE_ELLIPTIC, 0.001
    data = mujoco.MjData(model)
    data.qvel[direction] = 1.5
    speeds = []
    for _ in range(150):
        mujoco.mj_step(model, data)
        speeds.append(data.qvel[direction])
    theirs = (speeds[49] - speeds[149]) / 0.1
    m = dal.load_model(xml)
    traj = dal.simulate(m, "spook", h=1 / 240, t_end=0.1, v0={"box_free": (0, 0, 0, *(1.5 * np.eye(3)[direction]))})
    speed = np.diff(traj.poses[:, 0, direction, 3]) / traj.h
    ours = (speed[3] - speed[23]) / (20 / 240)
    assert ours == pytest.approx((0.2, 0.6)[direction] * 9.81, rel=2e-3)
    assert theirs == pytest.approx(ours, rel=0.03)  # contacts of MuJoCo are soft


def test_what_two_bodies_cannot_say_is_noted():
    between = '<pair geom1="ball" geom2="cube" friction="0.6 0.3"/>'
    with pytest.warns(ModelImportWarning, match="friction of contact pairs"):
        assert not loaded(3, "0.6 0.6", pairs=between).contacts
    with pytest.warns(ModelImportWarning, match="friction of contact pairs"):  # the floor touches the box by bits, too
        assert not loaded(3, "0.6 0.6", pairs="{1}").contacts
    soft = '<pair geom1="ball" geom2="cube" solref="0.01 1"/>'
    with pytest.warns(ModelImportWarning, match="softness and margin of contact pairs"):
        assert loaded(3, "0.6 0.6", pairs=soft).contacts[0].friction == 1.0
