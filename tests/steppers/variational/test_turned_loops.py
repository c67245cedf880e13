"""Loops that lie askew in the world: a change of axes changes no motion, though rows that were 0 are round-off then."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import dalembert as dal

METHODS = ("midpoint", "trapezoidal", "symplectic-euler", "null-space")


def four_bar(machine=(0, 0, 0), bodies=(0, 0, 0), size=1.0, away=0.0):
    """A square of hinges about parallel axes: three of the five rows of the last one say nothing. machine, bodies: how they are turned."""
    R = dal.so3.exp(np.array(machine, dtype=float))

    def at(*p):
        return tuple(R @ (size * np.array(p)) + away)

    m = dal.Model("four-bar", gravity=tuple(R @ (0, 0, -9.81 * size)))
    for name, p in (("crank", (0, 0, 0.5)), ("rocker", (1, 0, 0.5)), ("coupler", (0.5, 0, 1))):
        m.add_body(name, 1.0, size**2 * np.full(3, 0.1), pose=(at(*p), tuple(dal.quat.exp(np.array(bodies, dtype=float)))))
    for name, parent, child, p in (
        ("left foot", "world", "crank", (0, 0, 0)), ("right foot", "world", "rocker", (1, 0, 0)),
        ("left pin", "crank", "coupler", (0, 0, 1)), ("right pin", "rocker", "coupler", (1, 0, 1)),
    ):  # fmt: skip
        m.add_joint(name, "revolute", parent, child, at(*p), tuple(R @ (0, 1, 0)))
    return m


def swing(m, method="midpoint", h=0.01):
    q0, v0 = m.assemble({"left foot": 0.5}, {"left foot": 1.0}, fixed=["left foot"])
    return dal.simulate(m, method, h=h, t_end=1.0, q0=q0, v0=v0)


@pytest.mark.parametrize("method", METHODS)
def test_axes_of_bodies_and_machines_change_no_motion(method):
    """To the tolerance of the velocity, 1e-9 of it after the last correction, over 100 steps."""
    plain = swing(four_bar(), method)
    for machine, bodies in (((0, 0, 0), (0.3, 0, 0)), ((0, 0, 0.3), (0, 0, 0)), ((0.7, -1.2, 0.4), (-0.2, 0.9, 2.0))):
        traj = swing(four_bar(machine, bodies), method)
        assert traj.report().verdict == "pass"
        np.testing.assert_allclose(traj.q, plain.q, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("size", "away"), [(1e-6, 0.0), (1e-3, 0.0), (1e3, 0.0), (1.0, 1e3)])
def test_tiny_and_far_machines_close_askew_too(size, away):
    plain, traj = swing(four_bar(size=size)), swing(four_bar((0.7, -1.2, 0.4), (-0.2, 0.9, 2.0), size, away))
    assert traj.report().verdict == "pass"
    np.testing.assert_allclose(traj.q, plain.q, rtol=0, atol=1e-8)


def test_a_file_with_a_tilted_connection_runs():
    """`connect` of MuJoCo holds three numbers, of which a plane machine needs two."""
    xml = """<mujoco><compiler angle="degree"/>
      <default><geom type="capsule" size=".02" mass="1" contype="0"/><joint axis="0 1 0"/></default>
      <worldbody><body euler="30 0 0">
        <body name="crank"><joint name="a"/><geom fromto="0 0 0 0 0 1"/>
          <body name="coupler" pos="0 0 1"><joint/><geom fromto="0 0 0 1.2 0 0"/></body></body>
        <body name="rocker" pos="1.2 0 0"><joint/><geom fromto="0 0 0 0 0 1"/></body>
      </body></worldbody>
      <equality><connect body1="coupler" body2="rocker" anchor="1.2 0 0"/></equality></mujoco>"""
    m = dal.load_model(xml)
    q0, v0 = m.assemble(m.neutral(), {"a": 1.0}, fixed=["a"])
    assert dal.simulate(m, h=0.005, t_end=2.0, q0=q0, v0=v0, ignore=("contact",)).report().verdict == "pass"


def hartenberg(turn, length, twist):
    """Transform of Denavit and Hartenberg."""
    c, s, ca, sa = np.cos(turn), np.sin(turn), np.cos(twist), np.sin(twist)
    return np.array([[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1.0]])


def bennett():
    """Four hinges in space that nevertheless move: lengths a, b and twists with a sin(beta) = b sin(alpha)."""
    alpha, a, b = 0.5, 1.0, 1.4
    beta = np.arcsin(b / a * np.sin(alpha))

    def links(x):
        return [hartenberg(turn, *link) for turn, link in zip((1.2, *x), ((a, alpha), (b, beta)) * 2, strict=True)]

    def open_by(x):
        return (np.linalg.multi_dot(links(x)) - np.eye(4)).ravel()

    tries = (least_squares(open_by, np.random.default_rng(k).uniform(-3, 3, 3), xtol=1e-15, ftol=1e-15, gtol=1e-15) for k in range(20))
    T = [np.eye(4)]
    for link in links(min(tries, key=lambda r: r.cost).x):
        T.append(T[-1] @ link)
    m = dal.Model("Bennett")
    for k in range(3):
        m.add_body(f"l{k}", 1.0, (0.1, 0.1, 0.1), pose=(tuple(0.5 * (T[k] + T[k + 1])[:3, 3]), (1, 0, 0, 0)))
    for k in range(4):
        parent, child = "world" if k in (0, 3) else f"l{k - 1}", f"l{min(k, 2)}"
        m.add_joint(f"j{k}", "revolute", parent, child, T[k][:3, 3], T[k][:3, 2])
    return m


@pytest.mark.parametrize("h", [0.01, 0.005, 0.001])
def test_of_two_rows_that_say_the_same_the_longer_one_is_kept(h):
    """A row of the last hinge passes 0: with the pivot it lifted its round-off 600 times into the others, and loops opened to 1e-13."""
    traj = dal.simulate(bennett(), h=h, t_end=2.0)
    report = traj.report()
    assert report.verdict == "pass"
    worst = max(np.abs(e).max() for e in traj.model.loop_errors(traj.q).values())
    assert worst < 2e-14  # some tens of units in the last place of 1.4 m
