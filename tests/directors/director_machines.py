"""Machines of the tests in director coordinates."""

import numpy as np

import dalembert as dal

S = 1.0 / (2.0 * np.sqrt(2.0))
BEADS = S * np.array([(-3.0, -1, 0), (-1, 1, 0), (1, -1, 0), (3, 1, 0)])  # links of length 1
KICK = {"b0": (-0.1, 0.1, -0.1)}


def box(mass, a, b, c):
    return mass, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * mass / 12.0


def pair(kind, gravity=(0, 0, 0)):
    """Boxes of 2 kg and 1 kg, joined by a joint of a kind (free: not at all), the first one free."""
    m = dal.Model(f"pair: {kind}", gravity=gravity)
    turn = np.array([0.9, 0.1, -0.3, 0.2])
    m.add_body("a", *box(2.0, 0.6, 0.5, 0.4), com=(0.1, 0, 0.05))
    m.add_body("b", *box(1.0, 0.6, 0.4, 0.1), com=(0, 0.1, 0.1), pose=((0.5, 0.2, 0), turn / np.linalg.norm(turn)))
    if kind != "free":
        axis2 = {"axis2": (0.3, -1.0, 1.0)} if kind in ("universal", "planar") else {}
        m.add_joint("joint", kind, "a", "b", (0.3, 0.1, 0.2), (1.0, 2.0, -0.5), **axis2)
    return m


def conditioned_pair(kind):
    """Boxes of 2 kg and 1 kg whose Newton matrices have published condition numbers. Without a joint these fix the longest side, 1 m, and
    the smallest inertia, (0.4^2 + 0.1^2)/12 kg m^2; place and axis of the joint are one choice among many that fit the others."""
    m = dal.Model(f"conditioned pair: {kind}", gravity=(0, 0, 0))
    anchor, turn = np.array([0.451, 0.112, 0.042]), dal.quat.exp(np.array([-0.02, 0, -0.57]))
    m.add_body("a", *box(2.0, 1.0, 0.4, 0.3))
    m.add_body("b", *box(1.0, 0.4, 0.1, 0.6), pose=(anchor + dal.quat.to_matrix(turn) @ (0, 0, 0.449), turn))
    if kind != "free":
        m.add_joint("joint", kind, "a", "b", anchor, (0, 0, 1))
    return m


def chain(gravity=(0, 0, 0)):
    """Four beads of 1 kg on links of 1 m."""
    m = dal.Model("beads", gravity=gravity)
    for i, x in enumerate(BEADS):
        m.add_particle(f"b{i}", 1.0, x)
    for i in range(3):
        m.add_loop(f"link{i}", "distance", f"b{i}", f"b{i + 1}")
    return m


def top():
    m = dal.Model("top")
    m.add_body("rotor", 1.0, (0.1, 0.12, 0.05), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    return m, dal.quat.exp(np.array([0.5, 0.3, 0.0])), np.array([0.4, -0.3, 12.0])


def double_pendulum():
    m = dal.Model("double pendulum")
    m.add_body("upper", 1.0, (0.09, 0.1, 0.02), com=(0, 0, -0.5))
    m.add_body("lower", 0.7, (0.05, 0.055, 0.01), com=(0, 0, -0.4), pose=((0, 0, -1.0), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", (0, 0, -1.0), (0.6, 0.8, 0))
    return m, np.array([0.8, -0.5]), np.array([0.3, 1.0])


def four_bar():
    m = dal.Model("four-bar")
    for name, x, z in (("left", 0, 0.5), ("top", 1.0, 1), ("right", 2, 0.5)):
        m.add_body(name, 1.0, (0.1, 0.12, 0.14), pose=((x, 0, z), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "world", "left", (0, 0, 0), (0, 1, 0))
    m.add_joint("j2", "revolute", "left", "top", (0, 0, 1), (0, 1, 0))
    m.add_joint("j3", "revolute", "top", "right", (2.1, 0, 1), (0, 1, 0))
    m.add_joint("j4", "revolute", "world", "right", (2.0, 0, 0), (0, 1, 0))
    return m, *m.assemble(None, np.array([1.0, -1.0, 1.0]))
