"""The builder: what it accepts, what it refuses and how it says so; mechanics of a model against MuJoCo and by differences."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.forces import Spring


def test_ten_lines_build_a_top():
    m = dal.Model("top", gravity=(0, 0, -9.81))
    m.add_body("rotor", mass=1.0, inertia=(1, 1, 1.5), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    assert (m.nq, m.nv, m.total_mass) == (4, 3, 1.0)
    assert [j.name for j in m.joints] == ["tip"]


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"mass": -1}, "body 'b': mass is -1.0; expected a finite number > 0"),
        ({"mass": 0}, "mass is 0.0"),
        ({"mass": float("nan")}, "mass is nan"),
        ({"mass": "heavy"}, "mass is 'heavy'"),
        ({"inertia": (1, 2)}, r"shape \(2,\)"),
        ({"inertia": (1, 2, -3)}, "not positive definite"),
        ({"inertia": (0, 1, 1)}, "not positive definite.*physical=False accepts a slender rod"),
        ({"inertia": (1, 1, 3)}, "triangle inequality.*physical=False accepts it"),
        ({"inertia": np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])}, "not symmetric"),
        ({"inertia": (1, 1, np.inf)}, "finite"),
        ({"inertia": None}, "inertia"),
        ({"com": (1, 2)}, r"com has shape \(2,\)"),
        ({"com": (0, 0, np.nan)}, "com is"),
        ({"pose": np.eye(3)}, "4x4"),
        ({"pose": np.diag([1, 1, -1, 1.0])}, "not a rotation"),
        ({"pose": ((0, 0, 0), (1, 1, 0, 0))}, "norm 1.41"),
        ({"name": ""}, "name is ''"),
        ({"name": "world"}, "fixed frame"),
        ({"name": "a/b"}, "without '/'"),
        ({"shapes": ["ball"]}, "sphere"),
    ],
)
def test_bad_bodies(kwargs, match):
    m = dal.Model()
    with pytest.raises(dal.ModelError, match=match):
        m.add_body(**{"name": "b", "mass": 1.0, "inertia": (1, 1, 1), **kwargs})
    assert m.bodies == ()


def test_a_slender_rod_swings_as_the_message_says():
    """a = -(3/2) g/l sin(angle)."""
    m = dal.Model("rod")
    m.add_body("rod", 2.0, (2 / 12, 2 / 12, 0), com=(0, 0, -0.5), physical=False)
    m.add_joint("hinge", "revolute", "world", "rod", (0, 0, 0), (0, 1, 0))
    assert m.forward_dynamics([0.3], [0.0])[0] == pytest.approx(-1.5 * 9.81 * np.sin(0.3), rel=1e-14)
    assert dal.simulate(m, "mk4", h=0.01, t_end=0.1, q0=[0.3]).status == "ok"


def test_duplicate_and_unknown_names():
    m = dal.Model()
    m.add_body("arm", 1, (1, 1, 1))
    with pytest.raises(dal.ModelError, match="'arm': the model has a body of this name already"):
        m.add_body("arm", 1, (1, 1, 1))
    with pytest.raises(dal.UnknownNameError, match="did you mean 'arm'"):
        m.add_joint("j", "spherical", "world", "amr")
    with pytest.raises(dal.UnknownNameError, match="did you mean 'world'"):
        m.add_joint("j", "spherical", "wrld", "arm")
    with pytest.raises(dal.UnknownNameError, match="did you mean 'spherical'"):
        m.add_joint("j", "sferical", "world", "arm")
    with pytest.raises(dal.UnknownNameError, match="did you mean 'arm'"):
        m.add_force(dal.Wrench("arn", force=(1, 0, 0)))
    with pytest.raises(dal.UnknownNameError, match="Known: arm"):
        m.body("leg")
    m.add_joint("j", "spherical", "world", "arm")
    with pytest.raises(dal.ModelError, match="joint of this name already"):
        m.add_joint("j", "spherical", "world", "arm")
    with pytest.raises(KeyError):
        m.joint("nothing")


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"axis": (0, 0, 0)}, "axis"),
        ({"damping": -1}, "damping is -1.0"),
        ({"limits": (1, 0)}, "lower < upper"),
        ({"anchor": "here"}, "anchor"),
        ({"parent": "a"}, "parent and child are both"),
        ({"kind": "free", "parent": "b"}, "world as its parent"),
        ({"kind": "universal"}, "axis2 is missing; a universal joint has two axes"),
        ({"kind": "universal", "axis2": (0, 0, -2)}, "parallel to axis"),
        ({"kind": "universal", "axis2": (0, 0, 0)}, "axis2 is"),
        ({"kind": "planar", "axis2": (0, 0, 1)}, "parallel to axis"),
        ({"kind": "revolute", "axis2": (1, 0, 0)}, "a revolute joint has no second axis"),
        ({"kind": "revolute", "limits": (0, 1, 2)}, r"limits has shape \(3,\)"),
        ({"kind": "planar", "limits": (0, 1)}, "a planar joint takes none; kinds that do: prismatic, revolute, spherical"),
        ({"kind": "revolute", "rest": "up"}, "rest is 'up'"),
        ({"rest": 0.1}, "a spherical joint rests at its reference configuration"),
        ({"kind": "free", "stiffness": 1}, "a free joint takes none"),
        ({"kind": "fixed", "stiffness": 1}, "a fixed joint takes none"),
        ({"kind": "revolute", "armature": -1}, "armature is -1.0"),
    ],
)
def test_bad_joints(kwargs, match):
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    m.add_body("b", 1, (1, 1, 1))
    with pytest.raises(dal.ModelError, match=match):
        m.add_joint(**{"name": "j", "kind": "spherical", "parent": "world", "child": "a", **kwargs})


def test_a_body_cannot_carry_itself():
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    m.add_body("b", 1, (1, 1, 1))
    m.add_joint("j", "spherical", "a", "b")
    with pytest.raises(dal.ModelError, match="cannot carry itself"):
        m.add_joint("k", "spherical", "b", "a")


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: dal.Wrench("b", force=(1, 2)), "force has shape"),
        (lambda: dal.Wrench("b", frame="wrld"), "frame"),
        (lambda: dal.Damper("b", angular=-1), "angular is -1.0"),
        (lambda: dal.Sphere(-1), "radius"),
        (lambda: dal.Box((1, 2, 0)), "size"),
        (lambda: dal.Mesh([(0, 0, 0)] * 4, [(0, 1, 9)]), "triangles"),
        (lambda: dal.Convex([(0, 0, 0)]), "points"),
        (lambda: dal.Model().add_force(lambda t: 0), r"cannot be called as f\(t, q, v\)"),
        (lambda: dal.Model().add_force("push"), r"expected one of Damper, Spring, Wrench, or a function"),
        (lambda: dal.Model().add_force(dal.Sphere(1)), "expected one of Damper"),
        (lambda: Spring("a", "a", stiffness=1), "both ends are on one body"),
        (lambda: Spring("world", "a", stiffness=1), "body_a is the world"),
        (lambda: Spring("a", "b", (0, 0), stiffness=1), "spring between 'a' and 'b': point_a has shape"),
        (lambda: Spring("a", "b", stiffness=-1), "stiffness is -1.0"),
        (lambda: Spring("a", "b", stiffness=1, rest_length=-1), "rest_length is -1.0"),
        (lambda: Spring("a", "b"), "both 0"),
        (lambda: dal.Sphere(1, friction=-0.1), "sphere: friction is -0.1"),
        (lambda: dal.Sphere(1, restitution=1.5), "restitution is 1.5; expected a number from 0 to 1"),
        (lambda: dal.Sphere(1, extra=[1]), "extra is"),
        (lambda: dal.Sphere(1, extra={"f": print}), r"extra\['f'\] is"),
        (lambda: dal.Model(gravity=(0, 0)), "gravity has shape"),
    ],
)
def test_bad_forces_and_shapes(make, match):
    with pytest.raises(dal.ModelError, match=match):
        make()


def test_parts_are_frozen():
    m = dal.Model()
    b = m.add_body("b", 1, (1, 1, 1))
    with pytest.raises(AttributeError):
        b.mass = 2
    with pytest.raises(ValueError, match="read-only"):
        b.inertia[0, 0] = 2


@pytest.mark.parametrize("kind", ["screw", "hinge"])
def test_unknown_kinds_are_refused_and_the_known_ones_listed(kind):
    m = dal.Model()
    m.add_body("a", 1, (1, 1, 1))
    with pytest.raises(dal.UnknownNameError, match="Known: cylindrical, distance, fixed, free, gear, homokinetic"):
        m.add_joint("j", kind, "world", "a")


def test_material_of_a_shape():
    extra = {"solref": np.array([0.02, 1.0]), "condim": np.int64(3)}
    s = dal.Sphere(1, friction=0.4, restitution=0.5, extra=extra)
    assert s.extra == {"solref": [0.02, 1.0], "condim": 3}
    assert hash(s) == hash(dal.Sphere(1, friction=0.4, restitution=0.5))
    plain = s.to_dict()
    plain["extra"]["condim"] = 4
    assert s.extra["condim"] == 3


def test_shape_inertias_match_mujoco():
    import mujoco

    shapes = [
        (dal.Sphere(0.3), 'type="sphere" size="0.3"'),
        (dal.Box((0.2, 0.4, 0.6)), 'type="box" size="0.1 0.2 0.3"'),
        (dal.Cylinder(0.2, 0.8), 'type="cylinder" size="0.2 0.4"'),
        (dal.Capsule(0.2, 0.8), 'type="capsule" size="0.2 0.4"'),
        (dal.Ellipsoid((0.2, 0.3, 0.4)), 'type="ellipsoid" size="0.2 0.3 0.4"'),
    ]
    for shape, xml in shapes:
        spec = f'<mujoco><worldbody><body><freejoint/><geom {xml} mass="1.7"/></body></worldbody></mujoco>'
        expected = np.sort(mujoco.MjModel.from_xml_string(spec).body_inertia[1])
        assert np.sort(shape.inertia(1.7)) == pytest.approx(expected, rel=1e-12)


def test_ellipsoids_and_height_fields_are_data():
    field = dal.HeightField([[0, 1, 2], [3, 4, 5]], (4.0, 2.0), friction=0.3)
    for shape in (field, dal.Ellipsoid((1, 2, 3))):
        assert type(shape)(**{k: x for k, x in shape.to_dict().items() if k != "kind"}) == shape
        m = dal.Model("a")
        m.world_shapes = (shape,)
        assert dal.Model.from_dict(m.to_dict()).world_shapes == (shape,)
        assert hash(shape) == hash(type(shape)(**shape.__dict__))
    points, triangles = field.surface()
    assert points[[0, 2, 3, 5]].tolist() == [[-2, -1, 0], [2, -1, 2], [-2, 1, 3], [2, 1, 5]]
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.all(normals[:, 2] > 0) and normals[:, 2].sum() / 2 == pytest.approx(8.0)
    for given, message in (
        (lambda: dal.Ellipsoid((1, 0, 1)), "ellipsoid: radii are"),
        (lambda: dal.HeightField([[1, 2]], (1, 1)), "heights have shape"),
        (lambda: dal.HeightField([[1, 2], [1, 2]], (1, 0)), "two positive lengths"),
        (lambda: dal.HeightField([[1, 2], [1, 2]], (1, 1), depth=0), "depth is 0.0"),
    ):
        with pytest.raises(dal.ModelError, match=message):
            given()


def chain():
    """Three bodies: one free, one on a ball joint to it, one alone."""
    m = dal.Model("chain", gravity=(1, 2, -3))
    m.add_body("base", 2.0, (1, 2, 2.5), com=(0.1, 0, 0.2), pose=((0.3, 0.2, 0.1), dal.quat.exp([0.2, 0.5, -0.3])))
    m.add_body("arm", 1.0, (0.3, 0.4, 0.5), com=(0, 0.3, 0), pose=((1, 0, 0), dal.quat.exp([0.4, -0.1, 0.8])))
    m.add_body("moon", 0.5, (0.1, 0.1, 0.1), pose=((5, 5, 5), (1, 0, 0, 0)))
    m.add_joint("ball", "spherical", "base", "arm", anchor=(0.7, 0.1, 0.0))
    return m


def test_order_of_q_and_v_is_that_of_the_joints():
    m = chain()
    assert [j.name for j in m.joints] == ["base", "moon", "ball"]
    assert m.q_slices() == {"base": slice(0, 7), "moon": slice(7, 14), "ball": slice(14, 18)}
    assert (m.nq, m.nv) == (18, 15)


def test_neutral_is_the_reference_configuration():
    m = chain()
    poses = m.poses(m.neutral())
    for i, b in enumerate(m.bodies):
        assert poses[i, :3, 3] == pytest.approx(b.position, abs=1e-15)
        assert poses[i, :3, :3] == pytest.approx(dal.quat.to_matrix(b.quaternion), abs=1e-15)


def test_twists_are_the_derivatives_of_poses():
    """Kinetic energy and momentum from finite differences of the poses of all mass points: six per body suffice for its inertia."""
    m = chain()
    rng = np.random.default_rng(5)
    q, v = m.random(rng), rng.normal(size=m.nv)
    e = 1e-6
    ahead, behind = m.poses(m.integrate(q, e * v)), m.poses(m.integrate(q, -e * v))
    here = m.poses(q)
    kinetic, linear, angular = 0.0, np.zeros(3), np.zeros(3)
    for i, b in enumerate(m.bodies):
        moments, axes = np.linalg.eigh(b.inertia)
        for k in range(3):
            for sign in (-1, 1):
                point = np.append(b.com + sign * np.sqrt(3 * (moments.sum() / 2 - moments[k]) / b.mass) * axes[:, k], 1.0)
                velocity = ((ahead[i] - behind[i]) @ point / (2 * e))[:3]
                kinetic += 0.5 * b.mass / 6 * velocity @ velocity
                linear += b.mass / 6 * velocity
                angular += b.mass / 6 * np.cross((here[i] @ point)[:3], velocity)
    assert m.kinetic_energy(q, v) == pytest.approx(kinetic, rel=1e-8)
    assert m.momentum(q, v) == pytest.approx(np.concatenate([angular, linear]), rel=1e-7, abs=1e-7)


def test_integrate_and_difference_are_inverse():
    m = chain()
    rng = np.random.default_rng(1)
    for size in (1e-12, 1e-6, 1e-2, 1.0, 3.0):
        q = m.random(rng)
        dq = rng.normal(size=m.nv)
        for s in (slice(0, 3), slice(6, 9), slice(12, 15)):
            dq[s] *= size / np.linalg.norm(dq[s])
        assert m.difference(q, m.integrate(q, dq)) == pytest.approx(dq, rel=1e-9, abs=1e-14)


def test_functions_work_on_whole_trajectories():
    m = chain()
    rng = np.random.default_rng(2)
    q = np.array([m.random(rng) for _ in range(5)])
    v = rng.normal(size=(5, m.nv))
    assert m.energy(q, v) == pytest.approx([m.energy(a, b) for a, b in zip(q, v, strict=True)], rel=1e-14)
    assert m.poses(q).shape == (5, 3, 4, 4)
    with pytest.raises(dal.OptionError, match=r"expected \(..., 18\)"):
        m.poses(np.zeros(4))


def test_data_round_trip():
    m = chain()
    m.add_force(dal.Wrench("moon", force=(1, 0, 0), frame="world"))
    m.add_force(dal.Damper("arm", angular=0.1))
    assert dal.Model.from_dict(m.to_dict()).to_dict() == m.to_dict()


def test_copy_is_independent():
    m = chain()
    other = m.copy()
    other.add_body("extra", 1, (1, 1, 1))
    assert len(m.bodies) == 3


def test_import_is_quick():
    import subprocess
    import sys

    code = "import time; t = time.process_time(); import dalembert; print(time.process_time() - t)"
    seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    assert seconds < 0.5
