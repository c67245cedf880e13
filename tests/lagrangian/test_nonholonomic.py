"""Nonholonomic systems: d'Alembert-Pontryagin with quadrature point alpha (caltech2008slides), and SPOOK's velocity rows.

Rolling disk with m = 2, I = .5 (roll), J = .3 (steer), R = .7, rates (1, 2), h = .1; knife edge with slope 3 and turn 1.3.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.verification import ChaplyginSleigh, DiscreteDisk, knife_edge, nonholonomic_particle, rolling_disk

DATA = json.loads((Path(__file__).parent.parent / "data" / "nonholonomic.json").read_text())
M, ROLL, STEER, R = 2.0, 0.5, 0.3, 0.7
MR2 = M * R * R


def rolling(q, v):
    """(x, y, phi, theta)."""
    return 0.5 * M * (v[0] ** 2 + v[1] ** 2) + 0.5 * STEER * v[2] ** 2 + 0.5 * ROLL * v[3] ** 2


def no_slip(q):
    return [[1.0, 0.0, 0.0, -R * np.cos(q[2])], [0.0, 1.0, 0.0, -R * np.sin(q[2])]]


DISK = dal.Lagrangian(4, rolling, pfaffian=no_slip, name="rolling disk")
STEERED = dal.Lagrangian(
    4, rolling, pfaffian=no_slip, force=lambda q, v, t: [0.0, 0.0, 0.4 * np.cos(t), 0.3 * np.sin(2 * t) + 0.2], name="steered disk"
)
REST, FREE = np.zeros(4), [2 * R, 0.0, 1.0, 2.0]
KNIFE = dal.Lagrangian(
    3,
    lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.2 * v[2] ** 2 + 3 * q[0],
    pfaffian=lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
    name="knife edge",
)


def observed(counts, errors):
    return -np.polyfit(np.log(counts), np.log(errors), 1)[0]


# rolling disk ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_free_disk_follows_the_closed_law_of_the_scheme(alpha):
    """v^theta is multiplied by (I + mR^2 cos((1-alpha) h W)) / (I + mR^2 cos(alpha h W)) in each step; v^phi is constant."""
    traj = dal.simulate(DISK, "alpha", h=0.1, t_end=100.0, q0=REST, v0=FREE, alpha=alpha)
    law, k = DiscreteDisk(0.1, alpha, M, ROLL, R, 2.0, 1.0), np.arange(1000)
    size = np.abs(law.roll_rate(k)).max()
    assert np.abs(traj.v_interval[:, 3] - law.roll_rate(k)).max() < 1e-12 * size
    assert np.abs(traj.v_interval[:, 2] - 1.0).max() < 1e-13
    assert np.abs(traj.q[:, :2] - law.position(np.arange(1001))).max() < 1e-11 * size
    expected = (ROLL + MR2 * np.cos((1 - alpha) * 0.1)) / (ROLL + MR2 * np.cos(alpha * 0.1))
    assert traj.v_interval[1:, 3] / traj.v_interval[:-1, 3] == pytest.approx(expected, rel=1e-13)
    rate = -(1 - 2 * alpha) * MR2 * 0.1 / (2 * (ROLL + MR2))  # of v^theta per unit time and W^2
    assert np.log(expected) / 0.1 == pytest.approx(rate, rel=0.02, abs=1e-12)


@pytest.mark.parametrize(("alpha", "first", "last"), [(0.0, 3.11, 0.154), (0.5, 3.114905067, 3.114905067), (1.0, 3.13, 2236.0)])
def test_energy_of_the_free_disk(alpha, first, last):
    """E(v_k) from 3.11 to .154 for alpha = 0, constant for 1/2, from 3.13 to 2236 for 1 (1,000 steps)."""
    traj = dal.simulate(DISK, "alpha", h=0.1, t_end=100.0, q0=REST, v0=FREE, alpha=alpha)
    energy = DISK.energy(traj.q[1:], traj.v_interval)
    digits = 5e-10 if alpha == 0.5 else 6e-4 if alpha == 0.0 else 1e-3
    assert energy[0] == pytest.approx(first, rel=digits)
    assert energy[-1] == pytest.approx(last, rel=digits)
    if alpha == 0.5:
        assert np.ptp(energy) < 1e-12
        assert np.ptp(traj.energy) < 1e-12  # at the nodes: that of the start


def test_circle():
    """alpha = 1/2: v^theta = 2.0016564 = 2 (I + mR^2) / (I + mR^2 cos .05), all points on a circle of radius 1.40174349 (2e-13)."""
    traj = dal.simulate(DISK, "alpha", h=0.1, t_end=100.0, q0=REST, v0=FREE, alpha=0.5)
    speed = traj.v_interval[-1, 3]
    assert speed == pytest.approx(2.0016564, abs=5e-8)
    assert speed == pytest.approx(2 * (ROLL + MR2) / (ROLL + MR2 * np.cos(0.05)), rel=1e-12)
    x = traj.q[:, :2]
    centre = np.linalg.lstsq(np.column_stack([2 * x, np.ones(len(x))]), np.sum(x * x, axis=1), rcond=None)[0][:2]
    radius = np.linalg.norm(x - centre, axis=1)
    assert np.ptp(radius) < 1e-12
    assert radius.mean() == pytest.approx(1.40174349, abs=5e-9)
    assert radius.mean() == pytest.approx(0.05 * R * speed / np.sin(0.05), rel=1e-12)
    errors = []
    for n in (50, 100, 200, 400):
        found = dal.simulate(DISK, "alpha", h=5.0 / n, t_end=5.0, q0=REST, v0=FREE)
        errors.append(np.linalg.norm(found.q[-1, :2] - rolling_disk(5.0, R, 2.0, 1.0)[0]))
    assert abs(observed([50, 100, 200, 400], errors) - 2) < 0.01


def steered_reference():
    def rates(t, z):
        return [
            R * np.cos(z[2]) * z[5],
            R * np.sin(z[2]) * z[5],
            z[4],
            z[5],
            0.4 * np.cos(t) / STEER,
            (0.3 * np.sin(2 * t) + 0.2) / (ROLL + MR2),
        ]

    return solve_ivp(rates, (0, 4), [0, 0, 0, 0, 1.0, 2.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:4, -1]


@pytest.mark.parametrize(("alpha", "order"), [(0.5, 2), (0.0, 1), (0.25, 1), (1.0, 1)])
def test_order_with_torques_of_time(alpha, order):
    """u = (.4 cos t, .3 sin 2t + .2), T = 4, N = 40 ... 320: 2.47e-2 ... 3.86e-4 for alpha = 1/2, order 1 otherwise."""
    exact, counts = steered_reference(), np.array([40, 80, 160, 320])
    errors = [
        np.linalg.norm(dal.simulate(STEERED, "alpha", h=4 / n, t_end=4.0, q0=REST, v0=FREE, alpha=alpha).q[-1] - exact) for n in counts
    ]
    assert abs(observed(counts, errors) - order) < 0.1
    if alpha == 0.5:
        assert (errors[0], errors[-1]) == pytest.approx((2.47e-2, 3.86e-4), rel=3e-3)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
def test_reduced_equations_of_the_disk(alpha):
    """Roll and steer rates alone, inertias and weights of the slides corrected: (1 - alpha) u_{k+alpha} + alpha u_{k-1+alpha}."""
    h, n = 0.05, 100
    traj = dal.simulate(STEERED, "alpha", h=h, t_end=n * h, q0=REST, v0=FREE, alpha=alpha)
    times = h * (np.arange(n) + alpha)
    turn, push = 0.4 * np.cos(times), 0.3 * np.sin(2 * times) + 0.2
    p, roll = 1.0, 2.0 * (ROLL + MR2)  # v^phi and (I + mR^2 cos) v^theta carried to the node
    for k in range(n):
        steer = p + h * (1 - alpha) * turn[k] / STEER
        speed = (roll + h * (1 - alpha) * push[k]) / (ROLL + MR2 * np.cos(alpha * h * steer))
        assert traj.v_interval[k, 2:] == pytest.approx([steer, speed], rel=1e-12)
        p = steer + h * alpha * turn[k] / STEER
        roll = (ROLL + MR2 * np.cos((1 - alpha) * h * steer)) * speed + h * alpha * push[k]


@pytest.mark.parametrize("form", ["linear", "stabilized"])
def test_velocity_rows_of_spook_on_the_disk(form):
    """M (v_{k+1} - v_k) = A_k^T alpha (4.21); the row is A_k v_{k+1} + gamma alpha/h = 0, or with A_{k+1} as in (3.105)."""
    mass = np.diag([M, M, STEER, ROLL])
    for gamma in (0.0, 1e-3):
        traj = dal.simulate(DISK, "spook", h=0.02, t_end=4.0, q0=REST, v0=FREE, gamma=gamma, form=form)
        rows = np.array([DISK.numbers.rows(q) for q in traj.q])
        alpha = 0.02 * traj.multipliers["pfaffian"]
        assert np.abs(np.diff(traj.v, axis=0) @ mass - np.einsum("kij,ki->kj", rows[:-1], alpha)).max() < 1e-13
        where = rows[:-1] if form == "linear" else rows[1:]
        assert np.abs(np.einsum("kij,kj->ki", where, traj.v[1:]) + gamma / 0.02 * alpha).max() < 1e-13
        assert np.abs(traj.v[:, 2] - 1).max() < 1e-14


# knife edge ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "order"), [(0.5, 2), (0.0, 1), (1.0, 1)])
def test_knife_edge(alpha, order):
    """From rest, T = 4, N = 40 ... 320: 1.56e-2 ... 2.43e-4 for alpha = 1/2; order 1 at the ends."""
    counts = np.array([40, 80, 160, 320])
    exact = knife_edge(4.0, 3.0, 1.3)[0]
    errors = [
        np.linalg.norm(dal.simulate(KNIFE, "alpha", h=4 / n, t_end=4.0, q0=np.zeros(3), v0=[0, 0, 1.3], alpha=alpha).q[-1, :2] - exact)
        for n in counts
    ]
    assert abs(observed(counts, errors) - order) < 0.05
    if alpha == 0.5:
        assert (errors[0], errors[-1]) == pytest.approx((1.56e-2, 2.43e-4), rel=3e-3)


def test_energy_of_the_knife_edge_stays_in_its_band():
    """200 s, h = .05: E(q_{k+1/2}, v_k) in .33518 - .34082 around .338; the band of the last quarter is that of the first."""
    traj = dal.simulate(KNIFE, "alpha", h=0.05, t_end=200.0, q0=np.zeros(3), v0=[0, 0, 1.3])
    energy = KNIFE.energy(0.5 * (traj.q[1:] + traj.q[:-1]), traj.v_interval)
    assert (energy.min(), energy.max()) == pytest.approx((0.33518, 0.34082), abs=6e-6)
    assert traj.energy[0] == pytest.approx(0.338, abs=1e-15)
    assert np.ptp(energy[-1000:]) == pytest.approx(np.ptp(energy[:1000]), rel=0.01)


# reference data --------------------------------------------------------------------------------------------------------------------------

SLEIGH = dal.Lagrangian(
    3,
    lambda q, v: 0.5 * ((v[0] - 0.3 * v[2] * np.sin(q[2])) ** 2 + (v[1] + 0.3 * v[2] * np.cos(q[2])) ** 2) + 0.25 * v[2] ** 2,
    pfaffian=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]],
    name="Chaplygin sleigh",
)
INCLINE = dal.Lagrangian(
    3,
    lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.2 * v[2] ** 2 + 9.81 / 2 * q[0],
    pfaffian=lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
)
PARTICLE = dal.Lagrangian(3, lambda q, v: 0.5 * (v @ v), pfaffian=lambda q: [[-q[1], 0.0, 1.0]])
CASES = {
    "chaplygin_sleigh": (SLEIGH, [0, 0, 0], [-0.8, 0.0, 1.1], ("x_contact", "y_contact", "theta")),
    "knife_edge_incline": (INCLINE, [0, 0, 0], [0, 0, 2.0], ("x", "y")),
    "nonholonomic_particle": (PARTICLE, [0, -1.0, 0], [0.7, 0.5, -0.7], ("x", "y", "z")),
}


@pytest.mark.parametrize(("stepper", "options", "order"), [("alpha", {}, 2), ("alpha", {"alpha": 0.0}, 1), ("spook", {"gamma": 0.0}, 1)])
@pytest.mark.parametrize("name", list(CASES))
def test_order_against_reference_data(name, stepper, options, order):
    system, q0, v0, columns = CASES[name]
    samples = [s for s in DATA[name]["samples"] if 0 < float(s["t"]) <= 5.0]
    times = np.array([float(s["t"]) for s in samples])
    exact = np.array([[float(s[c]) for c in columns] for s in samples])
    counts, errors = np.array([5, 10, 20, 40]) * (8 if order == 1 else 2), []
    for n in counts:
        traj = dal.simulate(system, stepper, h=0.25 / n, t_end=5.0, q0=q0, v0=v0, every=int(n), **options)
        errors.append(np.abs(traj.q[np.rint(times / 0.25).astype(int), : len(columns)] - exact).max())
    assert abs(observed(counts, errors) - order) < 0.1


def test_data_are_the_closed_forms():
    """The judges agree with each other."""
    sleigh = ChaplyginSleigh(1.0, 0.5, 0.3, -0.8, 1.1)
    for s in DATA["chaplygin_sleigh"]["samples"]:
        t = float(s["t"])
        assert sleigh.position(t) == pytest.approx([float(s["x_contact"]), float(s["y_contact"])], abs=1e-12)
    for s in DATA["nonholonomic_particle"]["samples"]:
        assert nonholonomic_particle(float(s["t"]), -1.0, 0.7, 0.5)[0] == pytest.approx([float(s[c]) for c in "xyz"], abs=1e-12)


def test_sleigh_runs_straight_in_the_end():
    """Blade ahead is unstable: it turns round and reaches the speed 1.16357; energy of the nodes within the order of the method."""
    traj = dal.simulate(SLEIGH, "alpha", h=0.01, t_end=30.0, q0=[0, 0, 0], v0=[-0.8, 0.0, 1.1])
    assert np.linalg.norm(traj.v[-1, :2]) == pytest.approx(float(DATA["chaplygin_sleigh"]["limit_speed"]), rel=1e-4)
    assert abs(traj.v[-1, 2]) < 1e-6
    assert traj.energy[-1] == pytest.approx(0.67695, rel=1e-4)


# snakeboard ------------------------------------------------------------------------------------------------------------------------------

WHEEL, ROTOR, LENGTH = 0.001, 0.072, 0.2


def board(q, v):
    """(x, y, theta, psi, phi): board, rotor, wheels turned by phi in front and -phi behind; total inertia m l^2 = .24."""
    return 3 * (v[0] ** 2 + v[1] ** 2) + 0.12 * v[2] ** 2 + 0.5 * ROTOR * v[3] ** 2 + ROTOR * v[2] * v[3] + WHEEL * v[4] ** 2


def axles(q):
    front, back = q[2] + q[4], q[2] - q[4]
    reach = LENGTH * np.cos(q[4])
    return [[-np.sin(front), np.cos(front), reach, 0.0, 0.0], [-np.sin(back), np.cos(back), -reach, 0.0, 0.0]]


def by_rates(q, t):
    """psi' = .7 cos t, phi' = .3 cos t as two more rows."""
    A = [*axles(q), [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    return A, [0.0, 0.0, -0.7 * np.cos(t), -0.3 * np.cos(t)]


BOARDS = {
    "rates": dal.Lagrangian(5, board, pfaffian=by_rates, name="snakeboard, driven rates"),
    "angles": dal.Lagrangian(5, board, pfaffian=axles, holonomic=lambda q, t: [q[3] - 0.7 * np.sin(t), q[4] - 0.3 * np.sin(t)]),
}


@pytest.mark.parametrize("drive", list(BOARDS))
@pytest.mark.parametrize(("stepper", "options", "order"), [("alpha", {}, 2), ("spook", {"epsilon": 0.0, "gamma": 0.0}, 1)])
def test_driven_snakeboard(drive, stepper, options, order):
    """Gait 1:1 from rest, rotor and wheels driven by velocity rows or rheonomic ones: x, y, theta to t = 10 of the reference."""
    samples = [s for s in DATA["snakeboard"]["samples"] if float(s["t"]) <= 10.0]
    exact = np.array([[float(s[c]) for c in ("x", "y", "theta")] for s in samples])
    counts, errors = np.array([25, 50, 100, 200]) * (3 if order == 1 else 1), []
    for n in counts:
        traj = dal.simulate(BOARDS[drive], stepper, h=1.0 / n, t_end=10.0, q0=np.zeros(5), v0=[0, 0, 0, 0.7, 0.3], every=int(n), **options)
        errors.append(np.abs(traj.q[:, :3] - exact).max())
    assert abs(observed(counts, errors) - order) < 0.1, errors
