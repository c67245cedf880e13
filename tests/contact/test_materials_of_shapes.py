"""Friction, torsion and rolling of shapes, and `condim` of MJCF: combined by pairs as MuJoCo does, and acting as laws of two bodies do."""

import mujoco
import numpy as np
import pytest
from contact_laws import G

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.kernels.contact import rows
from dalembert.model.compile_bodies import compile_bodies

GEOMS = [(1, "0.9 0.02 0.003", 0), (3, "0.5 0.01 0.002", 0), (4, "0.2 0.05 0.001", 0), (6, "0.7 0.001 0.004", 0), (1, "0.3 0.1 0.1", 2)]


def piles(floor):
    """Five balls on a floor that is one of the geoms, far apart from each other."""
    ground = 'type="plane" size="9 9 1" condim="{}" friction="{}" priority="{}"'.format(*GEOMS[floor])
    balls = "".join(
        f'<body name="b{k}" pos="{k} 0 0.0999"><freejoint/><geom size="0.1" condim="{c}" friction="{f}" priority="{p}"/></body>'
        for k, (c, f, p) in enumerate(GEOMS)
    )
    return f"<mujoco><worldbody><geom {ground}/>{balls}</worldbody></mujoco>"


@pytest.mark.parametrize("floor", range(len(GEOMS)))
def test_pairs_of_geoms_have_the_friction_that_mujoco_gives_them(floor):
    xml = piles(floor)
    mj = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    m = dal.load_model(xml).frozen()
    bodies = compile_bodies(m)
    detector = Detector(Scene.of(m, bodies.names))
    states = bodies.states(m.neutral(), np.zeros(m.nv))
    count = detector.detect(states[:, :3].copy(), states[:, 3:7].copy())
    ours = {
        int(b): detector.materials[k]
        for (_, b), k in zip(detector.contacts.bodies[:count], detector.contacts.material[:count], strict=True)
    }
    assert data.ncon == count == len(GEOMS)
    for c in data.contact:
        body = max(mj.geom_bodyid[c.geom]) - 1
        slide, spin, roll = (x if c.dim > least else 0.0 for x, least in zip(c.friction[[0, 2, 3]], (1, 3, 4), strict=True))
        np.testing.assert_allclose(ours[body][[rows.FRICTION, rows.TORSION, rows.ROLLING]], [slide, spin, roll], rtol=1e-6)


@pytest.mark.parametrize(("condim", "friction"), [(1, 0.0), (3, 0.4)])
def test_a_block_of_condim_1_slides_without_friction(condim, friction):
    """On a slope of 30 degrees: x = (g sin a - mu g cos a) t (t + h)/2."""
    a = np.radians(30.0)
    xml = f"""<mujoco><option gravity="{G * np.sin(a)} 0 {-G * np.cos(a)}"/><worldbody>
        <geom type="plane" size="9 9 1" condim="{condim}" friction="0.4"/>
        <body name="block" pos="0 0 0.05"><freejoint/><geom type="box" size="0.2 0.2 0.05" condim="{condim}" friction="0.4"/></body>
        </worldbody></mujoco>"""
    traj = dal.simulate(dal.load_model(xml), "spook", h=1e-3, t_end=1.0)
    pull = G * (np.sin(a) - friction * np.cos(a))
    assert traj.poses[-1, 0, 0, 3] == pytest.approx(0.5 * pull * 1.0 * 1.001, rel=2e-3)


def ball(shape, law=None):
    m = dal.Model("ball")
    m.add_shape("world", dal.Plane(friction=0.5, rolling=0.001))
    m.add_body("ball", 1.0, (0.004, 0.004, 0.004), pose=((0, 0, 0.1), (1, 0, 0, 0)), shapes=[shape])
    if law:
        m.add_contact("ball", "world", **law)
    return dal.simulate(m, "spook", h=1e-3, t_end=1.0, v0=[0, 10.0, 6.0, 1.0, 0, 0])


def test_torsion_and_rolling_of_shapes_act_as_those_of_a_contact():
    """The larger of the two shapes holds; what add_contact says comes before it. A ball that rolls slows down by g rolling/r/(1 + 2/5)."""
    by_shape = ball(dal.Sphere(0.1, friction=0.5, torsion=0.02, rolling=0.004))
    by_law = ball(dal.Sphere(0.1, friction=0.5), {"torsion": 0.02, "rolling": 0.004})
    np.testing.assert_array_equal(by_shape.q, by_law.q)
    free = ball(dal.Sphere(0.1, friction=0.5, torsion=0.02, rolling=0.004), {"torsion": 0.0, "rolling": 0.0})
    assert free.v[-1, 2] == pytest.approx(6.0, abs=1e-6)
    speed = np.linalg.norm(np.diff(by_shape.poses[:, 0, :3, 3], axis=0), axis=1)[-1] / 1e-3
    assert speed == pytest.approx(1.0 - G * 0.004 / 0.1 / 1.4, rel=0.02)
    assert by_shape.v[-1, 2] < 5.0


def test_shapes_keep_them_in_files_and_refuse_nonsense():
    shape = dal.Box((1, 1, 1), torsion=0.02, rolling=0.004)
    data = shape.to_dict()
    assert (data["torsion"], data["rolling"]) == (0.02, 0.004)
    assert "torsion" not in dal.Sphere(1.0).to_dict()
    for wrong in (-0.1, np.nan, "much"):
        with pytest.raises(dal.ModelError, match="rolling"):
            dal.Sphere(1.0, rolling=wrong)
