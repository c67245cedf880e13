"""Products and the block Cholesky of a step against dense matrices and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.sparse.linalg import spsolve

from dalembert.contact.problem import CONE
from dalembert.contact.step_samples import chain, mixed, pyramid
from dalembert.kernels.contact.factor import assemble, decompose, solve
from dalembert.kernels.contact.pattern import analyse, find_slots
from dalembert.kernels.contact.products import diagonal, row_velocities, velocities
from dalembert.kernels.contact.records import Factor, Pattern

EPS = np.finfo(float).eps


def whole(*shape):
    return np.zeros(shape, dtype=np.int64)


def prepared(problem, room=2000):
    n, m = len(problem.masses), len(problem.kind)
    pattern = Pattern(whole(n), whole(n), whole(n + 1), whole(room), whole(n + 1), whole(room), whole(room), whole(3))
    analyse(problem.bodies, pattern, whole(n + 1), whole(2 * m), whole(n), whole(13, n + 1))
    blocks = int(pattern.size[1])
    factor = Factor(np.zeros(36 * n), np.zeros(36 * blocks), np.zeros(6 * n), whole(n), whole(m), whole(m), whole(2))
    assert find_slots(problem.bodies, pattern, factor.slot) >= 0
    return pattern, factor


def weights(problem, seed=0, decades=0.0):
    """(W for the kernels, the same as a matrix)"""
    rng = np.random.default_rng(seed)
    W, parts = np.zeros((len(problem.J), 3)), []
    for kind, i, end in zip(problem.kind, problem.first[:-1], problem.first[1:], strict=True):
        if kind == CONE:
            a = rng.normal(size=(3, 3))
            W[i:end] = (a @ a.T) * 10 ** rng.uniform(0, decades)
            parts.append(W[i:end])
        else:
            W[i:end, 0] = 10 ** rng.uniform(0, decades, size=end - i)
            parts.append(np.diag(W[i:end, 0]))
    return W, block_diag(*parts)


def dense(problem, W):
    J = problem.jacobian()
    return block_diag(*problem.masses) + J.T @ W @ J


@pytest.mark.nojit
@pytest.mark.parametrize("problem", [mixed(0, n=6, m=9), chain(5), pyramid(3)], ids=["mixed", "chain", "pyramid"])
def test_H_is_assembled_factored_and_solved(problem):
    """Backward stable: the residual is round-off of |H| |x| whatever the condition."""
    pattern, factor = prepared(problem)
    W, full = weights(problem)
    H = dense(problem, full)
    assemble(problem.step(), pattern, factor, W)
    count = int(pattern.size[0])
    order = (6 * pattern.body[:count, None] + np.arange(6)).ravel()
    for k in range(count):
        np.testing.assert_allclose(
            factor.diagonal[36 * k : 36 * k + 36].reshape(6, 6),
            H[np.ix_(order[6 * k : 6 * k + 6], order[6 * k : 6 * k + 6])],
            rtol=0,
            atol=30 * EPS * np.abs(H).max(),
        )
    assert decompose(pattern, factor.diagonal, factor.blocks, factor.vector, factor.at, 1e-15) == 0
    r, x = np.random.default_rng(1).normal(size=len(H)), np.zeros(len(H))
    solve(pattern, factor.diagonal, factor.blocks, factor.vector, r, x)
    reference = np.zeros_like(x)
    reference[order] = np.linalg.solve(H[np.ix_(order, order)], r[order])
    assert np.abs(x[np.setdiff1d(np.arange(len(H)), order)]).sum() == 0.0
    np.testing.assert_allclose(x, reference, rtol=0, atol=100 * EPS * np.linalg.cond(H) * np.abs(reference).max())


def test_a_pyramid_of_105_with_weights_over_eight_decades_is_solved_like_spsolve_does():
    problem = pyramid(14)
    pattern, factor = prepared(problem)
    W, full = weights(problem, decades=8.0)
    H = dense(problem, full)
    assemble(problem.step(), pattern, factor, W)
    decompose(pattern, factor.diagonal, factor.blocks, factor.vector, factor.at, 1e-15)
    r, x = np.random.default_rng(1).normal(size=len(H)), np.zeros(len(H))
    solve(pattern, factor.diagonal, factor.blocks, factor.vector, r, x)
    other = spsolve(sp.csc_matrix(H), r)
    size = np.abs(H) @ np.abs(x)
    assert np.abs(H @ x - r).max() < 1000 * EPS * size.max()
    np.testing.assert_allclose(x, other, rtol=0, atol=EPS * np.linalg.cond(H) * np.abs(other).max())


@pytest.mark.nojit
def test_a_matrix_that_round_off_has_made_singular_is_repaired_and_said():
    """Weights of 1e20 and 1e40 on three rows per body: the masses are lost in round-off, and with them four pivots."""
    problem = chain(2)
    pattern, factor = prepared(problem)
    for weight in (1e20, 1e40):
        W = np.zeros((len(problem.J), 3))
        W[:, 0] = weight
        assemble(problem.step(), pattern, factor, W)
        assert decompose(pattern, factor.diagonal, factor.blocks, factor.vector, factor.at, 1e-15) > 0
        assert np.isfinite(factor.diagonal).all()


@pytest.mark.nojit
def test_products_are_those_of_the_dense_matrices():
    problem = mixed(2, n=7, m=12)
    J, step, rng = problem.jacobian(), problem.step(), np.random.default_rng(3)
    lam, x, u, d = rng.normal(size=len(J)), np.zeros(J.shape[1]), np.zeros(len(J)), np.zeros(len(J))
    velocities(step, lam, x)
    inverse = block_diag(*problem.inverse)
    np.testing.assert_allclose(x, problem.free + inverse @ J.T @ lam, rtol=0, atol=1e-12)
    row_velocities(step, problem.b, lam, x, u)
    np.testing.assert_allclose(u, J @ x + problem.b + problem.sigma * lam, rtol=0, atol=1e-12)
    diagonal(step, d)
    np.testing.assert_allclose(d, np.diag(J @ inverse @ J.T), rtol=1e-12)
