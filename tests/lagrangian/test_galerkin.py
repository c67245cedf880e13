"""Galerkin steppers of orders 4 and 6: orders with both quadratures, what points of Gauss make of them, energy over long times."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

import dalembert as dal
from dalembert.verification import Kepler

DATA = Path(__file__).parent.parent / "data"
DOUBLE = dal.Lagrangian(
    2,
    lambda q, v: v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + 9.81 * (2 * np.cos(q[0]) + np.cos(q[1])),
    name="double pendulum",
)
KEPLER = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) + 1 / np.sqrt(q @ q), symmetries={"turn": [[0.0, -1.0], [1.0, 0.0]]}, name="Kepler")
METHODS = [(name, points) for name in ("galerkin4", "galerkin6") for points in ("gauss", "lobatto")]
ORDER = {"galerkin4": 4, "galerkin6": 6}


def observed(counts, errors):
    return -np.polyfit(np.log(counts), np.log(errors), 1)[0]


def perihelion(e):
    return [1.0 - e, 0.0], [0.0, float(np.sqrt((1 + e) / (1 - e)))]


@pytest.mark.parametrize(("stepper", "points"), METHODS)
def test_order_on_kepler(stepper, points):
    """e = 0.3, T = 5, four halvings."""
    q0, v0 = perihelion(0.3)
    exact, rate = Kepler(1.0, tuple(q0), tuple(v0)).state(5.0)
    counts = np.array([40, 80, 160, 320, 640]) if stepper == "galerkin4" else np.array([16, 32, 64, 128, 256])  # the last at 2e-12
    errors = []
    for n in counts:
        traj = dal.simulate(KEPLER, stepper, h=5.0 / n, t_end=5.0, q0=q0, v0=v0, points=points)
        errors.append(np.hypot(np.linalg.norm(traj.q[-1] - exact), np.linalg.norm(traj.v[-1] - rate)))
    assert abs(observed(counts, errors) - ORDER[stepper]) < 0.1


@pytest.mark.parametrize(("stepper", "points"), [*METHODS, ("midpoint", None), ("trapezoidal", None)])
def test_order_on_a_double_pendulum_of_known_motion(stepper, points):
    """Variable mass, against 256-bit references: positions and rates at t = 2; four halvings, for order 6 between 1e-7 and round-off."""
    order = ORDER.get(stepper, 2)
    for case in json.loads((DATA / "double_pendulum.json").read_text())["cases"]:
        ic = [float(x) for x in case["ic"]]
        sample = next(s for s in case["samples"] if float(s["t"]) == 2.0)
        exact = np.array([float(x) for x in sample["theta"] + sample["omega"]])
        counts = np.array([10, 20, 40, 80, 160]) * {2: 20, 4: 4, 6: 1}[order]
        if order == 6:
            counts = np.array([20, 28, 40, 56, 80]) if "regular" in case["name"] else np.array([64, 80, 110, 160, 220])
        errors = []
        for n in counts:
            traj = dal.simulate(DOUBLE, stepper, h=2.0 / n, t_end=2.0, q0=ic[:2], v0=ic[2:], **({"points": points} if points else {}))
            errors.append(np.linalg.norm(np.concatenate([traj.q[-1], traj.v[-1]]) - exact))
        assert abs(observed(counts, errors) - order) < 0.1, (case["name"], errors)


def test_long_reference_of_the_chaotic_double_pendulum():
    """Order 6 with h = 2 ms follows the chaotic motion to t = 10; errors of 1e-15 grow by about e^(Lyapunov exponent x 10)."""
    case = json.loads((DATA / "double_pendulum.json").read_text())["cases"][0]
    assert "chaotic" in case["name"]
    ic = [float(x) for x in case["ic"]]
    traj = dal.simulate(DOUBLE, "galerkin6", h=2e-3, t_end=10.0, q0=ic[:2], v0=ic[2:], every=50)
    exact = {float(s["t"]): [float(x) for x in s["theta"]] for s in case["samples"]}
    for t, q in zip(traj.t, traj.q, strict=True):
        if round(t, 9) in exact:
            assert np.abs(q - exact[round(t, 9)]).max() < 1e-9
    assert np.abs(traj.energy - traj.energy[0]).max() < 1e-10  # of 20 J that fall


def collocation(s):
    """A and b of the collocation method with the s points of Gauss, from integrals of Lagrange polynomials."""
    c = 0.5 * (leggauss(s)[0] + 1)
    A, b = np.empty((s, s)), np.empty(s)
    for j in range(s):
        others = np.delete(c, j)
        primitive = (Polynomial.fromroots(others) / np.prod(c[j] - others)).integ()
        A[:, j], b[j] = primitive(c) - primitive(0.0), primitive(1.0) - primitive(0.0)
    return A, b


def slope(z):
    """Hamilton's equations of Kepler's problem."""
    return np.concatenate([z[2:], -z[:2] / np.linalg.norm(z[:2]) ** 3])


@pytest.mark.parametrize(("stepper", "s"), [("galerkin4", 2), ("galerkin6", 3)])
def test_points_of_gauss_give_the_collocation_methods(stepper, s):
    """Degree s with s points of Gauss is the s-stage Gauss method of Runge-Kutta type, in (q, p)."""
    A, b = collocation(s)
    q0, v0 = perihelion(0.3)
    h, z = 0.2, np.array([*q0, *v0])
    traj = dal.simulate(KEPLER, stepper, h=h, t_end=6.0, q0=q0, v0=v0)
    for k in range(1, len(traj)):
        K = np.tile(slope(z), (s, 1))
        for _ in range(200):
            K = np.array([slope(z + h * row @ K) for row in A])
        z = z + h * b @ K
        assert np.abs(np.concatenate([traj.q[k], traj.v[k]]) - z).max() < 1e-12


@pytest.mark.parametrize(("stepper", "points"), METHODS)
def test_energy_and_momentum_of_kepler_over_a_hundred_periods(stepper, points):
    """e = 0.6: the energy's band of the last ten periods is that of the first ten; angular momentum to round-off."""
    q0, v0 = perihelion(0.6)
    n = {"galerkin4": 300, "galerkin6": 150}[stepper]
    traj = dal.simulate(KEPLER, stepper, h=2 * np.pi / n, t_end=200 * np.pi, q0=q0, v0=v0, points=points)
    e = np.abs(traj.energy + 0.5)
    assert e[-10 * n :].max() < 1.5 * e[: 10 * n].max()
    assert np.abs(traj.momentum[:, 0] - 0.8).max() < 1e-12


def test_order_6_reaches_1e_minus_10_on_kepler():
    """e = 0.6, 100 periods, energy error below 1e-10."""
    q0, v0 = perihelion(0.6)
    traj = dal.simulate(KEPLER, "galerkin6", h=2 * np.pi / 500, t_end=200 * np.pi, q0=q0, v0=v0)
    assert np.abs(traj.energy + 0.5).max() < 1e-10


@pytest.mark.parametrize(("stepper", "points"), METHODS)
def test_order_with_drag(stepper, points):
    """Damped, driven double pendulum: forces with weights of the same polynomials keep the order. Judge: order 6, h = 4 ms."""
    system = dal.Lagrangian(
        2,
        lambda q, v: v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + 2 * np.cos(q[0]) + np.cos(q[1]),
        force=lambda q, v, t: [np.sin(3 * t), 0.2 * q[0]],
        rayleigh=lambda q, v: 0.1 * v[0] ** 2 + 0.2 * (v[0] - v[1]) ** 2,
    )
    start = {"q0": [1.0, -0.5], "v0": [0.3, 0.0]}
    exact = dal.simulate(system, "galerkin6", h=4e-3, t_end=4.0, **start).q[-1]
    counts = np.array([20, 40, 80, 160]) if stepper == "galerkin4" else np.array([32, 42, 56, 80])
    errors = [np.linalg.norm(dal.simulate(system, stepper, h=4.0 / n, t_end=4.0, points=points, **start).q[-1] - exact) for n in counts]
    assert abs(observed(counts, errors) - ORDER[stepper]) < 0.15
