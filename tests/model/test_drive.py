"""Prescribed motion of joints, judged by SciPy, closed forms, and balances."""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import dalembert as dal
from dalembert.model import cut
from dalembert.registry import find
from dalembert.runs.plan import Plan

G = 9.81
ORDERS = {"midpoint": 2, "trapezoidal": 2, "symplectic-euler": 1}
VARIATIONAL = tuple(ORDERS)


def on_a_slider(drive, axis=(1, 0, 0), mass=0.5, length=0.8, inertia=1e-3):
    """A pendulum whose pivot follows a function of time; hanging at 0, a positive angle takes the bob to -x."""
    m = dal.Model("driven pivot")
    m.add_body("cart", 1.0, (0.1, 0.1, 0.1))
    m.add_body("bob", mass, (inertia, inertia, inertia), pose=((0, 0, -length), (1, 0, 0, 0)))
    m.add_joint("slider", "prismatic", "world", "cart", axis=axis, drive=drive)
    m.add_joint("pin", "revolute", "cart", "bob", axis=(0, 1, 0))
    return m


def pendulum_end(t_end, start, x_acc=lambda t: 0.0, z_acc=lambda t: 0.0, mass=0.5, length=0.8, inertia=1e-3):
    """(angle, rate) by DOP853 of (m l^2 + I) angle'' = m l (x'' cos - (g + z'') sin)."""

    def rates(t, y):
        push = mass * length * (x_acc(t) * np.cos(y[0]) - (G + z_acc(t)) * np.sin(y[0]))
        return [y[1], push / (mass * length**2 + inertia)]

    return solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def shaken():
    return on_a_slider(lambda t: 0.3 * np.sin(3.0 * t))


def slope(errors):
    """Observed order, by regression over halvings."""
    return -np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0]


# motion --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "compose", "order"), [(s, None, p) for s, p in ORDERS.items()] + [("midpoint", "suzuki4", 4)])
def test_pendulum_on_a_driven_slider_converges_to_scipy(method, compose, order):
    exact = pendulum_end(1.0, [0.5, 0.0], x_acc=lambda t: -0.3 * 9.0 * np.sin(3.0 * t))
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025, 0.00125) if compose is None else (0.1, 0.05, 0.025, 0.0125):
        traj = dal.simulate(shaken(), method, h=h, t_end=1.0, q0={"pin": 0.5}, compose=compose)
        errors.append(np.hypot(traj.q[-1, 1] - exact[0], traj.v[-1, 1] - exact[1]))
        np.testing.assert_allclose(traj.q[:, 0], 0.3 * np.sin(3.0 * traj.t), atol=1e-14)  # round-off
        np.testing.assert_allclose(traj.v[:, 0], 0.9 * np.cos(3.0 * traj.t), atol=1e-13)
    assert slope(errors) == pytest.approx(order, abs=0.1)


def test_kapitza_pendulum_stays_upright():
    """a^2 w^2 = 25 > 2 g l = 15.7: upright is stable, with slow swings of rate sqrt(a^2 w^2/2 - g l)/l; at rest the pendulum falls."""
    a, w, length = 0.05, 100.0, 0.8
    fast = on_a_slider(lambda t: a * np.cos(w * t), axis=(0, 0, 1), inertia=1e-9)
    traj = dal.simulate(fast, "midpoint", h=2e-4, t_end=4.0, q0={"pin": np.pi - 0.1})
    away = traj.q[:, 1] - np.pi
    assert np.abs(away).max() < 0.15
    crossings = traj.t[1:][np.diff(np.sign(away)) != 0]
    slow = np.sqrt((a * w) ** 2 / 2.0 - G * length) / length
    assert np.pi / np.diff(crossings).mean() == pytest.approx(slow, rel=0.05)  # averaged: errors of order g l/(a w)^2 a/l
    exact = pendulum_end(0.5, [np.pi - 0.1, 0.0], z_acc=lambda t: -a * w**2 * np.cos(w * t), inertia=1e-9)
    short = dal.simulate(fast, "midpoint", h=2e-4, t_end=0.5, q0={"pin": np.pi - 0.1})
    assert short.q[-1, 1] == pytest.approx(exact[0], abs=1e-4)  # (h w)^2/12 of the fast swings, a/l times the angle
    still = dal.simulate(on_a_slider(a, axis=(0, 0, 1)), "midpoint", h=2e-3, t_end=4.0, q0={"pin": np.pi - 0.1})
    assert np.abs(still.q[:, 1] - np.pi).max() > 3.0


def test_torque_of_a_driven_rod():
    """(m l^2 + I) f'' + m g l sin f at the nodes, which are exact; the work that was entered is its integral, to order h^2."""
    mass, length, inertia = 2.0, 0.6, 0.2
    m = dal.Model("driven rod")
    m.add_body("rod", mass, (inertia,) * 3, com=(0, 0, -length))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), drive=lambda t: 0.4 + np.sin(2.0 * t) + 0.3 * t**2)
    missed = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        traj = dal.simulate(m, "midpoint", h=h, t_end=2.0)
        t = traj.t
        f, rate, acceleration = 0.4 + np.sin(2.0 * t) + 0.3 * t**2, 2.0 * np.cos(2.0 * t) + 0.6 * t, -4.0 * np.sin(2.0 * t) + 0.6
        torque = (mass * length**2 + inertia) * acceleration + mass * G * length * np.sin(f)
        np.testing.assert_allclose(traj.reaction("hinge", drive=True)[:, 0], torque, atol=1e-8)  # differences along the motion: 1e-11
        np.testing.assert_allclose(traj.reaction("hinge")[:, 1], torque, atol=1e-8)
        energy = 0.5 * (mass * length**2 + inertia) * rate**2 - mass * G * length * np.cos(f)
        missed.append(np.abs(np.cumsum(traj.account["drive"]) - (energy[1:] - energy[0])).max())
    assert slope(missed) == pytest.approx(2.0, abs=0.1)


# a driven four-bar ---------------------------------------------------------------------------------------------------------------------

GROUND, CRANK, COUPLER, ROCKER = 2.0, 0.5, 1.8, 1.2
MASSES = {"crank": (CRANK, 0.7), "coupler": (COUPLER, 1.1), "rocker": (ROCKER, 0.9)}
PHI = 0.3


def four_bar_angles(phi):
    """Angles of coupler and rocker by the law of cosines, over arrays."""
    A = CRANK * np.stack([np.cos(phi), np.sin(phi)])
    e = np.array([GROUND, 0.0]).reshape(2, *[1] * np.ndim(phi)) - A
    n = np.hypot(*e)
    theta = np.arctan2(e[1], e[0]) + np.arccos((COUPLER**2 + n**2 - ROCKER**2) / (2.0 * COUPLER * n))
    end = A + COUPLER * np.stack([np.cos(theta), np.sin(theta)])
    return theta, np.arctan2(end[1], end[0] - GROUND)


def four_bar(drive):
    theta, psi = four_bar_angles(PHI)
    A = CRANK * np.array([np.cos(PHI), 0.0, np.sin(PHI)])
    B = A + COUPLER * np.array([np.cos(theta), 0.0, np.sin(theta)])
    m = dal.Model("driven four-bar")
    places = {"crank": ((0, 0, 0), PHI), "coupler": (A, theta), "rocker": ((GROUND, 0, 0), psi)}
    for name, (at, angle) in places.items():
        length, mass = MASSES[name]
        turned = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
        m.add_body(name, mass, (1e-3, mass * length**2 / 12, mass * length**2 / 12), com=(length / 2, 0, 0), pose=(at, turned))
    m.add_joint("motor", "revolute", "world", "crank", axis=(0, -1, 0), drive=drive)
    m.add_joint("pin", "revolute", "crank", "coupler", anchor=A, axis=(0, -1, 0))
    m.add_joint("foot", "revolute", "world", "rocker", anchor=(GROUND, 0, 0), axis=(0, -1, 0))
    m.add_joint("far pin", "revolute", "rocker", "coupler", anchor=B, axis=(0, -1, 0))
    return m


def four_bar_energy(t, drive):
    """Kinetic and potential energy along the closed form; rates by differences of order 6 with a step of 1e-3 s."""

    def places(t):
        phi = PHI + drive(t)
        theta, psi = four_bar_angles(phi)
        A = CRANK * np.stack([np.cos(phi), np.sin(phi)])
        centres = [A / 2, A + COUPLER / 2 * np.stack([np.cos(theta), np.sin(theta)]), ROCKER / 2 * np.stack([np.cos(psi), np.sin(psi)])]
        return np.stack([np.concatenate([c, [angle]]) for c, angle in zip(centres, (phi, theta, psi), strict=True)])

    d = 1e-3
    rate = sum(c * (places(t + k * d) - places(t - k * d)) for k, c in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / d
    here, total = places(t), 0.0
    for i, (length, mass) in enumerate(MASSES.values()):
        total = total + mass / 2 * (rate[i, 0] ** 2 + rate[i, 1] ** 2 + length**2 / 12 * rate[i, 2] ** 2) + mass * G * here[i, 1]
    return total


def turning(t):
    return 4.0 * t + 0.5 * np.sin(2.0 * t)


@pytest.mark.parametrize("method", VARIATIONAL)
def test_driven_crank_of_a_four_bar(method):
    """No freedom is left: angles follow from trigonometry to round-off. Torque times rate is the change of energy of the closed form."""
    m = four_bar(turning)
    traj = dal.simulate(m, method, h=0.01, t_end=2.0, **dict(zip(("q0", "v0"), m.assemble(None), strict=True)))
    _, psi = four_bar_angles(PHI + turning(traj.t))
    np.testing.assert_allclose(traj.q[:, 2], psi - psi[0], atol=1e-11)
    assert np.abs(traj.constraint).max() < 1e-12
    d = 1e-3
    power = (four_bar_energy(traj.t + d, turning) - four_bar_energy(traj.t - d, turning)) / (2 * d)
    rate = 4.0 + np.cos(2.0 * traj.t)
    np.testing.assert_allclose(
        traj.reaction("motor", drive=True)[:, 0] * rate, power, atol=1e-4 * np.abs(power).max()
    )  # (w d)^2, w = 5 to 10
    assert traj.report().verdict == "pass", traj.report()


def test_an_open_driven_loop_names_assemble():
    with pytest.raises(dal.OptionError, match=r"m\.assemble"):
        dal.simulate(four_bar(turning), h=0.01, t_end=0.1)


def square(drive):
    """Three rods of 1 m and the ground: every half turn all of them lie in one line, where the rows of the loop lose rank."""
    m = dal.Model("square")
    rod, lying = (1 / 12, 1 / 12, 1e-4), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    m.add_body("left", 1.0, rod, pose=((0, 0, 0.5), (1, 0, 0, 0)))
    m.add_body("right", 1.0, rod, pose=((1, 0, 0.5), (1, 0, 0, 0)))
    m.add_body("top", 1.0, rod, pose=((0.5, 0, 1), lying))
    m.add_joint("motor", "revolute", "world", "left", axis=(0, 1, 0), drive=drive)
    m.add_joint("foot", "revolute", "world", "right", anchor=(1, 0, 0), axis=(0, 1, 0))
    m.add_joint("left pin", "revolute", "left", "top", anchor=(0, 0, 1), axis=(0, 1, 0))
    m.add_joint("right pin", "revolute", "right", "top", anchor=(1, 0, 1), axis=(0, 1, 0))
    return m


@pytest.mark.parametrize("method", VARIATIONAL)
@pytest.mark.parametrize("h", [np.pi / 200, 0.013])
def test_driven_through_a_singular_position(method, h):
    """The rods stay parallel, also where a node falls on the position (h = pi/200): to 4.5e-12 rad, as without a drive."""
    m = square(lambda t: 2.0 * t + 0.1 * np.sin(4.0 * t))
    q0, v0 = m.assemble(None)
    traj = dal.simulate(m, method, h=h, t_end=h * round(6.0 / h), q0=q0, v0=v0)
    assert np.abs(traj.q[:, 0] - traj.q[:, 1]).max() < 1e-11
    assert np.abs(traj.v[:, 0] - traj.v[:, 1]).max() < 1e-8
    np.testing.assert_allclose(traj.q[:, 0], 2.0 * traj.t + 0.1 * np.sin(4.0 * traj.t), atol=1e-13)


# balances ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", VARIATIONAL)
def test_the_report_closes_the_balances(method):
    traj = dal.simulate(shaken(), method, h=0.005, t_end=5.0, q0={"pin": 0.5})
    items = {i.name: i for i in traj.report().items}
    assert traj.report().verdict == "pass", traj.report()
    for name in ("energy balance", "momentum balance", "drive"):
        assert items[name].verdict == "pass", items[name].text
    # independently of the account: momentum along the slider is the integral of the drive's force, by the trapezoidal rule
    force = traj.reaction("slider", drive=True)[:, 0]
    pushed = np.concatenate([[0.0], np.cumsum(0.5 * (force[1:] + force[:-1])) * traj.h])
    off = np.abs(traj.momentum[:, 3] - traj.momentum[0, 3] - pushed).max()
    assert off < 20 * (3.0 * traj.h) ** ORDERS[method]


@pytest.mark.parametrize("method", VARIATIONAL)
def test_energy_less_work_does_not_drift_in_100000_steps(method):
    """A symplectic method in (q, t): a band of (h w)^p, w = 5/s, and a slope that would leave less than a fifth of it."""
    traj = dal.simulate(shaken(), method, h=0.01, t_end=1000.0, q0={"pin": 0.2}, every=10)
    off = (traj.energy - traj.energy[0] - traj.work) / traj.kinetic.max()
    band = np.abs(off).max()
    assert band < (0.01 * 5.0) ** ORDERS[method]
    assert abs(np.polyfit(traj.t, off, 1)[0]) * 1000.0 < 0.2 * band


def test_a_wrong_account_fails_the_report():
    traj = dal.simulate(shaken(), "midpoint", h=0.005, t_end=2.0, q0={"pin": 0.5})
    assert np.ptp(traj.work) > 0.1
    traj.work = 0.9 * traj.work
    assert traj.report().verdict == "fail"


@pytest.mark.parametrize("method", VARIATIONAL)
def test_a_free_machine_turns_against_its_driven_rotor(method):
    """Hinge through both centres of mass: (I_1 + I_2) w + I_2 f' = 0 about it. A drive inside keeps all momenta to round-off."""
    m = dal.Model("rotor", gravity=(0, 0, 0))
    m.add_body("base", 3.0, (0.5, 0.6, 0.7))
    m.add_body("rotor", 1.0, (0.1, 0.1, 0.2))
    m.add_joint("hinge", "revolute", "base", "rotor", axis=(0, 0, 1), drive=lambda t: np.sin(t) ** 2)
    traj = dal.simulate(m, method, h=0.01, t_end=3.0, retraction="exp")
    angle = 2.0 * np.arctan2(traj.q[:, 6], traj.q[:, 3])
    np.testing.assert_allclose(traj.v[:, 2], -0.2 / 0.9 * np.sin(2.0 * traj.t), atol=1e-13)
    np.testing.assert_allclose(angle, -0.2 / 0.9 * np.sin(traj.t) ** 2, atol=1e-12)  # turns about one axis add
    items = {i.name: i for i in traj.report().items}
    assert items["momentum"].verdict == "pass"
    assert traj.report().verdict == "pass", traj.report()


@pytest.mark.nojit
def test_gears_rolling_and_second_coordinates():
    """A driven pinion, a driven wheel that rolls, a driven nut: closed forms to round-off."""
    m = dal.Model("gears", gravity=(0, 0, 0))
    for name in ("pinion", "wheel"):
        m.add_body(name, 1.0, (0.1, 0.1, 0.1))
    m.add_joint("a", "revolute", "world", "pinion", drive=lambda t: np.sin(t))
    m.add_joint("b", "revolute", "world", "wheel")
    m.add_joint("mesh", "gear", "a", "b", ratio=-0.5)
    traj = dal.simulate(m, h=0.01, t_end=1.0, v0={"b": -0.5})
    np.testing.assert_allclose(traj.q[:, 1], -0.5 * np.sin(traj.t), atol=1e-13)
    np.testing.assert_allclose(traj.reaction("a", drive=True)[:, 0], -(0.1 + 0.25 * 0.1) * np.sin(traj.t), atol=1e-9)

    m = dal.Model("cart")
    m.add_body("cart", 2.0, (0.1, 0.1, 0.1), pose=((0, 0, 0.2), (1, 0, 0, 0)))
    m.add_body("wheel", 1.0, (0.02, 0.04, 0.02), pose=((0, 0, 0.2), (1, 0, 0, 0)))
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    m.add_joint("axle", "revolute", "cart", "wheel", anchor=(0, 0, 0.2), axis=(0, 1, 0), drive=lambda t: t**3)
    m.add_joint("contact", "rolling", "world", "wheel", radius=0.2, axis=(0, 1, 0))
    traj = dal.simulate(m, h=0.01, t_end=1.0)
    np.testing.assert_allclose(traj.q[:, 0], 0.2 * traj.t**3, atol=1e-12)
    np.testing.assert_allclose(traj.reaction("axle", drive=True)[:, 0], (0.04 + 3.0 * 0.04) * 6.0 * traj.t, atol=1e-9)

    m = dal.Model("nut")
    m.add_body("nut", 2.0, (0.2, 0.2, 0.3))
    m.add_joint("thread", "cylindrical", "world", "nut", axis=(0, 0, 1), drive={1: lambda t: 0.1 * t**2})
    traj = dal.simulate(m, h=0.01, t_end=1.0, v0={"thread": (2.0, 0.0)})
    np.testing.assert_allclose(traj.q, np.stack([2.0 * traj.t, 0.1 * traj.t**2], axis=1), atol=1e-13)
    np.testing.assert_allclose(traj.reaction("thread", drive=True)[:, 0], 2.0 * (G + 0.2), atol=1e-9)
    assert m.constraint_labels == [("thread", "drive of shift")]


@pytest.mark.parametrize("kind", ["universal", "planar"])
def test_every_coordinate_of_other_kinds_follows(kind):
    m = dal.Model(kind)
    m.add_body("body", 1.0, (0.1, 0.2, 0.25), com=(0.1, 0.2, 0.3))
    drives = {k: (lambda t, k=k: np.sin((k + 1) * t)) for k in range({"universal": 2, "planar": 3}[kind])}
    m.add_joint("joint", kind, "world", "body", axis=(0, 0, 1), axis2=(1, 0, 0), drive=drives)
    traj = dal.simulate(m, h=0.01, t_end=0.5)
    np.testing.assert_allclose(traj.q, np.stack([np.sin((k + 1) * traj.t) for k in drives], axis=1), atol=1e-13)
    assert traj.report().verdict == "pass", traj.report()


def test_a_step_back_leads_back():
    """midpoint and trapezoidal are self-adjoint, drives at negative steps included."""
    for method in ("midpoint", "trapezoidal"):
        m, n, h = shaken().frozen(), 50, 0.02
        there = Plan.bare(m, find("tree", method), h).engine()
        there.start(*m.assemble({"pin": 0.5}))
        first = there.state[:4].copy()
        there.advance(n, n)
        back = Plan.bare(m, find("tree", method), -h).engine()
        back.t0 = n * h
        back.restart(there.state, 0)
        back.advance(n, n)
        np.testing.assert_allclose(back.state[:4], first, atol=1e-11)  # round-off of 100 steps


def test_split_steps_keep_the_account():
    """Steps so large that some are split, a rod that turns by 0.9 rad in each: energy still changes by the work."""
    m = four_bar(lambda t: 6.0 * t)
    q0, v0 = m.assemble(None)
    traj = dal.simulate(m, "midpoint", h=0.15, t_end=3.0, q0=q0, v0=v0)
    assert traj.solver["substeps"].any()
    _, psi = four_bar_angles(PHI + 6.0 * traj.t)
    np.testing.assert_allclose(np.exp(1j * traj.q[:, 2]), np.exp(1j * (psi - psi[0])), atol=1e-10)
    scale = np.abs(traj.account["drive"]).sum()
    assert np.abs(traj.energy - traj.energy[0] - traj.work).max() < 0.05 * scale


# functions of the model ----------------------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_forward_dynamics_takes_the_acceleration_of_the_drive():
    """x'' = f''(t), and the closed equation of the pendulum; force from the momentum along x."""
    m, t = shaken(), 0.7
    q, v = m.on_drives([0.0, 0.5], [0.0, 1.5], t)
    np.testing.assert_allclose((q[0], v[0]), (0.3 * np.sin(2.1), 0.9 * np.cos(2.1)), rtol=1e-14)
    a, force = m.forward_dynamics(q, v, multipliers=True, t=t)
    x_acc = -2.7 * np.sin(2.1)
    angular = 0.5 * 0.8 * (x_acc * np.cos(0.5) - G * np.sin(0.5)) / (0.5 * 0.64 + 1e-3)
    np.testing.assert_allclose(a, [x_acc, angular], rtol=1e-10)
    bob = x_acc - 0.8 * (angular * np.cos(0.5) - 1.5**2 * np.sin(0.5))
    np.testing.assert_allclose(force, [1.0 * x_acc + 0.5 * bob], rtol=1e-9)


def test_assemble_meets_the_drives():
    m = four_bar(lambda t: 0.5 + 2.0 * t)
    q, v = m.assemble(None, t=0.25)
    _, psi = four_bar_angles(np.array([PHI, PHI + 1.0]))
    assert q[0] == pytest.approx(1.0, abs=1e-12)
    assert q[2] == pytest.approx(psi[1] - psi[0], abs=1e-9)
    rate = (four_bar_angles(PHI + 1.0 + 1e-5)[1] - four_bar_angles(PHI + 1.0 - 1e-5)[1]) / 2e-5
    np.testing.assert_allclose(v[[0, 2]], [2.0, 2.0 * rate], rtol=1e-8)
    with pytest.raises(dal.OptionError, match="no velocity meets"):
        m.assemble(q, np.zeros(3), fixed=["motor", "pin", "foot"], t=0.25)


def test_starts_take_the_driven_coordinates_and_refuse_others():
    m = on_a_slider(lambda t: 0.2 + 0.7 * t)
    traj = dal.simulate(m, h=0.01, t_end=0.1, q0={"pin": 0.5})
    np.testing.assert_allclose((traj.q[0], traj.v[0]), [(0.2, 0.5), (0.7, 0.0)], atol=1e-15)
    dal.simulate(m, h=0.01, t_end=0.1, q0={"slider": 0.2, "pin": 0.5}, v0={"slider": 0.7})
    with pytest.raises(dal.OptionError, match=r"'slider.*q0 is 0.3, but its drive has 0.2 m at t = 0"):
        dal.simulate(m, h=0.01, t_end=0.1, q0={"slider": 0.3})
    with pytest.raises(dal.OptionError, match=r"'slider.*v0 is -0.7, but its drive has 0.7 m/s"):
        dal.simulate(m, h=0.01, t_end=0.1, v0={"slider": -0.7})


def test_drive_is_a_feature_that_can_be_ignored():
    m = shaken()
    with pytest.raises(dal.UnsupportedError, match=r"'mk4' does not handle drive.*ignore=\('drive',\)"):
        dal.simulate(m, "mk4", h=0.01, t_end=0.1)
    traj = dal.simulate(m, "midpoint", h=0.01, t_end=1.0, q0={"slider": 0.3, "pin": 0.5}, ignore="drive")
    plain = on_a_slider(None)
    assert (traj.states == dal.simulate(plain, "midpoint", h=0.01, t_end=1.0, q0={"slider": 0.3, "pin": 0.5}).states).all()
    assert "drive ('slider')" in str(traj.report())
    assert "drive" not in traj.account
    assert dal.simulate(m, h=0.01, t_end=0.1).stepper.name in VARIATIONAL
    dal.stepper(order=1, name="plain euler")(lambda model, t, q, v, h: (model.integrate(q, h * v), v))
    with pytest.raises(dal.UnsupportedError, match="'plain euler' does not handle drive"):
        dal.simulate(m, "plain euler", h=0.01, t_end=0.1)
    with pytest.raises(dal.UnsupportedError, match="'pin' has no drive"):
        dal.simulate(m, h=0.01, t_end=0.1).reaction("pin", drive=True)
    free = cut(m)  # body coordinates have it as a row of the joint
    assert free.loop("slider").drive == m.joint("slider").drive
    with pytest.raises(dal.UnsupportedError, match="loop drive"):
        dal.simulate(free, "midpoint", h=0.01, t_end=0.1)


def test_steps_of_driven_machines_are_not_called_proved():
    with pytest.raises(dal.OptionError, match="'slider' is driven"):
        dal.simulate(shaken(), "trapezoidal", h="auto", t_end=0.1)


# data ----------------------------------------------------------------------------------------------------------------------------------


def test_files_copies_and_pickles_run_bit_for_bit(tmp_path):
    m = shaken()
    run = {"stepper": "midpoint", "h": 0.01, "t_end": 1.0, "q0": {"pin": 0.5}}
    traj = dal.simulate(m, **run)
    for other in (dal.Model.from_dict(m.to_dict()), m.copy(), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert (dal.simulate(other, **run).states == traj.states).all()
    traj.save(tmp_path / "whole.h5")
    again = dal.load(tmp_path / "whole.h5")
    assert (again.q == traj.q).all()
    assert (again.account["drive"] == traj.account["drive"]).all()
    assert again.report().to_dict() == traj.report().to_dict()
    np.testing.assert_array_equal(again.reaction("slider", drive=True), traj.reaction("slider", drive=True))
    assert (pickle.loads(pickle.dumps(traj)).reaction("slider") == traj.reaction("slider")).all()


@pytest.mark.parametrize("compose", [None, "suzuki4"])
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path, compose):
    whole = dal.simulate(shaken(), "midpoint", h=0.01, t_end=1.0, q0={"pin": 0.5}, compose=compose)
    path = tmp_path / "half.h5"
    dal.simulate(shaken(), "midpoint", h=0.01, t_end=0.4, q0={"pin": 0.5}, compose=compose, save=path)
    assert (dal.resume(path, 1.0).states == whole.states).all()


def test_simulation_steps_resets_and_pickles():
    sim = dal.Simulation(shaken(), "midpoint", h=0.01, q0={"pin": 0.5})
    sim.step(40)
    other = pickle.loads(pickle.dumps(sim))
    assert (other.step(60).q == sim.step(60).q).all()
    assert sim.state.q[0] == pytest.approx(0.3 * np.sin(3.0), abs=1e-14)
    sim.h = 0.005
    assert sim.step(10).q[0] == pytest.approx(0.3 * np.sin(3.15), abs=1e-14)
    assert sim.reset().q[0] == 0.0
    assert sim.step(3).q[0] == pytest.approx(0.3 * np.sin(0.045), abs=1e-15)


def test_other_values_and_other_functions():
    m = shaken()
    heavier, slower = m.with_values({"bob.mass": 2.0}), m.with_values({"slider.drive": lambda t: 0.1 * np.sin(t)})
    for changed, mass, acceleration in ((heavier, 2.0, lambda t: -2.7 * np.sin(3.0 * t)), (slower, 0.5, lambda t: -0.1 * np.sin(t))):
        traj = dal.simulate(changed, "midpoint", h=0.002, t_end=1.0, q0={"pin": 0.5})
        exact = pendulum_end(1.0, [0.5, 0.0], x_acc=acceleration, mass=mass)
        np.testing.assert_allclose((traj.q[-1, 1], traj.v[-1, 1]), exact, atol=1e-4)  # order 2: 3e-5 at this step
        assert traj.report().verdict == "pass", traj.report()
    assert "pin.drive" not in m.value_names
    with pytest.raises(dal.ModelError, match="structure"):
        m.with_values({"pin.drive": 0.0})


def test_a_removed_joint_takes_its_drive_along():
    m = shaken()
    m.remove_joint("slider")
    assert not m.drives
    assert "drive" not in dal.simulate(m, h=0.01, t_end=0.1).account


def test_comparisons_run_driven_machines():
    found = dal.work_precision(shaken(), ["midpoint", "trapezoidal"], hs=(0.04, 0.02, 0.01), t_end=1.0, q0={"pin": 0.5})
    assert found.orders["midpoint"] == pytest.approx(2.0, abs=0.1)
    assert found.orders["trapezoidal"] == pytest.approx(2.0, abs=0.1)


def test_threads_share_a_driven_model():
    from concurrent.futures import ThreadPoolExecutor

    m = shaken()
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda _: dal.simulate(m, "midpoint", h=0.01, t_end=0.5, q0={"pin": 0.5}).states[-1], range(8)))
    assert all((x == ends[0]).all() for x in ends)


# tables --------------------------------------------------------------------------------------------------------------------------------


def sampled():
    t = np.concatenate([np.linspace(-0.2, 0.5, 8), np.linspace(0.65, 1.4, 6)])
    return t, 0.3 * np.sin(3.0 * t)


@pytest.mark.nojit
def test_a_table_is_scipys_spline():
    """Value, rate and acceleration in every piece, at knots and in the margins; nothing beyond."""
    m, spline = on_a_slider(sampled()), CubicSpline(*sampled())
    times = np.concatenate([np.random.default_rng(1).uniform(-0.3, 1.55, 40), sampled()[0]])
    for t in times:
        assert m.constraint_rows([0.0, 0.0], t)[0][0] == pytest.approx(-spline(t), abs=1e-14)
        np.testing.assert_allclose(m.on_drives([0.0, 0.0], [0.0, 0.0], t), [(spline(t), 0.0), (spline(t, 1), 0.0)], atol=1e-13)
        np.testing.assert_allclose(m.forward_dynamics([0.0, 0.0], [0.0, 0.0], t=t)[0], spline(t, 2), atol=1e-9)
    for t in (-0.31, 1.56):
        assert np.isnan(m.constraint_rows([0.0, 0.0], t)[0][0])


def test_pendulum_on_a_slider_that_follows_a_table(tmp_path):
    m, spline = on_a_slider(sampled()), CubicSpline(*sampled())
    exact = pendulum_end(1.0, [0.5, 0.0], x_acc=lambda t: spline(t, 2))
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        traj = dal.simulate(m, "midpoint", h=h, t_end=1.0, q0={"pin": 0.5})
        np.testing.assert_allclose(traj.v[:, 0], spline(traj.t, 1), atol=1e-13)
        errors.append(np.hypot(traj.q[-1, 1] - exact[0], traj.v[-1, 1] - exact[1]))
    assert slope(errors) == pytest.approx(2.0, abs=0.1)
    assert traj.report().verdict == "pass", traj.report()
    traj.save(tmp_path / "table.h5")
    again = dal.load(tmp_path / "table.h5")
    assert (dal.simulate(again.model, "midpoint", h=0.0025, t_end=1.0, q0={"pin": 0.5}).states == traj.states).all()
    with pytest.raises(dal.SimulationError, match=r"drive of joint 'slider' is nan at t = 1\.56 s"):
        dal.simulate(m, "midpoint", h=0.02, t_end=2.0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (([0, 1, 2], [0, 1, 2]), "at least 4"),
        (([0, 1, 2, 3], [0, 1, 2]), "shapes"),
        (([0, 2, 1, 3], [0, 1, 2, 3]), "increase"),
        (([0, 1, 2, 3], [0, np.nan, 2, 3]), "finite"),
        (([1, 2, 3, 4], [0, 1, 2, 3]), "begin at 0"),
        ((lambda t: t, 3.0), "no table"),
    ],
)
def test_tables_that_are_none(table, said):
    with pytest.raises(dal.ModelError, match=f"joint 'slider'.*{said}"):
        on_a_slider(table)


# what is refused -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drive", "said"),
    [
        (lambda t: [t, t], "shape"),
        (lambda t: np.array([t]), "shape"),
        (lambda t: "up", "expected one number"),
        (lambda t: np.sqrt(t), "at t = 0 its drive is 0, with rate inf"),
        (lambda t: 1.0 / t, "finite numbers"),
        (lambda t: t**1.5, "acceleration inf"),
        (lambda t: np.abs(t), "not differentiable at t = 0"),
        (lambda t: np.fmax(t, 0.0), "not differentiable at t = 0"),
        (lambda t: t if t > 1.0 else 0.0, "without branches on t"),
        (lambda t, q: t, "missing 1 required positional argument"),
        (float("nan"), "finite number"),
        ("fast", "expected a number"),
        ({0: lambda t: t, 1: 0.0}, "coordinate 1"),
        ({}, "expected a function of time"),
    ],
)
def test_what_is_no_motion_is_refused(drive, said):
    with pytest.raises(dal.ModelError, match=f"joint 'slider'.*{said}"):
        on_a_slider(drive)


def test_a_drive_that_ends_is_named():
    with pytest.raises(dal.SimulationError, match=r"drive of joint 'slider' is 0 at t = 1 s, with rate -inf") as failed:
        dal.simulate(on_a_slider(lambda t: np.sqrt(1.0 - t)), "midpoint", h=0.01, t_end=2.0)
    assert failed.value.traj.t[-1] == pytest.approx(0.99)


def test_functions_of_math_are_refused():
    import math

    with pytest.raises(dal.ModelError, match="joint 'slider'"):
        on_a_slider(lambda t: math.sin(t))


def test_joints_that_cannot_be_driven_say_so():
    m = dal.Model("refused")
    for name in ("a", "b"):
        m.add_body(name, 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(dal.ModelError, match="spherical joint takes no drive; kinds that do: revolute"):
        m.add_joint("ball", "spherical", "world", "a", drive=0.0)
    with pytest.raises(dal.ModelError, match=r"2 coordinates.*drive=\{0: f\}"):
        m.add_joint("nut", "cylindrical", "world", "a", drive=0.0)
    with pytest.raises(dal.ModelError, match="takes no drive"):
        m.add_joint("rope", "distance", "world", "a", point=(1, 0, 0), length=1.0, drive=0.0)
    m.add_joint("hinge", "revolute", "world", "a")
    with pytest.raises(dal.ModelError, match=r"closes a loop.*has a drive"):
        m.add_joint("second", "revolute", "b", "a", drive=lambda t: t)
