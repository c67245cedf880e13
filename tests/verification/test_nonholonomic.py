"""Rolling and skating against 30-digit references, an integrator, and the general d'Alembert-Pontryagin step (caltech2008slides)."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dalembert.errors import OptionError
from dalembert.verification.nonholonomic import ChaplyginSleigh, DiscreteDisk, knife_edge, nonholonomic_particle, rolling_disk

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "nonholonomic.json").read_text())
M, I, J, R = 2.0, 0.5, 0.3, 0.7  # disk: mass, inertia of roll, of steering, radius


def column(name, *keys):
    return np.array([[float(s[key]) for key in keys] for s in REFERENCE[name]["samples"]])


def pontryagin(mass, rows, force, q, v, h, alpha, steps):
    """The scheme with constant mass: heading is q[2] and free, so that each step is one linear system.

    p_k - p_{k-1} = h (1 - alpha) f(t_{k+alpha}) + h alpha f(t_{k-1+alpha}) + rows(q_k)^T mu, rows(q_{k+alpha}) v_k = 0; p_{-1} = p(0).
    """
    path, speeds, p, n = [q], [], mass * v, len(q)
    for k in range(steps):
        f = h * (1 - alpha) * force(h * (k + alpha)) + (h * alpha * force(h * (k - 1 + alpha)) if k else 0.0)
        p = p + f
        turn = p[2] / mass[2]
        ahead = q.copy()
        ahead[2] += alpha * h * turn
        W, W_ahead = rows(q), rows(ahead)
        m = len(W)
        v = np.linalg.solve(np.block([[np.diag(mass), -W.T], [W_ahead, np.zeros((m, m))]]), np.concatenate([p, np.zeros(m)]))[:n]
        p, q = mass * v, q + h * v
        path.append(q)
        speeds.append(v)
    return np.array(path), np.array(speeds)


def disk_rows(q):
    return np.array([[1.0, 0.0, 0.0, -R * np.cos(q[2])], [0.0, 1.0, 0.0, -R * np.sin(q[2])]])


def blade_rows(q):
    return np.array([[np.sin(q[2]), -np.cos(q[2]), 0.0]])


def run_disk(h, alpha, steps, roll=2.0, turn=1.0, force=lambda t: np.zeros(4)):
    return pontryagin(np.array([M, M, J, I]), disk_rows, force, np.zeros(4), np.array([R * roll, 0.0, turn, roll]), h, alpha, steps)


# ---- disk


def test_free_disk_rolls_on_a_circle():
    """x = (R theta' / W) sin W t, y = (R theta' / W)(1 - cos W t), also in its limit W = 0."""
    params = {key: float(value) for key, value in REFERENCE["vertical_rolling_disk"]["params"].items()}
    t, reach = np.linspace(0, 20, 41), params["r"] * params["phidot"] / params["psidot"]
    position, heading = rolling_disk(t, params["r"], params["phidot"], params["psidot"])
    assert np.allclose(position[:, 0], reach * np.sin(0.5 * t), rtol=0, atol=1e-14)
    assert np.allclose(position[:, 1], reach * (1 - np.cos(0.5 * t)), rtol=0, atol=1e-14)
    assert np.all(heading == 0.5 * t)
    straight, _ = rolling_disk(t, 0.5, 2.0, 0.0, phi0=0.6)
    assert np.allclose(straight, np.outer(t, [np.cos(0.6), np.sin(0.6)]), rtol=0, atol=1e-14)
    nearly, _ = rolling_disk(t, 0.5, 2.0, 1e-9, phi0=0.6)
    assert np.allclose(nearly, straight, rtol=0, atol=1e-9 * 20**2)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("turn", [1.0, -2.0, 0.0])
def test_discrete_disk_is_the_general_step(alpha, turn):
    disk = DiscreteDisk(0.1, alpha, M, I, R, 2.0, turn)
    path, speeds = run_disk(0.1, alpha, 300, turn=turn)
    scale = np.max(np.abs(speeds))
    assert np.max(np.abs(disk.roll_rate(np.arange(300)) - speeds[:, 3])) < 1e-12 * scale
    assert np.max(np.abs(disk.position(np.arange(301)) - path[:, :2])) < 1e-12 * max(scale, np.max(np.abs(path)))


def test_discrete_disk_figures():
    """h = .1, W = 1, theta' = 2, 1000 steps: E 3.11 -> .154 (alpha 0), 3.114905067 (1/2), 3.13 -> 2236 (1)."""

    def energy(alpha, k):
        return 0.5 * (I + M * R * R) * DiscreteDisk(0.1, alpha, M, I, R, 2.0, 1.0).roll_rate(k) ** 2 + 0.5 * J

    assert energy(0.0, 0) == pytest.approx(3.11, abs=5e-3)
    assert energy(0.0, 999) == pytest.approx(0.154, abs=5e-4)
    assert energy(0.5, 0) == energy(0.5, 999) == pytest.approx(3.114905067, abs=5e-10)
    assert energy(1.0, 0) == pytest.approx(3.13, abs=6e-3)
    assert energy(1.0, 999) == pytest.approx(2236, abs=0.5)
    disk = DiscreteDisk(0.1, 0.5, M, I, R, 2.0, 1.0)
    assert disk.factor == 1.0
    assert disk.roll_rate(0) == pytest.approx(2.0016564, abs=5e-8)
    assert disk.roll_rate(0) == pytest.approx(2 * (I + M * R * R) / (I + M * R * R * np.cos(0.05)), rel=1e-15)
    assert disk.circle == pytest.approx(1.40174349, abs=5e-9)
    points = run_disk(0.1, 0.5, 1000)[0][:, :2]
    centre = np.linalg.lstsq(np.column_stack([2 * points, np.ones(1001)]), np.sum(points**2, axis=1), rcond=None)[0][:2]
    assert np.max(np.abs(np.linalg.norm(points - centre, axis=1) - disk.circle)) < 1e-12


def test_rate_of_energy_for_other_alpha():
    """ln(factor) / h = -(1 - 2 alpha) m R^2 h W^2 / (2 (I + m R^2)) + O(h^3)."""
    for alpha in (0.0, 0.25, 1.0):
        disk = DiscreteDisk(0.01, alpha, M, I, R, 2.0, 1.0)
        law = -(1 - 2 * alpha) * M * R * R * 0.01 / (2 * (I + M * R * R))
        assert np.log(disk.factor) / 0.01 == pytest.approx(law, rel=1e-3)


def test_order_of_the_driven_disk():
    """u = (.4 cos t, .3 sin 2t + .2), T = 4: alpha = 1/2 has order 2 and errors 2.47e-2 (N = 40) to 3.86e-4 (320); alpha = 0, 1 order 1."""

    def force(t):
        return np.array([0.0, 0.0, 0.4 * np.cos(t), 0.3 * np.sin(2 * t) + 0.2])

    def rate(t, y):
        return [
            R * np.cos(y[2]) * y[4],
            R * np.sin(y[2]) * y[4],
            y[3],
            0.4 * np.cos(t) / J,
            (0.3 * np.sin(2 * t) + 0.2) / (I + M * R * R),
            y[4],
        ]

    exact = solve_ivp(rate, (0, 4), [0, 0, 0, 1.0, 2.0, 0], "DOP853", rtol=1e-12, atol=1e-13).y[[0, 1, 2, 5], -1]
    for alpha, order in [(0.5, 2.0), (0.0, 1.0), (1.0, 1.0)]:
        errors = [np.linalg.norm(run_disk(4 / n, alpha, n, force=force)[0][-1] - exact) for n in (40, 80, 160, 320)]
        assert np.polyfit(np.log([40, 80, 160, 320]), np.log(errors), 1)[0] == pytest.approx(-order, abs=0.1)
        if alpha == 0.5:
            assert (errors[0], errors[-1]) == pytest.approx((2.47e-2, 3.86e-4), rel=5e-3)


# ---- knife edge


def test_knife_edge_reference():
    """Samples to t = 10; x and y are of size slope / W^2 = 1.2, y drifts to 12."""
    t, expected = column("knife_edge_incline", "t")[:, 0], column("knife_edge_incline", "x", "y")
    position, heading, _ = knife_edge(t, 0.5 * 9.81, 2.0)
    assert np.max(np.abs(position - expected)) < 2e-14
    assert np.all(heading == 2.0 * t)


@pytest.mark.parametrize(("turn", "phi0", "speed0"), [(1.3, 0.0, 0.0), (-0.7, 0.4, 1.5), (0.0, 0.4, 1.5), (0.01, -1.0, 0.3)])
def test_knife_edge_integrator_agrees(turn, phi0, speed0):
    def rate(t, y):
        phi = phi0 + turn * t
        return [y[2] * np.cos(phi), y[2] * np.sin(phi), 3.0 * np.cos(phi)]

    t = np.linspace(0, 4, 21)
    y = solve_ivp(rate, (0, 4), [0, 0, speed0], "DOP853", t, rtol=1e-13, atol=1e-14).y
    position, _, speed = knife_edge(t, 3.0, turn, phi0, speed0)
    tolerance = 1e-11 + 1e-15 * 3.0 / max(turn**2, 1e-4)
    assert np.max(np.abs(position - y[:2].T)) < tolerance
    assert np.max(np.abs(speed - y[2])) < tolerance


def test_knife_edge_orders_and_energy():
    """slope 3, W = 1.3, T = 4: alpha = 1/2 1.56e-2 (N = 40) to 2.43e-4 (320), order 2; else 1. E(q_{k+1/2}, v_k) in .33518-.34082."""
    mass, exact = np.array([1.0, 1.0, 0.4]), knife_edge(4.0, 3.0, 1.3)[0]

    def run(h, alpha, steps):
        return pontryagin(mass, blade_rows, lambda t: np.array([3.0, 0.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.3]), h, alpha, steps)

    for alpha, order in [(0.5, 2.0), (0.0, 1.0), (1.0, 1.0)]:
        errors = [np.linalg.norm(run(4 / n, alpha, n)[0][-1, :2] - exact) for n in (40, 80, 160, 320)]
        assert np.polyfit(np.log([40, 80, 160, 320]), np.log(errors), 1)[0] == pytest.approx(-order, abs=0.1)
        if alpha == 0.5:
            assert (errors[0], errors[-1]) == pytest.approx((1.56e-2, 2.43e-4), rel=5e-3)
    q, v = run(0.05, 0.5, 4000)
    energy = 0.5 * np.sum(mass * v**2, axis=1) - 3.0 * 0.5 * (q[1:, 0] + q[:-1, 0])
    assert (energy.min(), energy.max()) == pytest.approx((0.33518, 0.34082), abs=6e-6)


# ---- particle and sleigh


def test_particle_reference():
    t = column("nonholonomic_particle", "t")[:, 0]
    position, velocity = nonholonomic_particle(t, -1.0, 0.7, 0.5)
    assert np.max(np.abs(position - column("nonholonomic_particle", "x", "y", "z"))) < 1e-14
    assert np.max(np.abs(velocity[:, 0] - column("nonholonomic_particle", "vx")[:, 0])) < 1e-15
    assert np.max(np.abs(velocity[:, 2] - position[:, 1] * velocity[:, 0])) < 1e-15
    assert np.ptp(np.sum(velocity**2, axis=1)) < 1e-15


def test_sleigh_reference():
    """Samples to t = 10; the path is 10 long, so 1e-14 is round-off."""
    sleigh = ChaplyginSleigh(1.0, 0.5, 0.3, -0.8, 1.1)
    t = column("chaplygin_sleigh", "t")[:, 0]
    u, omega = sleigh.speeds(t)
    expected = column("chaplygin_sleigh", "u", "omega", "theta", "x_contact", "y_contact")
    assert np.max(np.abs(np.column_stack([u, omega, sleigh.heading(t), sleigh.position(t)]) - expected)) < 2e-14
    assert sleigh.position(t[-1]) == pytest.approx(expected[-1, 3:], abs=2e-14)  # one long interval
    assert sleigh.energy == pytest.approx(float(REFERENCE["chaplygin_sleigh"]["energy"]), rel=1e-15)
    assert sleigh.limit_speed == pytest.approx(float(REFERENCE["chaplygin_sleigh"]["limit_speed"]), rel=1e-15)
    assert sleigh.total_turn == pytest.approx(float(REFERENCE["chaplygin_sleigh"]["total_turn_over_all_time"]), rel=1e-15)
    assert sleigh.heading(200.0) - sleigh.heading(-200.0) == pytest.approx(sleigh.total_turn, rel=1e-14)


@pytest.mark.parametrize(
    ("a", "u0", "omega0"),
    [(0.3, 0.8, -1.1), (-0.4, 1.2, 0.3), (-0.4, 0.5, -0.6), (0.0, 0.5, 0.7), (0.2, 1.0, 0.0), (2.0, -1.0, 1e-6), (0.2, 0.0, 0.9)],
)
def test_sleigh_integrator_agrees(a, u0, omega0):
    """Backward in time as well; a start at omega = 1e-6 is unstable, errors of 1e-13 stay below 1e-9."""
    sleigh = ChaplyginSleigh(1.5, 0.4, a, u0, omega0)

    def rate(_, y):
        return [a * y[1] ** 2, -1.5 * a * y[0] * y[1] / (0.4 + 1.5 * a * a), y[1], y[0] * np.cos(y[2]), y[0] * np.sin(y[2])]

    for end in (8.0, -8.0):
        t = np.linspace(0, end, 17)
        y = solve_ivp(rate, (0, end), [u0, omega0, 0, 0, 0], "DOP853", t, rtol=1e-13, atol=1e-15).y
        u, omega = sleigh.speeds(t)
        assert np.max(np.abs(np.array([u, omega, sleigh.heading(t), *sleigh.position(t).T]) - y)) < 1e-9
        assert np.allclose(0.5 * 1.5 * (u**2 + sleigh.b**2 * omega**2), sleigh.energy, rtol=1e-14)


def test_sleigh_accepts_any_order_of_times():
    sleigh = ChaplyginSleigh(1.0, 0.5, 0.3, -0.8, 1.1)
    t = np.array([[3.0, -1.0], [0.0, 3.0]])
    p = sleigh.position(t)
    assert p.shape == (2, 2, 2)
    assert np.all(p[1, 0] == 0.0) and np.all(p[0, 0] == p[1, 1])
    assert np.allclose(p[0, 1], sleigh.position(-1.0), rtol=0, atol=1e-15)


def test_bad_arguments():
    with pytest.raises(OptionError, match="only alpha = 1/2"):
        _ = DiscreteDisk(0.1, 0.3, M, I, R, 2.0, 1.0).circle
    with pytest.raises(OptionError, match="straight line"):
        nonholonomic_particle(1.0, 0.0, 1.0, 0.0)
    with pytest.raises(OptionError, match="positive numbers"):
        ChaplyginSleigh(1.0, 0.0, 0.3, 1.0, 1.0)
