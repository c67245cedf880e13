"""Block Gauss-Seidel without S: equalities, boxes, contacts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from dalembert.errors import OptionError
from dalembert.kernels.contact.laws import contact_law
from dalembert.kernels.linalg.block_gs import step_sizes
from dalembert.kernels.linalg.contact_gs import law
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR
from dalembert.linalg import BlockJacobian, Saddle
from dalembert.linalg.block_gs import BOX, CONTACT, FREE, BlockGaussSeidel, Laws, interleaved
from dalembert.linalg.samples import chain, contacts, random_rows, system


def dense(s):
    G, U = s.jacobian.to_sparse().toarray(), np.linalg.inv(s.M().toarray())
    return G @ U @ G.T + s.E().toarray(), G, U


def eighteen_joints(seed=0, compliance=0.1, decades=0.0):
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(10, 2, replace=False)) for _ in range(18)]
    return system(10, pairs, 2, rng, compliance, decades)


def started(s, laws=None, seed=1, **more):
    rng = np.random.default_rng(seed)
    gs = BlockGaussSeidel(s, laws, **more)
    b, c = rng.normal(size=6 * s.n_bodies), rng.normal(size=s.jacobian.n_rows)
    gs.start(b, c)
    return gs, b, c


def test_ten_bodies_and_eighteen_joints():
    s = eighteen_joints()
    gs, b, c = started(s)
    assert gs.run(1e-14, 2000) == OK
    S, G, U = dense(s)
    y = np.linalg.solve(S, c - G @ U @ b)
    np.testing.assert_allclose(gs.y, y, rtol=0, atol=1e-11 * np.abs(y).max())
    np.testing.assert_allclose(gs.x(), U @ (b + G.T @ y), rtol=0, atol=1e-11)
    assert gs.residual() < 1e-11


@pytest.mark.nojit
@pytest.mark.parametrize("decades", [0.0, 6.0])
def test_each_sweep_is_the_block_gauss_seidel_of_S(decades):
    """y' = y - (D + L)^-1 (S y - r) by blocks of constraints, with masses from 10^-6 to 10^6 too (where it converges very slowly)."""
    s = eighteen_joints(3, decades=decades)
    gs, b, c = started(s)
    S, G, U = dense(s)
    r = c - G @ U @ b
    block = np.repeat(np.arange(18), 2)
    lower = np.where(block[:, None] >= block[None, :], S, 0.0)
    y = np.zeros(36)
    for _ in range(5):
        y = y - np.linalg.solve(lower, S @ y - r)
        gs.run(0.0, 1)
        np.testing.assert_allclose(gs.y, y, rtol=0, atol=1e-12 * np.abs(y).max())


def test_rate_is_the_spectral_radius():
    """Error over many sweeps, per sweep, against the radius of -(D + L)^-1 U (18.34)."""
    s = chain(8, 2, compliance=0.05)
    S, G, U = dense(s)
    block = np.repeat(np.arange(8), 2)
    lower = np.where(block[:, None] >= block[None, :], S, 0.0)
    radius = np.abs(np.linalg.eigvals(-np.linalg.solve(lower, S - lower))).max()
    gs, b, c = started(s)
    y = np.linalg.solve(S, c - G @ U @ b)
    errors = []
    for _ in range(2):
        gs.run(0.0, 14)
        errors.append(np.linalg.norm(gs.y - y))
    assert errors[1] > 1e-10  # not yet round-off
    assert (errors[1] / errors[0]) ** (1 / 14) == pytest.approx(radius, abs=0.01)


def radius(A, k):
    """Of block Gauss-Seidel with blocks of k."""
    block = np.arange(len(A)) // k
    lower = np.where(block[:, None] >= block[None, :], A, 0.0)
    return np.abs(np.linalg.eigvals(-np.linalg.solve(lower, A - lower))).max()


def by_blocks(G, compliance, k):
    """Sweeps over constraints of k rows each, S = G G^T + compliance 1: bodies of unit mass, every constraint on all of them."""
    n, bodies = len(G), -(-len(G) // 6)
    wide = np.zeros((n, 6 * bodies))
    wide[:, :n] = G
    parts = [wide[i : i + k].reshape(-1, bodies, 6).swapaxes(0, 1) for i in range(0, n, k)]
    gs = BlockGaussSeidel(
        Saddle.of(np.ones((bodies, 6)), BlockJacobian.from_blocks(bodies, [(range(bodies), p) for p in parts]), compliance)
    )
    gs.start(np.zeros(6 * bodies), np.zeros(n), np.random.default_rng(1).normal(size=n))  # towards y = 0
    return gs


def rate(gs, sweeps):
    """Per sweep, after as many sweeps in which the other modes die out."""
    gs.run(0.0, sweeps)
    before = np.linalg.norm(gs.y)
    gs.run(0.0, sweeps)
    return (np.linalg.norm(gs.y) / before) ** (1 / sweeps)


def test_larger_blocks_help_some_matrices_and_hardly_others():
    """lacoursiere2007, fig. 18.1, 200 x 200: our sweeps against the spectral radius, and both against a second implementation.

    B B^T + 4 1, B uniform: 1 - rate = 2e-4, 1.1e-3, 4.1e-3 with blocks of 1, 10, 50, which depends on the draw to a third. Eigenvalues
    uniform in [1/10, 10]: 0.960, 0.958, 0.948, to 0.02. One block solves the system.
    """
    rng = np.random.default_rng(0)
    n = 200
    B = rng.uniform(size=(n, n))
    Q, spectrum = np.linalg.qr(rng.normal(size=(n, n)))[0], rng.uniform(0.1, 10.0, n)
    C = Q * np.sqrt(spectrum - 0.05)
    for k, slow, other, sweeps in ((1, 2e-4, 0.960, 4000), (10, 1.1e-3, 0.958, 1000), (50, 4.1e-3, 0.948, 1000)):
        found, expected = rate(by_blocks(B, 4.0, k), sweeps), radius(B @ B.T + 4 * np.eye(n), k)
        assert np.log(found) == pytest.approx(np.log(expected), rel=0.05)  # the next modes have not died out
        assert 1 - found == pytest.approx(slow, rel=1 / 3)
        found, expected = rate(by_blocks(C, 0.05, k), 120), radius(C @ C.T + 0.05 * np.eye(n), k)
        assert np.log(found) == pytest.approx(np.log(expected), rel=0.05)
        assert found == pytest.approx(other, abs=0.02)
    whole = by_blocks(B, 4.0, n)
    size = np.linalg.norm(whole.y)
    whole.run(0.0, 1)
    assert np.linalg.norm(whole.y) < 1e-11 * size  # the condition is 2500


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1.0))
def test_boxes_against_bounded_least_squares(seed, bound):
    """min 1/2 y^T S y - r^T y, |y| <= bound, by SciPy on the Cholesky factor of S."""
    s = eighteen_joints(seed, 0.2)
    gs, b, c = started(s, Laws.of(s, BOX, -bound, bound))
    gs.run(1e-14, 3000)
    S, G, U = dense(s)
    C = np.linalg.cholesky(S)
    expected = lsq_linear(C.T, np.linalg.solve(C, c - G @ U @ b), (-bound, bound), method="bvls", tol=1e-14)
    np.testing.assert_allclose(gs.y, expected.x, rtol=0, atol=1e-7)
    assert gs.residual() < 1e-9
    assert (np.abs(gs.y) <= bound).all()


def test_mixed_laws():
    """Equalities and boxes side by side; one-sided boxes are complementary."""
    s = eighteen_joints(5)
    kind = np.where(np.arange(18) < 9, FREE, BOX)
    gs, b, c = started(s, Laws.of(s, kind, 0.0, np.inf))
    gs.run(1e-14, 3000)
    S, G, U = dense(s)
    slip = S @ gs.y - (c - G @ U @ b)
    np.testing.assert_allclose(slip[:18], 0.0, rtol=0, atol=1e-10)
    assert (gs.y[18:] >= 0).all()
    assert (slip[18:] >= -1e-10).all()
    np.testing.assert_allclose(slip[18:] * gs.y[18:], 0.0, rtol=0, atol=1e-10)


# contacts ------------------------------------------------------------------------------------------------------------------------------


def test_frictionless_contacts_solve_the_complementarity_problem():
    s = contacts(60, compliance=0.05)
    gs, b, c = started(s, Laws.of(s, CONTACT, mu=0.0))
    assert gs.run(1e-13, 20_000) == OK
    S, G, U = dense(s)
    n = np.arange(0, 180, 3)
    q = (G @ U @ b - c)[n]
    z, w = gs.y[n], S[np.ix_(n, n)] @ gs.y[n] + q
    np.testing.assert_array_equal(gs.y[np.setdiff1d(np.arange(180), n)], 0.0)
    assert (z >= 0).all()
    assert np.abs(np.minimum(z, w)).max() < 1e-10
    assert 0 < (z > 0).sum() < 60


def test_friction_opposes_slip_and_stays_on_the_cone():
    mu = 0.4
    s = contacts(60, seed=3, compliance=0.05)
    gs, b, c = started(s, Laws.of(s, CONTACT, mu=mu))
    gs.run(1e-13, 20_000)
    S, G, U = dense(s)
    y, slip = gs.y.reshape(-1, 3), (S @ gs.y + G @ U @ b - c).reshape(-1, 3)
    force, normal = np.linalg.norm(y[:, 1:], axis=1), y[:, 0]
    assert gs.residual() < 1e-9
    assert (force <= mu * normal + 1e-12).all()
    assert np.abs(np.minimum(normal, slip[:, 0])).max() < 1e-9
    sliding = np.linalg.norm(slip[:, 1:], axis=1) > 1e-6
    pressed = normal > 1e-9
    np.testing.assert_allclose(force[sliding & pressed], mu * normal[sliding & pressed], rtol=1e-6)
    cosine = (y[:, 1:] * slip[:, 1:]).sum(1) / np.where(force > 0, force, 1) / np.maximum(np.linalg.norm(slip[:, 1:], axis=1), 1e-300)
    np.testing.assert_allclose(cosine[sliding & pressed], -1.0, rtol=0, atol=1e-6)
    assert (sliding & pressed).any()
    assert (~sliding & pressed).any()


@pytest.mark.parametrize("slope", [0.1, 0.39, 0.41, 1.0, 5.0])
def test_a_cube_on_an_incline_needs_the_friction_of_its_slope(slope):
    """Four corners, mu = 0.4: friction over normal force is min(slope, mu) (a cube tips only beyond slope 1, and not at once)."""
    mu, h, angle = 0.4, 1 / 60, np.arctan(slope)
    corners = [np.array([sx, sy, -0.05]) for sx in (-0.5, 0.5) for sy in (-0.5, 0.5)]  # a flat one, so that it does not tip
    frame = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    g = BlockJacobian.from_blocks(1, [([0], [np.concatenate([np.cross(r, frame), frame], axis=1)]) for r in corners])
    s = Saddle.of([[1 / 12, 1 / 12, 1 / 6, 1, 1, 1]], g, 1e-6)
    gs = BlockGaussSeidel(s, Laws.of(s, CONTACT, mu=mu))
    gs.start(h * 9.81 * np.array([0, 0, 0, np.sin(angle), 0, -np.cos(angle)]), np.zeros(12))
    gs.run(1e-14, 20_000)
    assert gs.residual() < 1e-6 * h * 9.81  # four corners are redundant: convergence is slow
    y = gs.y.reshape(-1, 3)
    assert np.linalg.norm(y[:, 1:].sum(0)) / y[:, 0].sum() == pytest.approx(min(slope, mu), abs=1e-5)
    assert y[:, 0].sum() == pytest.approx(h * 9.81 * np.cos(angle), rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_law_of_one_contact(seed):
    """Sticks where the solution of the block lies in the cone; else normal first, then the projection of a tangential step."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 3))
    S = a @ a.T + np.eye(3)
    y, q, mu = np.abs(rng.normal(size=3)), rng.normal(size=3), 0.3
    steps = step_sizes(S.ravel(), 0, 3)
    assert steps[0] == 1.0 / S[0, 0]
    assert steps[1] * np.linalg.eigvalsh(S[1:, 1:]).max() <= 1.0 + 1e-12
    found = np.array(contact_law(*y, *q, S[1, 0], S[2, 0], steps, mu, (-1.0, 0.0, 0.0)))
    normal = max(0.0, y[0] - q[0] / S[0, 0])
    tangent = y[1:] - steps[1] * (q + S[:, 0] * (normal - y[0]))[1:]
    expected = [normal, *(tangent * min(1.0, mu * normal / np.linalg.norm(tangent)))]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(contact_law(*y, *q, S[1, 0], S[2, 0], steps, mu, (1.0, 0.2, -0.2)), (1.0, 0.2, -0.2))


def test_packed_and_general_sweeps_agree():
    """The same order gives the same numbers, up to the order of additions."""
    s = contacts(300, seed=2)
    laws = Laws.of(s, CONTACT, mu=0.5)
    packed, _, _ = started(s, laws, interleave=1)
    general, _, _ = started(s, laws)
    assert packed.packed is not None
    general.packed = None
    for gs in (packed, general):
        gs.run(0.0, 25)
    np.testing.assert_allclose(packed.y, general.y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(packed.w, general.w, rtol=0, atol=1e-11)


def test_order_does_not_change_the_solution():
    s = contacts(300, seed=2, compliance=0.1)
    laws = Laws.of(s, CONTACT, mu=0.0)
    found = []
    for step in (1, 8):
        gs, _, _ = started(s, laws, interleave=step)
        assert gs.run(1e-13, 20_000) == OK
        found.append(gs.y.copy())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9)
    assert sorted(interleaved(1000, 8).tolist()) == list(range(1000))


def test_warm_start_is_done_at_once():
    s = contacts(100, compliance=0.1)
    laws = Laws.of(s, CONTACT, mu=0.3)
    gs, b, c = started(s, laws)
    gs.run(1e-13, 20_000)
    again = BlockGaussSeidel(s, laws)
    again.start(b, c, gs.y)
    assert again.run(1e-10) == OK
    assert again.sweeps == 1


def test_work_per_sweep_is_linear():
    """Numbers read per contact and sweep do not depend on the number of contacts."""
    per = set()
    for m in (1000, 10_000, 100_000):
        s = contacts(m)
        gs = BlockGaussSeidel(s, Laws.of(s, CONTACT, mu=0.5))
        assert gs.packed is not None
        per.add(gs.packed[1].size / m)
    assert len(per) == 1


# edges ---------------------------------------------------------------------------------------------------------------------------------


def test_nothing_to_do():
    s = Saddle.of(np.full((2, 6), 4.0), BlockJacobian.from_blocks(2, []))
    gs = BlockGaussSeidel(s)
    gs.start(np.ones(12), [])
    assert gs.run() == OK
    np.testing.assert_allclose(gs.x(), 0.25, rtol=1e-15)


def test_singular_blocks_and_masses_are_reported():
    s = chain(3, 3)
    zero = Saddle.of(s.masses, s.jacobian.with_data(0 * s.jacobian.data))
    assert BlockGaussSeidel(zero).run() == SINGULAR
    assert BlockGaussSeidel(Saddle.of(-s.masses, s.jacobian)).run() == SINGULAR


def test_too_few_sweeps_are_reported():
    gs, _, _ = started(chain(30, 5))
    assert gs.run(1e-12, 3) == NOT_CONVERGED
    assert gs.sweeps == 3


def test_redundant_blocks_without_compliance_still_satisfy_the_rows():
    """The same joint twice: S is singular, its blocks are not; x is unique."""
    s = chain(3, 3)
    twice = s.jacobian.subset([0, 1, 2, 1])
    gs = BlockGaussSeidel(Saddle.of(s.masses, twice))
    c = twice.multiply(np.arange(18.0))
    gs.start(np.zeros(18), c)
    assert gs.run(1e-13, 5000) == OK
    np.testing.assert_allclose(twice.multiply(gs.x()), c, rtol=0, atol=1e-9 * np.abs(c).max())


def test_laws_are_checked():
    s = system(2, [(0, 1)], 2, np.random.default_rng(0))
    for wrong in ({"kind": CONTACT}, {"kind": 7}, {"kind": BOX, "lo": 1.0, "hi": 0.0}, {"mu": -1.0}, {"mu": np.inf}):
        with pytest.raises(OptionError):
            Laws.of(s, **wrong)
    assert random_rows(1, np.random.default_rng(0)).shape == (1, 6, 6)


@pytest.mark.nojit
def test_the_law_without_branches_is_the_law():
    """Contacts that are open, stick and slide, touch without force, and have no friction."""
    rng = np.random.default_rng(4)
    seen = set()
    for k in range(3000):
        y = rng.normal(size=3) * (rng.random(3) < 0.8)
        y[0] = abs(y[0])
        q, (s1, s2), mu = rng.normal(size=3), 0.3 * rng.normal(size=2), float(rng.choice([0.0, 0.5, 2.0]))
        steps = tuple(rng.uniform(0.1, 2.0, 2))
        full = tuple(y - 0.5 * q) if k % 2 else (float(abs(y[0])) + 5.0, 0.0, 0.0)
        wanted = contact_law(*y, *q, s1, s2, steps, mu, full)
        found = law(*y, *q, s1, s2, steps, mu, full)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-300)
        seen.add((found[0] == 0.0, found == full))
    assert len(seen) >= 3
