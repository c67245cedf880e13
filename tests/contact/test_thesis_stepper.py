"""Numbers of Lacoursiere 2007, chapters 4 to 6, by machines of bodies: spectrum of the step, static loads, motors, momentum, pendulum."""

import numpy as np
import pytest
from contact_laws import H, Steps

import dalembert as dal
from dalembert.contact.problem import BILATERAL, StepProblem
from dalembert.contact.solver import StepSolver
from dalembert.model.cut import cut

SOLVED = 1e-9  # m/s: rows of a step


def slider(compliance=0.0, gravity=(0, 0, 0), mass=2.0, **options):
    m = dal.Model(gravity=gravity)
    m.add_body("a", mass, (1, 1, 1))
    m.add_joint("j", "prismatic", "world", "a", axis=(0, 1, 0), compliance=compliance)
    return Steps(cut(m), **options)


# spectrum (4.43-4.50) ----------------------------------------------------------------------------------------------------------------


def step_map(theta, sigma):
    """The 2 x 2 map of (g, h dg/dt) over a step, read off one row of a body: sigma = S/(S + Sigma), S = 1/m."""
    mass, h = 2.0, H
    eps = 1e-14 if sigma == 1.0 else h * h * (1 + 4 * theta) / 4 * (1 / mass) * (1 / sigma - 1)
    columns = []
    for gap, rate in ((1e-2, 0.0), (0.0, 1e-2)):
        s = slider(eps, mass=mass, tau=theta)
        s.x[0, 0], s.v[0, 0] = gap, rate / h
        s.step()
        columns.append((s.x[0, 0] / 1e-2, h * s.v[0, 0] / 1e-2))
    return np.array(columns).T


SPECTRUM = {0.25: 0.7071, 0.5: 0.5774, 1: 0.4472, 2: 1 / 3, 3: 0.6511, 5: 0.7974, 10: 0.8997, 100: 0.9900}


@pytest.mark.parametrize(("theta", "radius"), SPECTRUM.items())
def test_the_step_contracts_violations_as_computed(theta, radius):
    """eps = 0: spectral radius; the closed form is 1/sqrt(1 + 4 theta) up to theta = 2, where both roots are 1/3."""
    found = np.abs(np.linalg.eigvals(step_map(theta, 1.0))).max()
    loose = 1e-3 if theta == 2 else 6e-5  # a double root moves by the square root of what is solved to 1e-9; four digits are printed
    assert found == pytest.approx(radius, abs=loose)


@pytest.mark.parametrize(("theta", "radius"), {1: 0.7746, 2: 0.7454, 5: 0.7238, 10: 0.8840}.items())
def test_a_compliance_of_half_the_effective_mass_slows_the_contraction_as_computed(theta, radius):
    assert np.abs(np.linalg.eigvals(step_map(theta, 0.5))).max() == pytest.approx(radius, abs=6e-5)


@pytest.mark.parametrize("sigma", [0.3, 0.9])
def test_without_damping_the_step_turns_and_does_not_contract(sigma):
    roots = np.linalg.eigvals(step_map(0.0, sigma))
    np.testing.assert_allclose(np.abs(roots), 1.0, atol=1e-5)  # solved to 1e-9 of 1e-2/h m/s
    assert np.real(roots[0]) == pytest.approx(1 - 2 * sigma, abs=1e-5)  # beta = 1 - 2 sigma


def network(rng, bodies, rows, rank):
    """Random rows on pairs of unit bodies, of which `rank` are independent."""
    pairs = np.array([rng.choice(bodies, 2, replace=False) for _ in range(rows)])
    J = rng.normal(size=(rows, 12))
    for r in range(rank, rows):
        k = rng.integers(rank)
        pairs[r], J[r] = pairs[k], rng.uniform(0.5, 2.0) * J[k]
    return pairs, J


def projected_radius(pairs, J, bodies, eps, theta, h=H):
    """Spectral radius of the map of (G q, h G v) in range(G), from one linear step of `StepSolver` for each direction."""
    rows, n = len(J), 6 * bodies
    unit = np.broadcast_to(np.eye(6), (bodies, 6, 6)).copy()
    Y = 1 / (1 + 4 * theta)
    sigma = 4 * eps * Y / h**2
    G = StepProblem(
        pairs, np.full(rows, BILATERAL), np.arange(rows + 1), J, np.zeros(rows), sigma, np.zeros(rows), unit, unit, np.zeros(n)
    ).jacobian()
    basis = np.linalg.svd(G, full_matrices=False)
    keep = basis[1] > 1e-9 * basis[1][0]
    Q = basis[2][keep].T  # orthonormal in the row space: q and h v
    out = np.zeros((2 * Q.shape[1],) * 2)
    solver = StepSolver()
    for k in range(2 * Q.shape[1]):
        q, y = (Q[:, k], np.zeros(n)) if k < Q.shape[1] else (np.zeros(n), Q[:, k - Q.shape[1]])
        v = y / h
        b = 4 / h * Y * (G @ q) - Y * (G @ v)
        p = StepProblem(pairs, np.full(rows, BILATERAL), np.arange(rows + 1), J, b, sigma, np.zeros(rows), unit, unit, v)
        x = solver.solve(p).x[:n]
        out[:, k] = np.concatenate([Q.T @ (q + h * x), Q.T @ (h * x)])
    return np.abs(np.linalg.eigvals(out)).max()


@pytest.mark.parametrize("rank", [100, 150, 190, 200])
def test_rank_deficient_networks_contract_like_their_slowest_row(rank):
    """Experiment 4.A, 200 rows: eps in [e, 2 e], theta in [2, 3]: radius 0.63 to 0.65 in range(G); theta = 3 alone gives 0.6511."""
    rng = np.random.default_rng(5)
    pairs, J = network(rng, 60, 200, rank)
    for least in (1e-8, 1e-4):
        eps, theta = rng.uniform(least, 2 * least, 200), rng.uniform(2.0, 3.0, 200)
        assert 0.63 < projected_radius(pairs, J, 60, eps * H**2, theta) < 0.6511


def test_random_compliances_and_damping_times_are_always_stable():
    """Sigma in [1e-8, 1e4], theta in [1e-3, 1e3]."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        rows = int(rng.integers(2, 8))
        pairs, J = network(rng, 3, rows, rows)
        theta = 10 ** rng.uniform(-3, 3, rows)
        eps = 10 ** rng.uniform(-8, 4, rows) * H**2 * (1 + 4 * theta) / 4
        assert projected_radius(pairs, J, 3, eps, theta) < 1.0


# closed forms ------------------------------------------------------------------------------------------------------------------------


def test_the_impulse_of_a_static_load_is_h_times_its_force():
    s = slider(1e-4, gravity=(-9.81, 0, 0))
    for _ in range(400):
        s.step()
    assert np.abs(s.machine.joint_lam).max() == pytest.approx(H * 2.0 * 9.81, rel=1e-6)


def test_a_soft_motor_approaches_its_speed_by_one_factor_per_step_and_creeps_under_a_load():
    """v - u falls by 1/(1 + h/(m gamma)); a held force leaves -gamma f."""
    m = dal.Model(gravity=(-3.0, 0, 0))
    m.add_body("a", 2.0, (1, 1, 1))
    m.add_joint("j", "prismatic", "world", "a", axis=(1, 0, 0))
    m.add_motor("motor", "j", "velocity", kv=40.0)  # gamma = 1/kv
    traj = dal.simulate(m, "spook", h=H, t_end=2.0, control=lambda t, q, v: {"motor": 0.5})
    v, droop = traj.joint("j").v[:, 0], 0.5 - 6.0 / 40.0
    np.testing.assert_allclose((v[1:20] - droop) / (v[:19] - droop), 1 / (1 + H * 40.0 / 2.0), rtol=1e-6)
    assert v[-1] == pytest.approx(droop, rel=1e-7)


def test_compliance_and_step_add_their_errors():
    """Deviation from the hard joint: O(eps) at fixed h (claim 3)."""
    moves = []
    for eps in (4e-4, 2e-4, 1e-4, 5e-5):
        moves.append(np.linalg.norm(pendulum(2.0, eps=eps, steps=60)[0].q[-1, :3] - pendulum(2.0, eps=1e-12, steps=60)[0].q[-1, :3]))
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(moves), 1)[0] == pytest.approx(1.0, abs=0.1)


def test_a_step_of_joints_is_one_factor():
    """Claim 6: one linear solve per step, whatever the number of links."""
    m = dal.Model("chain")
    for i in range(8):
        m.add_body(f"b{i}", 1.0, (0.1, 0.1, 0.1), pose=((i, 0, 0), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "spherical", "world" if i == 0 else f"b{i - 1}", f"b{i}", (i - 0.5, 0, 0))
    traj = dal.simulate(m, "spook", h=H, t_end=1.0)
    assert traj.solver["max_iterations"].max() <= 2 and traj.solver["iterations"].mean() < 1.2
    assert traj.solver["residual"].max() <= SOLVED * 1.001


# momentum, redundancy ------------------------------------------------------------------------------------------------------------------


def test_three_masses_with_a_doubled_rod_keep_momentum_and_share_its_load():
    """2,000 steps, eps and tau > 0: linear and angular momentum to round-off, equal multipliers of equal rows (claims 1, 2)."""
    m = dal.Model("three", gravity=(0, 0, 0))
    at = np.array([[0, 0, 0], [1.0, 0, 0], [0.4, 0.9, 0]])
    for i in range(3):
        m.add_body(f"b{i}", 1.0 + i, (0.1, 0.1, 0.1), pose=(at[i], (1, 0, 0, 0)))
    for name, a, b in (("r01", 0, 1), ("r12", 1, 2), ("r20", 2, 0), ("again", 0, 1)):
        m.add_joint(name, "distance", f"b{a}", f"b{b}", at[a], point=at[b], compliance=1e-6)
    rng = np.random.default_rng(1)
    v0 = np.zeros((3, 6))
    v0[:, 3:] = rng.normal(size=(3, 3))
    traj = dal.simulate(m, "spook", h=H, t_end=2000 * H, v0=v0.ravel())
    drift = np.abs(traj.momentum - traj.momentum[0]).max(axis=0)
    assert drift.max() < 2e-11  # 2,000 steps of round-off, arms of up to 100 m
    np.testing.assert_allclose(traj.reaction("r01")[1:], traj.reaction("again")[1:], rtol=1e-6, atol=1e-6)


# pendulum (chapter 6) ------------------------------------------------------------------------------------------------------------------


def pendulum(d, h=H, steps=400, eps=1e-6, newton=0):
    """m = l = 1, g = 10, from the horizontal at rest: trajectory, energy with symmetric potential (6.16), |q| - l."""
    m = dal.Model(gravity=(0, 0, -10.0))
    m.add_body("bob", 1.0, (0.01, 0.01, 0.01), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("rod", "distance", "world", "bob", (0, 0, 0), point=(1, 0, 0), compliance=eps)
    traj = dal.simulate(m, "spook", h=h, t_end=steps * h, tau=d, newton=newton)
    x = traj.poses[:, 0, :3, 3]
    v = np.diff(x, axis=0) / h
    return traj, 0.5 * (v**2).sum(axis=1) + 5.0 * (x[1:, 2] + x[:-1, 2]), np.linalg.norm(x, axis=1) - 1.0


@pytest.mark.parametrize(
    ("d", "violation", "energy"), [(0.5, None, -0.018), (1.0, 4.16e-3, -0.054), (2.0, 6.87e-3, -0.174), (5.0, None, -0.768)]
)
def test_a_pendulum_is_violated_and_loses_energy_as_computed(d, violation, energy):
    """(1 + 2 d) h^2 v^2/4, and the energy after 400 steps; |q| - l and its square agree to 1 %."""
    _, E, g = pendulum(d)
    if violation is not None:
        assert np.abs(g).max() == pytest.approx(violation, rel=0.01)
    assert E[-1] == pytest.approx(energy, rel=0.015, abs=6e-4)  # of three printed digits
    assert E.max() < 1e-6  # never above the start


def test_the_violation_of_a_pendulum_falls_with_h_squared():
    """6.87e-3, 1.73e-3, 4.34e-4, 1.09e-4 at h = 1/60 ... 1/480."""
    found = [np.abs(pendulum(2.0, H / k, 400 * k, eps=1e-9)[2]).max() for k in (1, 2, 4, 8)]
    np.testing.assert_allclose(found, [6.87e-3, 1.73e-3, 4.34e-4, 1.09e-4], rtol=0.01)


def test_a_pendulum_at_d_2_stays_within_the_band_that_was_computed():
    """E in [-0.207, 0], |g| = 6.90e-3, force within [-29.7, 0.04]."""
    traj, E, g = pendulum(2.0)
    assert E.min() == pytest.approx(-0.207, abs=2e-3) and E.max() < 1e-6
    assert np.abs(g).max() == pytest.approx(6.90e-3, rel=0.01)
    force = traj.reaction("rod")[1:, 0]
    assert force.min() / (1 + 6.9e-3) == pytest.approx(-29.7, abs=0.05) and force.max() < 0.06  # there: of q, here: of q/|q|


def test_tangential_motion_is_not_damped_like_that_of_penalties():
    """Claim 7: implicit Euler with a stiff spring has lost 8 J of 10 after 400 steps; SPOOK 0.17 J."""
    assert pendulum(2.0)[1][-1] > -0.2


def test_newton_solves_the_nonlinear_stepper_which_gains_energy():
    """(4.27) at d = 2: +0.14 J after 400 steps, +0.89 J after 3,000; |g| <= 5.6e-3 (notes, 7 d)."""
    _, E, g = pendulum(2.0, newton=20)
    assert E[-1] == pytest.approx(0.14, abs=0.01)
    assert np.abs(g).max() == pytest.approx(5.6e-3, rel=0.01)
    assert pendulum(2.0, steps=3000, newton=20)[1][-1] == pytest.approx(0.89, abs=0.01)


def test_newton_meets_the_equation_of_the_stepper():
    """eps lam/h + (g+ + 2 g + g-)/4 + tau G+ v+ = 0 at every node, recomputed from positions and forces."""
    eps, d = 1e-6, 2.0
    traj, _, g = pendulum(d, steps=60, newton=20)
    x = traj.poses[:, 0, :3, 3]
    force = traj.reaction("rod")[:, 0]
    for k in range(1, 60):
        G = x[k + 1] / np.linalg.norm(x[k + 1])
        left = eps * force[k + 1] + 0.25 * (g[k + 1] + 2 * g[k] + g[k - 1]) + d * G @ (x[k + 1] - x[k])
        assert abs(left) < 2 * SOLVED * H * (1 + 4 * d) / 4
    linear, _, g = pendulum(d, steps=60)
    assert np.abs(linear.q - traj.q).max() > 1e-4  # the other stepper


def test_newton_converges_by_the_square_of_the_turn_in_a_step():
    """Angles after one, two, three iterations: errors fall by (h omega)^2, some 1e-2, each time."""
    ends = [pendulum(2.0, steps=30, newton=n)[0].q[-1, :3] for n in (0, 1, 2, 20)]
    errors = [np.linalg.norm(x - ends[-1]) for x in ends[:-1]]
    assert errors[1] < 0.1 * errors[0] and errors[2] < 0.1 * errors[1]


@pytest.mark.parametrize("stiffness", [1e3, 1e8, 1e14])
def test_stiff_forces_as_rows_are_stable_at_every_stiffness(stiffness):
    """Claim 5: one row each; G M^-1 G^T + Sigma stays well conditioned as k grows, and a push across the joint dies out."""
    s = slider(1.0 / stiffness)
    s.v[0, 0], fastest = 1.0, 0.0
    for _ in range(600):
        s.step()
        fastest = max(fastest, abs(s.v[0, 0]))
    assert np.linalg.cond(s.machine._problem(0).dense()[0]) < 1e4
    assert fastest < 1.0 + 1e-9 and abs(s.v[0, 0]) < (1e-2 if stiffness == 1e3 else 1e-7)


def test_the_matrix_of_a_step_is_positive_definite_whatever_the_rank():
    """Guarantee 1 (4.32, 4.33): S + Sigma >= least Sigma, and w.H w = x.M x + z.Sigma z of the whole system."""
    rng = np.random.default_rng(8)
    for rank in (1, 7, 20):
        pairs, J = network(rng, 5, 30, rank)
        unit, sigma = np.broadcast_to(np.eye(6), (5, 6, 6)).copy(), 10 ** rng.uniform(-6, 0, 30)
        p = StepProblem(pairs, np.full(30, BILATERAL), np.arange(31), J, np.zeros(30), sigma, np.zeros(30), unit, unit, np.zeros(30))
        assert np.linalg.eigvalsh(p.dense()[0])[0] >= sigma.min() * (1 - 1e-6) - 1e-12
        G = p.jacobian()
        H_ = np.block([[np.eye(30), -G.T], [G, np.diag(sigma)]])
        w = rng.normal(size=60)
        assert w @ H_ @ w == pytest.approx(w[:30] @ w[:30] + w[30:] @ (sigma * w[30:]), rel=1e-12)
