"""The Moser-Veselov steppers: one map solved in four ways, its exact invariants, its limits, and its explicit relative (caltech2008slides).

Set-up as in test_kobilarov_numbers.py: J = diag(1, 2, 2.5), omega0 = (0.3, 1, 0.4), R0 = 1, no torque.
"""

import re

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import dalembert as dal
from dalembert.errors import SimulationError
from dalembert.kernels.quat import cay
from dalembert.kernels.status import OK
from dalembert.steppers.rigid_body import moser_veselov, moser_veselov_cayley, quaternion
from dalembert.verification import free_body

J, OMEGA0 = np.array([1.0, 2.0, 2.5]), np.array([0.3, 1.0, 0.4])
VARIANTS = ("moser-veselov", "moser-veselov-cayley", "quaternion")


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def matrix(q):
    s, v = q[0], np.array(q[1:])
    return (2 * s * s - 1) * np.eye(3) + 2 * np.outer(v, v) + 2 * s * hat(v)


def run(stepper, h, n, omega=OMEGA0, inertia=J, **options):
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, inertia)
    return dal.simulate(m, stepper, h=h, t_end=n * h, v0=(*omega, 0, 0, 0), **options)


def spatial_momentum(traj):
    return np.einsum("nij,nj->ni", traj.poses[:, 0, :3, :3], J * traj.v[:, :3])


def frobenius_error(stepper, N):
    reference = matrix(free_body(J, OMEGA0, [4.0])[1][0])
    return np.linalg.norm(run(stepper, 4.0 / N, N).poses[-1, 0, :3, :3] - reference)


# one map ---------------------------------------------------------------------------------------------------------------------------


def rotation_direct(inertia, mu):
    return moser_veselov.solve_rotation(tuple(inertia), tuple(mu), 1e-13, 30, np.zeros(4))


def rotation_cayley(inertia, mu):
    status, x = moser_veselov_cayley.solve_rotation(tuple(inertia), tuple(mu), 1e-9, 30, np.zeros(4))
    return status, cay(x)


def rotation_quaternion(inertia, mu):
    return quaternion.solve_rotation(tuple(inertia), tuple(0.5 * mu), 1e-9, 30, np.zeros(4))


def riccati(inertia, mu):
    """W from SciPy's solver of the Riccati equation (Sigma - hat(mu)/2)(Sigma + hat(mu)/2) = L^2; None where it finds no solution."""
    L = np.diag(inertia.sum() / 2 - inertia)
    try:
        sigma = solve_continuous_are(-0.5 * hat(mu), np.eye(3), L @ L + 0.25 * hat(mu) @ hat(mu), np.eye(3))
    except np.linalg.LinAlgError:
        return None
    W = (sigma + 0.5 * hat(mu)) @ np.linalg.inv(L)
    return W if np.abs(W @ W.T - np.eye(3)).max() < 1e-8 else None


def random_case(rng, least, most):
    """Inertia with L = tr(J)/2 - J drawn from (0.1, 1), and mu = J x with |x| between least and most."""
    L = rng.uniform(0.1, 1.0, 3)
    inertia, x = L.sum() - L, rng.normal(size=3)
    return inertia, inertia * x * rng.uniform(least, most) / np.linalg.norm(x)


@pytest.mark.parametrize("solve", [rotation_direct, rotation_cayley, rotation_quaternion])
def test_solution_is_the_riccati_solution(solve):
    """SciPy's solver is good to about 1e-13 here; W L - L W^T = hat(mu) itself holds to round-off."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        inertia, mu = random_case(rng, 0.0, 0.9)
        status, q = solve(inertia, mu)
        assert status == OK
        W, L = matrix(q), np.diag(inertia.sum() / 2 - inertia)
        assert np.abs(W - riccati(inertia, mu)).max() < 2e-12
        assert np.abs(W @ L - L @ W.T - hat(mu)).max() < 2e-14


def test_all_find_the_same_branch_or_none():
    """Around the limit of solvability: wherever SciPy finds the solution all three find it, elsewhere none answers with another root."""
    rng = np.random.default_rng(6)
    solvable = unsolvable = 0
    for _ in range(300):
        inertia, mu = random_case(rng, 0.9, 1.2)
        W = riccati(inertia, mu)
        answers = [solve(inertia, mu) for solve in (rotation_direct, rotation_cayley, rotation_quaternion)]
        if W is None:
            assert all(status != OK for status, _ in answers)
            unsolvable += 1
        else:
            assert all(status == OK and np.abs(matrix(q) - W).max() < 1e-6 for status, q in answers)
            solvable += 1
    assert min(solvable, unsolvable) > 50


@pytest.mark.parametrize("h", [0.1, 0.3])
def test_variants_agree(h):
    """Attitude and node momentum to round-off after one and after ten steps."""
    runs = [run(stepper, h, 10) for stepper in VARIANTS]
    for traj in runs[1:]:
        assert np.abs(traj.q[1] - runs[0].q[1]).max() < 1e-15
        assert np.abs(traj.q - runs[0].q).max() < 1e-14
        assert np.abs(traj.v - runs[0].v).max() < 1e-14


# numbers ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", VARIANTS)
@pytest.mark.parametrize("h", [0.1, 0.3])
def test_invariants(stepper, h):
    """R mu, |mu| and mu . J^-1 mu / 2 over 1e4 steps (printed: 2e-14 for mu = h p; in units of p the largest measured is 4e-14)."""
    traj = run(stepper, h, 10_000)
    p = J * traj.v[:, :3]
    assert np.abs(spatial_momentum(traj) - J * OMEGA0).max() < 6e-14
    assert np.ptp(np.linalg.norm(p, axis=1)) < 6e-14
    assert np.ptp(0.5 * np.sum(p * p / J, axis=1)) < 6e-14


PRINTED = {20: (5.46e-2, 1e-4), 40: (1.34e-2, 1e-4), 80: (3.34e-3, 1e-5), 160: (8.34e-4, 1e-6), 320: (2.08e-4, 1e-6)}


@pytest.mark.parametrize("stepper", VARIANTS)
@pytest.mark.parametrize("N", PRINTED)
def test_attitude_error_at_t_4(stepper, N):
    """Frobenius norm, half a unit of the last printed digit (.51: 8.335e-4 was printed as 8.34e-4)."""
    printed, unit = PRINTED[N]
    assert abs(frobenius_error(stepper, N) - printed) < 0.51 * unit


@pytest.mark.parametrize(("N", "printed", "unit"), [(20, 0.271, 1e-3), (320, 1.51e-2, 1e-4)])
def test_attitude_error_of_the_explicit_variant(N, printed, unit):
    assert abs(frobenius_error("moser-veselov-explicit", N) - printed) < 0.51 * unit


def test_energy_of_the_explicit_variant_drifts():
    """Momentum exact; energy rises monotonically to |p|^2/(2 J_min) = 2.545 J: +1.30 J within 1000 s."""
    traj = run("moser-veselov-explicit", 0.1, 10_000)
    p = J * traj.v[:, :3]
    assert np.abs(spatial_momentum(traj) - J * OMEGA0).max() < 1e-13
    assert abs(traj.energy[-1] - traj.energy[0] - 1.30) < 1e-12
    assert traj.energy[-1] == pytest.approx(p[0] @ p[0] / 2.0, abs=1e-12)
    assert np.diff(traj.energy).min() > -2e-15


# limits ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", VARIANTS)
@pytest.mark.parametrize("axis", range(3))
def test_principal_axis_is_solvable_below_one(stepper, axis):
    """mu = J_i sin(angle): the interval turns by asin(h |omega|)."""
    omega = 0.9999 * np.eye(3)[axis]
    turned = run(stepper, 1.0, 1, omega).q[1, 3:]
    assert 2.0 * np.arctan2(turned[1 + axis], turned[0]) == pytest.approx(np.arcsin(0.9999), abs=1e-9)


@pytest.mark.parametrize("stepper", VARIANTS)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("x", [1.0001, 1.5, 10.0])
def test_principal_axis_has_no_solution_beyond_one(stepper, axis, x):
    """The error names the largest provable step, and that step indeed runs."""
    omega = x * np.eye(3)[axis]
    assert riccati(J, J * omega) is None
    with pytest.raises(SimulationError) as failure:
        run(stepper, 1.0, 1, omega)
    assert np.array_equal(failure.value.traj.t, [0.0])
    proved = float(re.search(r"largest step that is provably solvable here is h = ([0-9.e-]+) s", str(failure.value))[1])
    assert 0.0 < proved * x < 1.0
    assert run(stepper, 0.999 * proved, 10, omega).status == "ok"


def test_cayley_has_no_such_limit():
    for axis in range(3):
        assert run("cayley", 1.0, 5, 10.0 * np.eye(3)[axis]).status == "ok"


BOX = np.array([97.0, 82.0, 17.0]) / 120.0  # 1 x 4 x 9: nearly flat, the entries of L^2 differ by 6600


@pytest.mark.parametrize(
    "stepper",
    [
        "moser-veselov",
        "moser-veselov-cayley",
        "quaternion",
    ],
)
def test_energy_of_a_nearly_flat_body_does_not_drift(stepper):
    """1e4 steps at the default tolerance: round-off is 1e-14."""
    E = run(stepper, 0.05, 10_000, (0.1, 5.0, 0.1), BOX).energy
    assert np.ptp(E) < 1e-13 * E[0]


def test_energy_of_a_nearly_flat_body_with_a_tight_tolerance():
    E = run("moser-veselov", 0.05, 10_000, (0.1, 5.0, 0.1), BOX, tol=1e-13).energy
    assert np.ptp(E) < 1e-13 * E[0]
