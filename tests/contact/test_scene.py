"""The collision geometry of a model: where shapes are, which of them touch, what they are made of."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.model import cut
from dalembert.model.rotation import matrix
from dalembert.model.touching import touching


def assert_touching(m):
    """Bodies of which shapes can touch, by the filters of a scene and by model/touching.py; the world comes last there."""
    scene = Scene.of(m)
    n = len(scene.placed)
    ours = {frozenset((scene.placed[i].part, scene.placed[j].part)) for i in range(n) for j in range(i) if scene.touch(i, j)}
    assert ours == {frozenset(pair) for pair in touching(m)}
    return ours


def arm(rng, bits):
    """A chain with something fixed to its last body, free bodies, something fixed in the world, all of several shapes with random bits."""
    m = dal.Model("arm")

    def shapes(k):
        given = [{"contype": int(a), "conaffinity": int(b)} for a, b in bits[k]]
        return [dal.Box((1, 1, 1), extra=extra, collide=bool(rng.integers(0, 4))) for extra in given]

    for k, name in enumerate(("a", "b", "c", "hand", "f", "g", "wall")):
        m.add_body(
            name, 1.0, (1, 1, 1), com=rng.normal(size=3), pose=(rng.normal(size=3), dal.quat.exp(rng.normal(size=3))), shapes=shapes(k)
        )
    m.add_joint("ja", "revolute", "world", "a")
    m.add_joint("jb", "revolute", "a", "b")
    m.add_joint("jc", "spherical", "b", "c")
    m.add_joint("weld", "fixed", "c", "hand")
    m.add_joint("bolt", "fixed", "world", "wall")
    m.world_shapes = tuple(shapes(7))
    return m


def test_filters_are_those_of_the_model():
    rng = np.random.default_rng(3)
    seen = set()
    for k in range(30):
        m = arm(rng, rng.integers(0, 4, (8, 2, 2)))
        if k % 3:
            m.exclude("f", "g")
            m.exclude("hand", "f")
        if k % 4 == 3:
            m.source["neighbours touch"] = True
        if k % 5 == 4:
            m.source["contact pairs"] = [["a", "b"], ["world", "f"]]
        seen |= assert_touching(m)
        assert_touching(cut(m))
    assert len(seen) > 15


def test_a_pair_of_a_file_names_shapes():
    """Of two feet on one body only the named one touches the floor, whose bits meet nothing."""
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" contype="0" conaffinity="0"/>
      <body name="b"><freejoint/><geom name="left" type="sphere" size=".1" pos="-1 0 0"/>
      <geom name="right" type="sphere" size=".1" pos="1 0 0"/></body></worldbody>
      <contact><pair geom1="floor" geom2="right"/></contact></mujoco>"""
    m = dal.load_model(xml)
    scene = Scene.of(m)
    assert [scene.touch(0, k) for k in (1, 2)] == [False, True]
    assert assert_touching(dal.Model.from_dict(m.to_dict())) == {frozenset(("b", "world"))}
    detector = Detector(scene)
    assert detector.detect(np.array([[0, 0, 0.1]]), np.array([[1.0, 0, 0, 0]])) == 1
    assert detector.contacts.point[0] == pytest.approx([1, 0, 0], abs=1e-15)


def test_shapes_are_where_the_model_has_them():
    """At the reference configuration, seen from the centres of mass of bodies with all that is fixed to them."""
    rng = np.random.default_rng(4)
    m = arm(rng, np.ones((8, 2, 2)))
    scene = Scene.of(m)
    assert scene.bodies == ("a", "b", "c", "f", "g")
    body = {b.name: b for b in m.bodies}
    mass = {"c": ("c", "hand")}
    for p in scene.placed:
        R_own, x_own = np.eye(3), np.zeros(3)
        if p.owner >= 0:
            lead = scene.bodies[p.owner]
            parts = [body[n] for n in mass.get(lead, (lead,))]
            x_own = np.mean([b.position + matrix(b.quaternion) @ b.com for b in parts], axis=0)  # all masses are 1
            R_own = matrix(body[lead].quaternion)
        R, x = (np.eye(3), np.zeros(3)) if p.part == "world" else (matrix(body[p.part].quaternion), body[p.part].position)
        np.testing.assert_allclose(x_own + R_own @ p.position, x + R @ np.array(p.shape.position), atol=1e-14)
        np.testing.assert_allclose(R_own @ matrix(p.quaternion), R @ matrix(np.array(p.shape.quaternion)), atol=1e-14)
    assert np.all(np.diff(scene.shapes.owner) >= 0)


def test_the_larger_friction_and_restitution_count_unless_a_contact_says_otherwise():
    m = dal.Model("stuff")
    for name, friction, bounce in (("ice", 0.1, 0.0), ("rubber", 1.2, 0.9), ("steel", 0.4, 0.3)):
        m.add_body(name, 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1, friction=friction, restitution=bounce)])
    m.world_shapes = (dal.Plane(friction=0.2, restitution=0.5),)
    m.add_contact("ice", "steel", friction=0.02, compliance=1e-7)
    m.add_contact("world", "rubber", damping_time=0.1)
    scene = Scene.of(m.frozen())
    detector = Detector(scene)
    detector.detect(np.array([[0, 0, 0.1], [0.1, 0, 0.1], [0.05, 0.1, 0.1]]), np.tile([1.0, 0, 0, 0], (3, 1)))
    c = detector.contacts
    rows = {tuple(b): detector.materials[k, :4].tolist() for b, k in zip(c.bodies.tolist(), c.material, strict=True)}
    nan = pytest.approx(np.nan, nan_ok=True)
    assert rows == {
        (-1, 0): [0.2, 0.5, nan, nan],
        (-1, 1): [1.2, 0.9, nan, 0.1],
        (-1, 2): [0.4, 0.5, nan, nan],
        (0, 1): [1.2, 0.9, nan, nan],
        (0, 2): [0.02, 0.3, 1e-7, nan],
        (1, 2): [1.2, 0.9, nan, nan],
    }


def test_the_shape_of_higher_priority_decides():
    m = dal.Model("a")
    m.add_body("b", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1, friction=0.3, extra={"priority": 1})])
    m.world_shapes = (dal.Plane(friction=1.0, restitution=0.5),)
    detector = Detector(Scene.of(m))
    assert detector.detect(np.array([[0, 0, 0.1]]), np.array([[1.0, 0, 0, 0]])) == 1
    assert detector.materials[detector.contacts.material[0]][:2].tolist() == [0.3, 0.0]


def test_ground_that_moves_is_refused():
    m = dal.Model("a")
    m.add_body("b", 1.0, (1, 1, 1), shapes=[dal.Plane()])
    with pytest.raises(dal.UnsupportedError, match="body 'b': a plane collides in the world alone"):
        Scene.of(m)
    with pytest.raises(dal.UnknownNameError, match="body of a scene 'c'"):
        Scene.of(m, ["c"])


def test_a_model_without_shapes_has_no_contacts():
    m = dal.Model("a")
    m.add_body("b", 1.0, (1, 1, 1))
    detector = Detector(Scene.of(m))
    assert detector.detect(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]])) == 0
    detector.remember(np.zeros((0, 3)))
