"""Loops are judged in the units in which they are printed, by the round-off of positions and the tolerance of the stepper."""

import copy

import numpy as np
import pytest

import dalembert as dal

EPS = np.finfo(float).eps


def four_bar(size=1.0, mass=1.0, at=(0.0, 0.0, 0.0)):
    """A square in the x-z plane, closed by a ball."""
    at, x, z = np.array(at), np.array([size, 0, 0]), np.array([0, 0, size])
    corners = [at, at + z, at + x + z]
    m = dal.Model("four-bar")
    for name, corner, com in zip("abc", corners, ((0, 0, 0.5), (0.5, 0, 0), (0, 0, -0.5)), strict=True):
        m.add_body(name, mass, mass * size**2 * np.array([0.1, 0.1, 0.1]), com=size * np.array(com), pose=(corner, (1, 0, 0, 0)))
    for name, parent, child, corner in zip("pqr", ("world", "a", "b"), "abc", corners, strict=True):
        m.add_joint(name, "revolute", parent, child, corner, (0, 1, 0))
    m.add_loop("close", "spherical", "world", "c", at + x)
    return m


def run(m, h=0.005, method="midpoint", **more):
    q0, v0 = m.assemble({"p": 0.3}, {"p": 1.0})
    return dal.simulate(m, method, h=h, t_end=200 * h, q0=q0, v0=v0, **more)


def opened(traj, gap, k=100):
    """The same run with a joint that is off by `gap` rad in one node."""
    other = copy.copy(traj)
    for cached in ("kinetic", "potential", "momentum", "poses", "constraint", "_loads"):
        other.__dict__.pop(cached, None)
    other.q = traj.q.copy()
    other.q[k, 0] += gap
    return other


@pytest.mark.parametrize("method", ["midpoint", "trapezoidal", "symplectic-euler"])
@pytest.mark.parametrize(
    ("size", "mass", "at"),
    [
        (1.0, 1.0, (0, 0, 0)), (1.0, 1.0, (1e6, -1e6, 1e6)), (1.0, 1.0, (1e6, 0, 0)), (1.0, 1.0, (2e6, 1e6, 1e6)),
        (1e-3, 1e-6, (0, 0, 0)), (100.0, 1e6, (0, 0, 0)),
    ],
)  # fmt: skip
def test_closed_loops_pass_wherever_and_however_large_the_machine_is(method, size, mass, at):
    """Corrections end at the round-off of positions: far from the origin a step takes no more of them than near it, and none is split."""
    traj = run(four_bar(size, mass, at), 0.005 * np.sqrt(size), method)
    report = traj.report()
    assert report["loops"].verdict == "pass", report.text
    assert report["energy"].verdict == "pass", report.text
    assert traj.solver["iterations"].mean() < 4 and traj.solver["substeps"].max() <= 1


def test_the_limit_is_in_metres_and_follows_the_size_of_the_machine():
    large, small = run(four_bar()), run(four_bar(1e-3, 1e-6), 0.005 * np.sqrt(1e-3))
    for traj, size in ((large, 1.0), (small, 1e-3)):
        found = traj.report()["loops"]
        assert " m, " in found.text
        assert opened(traj, 1e-9).report()["loops"].verdict == "fail", found.text  # 1e-9 rad move the corner by 1e-9 size
        broken = opened(traj, 1e-9).report()["loops"]
        assert broken.measured == pytest.approx(1e-9 * size, rel=0.5)  # m
        assert broken.limit < 1e-10 * size
        assert "'close'" in broken.text


def test_the_limit_knows_the_distance_from_the_origin():
    """Positions at 1.7e6 m are known to 4e-10 m: a gap of 1e-9 m says nothing there, one of 1e-5 m does."""
    traj = run(four_bar(at=(1e6, -1e6, 1e6)))
    assert traj.report()["loops"].limit > 1e6 * EPS
    assert opened(traj, 1e-9).report()["loops"].verdict == "pass"
    assert opened(traj, 1e-5).report()["loops"].verdict == "fail"


def test_the_limit_knows_the_tolerance():
    tight, loose = run(four_bar()), run(four_bar(), tol=1e-6)
    assert loose.report()["loops"].verdict == "pass"
    assert opened(tight, 1e-9).report()["loops"].verdict == "fail"
    assert opened(loose, 1e-9).report()["loops"].verdict == "pass"  # ten times 1e-6 of h |v| = 0.007 rad
    assert opened(loose, 1e-5).report()["loops"].verdict == "fail"


def test_a_node_that_is_not_a_number_opens_the_loop():
    traj = run(four_bar())
    for k in (1, 100, 200):
        assert opened(traj, np.nan, k).report()["loops"].verdict == "fail"


def test_a_node_far_away_does_not_widen_the_limit():
    """A free machine whose base is wrong in one node."""
    m = dal.Model("floating", gravity=(0, 0, 0))
    for i, at in enumerate(((0, 0, 0), (1, 0, 0))):
        m.add_body(f"b{i}", 1.0, (0.1, 0.2, 0.3), pose=(at, (1, 0, 0, 0)))
    m.add_joint("arm", "spherical", "b0", "b1", (0.5, 0, 0))
    m.add_loop("rod", "distance", "b0", "b1", (0, 0.3, 0), point=(1, 0.3, 0))
    m.add_force(dal.Spring("b0", "world", (0, 0, 0), (0, 0, 2), 10.0, 1.0))
    q0, v0 = m.assemble(None, np.linspace(-0.3, 0.4, m.nv))
    traj = dal.simulate(m, "midpoint", h=0.005, t_end=1.0, q0=q0, v0=v0)
    assert traj.report().verdict == "pass", traj.report().text
    report = opened(traj, 1e9).report()  # x of the base
    assert report["loops"].limit <= 1.1 * traj.report()["loops"].limit, report.text
    assert report["energy"].verdict == "fail"


@pytest.mark.parametrize("steps", [200, 2000])
def test_nodes_on_a_singular_position_are_not_judged_by_rows_that_vanish(steps):
    """All rods in one line after a quarter of a turn: |G v| is round-off of the rows elsewhere, not of what is left of them there."""
    m = four_bar()
    m.gravity = (0, 0, 0)
    h = np.pi / steps
    traj = dal.simulate(m, "midpoint", h=h, t_end=h * 2 * steps, v0=[1, -1, 1])
    assert np.abs(traj.v[steps // 2] - [1, -1, 1]).max() < 1e-7
    report = traj.report()
    assert report.verdict == "pass", report.text
