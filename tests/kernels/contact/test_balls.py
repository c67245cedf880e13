"""Spheres with spheres, planes and boxes against MuJoCo, whose formulas for them are exact too."""

import mujoco
import numpy as np

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene

MARGIN = 0.01  # MuJoCo adds the gaps of two geoms


def scene(rng, n):
    """The same spheres, boxes (fixed in the world) and a plane as a model of ours and as MJCF."""
    m, xml = dal.Model("balls"), '<geom type="plane" size="0 0 1"/>'
    world = [dal.Plane()]
    for _ in range(6):
        p, h = rng.uniform((-0.5, -0.5, 0.1), (0.5, 0.5, 1.1)), rng.uniform(0.06, 0.2, 3)
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        world.append(dal.Box(2 * h, position=p, quaternion=q))
        xml += _box(h, p, q)
    free = ""
    for k in range(n):
        r = rng.uniform(0.06, 0.12)
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[dal.Sphere(r)])
        free += f'<body><freejoint/><geom type="sphere" size="{r:.17g}"/></body>'
    m.world_shapes = tuple(world)
    return m, f'<mujoco><default><geom gap="{0.5 * MARGIN}"/></default><worldbody>{xml}{free}</worldbody></mujoco>'


def _box(h, p, q):
    words = (" ".join(f"{y:.17g}" for y in x) for x in (h, p, q))
    return '<geom type="box" size="{}" pos="{}" quat="{}"/>'.format(*words)


def test_contacts_are_those_of_mujoco():
    """To 1e-9: a centre inside a box near its edges is pushed out of the nearest face by both."""
    rng = np.random.default_rng(1)
    m, xml = scene(rng, 40)
    detector = Detector(Scene.of(m), margin=MARGIN)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    total = 0
    for _ in range(20):
        x = rng.uniform((-0.6, -0.6, 0.05), (0.6, 0.6, 1.25), (40, 3))
        q = np.tile([1.0, 0, 0, 0], (40, 1))
        data.qpos.reshape(-1, 7)[:] = np.c_[x, q]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        theirs = {}
        for c in data.contact:
            i, j = sorted((int(c.geom1), int(c.geom2)))
            sign = 1.0 if int(c.geom1) == i else -1.0
            theirs[i * (40 + 7) + j] = (c.dist, c.pos.copy(), sign * c.frame[:3])
        count = detector.detect(x, q)
        ours = detector.contacts
        assert dict.fromkeys(ours.key.tolist()) == dict.fromkeys(sorted(theirs)) and count == len(theirs)
        total += count
        for k, key in enumerate(ours.key.tolist()):
            dist, pos, normal = theirs[key]
            assert abs(ours.gap[k] - dist) < 1e-9
            np.testing.assert_allclose(ours.point[k], pos, atol=1e-9)
            np.testing.assert_allclose(ours.normal[k], normal, atol=1e-8)
    assert total > 500


def test_two_balls_with_one_centre_have_a_normal():
    m = dal.Model("a")
    for k in range(2):
        m.add_body(f"b{k}", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    detector = Detector(Scene.of(m))
    assert detector.detect(np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1))) == 1
    assert detector.contacts.normal[0].tolist() == [0, 0, 1] and detector.contacts.gap[0] == -0.2
