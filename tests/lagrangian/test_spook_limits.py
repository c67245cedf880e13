"""SPOOK beside linear theory: momentum with redundant rows, limits of compliance, rheonomic constraints, drag, equality with SHAKE."""

import numpy as np
import pytest

import dalembert as dal

H = 1 / 60
MASSES = np.array([1.0, 2.0, 0.7])
ROT = np.array([[0.0, -1.0], [1.0, 0.0]])
PLANE = {"x": np.tile([1.0, 0.0], 3), "y": np.tile([0.0, 1.0], 3), "turn": np.kron(np.eye(3), ROT)}


def chain(rows):
    """Three masses; `rows`: which distances, each 1, are kept."""

    def distance(q, i, j):
        d = q[2 * i : 2 * i + 2] - q[2 * j : 2 * j + 2]
        return 0.5 * (d @ d - 1.0)

    return dal.Lagrangian(
        6,
        lambda q, v: 0.5 * sum(m * (v[2 * i] ** 2 + v[2 * i + 1] ** 2) for i, m in enumerate(MASSES)),
        holonomic=lambda q: [distance(q, i, j) for i, j in rows],
        symmetries=PLANE,
        name="three masses",
    )


TRIANGLE = [(0, 1), (1, 2), (0, 2)]
Q0 = np.array([0.0, 0.0, 1.0, 0.0, 0.5, np.sqrt(0.75)])
SPIN = np.kron(np.eye(3), ROT) @ Q0


@pytest.mark.parametrize("rows", [TRIANGLE[:2], [*TRIANGLE[:2], (0, 1)], [*TRIANGLE, (1, 2)]])
def test_momentum_is_exact_with_internal_and_duplicated_constraints(rows):
    """2,000 steps with epsilon, tau > 0: linear 3e-15, angular 8e-15 (times a few for another machine); twins share the load."""
    system = chain(rows)
    traj = dal.simulate(system, "spook", h=H, t_end=2000 * H, q0=Q0, v0=1.5 * SPIN + 0.1 * np.sin(np.arange(6)), epsilon=1e-6, tau=2.0)
    change = np.abs(traj.momentum - traj.momentum[0]).max(axis=0)
    assert change[:2].max() < 3e-14
    size = np.abs(np.repeat(MASSES, 2) * traj.v).sum(axis=1).max() * np.abs(traj.q).max()
    assert change[2] < 2.2e-16 * size * np.sqrt(2000)
    force = traj.multipliers["holonomic"]
    for twin in {r for r in rows if rows.count(r) == 2}:
        a, b = (i for i, r in enumerate(rows) if r == twin)
        assert np.abs(force[:, a] - force[:, b]).max() < 1e-9 * np.abs(force).max()


def test_exact_figures_of_centred_masses():
    """With the centre of mass at rest: 3e-15 and 8e-15, as measured; doubled here for other orders of summation."""
    system, v0 = chain([*TRIANGLE[:2], (0, 1)]), 1.5 * SPIN
    v0 = v0 - np.tile(MASSES @ v0.reshape(3, 2) / MASSES.sum(), 3)
    traj = dal.simulate(system, "spook", h=H, t_end=2000 * H, q0=Q0, v0=v0, epsilon=1e-6, tau=2.0)
    change = np.abs(traj.momentum - traj.momentum[0]).max(axis=0)
    assert change[:2].max() < 6e-15
    assert change[2] < 3e-14


def test_duplicates_leave_the_motion_alone():
    """A row given twice with compliance epsilon is one row with epsilon/2 and twice the force."""
    options = {"h": H, "t_end": 5.0, "q0": Q0, "v0": 1.5 * SPIN, "tau": 2.0}
    twice = dal.simulate(chain([(0, 1), (0, 1)]), "spook", epsilon=1e-3, **options)
    once = dal.simulate(chain([(0, 1)]), "spook", epsilon=5e-4, **options)
    assert np.abs(twice.q - once.q).max() < 1e-12
    assert np.abs(twice.multipliers["holonomic"].sum(axis=1) - once.multipliers["holonomic"][:, 0]).max() < 1e-10


# limits ----------------------------------------------------------------------------------------------------------------------------------


def pendulum():
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 10 * q[1], holonomic=lambda q: [0.5 * (q @ q - 1)], name="pendulum")


@pytest.mark.parametrize("form", ["linear", "regularized", "stabilized"])
def test_compliance_perturbs_by_its_own_order(form):
    """|q(epsilon) - q(0)| = O(epsilon): a tenth of the compliance, a tenth of the difference."""
    options = {"h": H, "t_end": 2.0, "q0": [1.0, 0.0], "v0": [0.0, 0.0], "tau": 2.0, "form": form}
    rigid = dal.simulate(pendulum(), "spook", epsilon=0.0, **options).q
    found = [np.abs(dal.simulate(pendulum(), "spook", epsilon=e, **options).q - rigid).max() for e in (1e-6, 1e-7, 1e-8, 1e-9)]
    assert np.abs(np.log10(np.array(found[:-1]) / found[1:]) - 1).max() < 0.1


def test_regularized_without_compliance_is_shake():
    """(4.11) with epsilon = 0 and g(q_-1) = g(q_0) = 0 is (3.95): positions of SHAKE, started with the same q_-1."""
    angle = 0.02
    before, q0 = np.array([np.cos(angle), np.sin(angle)]), np.array([1.0, 0.0])
    v = (q0 - before) / H
    regular = dal.simulate(pendulum(), "spook", h=H, t_end=2.0, q0=q0, v0=v, epsilon=0.0, form="regularized")
    p = v - 0.5 * H * np.array([0.0, 10.0])  # momentum at q_0 after the half kick; the part along q_0 is the constraint's
    shake = dal.simulate(pendulum(), "shake", h=H, t_end=2.0, q0=q0, v0=p - q0 * (q0 @ p))
    assert np.abs(regular.q - shake.q).max() < 1e-10


def test_driven_length():
    """g = |q| - l(t) on a mass that swings: spook follows shake, both held to l(t) to the orders of their schemes."""

    def length(t):
        return 1 + 0.1 * np.sin(2 * t)

    system = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 10 * q[1], holonomic=lambda q, t: [0.5 * (q @ q - length(t) ** 2)])
    start = {"q0": [1.0, 0.0], "v0": [0.2, 0.0], "t_end": 3.0}
    fine = dal.simulate(system, "rattle", h=2e-4, every=100, **start)
    assert np.abs(np.linalg.norm(fine.q, axis=1) - length(fine.t)).max() < 1e-14
    assert np.abs(np.sum(fine.q * fine.v, axis=1) - length(fine.t) * 0.2 * np.cos(2 * fine.t)).max() < 1e-13
    for stepper, order, options in (("rattle", 2, {}), ("shake", 2, {}), ("alpha", 2, {}), ("spook", 1, {"epsilon": 0.0, "tau": 2.0})):
        errors = []
        for n in (2, 4, 8, 16):
            traj = dal.simulate(system, stepper, h=0.02 / n, every=n, **start, **options)
            errors.append(np.abs(traj.q - fine.q).max())
        rate = np.log2(errors[-2] / errors[-1])
        assert abs(rate - order) < 0.15, (stepper, errors)


@pytest.mark.parametrize("form", ["linear", "regularized", "stabilized"])
def test_rheonomic_row_has_no_lag_on_a_linear_drive(form):
    """g = q - a - b t, epsilon = 0, from v = b: stays exactly; the term with dg/dt is what the thesis leaves out."""
    system = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 3 * q[0], holonomic=lambda q, t: [q[0] - 0.3 - 0.7 * t])
    for tau in (0.0, 0.5, 2.0, 10.0):
        traj = dal.simulate(system, "spook", h=H, t_end=2.0, q0=[0.3], v0=[0.7], epsilon=0.0, tau=tau, form=form)
        assert np.abs(traj.q[:, 0] - 0.3 - 0.7 * traj.t).max() < 1e-12
        assert np.abs(traj.multipliers["holonomic"] - 3.0).max() < 1e-8
    if form == "regularized":
        return
    pulled = dal.simulate(system, "spook", h=H, t_end=1.0, q0=[0.4], v0=[0.7], epsilon=0.0, tau=2.0, form=form)
    k = np.arange(61)
    assert pulled.q[:, 0] - 0.3 - 0.7 * pulled.t == pytest.approx(0.1 * (1 + 2 * k / 3) / 3.0**k, abs=1e-12)


def test_quadratic_drive_lags_by_a_fixed_amount():
    """g = q - a t^2/2: x'' of the row is -a, so the violation settles at a h^2 (1 + 2 tau/h) / 4 (the law of centripetal acceleration)."""
    a = 2.0
    system = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, holonomic=lambda q, t: [q[0] - 0.5 * a * t * t])
    for tau in (0.5, 1.0, 2.0):
        traj = dal.simulate(system, "spook", h=H, t_end=3.0, q0=[0.0], v0=[0.0], epsilon=0.0, tau=tau)
        lag = traj.q[-1, 0] - 0.5 * a * traj.t[-1] ** 2
        assert abs(lag) == pytest.approx(a * H**2 * (1 + 2 * tau) / 4, rel=1e-9), lag


# velocity constraints --------------------------------------------------------------------------------------------------------------------


def test_driven_crank_by_a_velocity_row():
    """phi' = omega(t) on a pendulum's angle (7.11): gamma = 0 holds it in every step, gamma > 0 creeps by gamma times the torque."""
    system = dal.Lagrangian(
        1, lambda q, v: 0.5 * v[0] ** 2 + 10 * np.cos(q[0]), pfaffian=lambda q, t: (np.array([[1.0]]), np.array([-(1 + 0.5 * np.sin(t))]))
    )
    stiff = dal.simulate(system, "spook", h=H, t_end=5.0, q0=[0.0], v0=[1.0], gamma=0.0)
    assert np.abs(stiff.v[1:, 0] - 1 - 0.5 * np.sin(stiff.t[:-1])).max() < 1e-13  # the row at the step's first node
    soft = dal.simulate(system, "spook", h=H, t_end=5.0, q0=[0.0], v0=[1.0], gamma=1e-3)
    creep = soft.v[1:, 0] - 1 - 0.5 * np.sin(soft.t[:-1])
    assert np.abs(creep + 1e-3 * soft.multipliers["pfaffian"][:, 0]).max() < 1e-13
    half = dal.simulate(system, "spook", h=H, t_end=5.0, q0=[0.0], v0=[1.0], gamma=5e-4)
    assert np.abs(soft.q - stiff.q).max() / np.abs(half.q - stiff.q).max() == pytest.approx(2.0, abs=0.02)  # O(gamma)


def test_rayleigh_function_of_a_row_is_its_drag():
    """Theorem 4.2: R = (1/2 gamma) a^2 and the row with gamma are one thing on a linear row: same run, and no oscillation."""
    gamma = 1e-2
    row = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), pfaffian=lambda q: np.array([[1.0, -2.0]]))
    drag = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), rayleigh=lambda q, v: 0.5 / gamma * (v[0] - 2 * v[1]) ** 2)
    start = {"h": H, "t_end": 1.0, "q0": [0.0, 0.0], "v0": [1.0, 0.3]}
    a, b = dal.simulate(row, "spook", gamma=gamma, **start), dal.simulate(drag, "spook", **start)
    assert np.abs(a.q - b.q).max() < 1e-13
    speed = a.v @ [1.0, -2.0]
    assert (np.diff(speed) <= 1e-15).all()
    assert speed[1] == pytest.approx(0.4 / (1 + 5 * H / gamma), rel=1e-12)
