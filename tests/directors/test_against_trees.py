"""`null-space` of director coordinates, dense, and `null-space` of trees, along the tree: two programs for one discrete Lagrangian."""

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal


def double_pendulum():
    m = dal.Model("double pendulum")
    for k in range(2):
        m.add_body(f"r{k}", 1.0 + k, (0.1, 0.12, 0.03), com=(0.05, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", "world" if k == 0 else "r0", f"r{k}", anchor=(0, 0, -k), axis=(0, 1, 0))
    return m, np.array([1.5, 0.5]), np.array([0.3, -0.4])


def top():
    m = dal.Model("top")
    m.add_body("rotor", mass=1.0, inertia=(0.006, 0.006, 0.011), com=(0, 0, 0.2))
    m.add_joint("tip", "spherical", "world", "rotor")
    return m, dal.quat.exp([0.3, 0, 0]), np.array([0, 0, 90.0])


def four_bar():
    s = dal.scenes.find("four-bar")
    m = s.model()
    return m, m.check_q(s.q0), m.check_v(s.v0)


def ur5():
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = dal.load_model(share / "example-robot-data/robots/ur_description/urdf/ur5_robot.urdf", floating_base=False)
    m = m.without(("contact", "limits", "damping", "joint friction", "armature"))
    return m, np.full(6, 0.3), np.array([0.5, -0.3, 0.4, 1.0, -0.7, 0.2])


@pytest.mark.parametrize("make", [double_pendulum, top, four_bar, ur5])
def test_both_take_the_same_steps(make):
    m, q0, v0 = make()
    tree = dal.simulate(m, "null-space", h=1e-3, t_end=0.05, q0=q0, v0=v0)
    d = dal.Directors(m)
    q, v = d.state(q0, v0)
    found = dal.simulate(d, "null-space", h=1e-3, t_end=0.05, q0=q, v0=v)
    expected, _ = d.state(tree.q[-1], tree.v[-1])
    assert np.abs(found.q[-1] - expected).max() < 1e-11  # 50 steps, each solved to 1e-13 of the velocity
    assert np.abs(found.q[-1] - q).max() > 1e-3


@pytest.mark.parametrize("make", [double_pendulum, top, four_bar, ur5])
def test_directors_joints_and_bodies_agree_to_the_order_of_the_methods(make):
    """Differences of positions to `midpoint`, and to bodies cut free where those run, shrink by four when h is halved."""
    m, q0, v0 = make()
    differences = []
    for h in (1e-3, 5e-4, 2.5e-4):
        tree = dal.simulate(m, "midpoint", h=h, t_end=0.04, q0=q0, v0=v0)
        directors = dal.simulate(m, "null-space", h=h, t_end=0.04, q0=q0, v0=v0)
        differences.append(np.abs(tree.poses[-1] - directors.poses[-1]).max())
    assert np.allclose(np.log2(np.divide(differences[:-1], differences[1:])), 2.0, atol=0.1)
    free = [dal.simulate(m, "spook", h=h, t_end=0.04, q0=q0, v0=v0) for h in (1e-3, 5e-4)]
    exact = dal.simulate(m, "null-space", h=1e-4, t_end=0.04, q0=q0, v0=v0).poses[-1]
    errors = [np.abs(run.poses[-1] - exact).max() for run in free]
    assert errors[1] < 0.6 * errors[0]  # spook is of first order
