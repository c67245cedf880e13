"""Nodes that another program computed are a trajectory like any other: report, figures, files."""

import numpy as np
import pytest

import dalembert as dal


def pendulum():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    return m


def satellite():
    m = dal.Model("satellite", gravity=(0, 0, 0))
    m.add_body("hull", 1.0, (1.0, 2.0, 2.5))
    return m


def box():
    m = dal.Model("box")
    m.add_shape("world", dal.Plane())
    m.add_body("box", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 0.12), (1, 0, 0, 0)), shapes=[dal.Box((0.2, 0.2, 0.2))])
    return m


def formula():
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + np.cos(q[0]))


@pytest.mark.parametrize("build", [pendulum, satellite, box, formula, lambda: dal.Directors(pendulum())])
def test_they_are_judged_drawn_and_kept(build, tmp_path):
    run = dal.simulate(build(), h=0.01, t_end=0.2)
    nodes = dal.Trajectory.of_nodes(run.model, run.t, run.q, run.v)
    report = nodes.report()
    assert report.verdict == "pass" and "nodes" in report.text
    nodes.plot(tmp_path / "nodes.png")
    nodes.save(tmp_path / "nodes.h5")
    again = dal.load(tmp_path / "nodes.h5")
    np.testing.assert_array_equal(again.q, run.q)
    assert again.report().to_dict()["items"] == report.to_dict()["items"]


def test_an_explosion_in_them_is_seen():
    m = pendulum()
    run = dal.simulate(m, h=0.01, t_end=0.5, q0=[1.0])
    v = run.v.copy()
    v[30:] *= 100.0
    assert dal.Trajectory.of_nodes(m, run.t, run.q, v).report().verdict == "fail"
