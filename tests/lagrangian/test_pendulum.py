"""Pendulum of lacoursiere2007, chapter 6: rows of its table that belong to Verlet, SHAKE and SPOOK, and what SPOOK does beside them.

m = l = 1, gravity 10, released in the horizontal, h = 1/60, 400 steps. E_sym = v^2/2 + gravity (y_k + y_{k-1})/2 of each interval (6.16);
errors of positions are the largest of |x|, |y|. Numbers with three digits were measured once with independent programs.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import Pendulum

DATA = Path(__file__).parent.parent / "data"
GRAVITY, H, N = 10.0, 1 / 60, 400
EXACT = Pendulum(1.0, GRAVITY, np.pi / 2)


def lagrangian(q, v, p):
    return 0.5 * (v @ v) - p.gravity * q[1]


REDUCED = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + GRAVITY * np.cos(q[0]), name="pendulum, angle")
SQUARE = dal.Lagrangian(2, lagrangian, holonomic=lambda q: [0.5 * (q @ q - 1)], params={"gravity": GRAVITY}, name="pendulum")
LENGTH = dal.Lagrangian(2, lagrangian, holonomic=lambda q: [np.sqrt(q @ q) - 1], params={"gravity": GRAVITY}, name="pendulum, |q| - l")


def run(system, stepper, h=H, steps=N, v0=(0.0, 0.0), **options):
    return dal.simulate(system, stepper, h=h, t_end=steps * h, q0=[1.0, 0.0], v0=list(v0), **options)


def symmetric_energy(q, h=H):
    w = np.diff(q, axis=0) / h
    return 0.5 * np.sum(w * w, axis=1) + 0.5 * GRAVITY * (q[1:, 1] + q[:-1, 1])


def violation(q):
    return np.abs(np.linalg.norm(q, axis=1) - 1).max()


def error(traj):
    return np.abs(traj.q - EXACT.position(traj.t)).max()


def mirrored_start(h):
    """v_0 of SPOOK from q_{-1} = q(-h): the start of second order."""
    return (np.array([1.0, 0.0]) - EXACT.position(-h)) / h


def test_period_and_top_speed():
    """Printed 2.3445 and sqrt(10)."""
    assert EXACT.period == pytest.approx(2.345240, abs=5e-7)
    assert np.linalg.norm(EXACT.velocity(EXACT.period / 4)) == pytest.approx(np.sqrt(20), rel=1e-12)


# P2: the angle, Verlet -------------------------------------------------------------------------------------------------------------------


def test_verlet_on_the_angle():
    """E_sym in [-.0035, .0081], error 2.3e-3."""
    traj = dal.simulate(REDUCED, "verlet", h=H, t_end=N * H, q0=[np.pi / 2], v0=[0.0])
    w, V = np.diff(traj.q[:, 0]) / H, -GRAVITY * np.cos(traj.q[:, 0])
    energy = 0.5 * w**2 + 0.5 * (V[1:] + V[:-1])
    assert (energy.min(), energy.max()) == pytest.approx((-0.0035, 0.0081), abs=5e-5)
    assert np.abs(traj.q[:, 0] - EXACT.state(traj.t)[0]).max() == pytest.approx(2.3e-3, abs=5e-5)


# P6: SHAKE -------------------------------------------------------------------------------------------------------------------------------


def test_shake_row():
    """E_sym in [-.0035, .0174], the unsymmetric energy within +-.23, error .0115, multiplier in [-30.0, 0]."""
    traj = run(SQUARE, "shake")
    energy = symmetric_energy(traj.q)
    assert (energy.min(), energy.max()) == pytest.approx((-0.0035, 0.0174), abs=5e-5)
    w = np.diff(traj.q, axis=0) / H
    assert np.abs(0.5 * np.sum(w * w, axis=1) + GRAVITY * traj.q[1:, 1]).max() == pytest.approx(0.23, abs=6e-3)
    assert error(traj) == pytest.approx(0.0115, abs=1.5e-4)
    force = traj.multipliers["holonomic"][:, 0]
    assert force.min() == pytest.approx(-30.0, abs=0.02)
    assert force.max() <= 0.0
    assert violation(traj.q) < 1e-15 * 5


def test_shake_is_the_square_root_of_the_thesis():
    """(6.18): q_{k+1} = Q + l q_k, Q = 2 q_k - q_{k-1} - h^2 (0, g), l = -b + sqrt(1 + b^2 - |Q|^2), b = Q . q_k; energy change with it."""
    q = run(SQUARE, "shake").q
    Q = 2 * q[1:-1] - q[:-2] - H**2 * np.array([0.0, GRAVITY])
    b = np.sum(Q * q[1:-1], axis=1)
    lam = -b + np.sqrt(1 + b * b - np.sum(Q * Q, axis=1))
    assert np.abs(Q + lam[:, None] * q[1:-1] - q[2:]).max() < 1e-14
    change = lam / (2 * H**2) * np.sum(q[1:-1] * (q[2:] - q[:-2]), axis=1)
    assert np.abs(np.diff(symmetric_energy(q)) - change).max() < 1e-10  # differences of h^-2
    assert change.min() < 0 < change.max()


def test_shake_band_shrinks_by_four_and_stays():
    bands = [np.ptp(symmetric_energy(run(SQUARE, "shake", H / k, N * k).q, H / k)) for k in (1, 2, 4)]
    assert np.abs(np.log2(np.array(bands[:-1]) / bands[1:]) - 2).max() < 0.01
    long = symmetric_energy(run(SQUARE, "shake", steps=20_000).q)
    assert (long.min(), long.max()) == pytest.approx((-0.0035, 0.0174), abs=5e-5)
    errors = [error(run(SQUARE, "shake", H / k, N * k)) for k in (1, 2, 4, 8)]
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2).max() < 0.05


def test_rattle_has_the_positions_of_shake():
    shake, rattle = run(SQUARE, "shake"), run(SQUARE, "rattle")
    assert np.abs(shake.q - rattle.q).max() < 1e-12
    assert np.abs(shake.v - rattle.v).max() < 1e-11
    assert np.abs(np.sum(rattle.q * rattle.v, axis=1)).max() < 1e-13


@pytest.mark.parametrize(("stepper", "where"), [("shake", 0.0), ("rattle", 0.5)])
@pytest.mark.parametrize("system", [SQUARE, LENGTH])
def test_forces_against_the_tension(stepper, where, system):
    """SHAKE's multiplier is the force at the first node of its step, RATTLE's that in the middle: order 2. (First step of SHAKE: half.)"""
    errors = []
    for k in (1, 2, 4, 8):
        traj = run(system, stepper, H / k, N * k)
        exact = EXACT.multiplier(traj.t[:-1] + where * H / k, squared=system is SQUARE)
        errors.append(np.abs(traj.multipliers["holonomic"][:, 0] - exact)[1:].max())
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2).max() < 0.1


@pytest.mark.parametrize(("stepper", "compose", "order"), [("rattle", None, 2), ("rattle", "suzuki4", 4), ("shake", None, 2)])
def test_forces_at_the_nodes_have_the_order_of_the_run(stepper, compose, order):
    """N + 1 rows that belong to the nodes, the first one included, against elliptic functions."""
    errors = []
    for k in (1, 2, 4, 8):
        traj = run(SQUARE, stepper, H / k, N * k, compose=compose)
        force = traj.reaction("holonomic")
        assert force.shape == (len(traj), 1)
        errors.append(np.abs(force[:, 0] - EXACT.multiplier(traj.t, squared=True)).max())
        assert abs(force[0, 0] - EXACT.multiplier(0.0, squared=True)) < 1e-12 * abs(force).max()
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - order).max() < 0.15


def test_a_composition_has_no_multipliers_of_intervals():
    traj = run(SQUARE, "rattle", compose="suzuki4")
    with pytest.raises(dal.UnsupportedError, match=r"suzuki4.*each substep.*traj.reaction"):
        _ = traj.multipliers


def test_forces_at_the_nodes_of_redundant_constraints_are_the_shortest():
    """The same constraint twice shares the force: each row has half of it."""
    twice = dal.Lagrangian(
        2,
        lambda q, v: 0.5 * (v @ v) - GRAVITY * q[1],
        holonomic=lambda q: [0.5 * (q @ q - 1), 0.5 * (q @ q - 1)],
    )
    once, both = (run(s, "rattle").reaction("holonomic") for s in (SQUARE, twice))
    assert both.shape == (N + 1, 2)
    assert np.abs(2 * both - once).max() < 1e-9 * np.abs(once).max()  # round-off of the constraint forces of 100 steps


# P10: SPOOK ------------------------------------------------------------------------------------------------------------------------------


def test_spook_row():
    """tau = 2 h, epsilon = 1e-6, from rest: |g| = 6.90e-3 (< 8e-3), E_sym in [-.207, 0], error .028, multiplier in [-29.7, .04]."""
    traj = run(SQUARE, "spook", epsilon=1e-6, tau=2.0)
    energy, force = symmetric_energy(traj.q), traj.multipliers["holonomic"][:, 0]
    assert violation(traj.q) == pytest.approx(6.90e-3, abs=5e-6)
    assert energy.min() == pytest.approx(-0.207, abs=5e-4)
    assert energy.max() == pytest.approx(0.0, abs=1e-12)
    assert error(traj) == pytest.approx(0.028, abs=5e-4)
    assert (force.min(), force.max()) == pytest.approx((-29.7, 0.04), abs=0.05)
    for options in ({"epsilon": 0.0}, {"form": "stabilized"}, {"epsilon": 1e-9}):
        assert violation(run(SQUARE, "spook", **({"epsilon": 1e-6, "tau": 2.0} | options)).q) < 8e-3


@pytest.mark.parametrize(("tau", "shown"), [(0.0, 1.39e-3), (1.0, 4.16e-3), (2.0, 6.87e-3)])
def test_violation_law(tau, shown):
    """(a): g = (1 + 2 tau/h) h^2 |v|^2 / 4 with |v|^2 = 20 at the bottom."""
    found = violation(run(SQUARE, "spook", epsilon=0.0, tau=tau).q)
    assert found == pytest.approx(shown, abs=6e-6)
    assert found == pytest.approx((1 + 2 * tau) * H**2 * 20 / 4, rel=0.012)


def test_violation_falls_with_the_square_of_the_step():
    found = [violation(run(SQUARE, "spook", H / k, N * k, epsilon=0.0, tau=2.0).q) for k in (1, 2, 4, 8)]
    assert found == pytest.approx([6.87e-3, 1.73e-3, 4.34e-4, 1.09e-4], rel=5e-3)
    assert np.abs(np.log2(np.array(found[:-1]) / found[1:]) - 2).max() < 0.02


def test_without_damping_and_compliance_energy_is_exact():
    """(b): g = (|q|^2 - 1)/2, q_{-1} = q_0: q_k . q_{k+1} = 1 for all k, and E_sym is constant (5e-14)."""
    q = run(SQUARE, "spook", epsilon=0.0, tau=0.0).q
    assert np.abs(np.sum(q[1:] * q[:-1], axis=1) - 1).max() < 1e-14
    assert np.abs(symmetric_energy(q)).max() < 5e-14 * 2


def test_the_other_form_of_the_constraint_is_noisy_without_damping():
    """(b'): |q| - 1 instead: multiplier in [-96, 61], E_sym up to +.24, |g| 6.8e-3; for tau >= h/2 both forms agree to 1 %."""
    traj = run(LENGTH, "spook", epsilon=0.0, tau=0.0)
    force = traj.multipliers["holonomic"][:, 0]
    assert (force.min(), force.max()) == pytest.approx((-96, 61), abs=0.5)
    assert symmetric_energy(traj.q).max() == pytest.approx(0.24, abs=5e-3)
    assert violation(traj.q) == pytest.approx(6.8e-3, abs=6e-5)
    for tau in (0.5, 1.0, 2.0):
        a, b = (run(s, "spook", epsilon=1e-6, tau=tau).q for s in (SQUARE, LENGTH))
        assert violation(a) == pytest.approx(violation(b), rel=0.01)
        assert symmetric_energy(a)[-1] == pytest.approx(symmetric_energy(b)[-1], rel=0.01)


@pytest.mark.parametrize(("tau", "early", "late"), [(0.5, -0.018, -0.42), (1.0, -0.054, -1.5), (2.0, -0.174, -4.2), (5.0, -0.768, -8.1)])
def test_damping_dissipates_slowly(tau, early, late):
    """(c): E_sym after 400 and 20,000 steps; never above its start; single rises up to 4.7e-3 for tau = 2 h."""
    energy = symmetric_energy(run(SQUARE, "spook", steps=20_000, epsilon=1e-6, tau=tau).q)
    assert energy[N - 1] == pytest.approx(early, abs=5e-4)
    assert energy[-1] == pytest.approx(late, abs=0.05)
    assert energy.max() <= energy[0] + 1e-9
    if tau == 2.0:
        assert np.diff(energy).max() == pytest.approx(4.7e-3, abs=5e-5)


def test_the_nonlinear_form_gains_energy():
    """(d): (4.27) with tau = 2 h: +.14 after 400, +.89 after 3,000 steps, |g| <= 5.6e-3 at first and .0061 later."""
    traj = run(SQUARE, "spook", steps=3000, form="stabilized", epsilon=1e-6, tau=2.0)
    energy = symmetric_energy(traj.q)
    assert energy[N - 1] == pytest.approx(0.14, abs=6e-3)
    assert energy[-1] == pytest.approx(0.89, abs=6e-3)
    assert violation(traj.q[: N + 1]) == pytest.approx(5.6e-3, abs=5e-5)
    assert violation(traj.q) < 6.1e-3


def test_order_of_the_trajectory():
    """(e): from the start of second order .01145, .00286, .000716 (tau = 0) and .059, .021, .0062 (tau = 2 h); from rest order 1."""
    shown = {0.0: ([0.01145, 0.00286, 0.000716], 0.0, 2e-3), 2.0: ([0.059, 0.021, 0.0062], 1e-6, 0.02)}
    for tau, (values, epsilon, digits) in shown.items():
        found = [error(run(SQUARE, "spook", H / k, N * k, mirrored_start(H / k), epsilon=epsilon, tau=tau)) for k in (1, 2, 4)]
        assert found == pytest.approx(values, rel=digits)
        rest = [error(run(SQUARE, "spook", H / k, N * k, epsilon=0.0, tau=tau)) for k in (2, 4, 8, 16)]
        assert abs(np.log2(rest[-2] / rest[-1]) - 1) < 0.05


# references ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", ["rattle", "shake", "spook"])
def test_order_against_reference_data(stepper):
    """Gravity 9.81 from (-1, 0): positions against closed forms in 60 digits."""
    system = SQUARE.with_params(gravity=9.81)
    samples = [s for s in json.loads((DATA / "simple_pendulum.json").read_text())["samples"] if 0 < float(s["t"]) <= 3.0]
    times = np.array([float(s["t"]) for s in samples])
    exact = np.array([[float(s["x"]), float(s["y"])] for s in samples])
    counts, errors = np.array([20, 40, 80, 160, 320]), []
    for n in counts:
        traj = dal.simulate(system, stepper, h=0.1 / n, t_end=3.0, q0=[-1.0, 0.0], v0=[0.0, 0.0], every=n)
        rows = np.rint(times / 0.1).astype(int)
        assert np.abs(traj.t[rows] - times).max() < 1e-9
        errors.append(np.abs(traj.q[rows] - exact).max())
    order = {"spook": 1}.get(stepper, 2)
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - order) < 0.1


@pytest.mark.parametrize("stepper", ["rattle", "shake"])
def test_double_pendulum_in_cartesian_coordinates(stepper):
    """Two masses on two rods, four coordinates, two constraints: order 2 against 256-bit references at t = 1 and 2."""
    system = dal.Lagrangian(
        4,
        lambda q, v: 0.5 * (v @ v) - 9.81 * (q[1] + q[3]),
        holonomic=lambda q: [0.5 * (q[:2] @ q[:2] - 1), 0.5 * ((q[2:] - q[:2]) @ (q[2:] - q[:2]) - 1)],
        name="double pendulum",
    )

    def place(theta):
        first = np.array([np.sin(theta[0]), -np.cos(theta[0])])
        return np.concatenate([first, first + np.array([np.sin(theta[1]), -np.cos(theta[1])])])

    for case in json.loads((DATA / "double_pendulum.json").read_text())["cases"]:
        ic = [float(x) for x in case["ic"]]
        assert ic[2:] == [0.0, 0.0]
        exact = np.array([place([float(x) for x in s["theta"]]) for s in case["samples"] if float(s["t"]) in (1.0, 2.0)])
        counts, errors = np.array([100, 200, 400, 800, 1600]), []
        for n in counts:
            traj = dal.simulate(system, stepper, h=1.0 / n, t_end=2.0, q0=place(ic[:2]), v0=np.zeros(4), every=int(n))
            assert np.abs(traj.constraint).max() < 1e-14
            errors.append(np.abs(traj.q[1:] - exact).max())
        assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - 2) < 0.05, case["name"]
