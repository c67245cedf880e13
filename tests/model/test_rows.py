"""Energies, momentum, poses of many states by kernels, judged by the NumPy functions, which go body by body and know no links.

Round-off: both sum over bodies along chains; 1e-13 of the largest number is some hundred times what was measured (7e-15, 500 links).
"""

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import OptionError
from dalembert.kernels.tree.rows import worst_rotation
from dalembert.model.joints import KINDS
from dalembert.model.kinematics import Reference, frames
from dalembert.model.rotation import rotate
from dalembert.scenes import find, names

CLOSE = 1e-13


def chain(n: int) -> dal.Model:
    """Rods of half a metre, axes y and z in turn."""
    m = dal.Model(f"chain of {n}")
    for i in range(n):
        m.add_body(f"rod{i}", 1.0, (0.002, 0.02, 0.02), com=(0.25, 0, 0), pose=((0.5 * i, 0, 0), (1, 0, 0, 0)))
        axis = (0, 1, 0) if i % 2 == 0 else (0, 0, 1)
        m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", anchor=(0.5 * i, 0, 0), axis=axis)
    return m


def turned(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = rng.normal(size=4)
    return rng.uniform(-1, 1, 3), q / np.linalg.norm(q)


def zoo() -> dal.Model:
    """Every kind of joint, springs of all ends, springs and armatures in joints, bodies on the wall, frames without mass."""
    rng = np.random.default_rng(5)
    m = dal.Model("zoo", gravity=(1.0, -2.0, -9.0))

    def body(name: str) -> None:
        a = rng.normal(size=(3, 3))
        m.add_body(name, float(rng.uniform(0.5, 2)), a @ a.T + 20 * np.eye(3), com=rng.uniform(-0.5, 0.5, 3), pose=turned(rng))

    for name in ("wall", "shelf", "base", "ball", "hinge", "slide", "screw", "cross", "table", "glued", "tip"):
        body(name)
    m.add_frame("mark", pose=turned(rng))
    across = {"axis": (0, 0.6, 0.8), "axis2": (1, 0, 0)}
    m.add_joint("bolt", "fixed", "world", "wall")
    m.add_particle("bead", 0.7, rng.uniform(-1, 1, 3))
    m.add_joint("bracket", "fixed", "wall", "shelf")
    m.add_joint("tip", "revolute", "glued", "tip", anchor=(0, 1, 0), axis=(0, 1, 0))  # before the joints that carry it
    m.add_joint("ball", "spherical", "base", "ball", anchor=rng.uniform(-1, 1, 3), stiffness=3.0, armature=0.1)
    m.add_joint("hinge", "revolute", "ball", "hinge", anchor=rng.uniform(-1, 1, 3), axis=(1, 2, 2), stiffness=2.0, rest=0.4)
    m.add_joint("slide", "prismatic", "hinge", "slide", axis=(2, -1, 2), stiffness=5.0, rest=-0.2, armature=0.3)
    m.add_joint("screw", "cylindrical", "shelf", "screw", anchor=rng.uniform(-1, 1, 3), axis=(0, 0, 1), stiffness=1.0)
    m.add_joint("cross", "universal", "screw", "cross", anchor=rng.uniform(-1, 1, 3), armature=0.2, **across)
    m.add_joint("table", "planar", "world", "table", stiffness=0.5, rest=0.1, **across)
    m.add_joint("glue", "fixed", "table", "glued")
    m.add_joint("pin", "fixed", "slide", "mark")
    m.add_force(dal.Spring("ball", "tip", stiffness=7.0, rest_length=0.3, point_a=(0.1, 0, 0), point_b=(0, 0.2, 0)))
    m.add_force(dal.Spring("base", "world", stiffness=2.0, rest_length=0.1, point_b=(1, 2, 3)))
    m.add_force(dal.Spring("wall", "cross", stiffness=4.0, rest_length=0.5, point_a=(0, 0, 1)))
    m.add_force(dal.Spring("wall", "world", stiffness=11.0, rest_length=0.2, point_b=(3, 2, 1)))
    m.add_force(dal.Spring("wall", "mark", stiffness=1.5, rest_length=0.2))
    return m


def states(m: dal.Model, n: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return np.array([m.random(rng) for _ in range(n)]), rng.normal(size=(n, m.nv))


def agree(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * np.abs(expected).max(initial=0.0))


def judge(m: dal.Model, q: np.ndarray, v: np.ndarray) -> None:
    by_bodies = Reference(m)
    agree(m.kinetic_energy(q, v), by_bodies.kinetic_energy(q, v))
    agree(m.potential_energy(q), by_bodies.potential_energy(q))
    agree(m.energy(q, v), by_bodies.kinetic_energy(q, v) + by_bodies.potential_energy(q))
    agree(m.momentum(q, v), by_bodies.momentum(q, v))
    agree(m.poses(q), by_bodies.poses(q))


@pytest.mark.parametrize("name", [n for n in names() if find(n).model().kind == "model"])
def test_scenes_are_as_the_bodies_say(name: str) -> None:
    m = find(name).model()
    judge(m, *states(m))


def test_every_kind_of_joint_and_spring_counts() -> None:
    m = zoo()
    assert {j.kind for j in m.joints} == set(KINDS)
    judge(m, *states(m))
    judge(m.frozen(), *states(m))


@pytest.mark.parametrize("n", [1, 20, 500])
def test_long_chains_are_as_the_bodies_say(n: int) -> None:
    m = chain(n)
    judge(m, *states(m, 3))


def test_robots_are_as_the_bodies_say() -> None:
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    robots = share / "example-robot-data" / "robots"
    for path, floating in (("ur_description/urdf/ur5_robot.urdf", False), ("anymal_b_simple_description/robots/anymal.urdf", True)):
        with warnings.catch_warnings(action="ignore"):  # what the files hold beside mechanics
            m = dal.load_model(robots / path, floating_base=floating, package_dirs=[share])
        judge(m, *states(m))


def test_one_state_and_arrays_of_states_of_any_shape() -> None:
    m = zoo()
    q, v = states(m, 6)
    judge(m, q[0], v[0])
    judge(m, q.reshape(2, 3, -1), v.reshape(2, 3, -1))
    judge(m, q[:0], v[:0])
    judge(m, np.asfortranarray(q)[::2], np.asfortranarray(v)[::2])
    assert np.array_equal(m.kinetic_energy(q, v)[3], m.kinetic_energy(q[3], v[3]))
    many = m.kinetic_energy(q[0], v)
    assert np.array_equal(many, [m.kinetic_energy(q[0], x) for x in v])


def test_rows_of_another_length_are_refused() -> None:
    m = chain(3)
    with pytest.raises(OptionError, match=r"q has shape \(2, 4\); expected \(..., 3\)"):
        m.poses(np.zeros((2, 4)))
    with pytest.raises(OptionError, match=r"v has shape \(2,\); expected \(..., 3\)"):
        m.momentum(np.zeros(3), np.zeros(2))


def test_a_model_that_grows_is_asked_anew() -> None:
    m = chain(2)
    before = m.potential_energy([0.3, 0.2])
    m.add_body("load", 5.0, (1, 1, 1), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("weld", "fixed", "rod1", "load")
    judge(m, *states(m))
    assert m.potential_energy([0.3, 0.2]) != before
    m.gravity = (0, 0, 0)
    assert m.potential_energy([0.3, 0.2]) == 0.0


def test_a_machine_without_degrees_of_freedom_has_energy_too() -> None:
    m = dal.Model()
    m.add_body("wall", 2.0, (1, 1, 1), pose=((0, 0, 3), (1, 0, 0, 0)))
    m.add_joint("bolt", "fixed", "world", "wall")
    assert m.energy(np.zeros(0), np.zeros(0)) == pytest.approx(2.0 * 9.81 * 3.0)
    assert m.poses(np.zeros((4, 0))).shape == (4, 1, 4, 4)


def test_rotations_of_a_long_chain_stay_orthogonal() -> None:
    m = chain(500)
    q, _ = states(m, 20)
    poses = m.poses(q)
    R = poses[..., :3, :3]
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max()
    assert error < 8 * np.finfo(float).eps  # of one product, not of 500
    assert worst_rotation(poses) == pytest.approx(error, abs=np.finfo(float).eps)


def test_a_free_body_shows_the_quaternion_that_it_has() -> None:
    m = dal.Model()
    m.add_body("a", 1.0, (1, 2, 2.5), com=(0.1, 0.2, 0.3))
    q = np.array([1.0, 2.0, 3.0, 1.001, 0.1, -0.2, 0.3])
    agree(m.poses(q), Reference(m).poses(q))
    assert worst_rotation(m.poses(q[None])) > 1e-3


def test_worst_rotation_does_not_overlook_what_is_no_number() -> None:
    poses = np.tile(np.eye(4), (3, 2, 1, 1))
    assert worst_rotation(poses) == 0.0
    poses[1, 0, 2, 1] = np.nan
    assert np.isnan(worst_rotation(poses))


def test_a_survey_is_what_the_frames_of_the_bodies_say() -> None:
    m, centre = zoo(), np.array([0.3, -1.0, 2.0])
    q, v = states(m)
    found, seen = m._states().survey(q, v, centre), frames(m, q, v)
    spins, places, moments, z = [], [], np.zeros(len(q)), []
    for b in m.bodies:
        f = seen[b.name]
        speed = rotate(f.quaternion, f.velocity + np.cross(f.omega, b.com))
        x = f.position + rotate(f.quaternion, b.com) - centre
        spins.append(np.linalg.norm(f.omega, axis=1))
        places.append(np.linalg.norm(f.position, axis=1) + np.linalg.norm(b.com))
        moments += b.mass * np.linalg.norm(speed, axis=1) * np.linalg.norm(x, axis=1) + np.linalg.norm(f.omega @ b.inertia, axis=1)
        z += [np.sqrt(b.mass) * speed, f.omega @ np.linalg.cholesky(b.inertia) if b.inertia.any() else 0.0 * f.omega]
    z += [np.sqrt(j.armature) * v[:, m.v_slices()[j.name]] for j in m.joints]
    agree(found.spins, np.transpose(spins))
    agree(found.reach, np.max(places, axis=0))
    agree(found.moments, moments)
    agree(found.changes, np.linalg.norm(np.diff(np.concatenate(z, axis=1), axis=0), axis=1))
