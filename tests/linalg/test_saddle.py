"""Identities of the saddle-point matrix (lacoursiere2007, 18.14-22)."""

from itertools import pairwise

import numpy as np
import pytest

from dalembert.errors import OptionError
from dalembert.linalg import Saddle
from dalembert.linalg.samples import chain, system, tree_pairs

# products of matrices of size 60 with entries and inverses below 100
EXACT = {"rtol": 0, "atol": 1e-10}


@pytest.fixture(scope="module")
def s():
    rng = np.random.default_rng(1)
    return system(6, [(0, 1), (1, 2), (2, 0), (3, 4), (-1, 3)], [1, 3, 2, 5, 4], rng, 0.1)


def dense(s):
    return s.M().toarray(), s.jacobian.to_sparse().toarray(), s.E().toarray()


def test_blocks(s):
    M, G, E = dense(s)
    np.testing.assert_array_equal(s.K().toarray(), np.block([[M, -G.T], [G, E]]))
    np.testing.assert_array_equal(s.H().toarray(), np.block([[M, G.T], [G, -E]]))


def test_K_and_H(s):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=36), rng.normal(size=s.jacobian.n_rows)
    z, flipped = np.concatenate([x, y]), np.concatenate([x, -y])
    M, _, E = dense(s)
    np.testing.assert_allclose(s.K() @ z, s.H() @ flipped, **EXACT)
    np.testing.assert_allclose(np.concatenate(s.multiply(x, y)), s.K() @ z, **EXACT)
    assert z @ (s.K() @ z) == pytest.approx(x @ M @ x + y @ E @ y, rel=1e-13)


def test_factorisations_and_inverse(s):
    M, G, E = dense(s)
    U = np.linalg.inv(M)
    S = G @ U @ G.T + E
    L, n = s.L().toarray(), len(M)
    D = np.block([[M, np.zeros_like(G.T)], [np.zeros_like(G), S]])
    D_minus = np.block([[M, np.zeros_like(G.T)], [np.zeros_like(G), -S]])
    np.testing.assert_allclose(np.linalg.inv(L), 2 * np.eye(len(L)) - L, **EXACT)
    np.testing.assert_allclose(L @ D @ np.linalg.inv(L).T, s.K().toarray(), **EXACT)
    np.testing.assert_allclose(L @ D_minus @ L.T, s.H().toarray(), **EXACT)
    T = np.linalg.inv(S)
    inverse = np.block([[U - U @ G.T @ T @ G @ U, U @ G.T @ T], [-T @ G @ U, T]])
    np.testing.assert_allclose(inverse @ s.K().toarray(), np.eye(n + len(S)), **EXACT)
    eigenvalues = np.linalg.eigvalsh(s.H().toarray())
    assert (eigenvalues > 0).sum() == n  # H, not K, has the negative part
    assert (np.linalg.eigvalsh(s.K().toarray() + s.K().toarray().T) > 0).all()


def test_fill_counts_blocks(s):
    """Blocks of the dense matrix that hold a number, counted."""
    K, g = s.K().toarray(), s.jacobian
    ends = np.concatenate([6 * np.arange(s.n_bodies), 6 * s.n_bodies + g.rows])
    full = sum(K[a:b, c:d].any() for a, b in pairwise(ends) for c, d in pairwise(ends))
    assert s.fill() == full / (len(ends) - 1) ** 2


def test_fill_falls_with_size():
    assert 1000 * chain(1000).fill() == pytest.approx(100 * chain(100).fill(), rel=0.01)


def test_residual_is_zero_only_for_solutions(s):
    z = np.linalg.solve(s.K().toarray(), np.ones(s.size))
    b, c = np.ones(36), np.ones(s.jacobian.n_rows)
    x, y = z[:36], z[36:]
    assert s.residual(x, y, b, c) < 1e-13
    assert s.residual(x, y, b, c + 1e-6) > 1e-8
    assert s.residual(x * np.nan, y, b, c) == np.inf
    assert s.residual(0 * x, 0 * y, 0 * b, 0 * c) == 0.0


def test_residual_does_not_depend_on_units():
    rng = np.random.default_rng(4)
    s = system(5, tree_pairs(5, rng), 2, rng, decades=6.0)
    K, rhs = s.K().toarray(), rng.normal(size=s.size)
    scale = np.sqrt(np.abs(K).max(1))
    z = np.linalg.solve(K / scale[:, None] / scale, rhs / scale) / scale
    assert s.residual(z[:30], z[30:], rhs[:30], rhs[30:]) < 1e-11


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_compliance_must_not_be_negative(s, bad):
    with pytest.raises(OptionError, match="E >= 0"):
        Saddle.of(s.masses, s.jacobian, bad)


def test_shapes(s):
    with pytest.raises(OptionError, match="masses of 2 bodies"):
        Saddle.of(np.ones((2, 6)), s.jacobian)
    with pytest.raises(OptionError, match="2 blocks given"):
        Saddle.of(s.masses, s.jacobian, [np.eye(2), np.eye(2)])
    with pytest.raises(OptionError, match="body 5: not symmetric"):
        Saddle.of(s.masses + np.eye(6)[5][:, None, None] * np.eye(6, k=1), s.jacobian)
    with pytest.raises(OptionError, match="constraint 1: not symmetric"):
        Saddle.of(s.masses, s.jacobian, [np.tri(r) if i == 1 else np.eye(r) for i, r in enumerate((1, 3, 2, 5, 4))])
    assert not Saddle.of(-s.masses, s.jacobian).positive_masses
