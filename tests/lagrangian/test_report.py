"""Reports of Lagrangians judge what stepper and formulas allow, and fail what breaks a promise."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert.report.lagrangian_facts import LagrangianFacts
from dalembert.runs.trajectory import Trajectory

TURN = ((0.0, -1.0), (1.0, 0.0))
START = {"q0": (1.0, 0.0), "v0": (0.1, 1.1)}


def kepler(**more):
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) + 1 / np.sqrt(q @ q), symmetries={"rotation": TURN}, **more)


def pendulum(**more):
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + np.cos(q[0]), **more)


def changed(traj, stepper=None, **columns):
    """The same run with other columns, or with another stepper's promises."""
    names = ("q", "v", "work", "impulse")
    unpacked = {k: columns.get(k, getattr(traj, k)) for k in names}
    unpacked["v_interval"] = np.vstack([traj.v[:1], traj.v_interval])
    unpacked["multipliers"] = traj._multipliers
    return Trajectory(traj.model, stepper or traj.stepper, traj.meta, traj.t, traj.states, traj._log, unpacked)


# energy -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", [s.name for s in dal.steppers(system="lagrangian", conserves="energy")])
@pytest.mark.parametrize("h", [0.01, 0.05])
def test_correct_runs_pass(stepper, h):
    report = dal.simulate(kepler(), stepper, h=h, t_end=50.0, **START).report()
    assert report.verdict == "pass", report.text
    assert report["energy"].promised == "bounded"
    assert report["momentum of rotation"].verdict == "pass"


def test_the_band_follows_from_order_and_rate():
    """Omega of Kepler's problem at distance r is sqrt(2/r^3); here r is never below 0.99."""
    for h in (0.01, 0.02):
        traj = dal.simulate(kepler(), "midpoint", h=h, t_end=20.0, **START)
        assert LagrangianFacts(traj).rate == pytest.approx(np.sqrt(2.0 / np.linalg.norm(traj.q, axis=1).min() ** 3), rel=0.05)
        assert traj.report()["energy"].limit == pytest.approx((1.43 * h) ** 2, rel=0.1)


def test_the_rate_of_a_linear_oscillator_is_its_frequency():
    for stiffness in (1.0, 400.0):
        s = dal.Lagrangian(1, lambda q, v, k=stiffness: 0.5 * v[0] ** 2 - 0.5 * k * q[0] ** 2)
        facts = LagrangianFacts(dal.simulate(s, "midpoint", h=0.001, t_end=5.0, q0=1.0))
        assert facts.rate == pytest.approx(np.sqrt(stiffness), rel=1e-3)


def test_a_change_of_energy_beyond_the_band_fails():
    traj = dal.simulate(kepler(), "midpoint", h=0.01, t_end=20.0, **START)
    faster = changed(traj, v=traj.v * np.linspace(1.0, 1.001, len(traj))[:, None])
    report = faster.report()
    assert report["energy"].verdict == "fail"
    assert report["momentum of rotation"].verdict == "fail"
    assert report.verdict == "fail"


def test_a_slow_drift_inside_the_band_fails():
    """A change of half of the band is allowed, but not along a line that an oscillating energy crosses all the time."""
    traj = dal.simulate(pendulum(), "midpoint", h=0.1, t_end=2000.0, q0=1.0)
    assert traj.report()["energy"].verdict == "pass"
    added = np.linspace(0.0, 0.002, len(traj))[:, None]  # J; the largest kinetic energy is 0.46 J, the band 0.01 of it
    drifting = changed(traj, v=np.copysign(np.sqrt(traj.v**2 + 2 * added), traj.v))
    found = drifting.report()["energy"]
    assert found.verdict == "fail", found.text
    assert "drifts" in found.text


def test_energy_of_methods_without_promise_is_measured():
    report = dal.simulate(kepler(), "spook", h=0.01, t_end=5.0, **START).report()
    assert report["energy"].verdict == "not applicable"
    assert "not promised" in report["energy"].text


@pytest.mark.parametrize("h", [0.01, 0.1])
@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "verlet", "galerkin4"])
def test_energy_balances_the_work_of_forces_and_damping(stepper, h):
    s = pendulum(rayleigh=lambda q, v: 0.05 * v[0] ** 2, force=lambda q, v, t: [0.3 * np.cos(1.3 * t)])
    report = dal.simulate(s, stepper, h=h, t_end=50.0, q0=1.0).report()
    assert report["energy balance"].verdict == "pass", report.text


def test_work_with_the_wrong_sign_fails():
    s = pendulum(rayleigh=lambda q, v: 0.05 * v[0] ** 2)
    traj = dal.simulate(s, "midpoint", h=0.05, t_end=50.0, q0=1.0)
    assert traj.report()["dissipation"].verdict == "pass"
    assert changed(traj, work=-traj.work).report()["energy balance"].verdict == "fail"


def test_a_control_is_balanced_too():
    traj = dal.simulate(kepler(), "midpoint", h=0.01, t_end=5.0, control=lambda t, q, v: 0.1 * v, **START)
    report = traj.report()
    assert report["energy balance"].verdict == "pass"
    assert report["momentum of rotation"].verdict == "pass"
    assert "impulse" in report["momentum of rotation"].text
    assert changed(traj, impulse=-traj.impulse).report()["momentum of rotation"].verdict == "fail"


def test_a_control_that_never_pushes_changes_nothing():
    report = dal.simulate(kepler(), "midpoint", h=0.01, t_end=5.0, control=lambda t, q, v: 0.0 * v, **START).report()
    assert report["energy"].promised == "bounded"
    assert report["momentum of rotation"].promised == "exactly"


def test_driven_constraints_are_measured_only():
    def L(q, v):
        return 0.5 * (v @ v) - 9.81 * q[1]

    s = dal.Lagrangian(2, L, holonomic=lambda q, t: [(q[0] - 0.1 * np.sin(3 * t)) ** 2 + q[1] ** 2 - 1])
    q0, v0 = s.assemble((0.0, -1.0))
    report = dal.simulate(s, "rattle", h=0.01, t_end=5.0, q0=q0, v0=v0).report()
    assert report["energy"].verdict == "not applicable"
    assert "depend on time" in report["energy"].text
    assert report["holonomic"].verdict == "pass"


# momentum ---------------------------------------------------------------------------------------------------------------------------


def test_each_symmetry_is_judged_by_its_name():
    s = dal.Lagrangian(3, lambda q, v: 0.5 * (v @ v) - 9.81 * q[2], symmetries={"x": (1, 0, 0), "y": (0, 1, 0)})
    report = dal.simulate(s, "midpoint", h=0.1, t_end=10.0, v0=(1, 2, 3)).report()
    assert [report[f"momentum of {name}"].verdict for name in "xy"] == ["pass", "pass"]


def test_a_generator_that_is_not_affine_is_measured_only():
    """A free particle in polar coordinates (r, a): its shift along x is a symmetry, xi = (cos a, -sin a / r), that no affine map gives."""
    s = dal.Lagrangian(
        2,
        lambda q, v: 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2),
        symmetries={"shift": lambda q: [np.cos(q[1]), -np.sin(q[1]) / q[0]], "turn": (0, 1)},
    )
    assert s.affine_symmetries == (False, True)
    report = dal.simulate(s, "midpoint", h=0.01, t_end=5.0, q0=(1.0, 0.0), v0=(0.1, 1.0)).report()
    assert report["momentum of shift"].verdict == "not applicable"
    assert "not affine" in report["momentum of shift"].text
    assert report["momentum of shift"].measured > 1e-9
    assert report["momentum of turn"].verdict == "pass"


def test_constraints_that_push_along_a_symmetry_void_it():
    s = dal.Lagrangian(
        3,
        lambda q, v: 0.5 * (v @ v),
        holonomic=lambda q: [0.5 * (q @ q - 1)],
        symmetries={"x": (1, 0, 0), "turn": ((0, -1, 0), (1, 0, 0), (0, 0, 0))},
    )
    report = dal.simulate(s, "rattle", h=0.01, t_end=5.0, q0=(0.6, 0, 0.8), v0=(0, 1, 0)).report()
    assert report["momentum of x"].verdict == "not applicable"
    assert "constraints push along it" in report["momentum of x"].text
    assert report["momentum of turn"].verdict == "pass"


def test_impulse_of_a_force_is_balanced():
    """A constant force along a shift: the ledger holds h times it exactly."""
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, force=lambda q, v: [0.7], symmetries={"shift": (1,)})
    report = dal.simulate(s, "midpoint", h=0.01, t_end=3.0).report()
    assert report["momentum of shift"].measured < 1e-12


def test_a_force_across_a_symmetry_leaves_its_momentum_exact():
    s = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), force=lambda q, v: [0.7, 0.0], symmetries={"y": (0, 1)})
    found = dal.simulate(s, "midpoint", h=0.01, t_end=3.0, v0=(0, 1)).report()["momentum of y"]
    assert found.verdict == "pass"
    assert found.promised == "exactly"


# constraints ------------------------------------------------------------------------------------------------------------------------


def spherical_pendulum():
    return dal.Lagrangian(3, lambda q, v: 0.5 * (v @ v) - 9.81 * q[2], holonomic=lambda q: [0.5 * (q @ q - 1)])


@pytest.mark.parametrize("stepper", ["shake", "rattle"])
def test_constraints_are_kept_where_promised(stepper):
    traj = dal.simulate(spherical_pendulum(), stepper, h=0.01, t_end=20.0, q0=(0.6, 0, -0.8), v0=(0, 1, 0))
    found = traj.report()["holonomic"]
    assert found.verdict == "pass"
    assert found.measured < 1e-13
    broken = changed(traj, q=traj.q * np.linspace(1.0, 1.0 + 1e-9, len(traj))[:, None]).report()["holonomic"]
    assert broken.verdict == "fail"
    assert "row 1" in broken.text


def test_constraints_are_measured_where_not_promised():
    traj = dal.simulate(spherical_pendulum(), "spook", h=0.01, t_end=5.0, q0=(0.6, 0, -0.8), v0=(0, 1, 0))
    found = traj.report()["holonomic"]
    assert found.verdict == "not applicable"
    assert 1e-8 < found.measured < 0.1
    lost = changed(traj, q=2.0 * traj.q).report()["holonomic"]
    assert lost.verdict == "warn"


def tiny_pendulum(length):
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 9.81 * q[1], holonomic=lambda q: [q @ q - length**2])


@pytest.mark.parametrize("length", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(
    ("stepper", "advice"), [("spook", "lower the option epsilon, here 1e-06"), ("penalty-midpoint", "raise the option stiffness")]
)
def test_a_constraint_that_gives_way_by_as_much_as_the_motion_warns(length, stepper, advice):
    """A pendulum whose rod is softer than its weight falls freely: the violation is small as a number, and half of all that moves."""
    h = 2 * np.pi * np.sqrt(length / 9.81) / 200
    traj = dal.simulate(tiny_pendulum(length), stepper, h=h, t_end=400 * h, q0=(length, 0))
    assert np.linalg.norm(traj.q, axis=1).max() > 2 * length
    found = traj.report()["holonomic"]
    assert found.verdict == "warn" and advice in found.text
    assert traj.report().verdict != "pass"


@pytest.mark.parametrize("length", [1.0, 1e-2, 1e-4])
def test_a_tiny_pendulum_whose_rod_is_stiff_enough_does_not_warn(length):
    h = 2 * np.pi * np.sqrt(length / 9.81) / 200
    traj = dal.simulate(tiny_pendulum(length), "spook", h=h, t_end=400 * h, q0=(length, 0), epsilon=1e-6 * length**3)
    assert traj.report()["holonomic"].verdict == "not applicable"


def test_constraints_on_velocities():
    s = dal.Lagrangian(
        4,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2 + 0.125 * v[3] ** 2,
        pfaffian=lambda q: [[1, 0, -np.cos(q[3]), 0], [0, 1, -np.sin(q[3]), 0]],
        symmetries={"x": (1, 0, 0, 0), "turning": (0, 0, 0, 1)},
    )
    traj = dal.simulate(s, "alpha", h=0.01, t_end=10.0, q0=np.zeros(4), v0=(1, 0, 1, 0.5))
    report = traj.report()
    assert report["pfaffian"].measured < 1e-13
    assert report["momentum of turning"].verdict == "pass"
    assert report["momentum of x"].verdict == "not applicable"
    assert "constraints on velocities" in report["energy"].text
    promising = replace(traj.stepper, conserves=(*traj.stepper.conserves, "constraint: exactly"))
    assert changed(traj, promising).report()["pfaffian"].verdict == "pass"
    assert changed(traj, promising, v=traj.v + np.array([1e-6, 0, 0, 0])).report()["pfaffian"].verdict == "fail"


# the rest ---------------------------------------------------------------------------------------------------------------------------


def test_solver_and_status():
    report = dal.simulate(kepler(), "midpoint", h=0.01, t_end=1.0, **START).report()
    assert report["solver"].measured <= 3
    assert report["run"].verdict == "pass"
    assert dal.simulate(kepler(), "verlet", h=0.01, t_end=1.0, **START).report()["solver"].verdict == "not applicable"
    close = dal.simulate(kepler(), "midpoint", h=0.01, t_end=1.0, max_iterations=2, **START).report()
    assert close["solver"].verdict == "warn"


def test_a_report_of_many_nodes_is_quick():
    import time

    traj = dal.simulate(pendulum(), "verlet", h=0.01, t_end=3000.0, q0=1.0)
    assert len(traj) == 300_001
    began = time.process_time()
    assert traj.report().verdict == "pass"
    assert time.process_time() - began < 10.0


def test_random_systems_pass():
    """Masses, stiffnesses and couplings by chance: bands of correct runs stay below their limits."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        n = int(rng.integers(1, 4))
        A, B = rng.standard_normal((2, n, n))
        M, K = A @ A.T + np.eye(n), B @ B.T + np.eye(n)

        def L(q, v, M=M, K=K):
            return 0.5 * (v @ M @ v) * (1 + 0.2 * np.cos(q[0])) - 0.5 * (q @ K @ q) - 0.1 * q[0] ** 4

        s = dal.Lagrangian(n, L)
        start = {"q0": rng.standard_normal(n), "v0": rng.standard_normal(n)}
        for stepper in ("midpoint", "trapezoidal", "galerkin4"):
            report = dal.simulate(s, stepper, h=0.05, t_end=100.0, **start).report()
            assert report.verdict == "pass", report.text
            assert report["energy"].measured < 0.6 * report["energy"].limit


def test_a_momentum_whose_terms_cancel_is_judged_by_their_size():
    """A cart and its pendulum start at rest: their momentum along the track is zero, a sum of terms that are not."""

    def L(q, v):
        return v[0] ** 2 + 0.5 * v[0] * v[1] * np.cos(q[1]) + 0.125 * v[1] ** 2 + 4.9 * np.cos(q[1])

    cart = dal.Lagrangian(2, L, symmetries={"push": [1, 0]})
    report = dal.simulate(cart, "midpoint", h=0.01, t_end=20, q0=[0, 2.0]).report()
    assert report["momentum of push"].verdict == "pass"
    assert report["momentum of push"].measured < 1e-12
