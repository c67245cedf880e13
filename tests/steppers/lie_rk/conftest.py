"""Machines that several of these tests share."""

import numpy as np
import pytest

import dalembert as dal

LEVEL = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture(scope="session")
def spheres():
    """The robot of Park & Chung, Fig. 3: three solid spheres of 10 kg and 1 m, a free base, revolute joints at the first two centres."""
    m = dal.Model("three spheres", gravity=(0, 0, 0))
    for name, place in (("one", (0, 0, 0)), ("two", (2, 0, 0)), ("three", (2, 0, 2))):
        m.add_body(name, 10.0, (4.0, 4.0, 4.0), pose=(place, LEVEL))
    m.add_joint("base", "free", "world", "one")
    m.add_joint("first", "revolute", "one", "two", anchor=(0, 0, 0), axis=(0, 0, 1))
    m.add_joint("second", "revolute", "two", "three", anchor=(2, 0, 0), axis=(-1, 0, 0))
    return m


def _chain(gravity, forced):
    m = dal.Model("three-body chain", gravity=gravity)
    more = {"damping": 0.05} if forced else {}
    m.add_body("base", 1.0, (0.1, 0.2, 0.25))
    m.add_body("right", 1.0, (0.02, 0.1, 0.1), com=(0.5, 0, 0), pose=((0.5, 0, 0), LEVEL))
    m.add_body("left", 1.0, (0.02, 0.1, 0.1), com=(-0.5, 0, 0), pose=((-0.5, 0, 0), LEVEL))
    m.add_joint("root", "free", "world", "base")
    m.add_joint("a", "revolute", "base", "right", anchor=(0.5, 0, 0), axis=(0, 0, 1), **more)
    m.add_joint("b", "revolute", "base", "left", anchor=(-0.5, 0, 0), axis=(0, 1, 0), **more)
    if forced:
        m.add_force(dal.Wrench("right", force=(0.5, -0.3, 0.4), torque=(0.1, 0.2, -0.1), point=(0.5, 0, 0), frame="world"))
    q0 = m.neutral()
    q0[7:] = (0.3, -0.2)
    return m, q0, np.array([0.3, 0.8, 0.5, 0.1, 0.0, 0.2, 0.6, -0.8])


@pytest.fixture(scope="session")
def chain():
    """(model, q0, v0): floating chain in free fall, joints damped; velocities feel the attitude by a wrench constant in the world."""
    return _chain((0, 0, -2.0), True)


@pytest.fixture(scope="session")
def free_chain():
    """(model, q0, v0): the same without any force."""
    return _chain((0, 0, 0), False)


@pytest.fixture(scope="session")
def tree():
    """(model, q0, v0): a branched tree with every kind of joint, gravity, springs and damping in the joints."""
    m = dal.Model("every joint", gravity=(0, 0, -3.0))
    inertia = (0.05, 0.07, 0.09)
    x = {
        "trunk": (0, 0, 0),
        "ball": (0, 0, -1),
        "slider": (1, 0, 0),
        "hinge": (1, 0, -1),
        "cross": (0, 1, 0),
        "bolt": (0, 1, -1),
        "plate": (-1, 0, 0),
    }
    for name, place in x.items():
        m.add_body(name, 1.0, inertia, com=(0.1, -0.05, -0.3), pose=(place, LEVEL))
    m.add_joint("root", "free", "world", "trunk")
    m.add_joint("shoulder", "spherical", "trunk", "ball", anchor=(0, 0, -0.5), damping=0.1, stiffness=2.0)
    m.add_joint("rail", "prismatic", "trunk", "slider", anchor=(0.5, 0, 0), axis=(1, 0, 1), stiffness=5.0)
    m.add_joint("knee", "revolute", "slider", "hinge", anchor=(1, 0, -0.5), axis=(0, 1, 0), armature=0.02)
    m.add_joint("cardan", "universal", "trunk", "cross", anchor=(0, 0.5, 0), axis=(1, 0, 0), axis2=(0, 0, 1), damping=0.05)
    m.add_joint("screw", "cylindrical", "cross", "bolt", anchor=(0, 1, -0.5), axis=(0, 0, 1), stiffness=4.0)
    m.add_joint("table", "planar", "trunk", "plate", anchor=(-0.5, 0, 0), axis=(0, 0, 1), damping=0.2)
    rng = np.random.default_rng(7)
    return m, m.integrate(m.neutral(), 0.3 * rng.uniform(-1, 1, m.nv)), 0.8 * rng.uniform(-1, 1, m.nv)
