"""Conjugate gradients without S, plain and with preconditioners."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import UnknownNameError
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR
from dalembert.linalg import BlockJacobian, Saddle
from dalembert.linalg.samples import chain, chain_pairs, contacts, random_masses, system, tree_pairs
from dalembert.linalg.schur import assemble
from dalembert.linalg.uzawa_cg import TreeCG, tree_cg, uzawa_cg


def dense_solution(s, b, c):
    z = np.linalg.solve(s.K().toarray(), np.concatenate([b, c]))
    return z[: 6 * s.n_bodies], z[6 * s.n_bodies :]


@pytest.mark.nojit
def test_seven_rows_take_at_most_seven_iterations(sides):
    """Two bodies, seven rows: exact after as many iterations as S has rows, up to round-off."""
    s = system(2, [(0, 1), (0, 1), (-1, 0)], [3, 2, 2], np.random.default_rng(0), 0.05)
    b, c = sides(s)
    found = uzawa_cg(s, b, c, tol=1e-9)
    assert (found.status, found.iterations <= 7) == (OK, True)
    x, y = dense_solution(s, b, c)
    np.testing.assert_allclose(found.y, y, rtol=0, atol=1e-7 * np.abs(y).max())
    np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-7 * np.abs(x).max())


@pytest.mark.parametrize("distinct", [1, 2, 4])
def test_as_many_iterations_as_eigenvalues(distinct):
    """One row per body, so S is diagonal: with d different entries CG needs d iterations and not one less."""
    n = 24
    g = BlockJacobian.from_blocks(n, [([k], [np.eye(1, 6, 3)]) for k in range(n)])
    mass = np.ones((n, 6))
    mass[:, 3] = 1.0 / (1.0 + np.arange(n) % distinct)
    s = Saddle.of(mass, g)
    found = uzawa_cg(s, np.zeros(6 * n), np.ones(n), tol=1e-12)
    assert (found.status, found.iterations) == (OK, distinct)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 8), st.integers(0, 8), st.integers(0, 10**6), st.sampled_from(["none", "blocks"]))
def test_random_graphs(sides, n, extra, seed, preconditioner):
    rng = np.random.default_rng(seed)
    pairs = [*map(tuple, tree_pairs(n, rng)), *(tuple(rng.choice(n, 2, replace=False)) for _ in range(extra))]
    s = system(n, pairs, 2, rng, 0.05)
    b, c = sides(s)
    found = uzawa_cg(s, b, c, tol=1e-12, preconditioner=preconditioner)
    assert found.status == OK
    S = assemble(s).to_sparse().toarray()
    y = dense_solution(s, b, c)[1]
    # |g| <= tol |g_0| bounds the error by tol cond(S); CG's recurrence adds round-off of the same kind
    np.testing.assert_allclose(found.y, y, rtol=0, atol=1e-11 * np.linalg.cond(S) * max(1.0, np.abs(y).max()))


def test_error_falls_at_least_as_fast_as_the_bound(sides):
    s = chain(12, 3, compliance=0.01)
    b, c = sides(s)
    S = assemble(s).to_sparse().toarray()
    y = dense_solution(s, b, c)[1]
    k = np.sqrt(np.linalg.cond(S))
    start = np.sqrt(y @ S @ y)
    for i in range(1, 20):
        e = uzawa_cg(s, b, c, tol=0.0, most=i).y - y
        assert np.sqrt(e @ S @ e) <= 2 * ((k - 1) / (k + 1)) ** i * start * (1 + 1e-9)


def test_blocks_make_up_for_masses_over_eight_decades(sides):
    """Separate bodies: S is block diagonal, one preconditioned iteration is exact whatever the masses."""
    rng = np.random.default_rng(3)
    g = BlockJacobian.from_blocks(10, [([k], [rng.normal(size=(3, 6))]) for k in range(10)])
    s = Saddle.of(random_masses(10, rng, 4.0), g)
    b, c = sides(s)
    assert uzawa_cg(s, b, c, preconditioner="blocks").iterations == 1
    assert uzawa_cg(s, b, c).iterations > 5


def test_warm_start(sides):
    s = chain(10, 3, compliance=0.1)
    b, c = sides(s)
    first = uzawa_cg(s, b, c, tol=1e-12)
    assert uzawa_cg(s, b, c, y=first.y, tol=1e-10).iterations == 0


def test_redundant_rows_without_compliance_converge_where_they_agree(sides):
    """S is singular, but the right-hand side G v is in its range: x is still unique."""
    s = chain(5, 3)
    twice = s.jacobian.subset([0, 1, 2, 3, 4, 2])
    rigid = Saddle.of(s.masses, twice)
    c = twice.multiply(np.arange(30.0))
    found = uzawa_cg(rigid, np.zeros(30), c)
    assert found.status == OK
    np.testing.assert_allclose(twice.multiply(found.x), c, rtol=0, atol=1e-8 * np.abs(c).max())


def test_contradictory_rows_are_reported():
    s = chain(1, 1)
    twice = s.jacobian.subset([0, 0])
    assert uzawa_cg(Saddle.of(s.masses, twice), np.zeros(6), [1.0, -1.0]).status == NOT_CONVERGED


def test_no_constraints_and_bad_masses():
    s = Saddle.of(np.full((2, 6), 4.0), BlockJacobian.from_blocks(2, []))
    found = uzawa_cg(s, np.ones(12), [])
    assert (found.status, found.iterations) == (OK, 0)
    np.testing.assert_array_equal(found.x, 0.25)
    assert uzawa_cg(Saddle.of(-s.masses, s.jacobian), np.ones(12), []).status == SINGULAR
    with pytest.raises(UnknownNameError, match="did you mean 'blocks'"):
        uzawa_cg(s, np.ones(12), [], preconditioner="block")


# the tree as preconditioner -----------------------------------------------------------------------------------------------------------


def ring(n, extra, seed=0, rows=2, compliance=0.01):
    rng = np.random.default_rng(seed)
    pairs = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + n // 2) % n) for i in range(extra)]
    return system(n, pairs, rows, rng, compliance)


def test_tree_cg_takes_at_most_as_many_iterations_as_rows_close_loops(sides):
    s = ring(40, 3)
    b, c = sides(s)
    found = tree_cg(s, b, c, tol=1e-9)
    assert (found.status, found.iterations <= 8) == (OK, True)
    x, y = dense_solution(s, b, c)
    np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-7 * np.abs(x).max())
    np.testing.assert_allclose(found.y, y, rtol=0, atol=1e-7 * np.abs(y).max())
    assert uzawa_cg(s, b, c, tol=1e-9).iterations > 3 * found.iterations


def test_its_matrix_is_the_schur_complement_of_S():
    s = ring(8, 2, rows=1)
    cg = TreeCG(s)
    S = assemble(s).to_sparse().toarray()
    two = cg.rows
    one = np.setdiff1d(np.arange(len(S)), two)
    expected = S[np.ix_(two, two)] - S[np.ix_(two, one)] @ np.linalg.solve(S[np.ix_(one, one)], S[np.ix_(one, two)])
    found = np.stack([cg.multiply(e)[0] for e in np.eye(len(two))])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * 100)


def test_tree_cg_without_loops_and_singular(sides):
    s = system(5, chain_pairs(5), 3, np.random.default_rng(0))
    found = tree_cg(s, *sides(s))
    assert (found.status, found.iterations) == (OK, 0)
    none = Saddle.of(s.masses, s.jacobian.with_data(0 * s.jacobian.data))
    assert tree_cg(none, *sides(s)).status == SINGULAR


def test_many_contacts_as_equalities(sides):
    s = contacts(2000, compliance=0.1)
    b, c = sides(s)
    found = uzawa_cg(s, b, c, tol=1e-9, preconditioner="blocks")
    assert found.status == OK
    top, bottom = s.multiply(found.x, found.y)
    np.testing.assert_allclose(bottom, c, rtol=0, atol=1e-7 * np.linalg.norm(c))
    np.testing.assert_allclose(top, b, rtol=0, atol=1e-10 * np.abs(found.y).max())
