"""Rolling and blades: the discrete d'Alembert-Pontryagin principle (Caltech slides, p. 13-16) against closed forms and reference data."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.scenes.nonholonomic import UPRIGHT

DATA = Path(__file__).parents[2] / "data"
SECOND = ("midpoint", "trapezoidal")
METHODS = (*SECOND, "symplectic-euler")
SCENES = ("knife-edge", "chaplygin-sleigh", "rolling-disk", "upright-disk", "snakeboard")
HALVINGS = 2.0 ** -np.arange(4)


def start(name):
    s = dal.scenes.find(name)
    m = s.model().frozen()
    return m, m.check_q(s.q0), m.check_v(s.v0)


def sample(name, t):
    return next(s for s in json.loads((DATA / "nonholonomic.json").read_text())[name]["samples"] if float(s["t"]) == t)


def order(hs, errors):
    return np.polyfit(np.log(hs), np.log(errors), 1)[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SCENES)
def test_nodes_fulfil_the_constraints(name, run, closure, method):
    """Rows at the nodes to round-off of rates below 10; the height of a rolling disk to 1e-12 m."""
    traj = run(start(name), method, 0.01, 5.0)
    gap, rate = closure(traj)
    assert gap < 1e-12
    assert rate < 1e-12
    assert not traj.solver["substeps"].any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SCENES)
def test_intervals_fulfil_the_constraints_where_the_rule_asks_for_it(name, run, method):
    """A(q_k) v = 0 for symplectic Euler, A(q_k+1/2) v = 0 for the others; rows of the heights hold at the nodes instead."""
    traj = run(start(name), method, 0.05, 1.0)
    m = traj.model
    holonomic = sum(j.contact for j in m.nonholonomic if j.kind == "rolling")
    for q0, q1, v in zip(traj.q[:-1], traj.q[1:], traj.v_interval, strict=True):
        q = q0 if method == "symplectic-euler" else m.integrate(q0, 0.5 * m.difference(q0, q1))
        assert np.abs((m.constraint_rows(q)[1] @ v)[holonomic:]).max() < 1e-11


@pytest.mark.parametrize("method", SECOND)
@pytest.mark.parametrize("name", SCENES)
def test_time_reversal(name, there_and_back, method):
    q, v = there_and_back(start(name), method, 0.01, 100)
    assert q < 1e-11
    assert v < 1e-11


# upright disk -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SECOND)
def test_upright_disk_runs_on_its_discrete_circle(run, method):
    """h = 0.1, 1000 steps: radius (h R v/2)/sin(h Omega/2) = 1.40174349, rate of rolling in the intervals 2.0016564, energy constant."""
    traj = run(start("upright-disk"), method, 0.1, 100.0)
    m, I, R = (UPRIGHT[k] for k in ("m", "I", "R"))
    rolling = 2 * (I + m * R**2) / (I + m * R**2 * np.cos(0.05))
    np.testing.assert_allclose(traj.v_interval[:, 3], rolling, atol=1e-11)
    assert abs(rolling - 2.0016564) < 5e-8
    radius = 0.5 * 0.1 * R * rolling / np.sin(0.05)
    assert abs(radius - 1.40174349) < 5e-9
    distance = np.linalg.norm(traj.q[:, :2] - circle_centre(traj.q[:3, :2]), axis=1)
    np.testing.assert_allclose(distance, radius, atol=1e-11)
    interval_energy = 0.5 * UPRIGHT["J"] * traj.v_interval[:, 2] ** 2 + 0.5 * (I + m * R**2) * traj.v_interval[:, 3] ** 2
    np.testing.assert_allclose(interval_energy, 3.114905067, atol=5e-10)
    np.testing.assert_allclose(traj.energy, traj.energy[0], rtol=1e-12)


def circle_centre(points):
    """Centre of the circle through three points."""
    a, b, c = points
    A = 2 * np.array([b - a, c - a])
    return np.linalg.solve(A, [b @ b - a @ a, c @ c - a @ a])


def test_upright_disk_loses_energy_under_symplectic_euler(run):
    """The rate of rolling falls by (I + m R^2 cos(h Omega))/(I + m R^2) in each step: energy 3.11 becomes 0.154 in 1000 steps."""
    traj = run(start("upright-disk"), "symplectic-euler", 0.1, 100.0)
    m, I, R = (UPRIGHT[k] for k in ("m", "I", "R"))
    factor = (I + m * R**2 * np.cos(0.1)) / (I + m * R**2)
    rate = traj.v_interval[:, 3]
    np.testing.assert_allclose(rate[1:] / rate[:-1], factor, rtol=1e-11)
    last = 0.5 * UPRIGHT["J"] + 0.5 * (I + m * R**2) * rate[-1] ** 2
    assert abs(last - 0.154) < 5e-4


# knife edge on an incline -------------------------------------------------------------------------------------------------------------


def incline():
    """m = 1, J = 0.4, acceleration 3 down the slope, turning at 1.3 rad/s from rest."""
    m = dal.Model("knife edge", gravity=(3, 0, 0))
    m.add_body("skate", 1.0, (0.4, 0.4, 0.4))
    m.add_joint("plane", "planar", "world", "skate", axis=(0, 0, 1), axis2=(1, 0, 0))
    m.add_joint("blade", "knife-edge", "world", "skate", axis=(0, 1, 0))
    return m.frozen(), m.neutral(), np.array([0, 0, 1.3])


def incline_place(t):
    a, k = 1.3 * t, 3 / (2 * 1.3**2)
    return np.array([k * np.sin(a) ** 2, k * (a - 0.5 * np.sin(2 * a))])


def incline_errors(end, method, hs):
    return [np.linalg.norm(end(incline(), method, h, 4.0)[0][:2] - incline_place(4.0)) for h in hs]


@pytest.mark.parametrize("method", SECOND)
def test_knife_edge_has_the_errors_of_its_rule(end, method):
    """N = 40 ... 320: 1.56e-2 ... 2.43e-4."""
    hs = 0.1 * HALVINGS
    errors = incline_errors(end, method, hs)
    assert abs(errors[0] - 1.56e-2) < 5e-5
    assert abs(errors[-1] - 2.43e-4) < 5e-7
    assert abs(order(hs, errors) - 2) < 0.1


def test_knife_edge_under_symplectic_euler_is_of_order_one(end):
    hs = 0.01 * HALVINGS
    assert abs(order(hs, incline_errors(end, "symplectic-euler", hs)) - 1) < 0.1


@pytest.mark.parametrize("method", SECOND)
def test_knife_edge_energy_stays_in_its_band(run, drift, method):
    """200 s at h = 0.05: energy at the middle of the intervals in 0.33518 ... 0.34082 (exact 0.338)."""
    traj = run(incline(), method, 0.05, 200.0)
    v, x = traj.v_interval, 0.5 * (traj.q[1:, 0] + traj.q[:-1, 0])
    energy = 0.5 * (v[:, 0] ** 2 + v[:, 1] ** 2) + 0.2 * v[:, 2] ** 2 - 3 * x
    assert abs(energy.min() - 0.33518) < 5e-6
    assert abs(energy.max() - 0.34082) < 5e-6
    assert drift(traj.energy) < 0.05


# against reference data ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_rolling_disk_against_its_reference(end, method):
    """Tilt, heading, spin and place at t = 3 s."""
    s = sample("rolling_disk", 3.0)
    machine, errors = start("rolling-disk"), []
    p, hs = (1, 0.002 * HALVINGS) if method == "symplectic-euler" else (2, 0.02 * HALVINGS)
    for h in hs:
        q, v = end(machine, method, h, 3.0)
        normal = machine[0].poses(q)[0, :3, 2]
        heading = np.arctan2(normal[0], -normal[1])
        turn = (heading - float(s["psi"]) + np.pi) % (2 * np.pi) - np.pi
        place = q[:2] - np.array(s["centre_xy"], dtype=float)
        errors.append(np.linalg.norm([np.arccos(normal[2]) - float(s["theta"]), turn, v[2] - float(s["w"][2]), *place]))
    assert abs(order(hs, errors) - p) < 0.1, errors


@pytest.mark.parametrize("method", METHODS)
def test_sleigh_against_its_reference(end, method):
    s = sample("chaplygin_sleigh", 5.0)
    expected = np.array([s[k] for k in ("x_contact", "y_contact", "theta")], dtype=float)
    machine, errors = start("chaplygin-sleigh"), []
    p, hs = (1, 0.004 * HALVINGS) if method == "symplectic-euler" else (2, 0.05 * HALVINGS)
    for h in hs:
        q, v = end(machine, method, h, 5.0)
        errors.append(np.linalg.norm([*(q - expected), v[2] - float(s["omega"])]))
    assert abs(order(hs, errors) - p) < 0.1, errors


@pytest.mark.parametrize("method", SECOND)
def test_snakeboard_against_index_one(slopes, descriptor, method):
    machine = start("snakeboard")
    found, errors = slopes(machine, method, 0.05 * HALVINGS, 2.0, reference=descriptor(machine, 2.0))
    assert np.abs(found - 2).max() < 0.1, errors


@pytest.mark.parametrize("method", SECOND)
@pytest.mark.parametrize("name", ["rolling-disk", "knife-edge"])
def test_energy_of_reversible_motions_does_not_drift(name, run, drift, method):
    """No symplectic form here, but both rules are reversible, and so are these quasiperiodic motions."""
    traj = run(start(name), method, 0.01, 200.0, every=5)
    assert drift(traj.energy) < 0.05
    assert np.ptp(traj.energy) < 2e-3 * traj.kinetic.max()
