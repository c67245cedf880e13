"""Impulses of few contacts: natural residual recomputed, and contacts that depend on each other."""

import numpy as np
import pytest

from dalembert.kernels.collision.complementarity import complementarity, solve_free

pytestmark = pytest.mark.nojit


def solve(A, q, lower=0.0):
    n = len(q)
    z = np.zeros(n)
    complementarity(A, q, z, lower, n, np.zeros((n + 1, n)), np.zeros(n, dtype=np.int64))
    return z


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (4, 3), (6, 6), (12, 6), (12, 12)])
def test_what_pushes_is_not_closing_and_what_is_open_does_not_push(n, rank):
    rng = np.random.default_rng(n + rank)
    for _ in range(5):
        G = rng.normal(size=(n, rank))
        A, q = G @ G.T, 2.0 * G @ rng.normal(size=rank)  # rates of a motion: there is a solution
        z = solve(A, q)
        w = A @ z + q
        assert z.min() >= 0.0 and w.min() > -1e-11 * np.abs(q).max() and np.abs(z * w).max() < 1e-10 * np.abs(q).max() * (1 + z.max())


def test_a_plate_on_four_corners_is_carried_however_thin_its_inertia_is():
    """Rank 3 of 4, and eigenvalues of 1 and 1e8: Gauss-Seidel alone needs millions of sweeps."""
    corners = np.array([(1.0, x, y) for x in (-1, 1) for y in (-1, 1)])
    A, q = corners @ np.diag([1.0, 1e8, 1e8]) @ corners.T, -np.ones(4)
    z = solve(A, q)
    assert np.abs(A @ z + q).max() < 1e-6 and z.sum() == pytest.approx(1.0, abs=1e-6)  # eps of 1e8


def test_direct_solutions_are_not_taken_where_a_contact_would_pull():
    A, q, z = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0]), np.ones(2)
    assert not solve_free(A, q, z, 0.0, 2, np.zeros((3, 2)), np.zeros(2, dtype=np.int64))
    assert z.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(solve(A, q), [0.5, 0.0], atol=1e-15)
