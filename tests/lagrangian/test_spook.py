"""SPOOK on Lagrangians (lacoursiere2007, chapter 4): the scheme itself, its linear law in real runs, closed forms, limits, redundancy.

h = 1/60 throughout, unless said. Multipliers of a run are forces: impulse over h.
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import spook_radius, spook_roots, spook_sigma, spook_spring_energy, spook_state

H = 1 / 60


def linear_system(M, G, f=None, A=None, w=None):
    """Constant mass and constraints G q = 0, A v + w = 0, constant force f."""
    M, G = np.asarray(M, dtype=float), np.asarray(G, dtype=float)
    n = len(M)
    given = {"holonomic": lambda q: [sum(r * x for r, x in zip(row, q, strict=True)) for row in G]} if len(G) else {}
    if A is not None:
        given["pfaffian"] = lambda q: (np.asarray(A, dtype=float), np.asarray(w, dtype=float))
    push = np.zeros(n) if f is None else np.asarray(f, dtype=float)
    return dal.Lagrangian(n, lambda q, v: 0.5 * sum(M[i, j] * v[i] * v[j] for i in range(n) for j in range(n)) + push @ q, **given)


def run(system, steps, q0, v0, h=H, **options):
    return dal.simulate(system, "spook", h=h, t_end=steps * h, q0=q0, v0=v0, **options)


def random_case(seed=3):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    return root @ root.T + 4 * np.eye(4), rng.normal(size=(2, 4)), rng.normal(size=4), rng.normal(size=(1, 4)), rng.normal(size=1), rng


# the scheme ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["linear", "stabilized"])
@pytest.mark.parametrize(("epsilon", "tau", "gamma"), [(1e-3, 2.0, 0.01), (0.0, 0.5, 0.0), (0.1, 0.0, 1.0)])
def test_residuals_vanish_for_linear_constraints(form, epsilon, tau, gamma):
    """(4.27) and (4.21) from positions and forces of a run; the linear form is the nonlinear one there (signs of (4.31) corrected)."""
    M, G, f, A, w, rng = random_case()
    q0, v0 = rng.normal(size=4), rng.normal(size=4)
    traj = run(linear_system(M, G, f, A, w), 50, q0, v0, form=form, epsilon=epsilon, tau=tau, gamma=gamma)
    q = np.vstack([q0 - H * v0, traj.q])
    v, lam, alpha = np.diff(q, axis=0) / H, traj.multipliers["holonomic"], H * traj.multipliers["pfaffian"]
    motion = np.diff(v, axis=0) @ M - H * f - H * lam @ G - alpha @ A
    g = q @ G.T
    position = epsilon * lam + 0.25 * (g[2:] + 2 * g[1:-1] + g[:-2]) + tau * (q[2:] - q[1:-1]) @ G.T
    velocity = gamma * alpha + H * (v[1:] @ A.T + w)
    for residual, size in ((motion, np.abs(v @ M).max()), (position, np.abs(g).max() + epsilon * np.abs(lam).max()), (velocity, 1.0)):
        assert np.abs(residual).max() < 2e-14 * max(1.0, size) / H


@pytest.mark.parametrize(("form", "tau"), [("regularized", 0.0), ("stabilized", 2.0)])
@pytest.mark.parametrize("epsilon", [0.0, 1e-5])
def test_residuals_of_the_nonlinear_forms(form, tau, epsilon):
    """(4.11) and (4.27) on a pendulum: epsilon lambda + (g_1 + 2 g_0 + g_-1)/4 + (tau/h) G_1 (q_1 - q_0) = 0; epsilon = 0: (3.97)."""
    system = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 10 * q[1], holonomic=lambda q: [0.5 * (q @ q - 1)])
    traj = run(system, 300, [1.0, 0.0], [0.0, 0.0], form=form, epsilon=epsilon, tau=tau)
    q = np.vstack([traj.q[:1], traj.q])
    lam, g = traj.multipliers["holonomic"], 0.5 * (np.sum(q * q, axis=1) - 1)
    motion = (q[2:] - 2 * q[1:-1] + q[:-2]) / H**2 + np.array([0.0, 10.0]) - lam * q[1:-1]
    assert np.abs(motion).max() < 1e-11
    row = epsilon * lam[:, 0] + 0.25 * (g[2:] + 2 * g[1:-1] + g[:-2]) + tau * np.sum(q[2:] * (q[2:] - q[1:-1]), axis=1)
    assert np.abs(row).max() < 1e-14


def test_position_form():
    """(4.29): RHS (2 M q_k - M q_{k-1} + h^2 f; A q_k - h w; -4 Y g + (1 + Y) G q_k - Y G q_{k-1}); print has (1 + Y)/2 and +h w."""
    M, G, f, A, w, rng = random_case(5)
    epsilon, tau, gamma = 1e-3, 1.3, 0.2
    q0, v0 = rng.normal(size=4), rng.normal(size=4)
    traj = run(linear_system(M, G, f, A, w), 30, q0, v0, epsilon=epsilon, tau=tau, gamma=gamma)
    Y = 1 / (1 + 4 * tau)
    D = np.diag([gamma / H, *[4 * epsilon * Y / H**2] * 2])
    J = np.vstack([A, G])
    S = np.block([[M, -J.T], [J, D]])
    before, now = q0 - H * v0, q0
    for k in range(30):
        third = -4 * Y * G @ now + (1 + Y) * G @ now - Y * G @ before
        z = np.linalg.solve(S, np.concatenate([2 * M @ now - M @ before + H**2 * f, A @ now - H * w, third]))
        before, now = now, z[:4]
        assert np.abs(traj.q[k + 1] - now).max() < 1e-13 * (k + 1) * max(1.0, np.abs(now).max())
        assert np.abs(traj.multipliers["holonomic"][k] - z[5:] / H**2).max() < 1e-9


def test_first_step_is_the_schur_solve():
    """(J M^-1 J^T + D) mu = b - J (v + h M^-1 f), v_1 = v + h M^-1 f + M^-1 J^T mu; z^T H z = x M x + y Gamma y + z Sigma z > 0."""
    M, G, f, A, w, rng = random_case(6)
    q0, v0, epsilon, tau, gamma = rng.normal(size=4), rng.normal(size=4), 1e-4, 2.0, 0.1
    traj = run(linear_system(M, G, f, A, w), 1, q0, v0, epsilon=epsilon, tau=tau, gamma=gamma)
    Y, J = 1 / 9, np.vstack([A, G])
    D = np.diag([gamma / H, *[4 * epsilon * Y / H**2] * 2])
    b = np.concatenate([-w, -4 / H * Y * G @ q0 + Y * G @ v0])
    free = v0 + H * np.linalg.solve(M, f)
    mu = np.linalg.solve(J @ np.linalg.solve(M, J.T) + D, b - J @ free)
    assert np.abs(traj.v[1] - free - np.linalg.solve(M, J.T @ mu)).max() < 1e-13
    z = rng.normal(size=7)
    whole = np.block([[M, -J.T], [J, D]])
    assert z @ whole @ z == pytest.approx(z[:4] @ M @ z[:4] + z[4:] @ D @ z[4:], rel=1e-12)


# the linear law --------------------------------------------------------------------------------------------------------------------------


def scalar(mass=1.0, force=0.0):
    return linear_system([[mass]], [[1.0]], [force])


@pytest.mark.parametrize("theta", [0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0])
@pytest.mark.parametrize("sigma", [1.0, 0.5, 0.1])
def test_roots_seen_in_runs(sigma, theta):
    """Two-step recursion x_{k+1} = 2 beta x_k - alpha x_{k-1} fitted to a run has the roots of (4.47); states follow the closed law."""
    epsilon = H**2 * (1 + 4 * theta) * (1 / sigma - 1) / 4
    traj = run(scalar(), 40, [0.3], [1.7], epsilon=epsilon, tau=theta)
    assert spook_sigma(1.0, epsilon, H, theta) == pytest.approx(sigma, rel=1e-14)
    x = np.column_stack([traj.q[:, 0], H * traj.v[:, 0]])
    law = spook_state(sigma, theta, 0.3, H * 1.7, np.arange(41))
    assert np.abs(x - law).max() < 1e-13 * max(1.0, np.abs(law).max())
    plus, minus = spook_roots(sigma, theta)
    rows = np.column_stack([x[1:8, 0], -x[:7, 0]])
    trace, det = np.linalg.lstsq(rows, x[2:9, 0], rcond=None)[0]
    assert (trace, det) == pytest.approx(((plus + minus).real, (plus * minus).real), abs=1e-8)


def test_radii_without_compliance():
    """sigma = 1: decay per step seen in runs equals .7071 .5774 .4472 .3333 .6511 .7974 .8997 .9900; smallest at theta = 2."""
    shown = {0.25: 0.7071, 0.5: 0.5774, 1.0: 0.4472, 2.0: 0.3333, 3.0: 0.6511, 5.0: 0.7974, 10.0: 0.8997, 100.0: 0.9900}
    for theta, radius in shown.items():
        A = np.column_stack([_one(scalar(), z, epsilon=0.0, tau=theta) for z in np.eye(2)])
        assert np.abs(np.linalg.eigvals(A)).max() == pytest.approx(radius, abs=6e-5)
        assert np.abs(np.linalg.eigvals(A)).max() == pytest.approx(spook_radius(1.0, theta), abs=1e-7)


def _one(system, z, **options):
    """(x, h v) after a step."""
    n = len(z) // 2
    traj = run(system, 1, z[:n], z[n:] / H, **options)
    return np.concatenate([traj.q[1], H * traj.v[1]])


def rows_as_parameters(m, n):
    """Unit masses, G q = 0 with the entries of G as parameters."""
    return dal.Lagrangian(
        n,
        lambda q, v: 0.5 * (v @ v),
        holonomic=lambda q, p: [sum(p.G[i * n + j] * q[j] for j in range(n)) for i in range(m)],
        params={"G": [1.0] * (m * n)},
    )


def spectrum(system, G, theta, Sigma):
    """Eigenvalues of the step on range(G^T) in (x, h v), for the entries Sigma = 4 epsilon / (h^2 (1 + 4 theta)), one per row."""
    epsilon = Sigma * H**2 * (1 + 4 * theta) / 4
    made = system.with_params(G=G.ravel())
    A = np.column_stack([_one(made, z, epsilon=epsilon, tau=theta) for z in np.eye(2 * G.shape[1])])
    rank = np.linalg.matrix_rank(G, 1e-10 * np.linalg.norm(G, 2))
    along = np.kron(np.eye(2), np.linalg.svd(G)[2][:rank].T)
    return np.linalg.eigvals(along.T @ A @ along)


@pytest.mark.parametrize("least", [1e-8, 1e-4])
def test_spectrum_of_redundant_random_constraints(least):
    """Exp. 4.A on ten masses: ten rows of rank 6 or 10, epsilon_j in [1, 2] x the least, tau_j/h in [2, 3]: inside the disc on range(G^T).

    For tau equal in all rows the modes are those of sigma_i = s_i^2 / (s_i^2 + 1), s_i the singular values of Sigma^-1/2 G; else below
    .66, that of tau = 3 h.
    """
    rng = np.random.default_rng(8)
    system = rows_as_parameters(10, 10)
    for rank in (6, 10):
        G = rng.normal(size=(10, rank)) @ rng.normal(size=(rank, 10))
        Sigma = least * (1 + rng.random(10))
        squares = np.linalg.svd(G / np.sqrt(Sigma)[:, None])[1][:rank] ** 2
        expected = [abs(root) for s in squares for root in spook_roots(s / (s + 1), 2.4)]
        found = np.abs(spectrum(system, G, np.full(10, 2.4), Sigma)).max()
        assert found == pytest.approx(max(expected), abs=1e-4)  # close pairs split by sqrt(round-off)
        assert np.abs(spectrum(system, G, 2 + rng.random(10), Sigma)).max() < 0.66


def test_wide_random_compliances_are_stable():
    """12 draws, 2 to 7 rows, Sigma_j in 1e-8 ... 1e4, tau_j/h in 1e-3 ... 1e3, all of them different: every mode decays."""
    rng = np.random.default_rng(12)
    for m, draws in ((2, 5), (4, 4), (7, 3)):
        system = rows_as_parameters(m, m)
        for _ in range(draws):
            found = spectrum(system, rng.normal(size=(m, m)), 10 ** rng.uniform(-3, 3, m), 10 ** rng.uniform(-8, 4, m))
            assert np.abs(found).max() < 1


def test_rows_have_compliances_of_their_own():
    """Two loads on two rows: each sinks by its epsilon; each violation decays by its tau, each drag creeps by its gamma."""
    epsilon, tau = np.array([1e-3, 5e-3]), np.array([1.0, 3.0])
    loaded = linear_system(np.diag([1.0, 2.0]), np.eye(2), [-9.0, -4.0])
    assert run(loaded, 2000, [0, 0], [0, 0], epsilon=epsilon, tau=tau).q[-1] == pytest.approx([-9e-3, -20e-3], rel=1e-12)
    free = run(linear_system(np.diag([1.0, 2.0]), np.eye(2)), 20, [0.1, 0.2], [0, 0], epsilon=[0, 0], tau=tau).q
    for i, theta in enumerate(tau):
        assert free[:, i] == pytest.approx(spook_state(1.0, theta, free[0, i], 0.0, np.arange(21))[:, 0], abs=1e-14)
    dragged = linear_system(np.eye(2), np.empty((0, 2)), [1.0, 1.0], np.eye(2), np.zeros(2))
    assert run(dragged, 3000, [0, 0], [0, 0], gamma=[0.1, 0.2]).v[-1] == pytest.approx([0.1, 0.2], rel=1e-12)


@pytest.mark.parametrize("stiffness", [1.0, 1e4, 1e8])
def test_without_damping_it_is_the_midpoint_rule_on_a_spring(stiffness):
    """tan(phi/2) = h omega / 2, and m v^2/2 + k ((q + q')/2)^2 / 2 is constant (6e-15)."""
    mass = 2.0
    traj = run(scalar(mass), 500, [0.3], [0.4], epsilon=1 / stiffness, tau=0.0)
    q = np.concatenate([[0.3 - 0.4 * H], traj.q[:, 0]])
    energy = spook_spring_energy(mass, 1 / stiffness, H, q[:-1], q[1:])
    assert np.abs(energy / energy[0] - 1).max() < 1e-12
    phase = 2 * np.arctan(0.5 * H * np.sqrt(stiffness / mass))
    middle = 0.5 * (q[1:] + q[:-1])
    assert np.abs(middle[2:] - 2 * np.cos(phase) * middle[1:-1] + middle[:-2]).max() < 1e-13
    spring = dal.Lagrangian(1, lambda q, v: 0.5 * mass * v[0] ** 2 - 0.5 * stiffness * q[0] ** 2)
    same = dal.simulate(spring, "midpoint", h=H, t_end=500 * H, q0=[middle[0]], v0=[_velocity(middle, stiffness / mass)])
    assert np.abs(same.q[:, 0] - middle).max() < 1e-11


def _velocity(x, square):
    """v_0 with which the midpoint rule goes from x_0 to x_1."""
    return (x[1] - x[0]) / H + 0.25 * H * square * (x[0] + x[1])


# closed forms ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1 / 60, 0.1, 1.0])
@pytest.mark.parametrize("tau", [0.5, 2.0, 20.0])
def test_static_load(h, tau):
    """(i): weight m g on the compliance epsilon rests at -epsilon m g, exactly, for every h and tau; force m g."""
    mass, epsilon = 3.0, 1e-3
    traj = run(scalar(mass, -9.81 * mass), 3000, [0.0], [0.0], h=h, epsilon=epsilon, tau=tau)
    assert traj.q[-1, 0] == pytest.approx(-epsilon * 9.81 * mass, rel=1e-12)
    assert traj.multipliers["holonomic"][-1, 0] == pytest.approx(9.81 * mass, rel=1e-12)
    still = run(scalar(mass, -9.81 * mass), 10, [-epsilon * 9.81 * mass], [0.0], h=h, epsilon=epsilon, tau=tau)
    assert np.abs(still.q + epsilon * 9.81 * mass).max() < 1e-15 * max(1.0, 10 * h)


def test_velocity_motor():
    """(ii): A = 1, w = -u: v_{k+1} - u = (v_k - u) / (1 + h / (m gamma)); gamma = 0: at once; a held force f leaves A v + w = gamma f."""
    mass, u = 2.0, 0.7
    for gamma in (0.0, 1e-3, 0.5):
        traj = run(linear_system([[mass]], np.empty((0, 1)), [0.0], [[1.0]], [-u]), 40, [0.0], [3.0], gamma=gamma)
        factor = 0.0 if gamma == 0.0 else 1 / (1 + H / (mass * gamma))
        assert traj.v[:, 0] - u == pytest.approx((3.0 - u) * factor ** np.arange(41), abs=1e-14)
        held = run(linear_system([[mass]], np.empty((0, 1)), [5.0], [[1.0]], [-u]), 3000, [0.0], [3.0], gamma=gamma)
        assert held.v[-1, 0] - u == pytest.approx(gamma * 5.0, abs=1e-12)
        assert held.multipliers["pfaffian"][-1, 0] == pytest.approx(-5.0, rel=1e-12)


def test_critical_decay():
    """(iii): epsilon = 0, tau = 2 h, start at rest at x_0: x_k = (1 + 2k/3) 3^-k x_0; x_1 = 5/9."""
    x = run(scalar(2.0), 30, [0.9], [0.0], epsilon=0.0, tau=2.0).q[:, 0]
    k = np.arange(31)
    assert x == pytest.approx(0.9 * (1 + 2 * k / 3) / 3.0**k, abs=1e-15)
    assert x[1] == pytest.approx(0.5, rel=1e-14)
