"""Problems to test solvers with, shared by tests and benchmarks.

Random positive definite problems of a given condition number follow Alefeld, Chen and Potra, as lacoursiere2007 16.8 uses them: eigenvalues
d_1 = sqrt(c), d_n = 1 / sqrt(c), the others c^a with a uniform in (-1/2, 1/2), and random eigenvectors.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

Problem = tuple[Array, Array, Array, Array]


def definite(n: int, condition: float, rng: np.random.Generator, rank: int | None = None) -> Array:
    """Symmetric matrix Q D Q^T of that condition number; positive semidefinite where rank < n."""
    rank = n if rank is None else rank
    d = np.zeros(n)
    d[:rank] = condition ** rng.uniform(-0.5, 0.5, rank)
    if rank > 1:
        d[0], d[rank - 1] = np.sqrt(condition), 1.0 / np.sqrt(condition)
    elif rank == 1:
        d[0] = 1.0
    Q, R = np.linalg.qr(rng.standard_normal((n, n)))
    Q = Q * np.sign(np.diag(R))  # uniform in the orthogonal group
    M = (Q * d) @ Q.T
    return np.asarray(0.5 * (M + M.T))


def random_lcp(n: int, condition: float, rng: np.random.Generator) -> Problem:
    """(M, q, lower, upper) with q uniform in (-100, 100), lower = 0, upper = inf."""
    return definite(n, condition, rng), rng.uniform(-100.0, 100.0, n), np.zeros(n), np.full(n, np.inf)


def random_boxed(n: int, condition: float, rng: np.random.Generator) -> Problem:
    """The same with lower in (-100, 0) and upper in (0, 100)."""
    M, q, _, _ = random_lcp(n, condition, rng)
    return M, q, rng.uniform(-100.0, 0.0, n), rng.uniform(0.0, 100.0, n)


def random_mixed(n: int, condition: float, rng: np.random.Generator) -> Problem:
    """Every kind of row: boxes, one bound below or above, equations, fixed variables."""
    M, q, lower, upper = random_boxed(n, condition, rng)
    kind = rng.integers(0, 5, n)
    lower[(kind == 1) | (kind == 3)] = -np.inf
    upper[(kind == 2) | (kind == 3)] = np.inf
    upper[kind == 4] = lower[kind == 4]
    return M, q, lower, upper


def murty_worst_case(n: int) -> Problem:
    """M unit lower triangular with 2 below the diagonal, q = -1: Murty's last-index rule takes 2^n - 1 pivots. z = e_1."""
    return np.eye(n) + 2.0 * np.tril(np.ones((n, n)), -1), -np.ones(n), np.zeros(n), np.full(n, np.inf)


def block_pivot_cycle() -> tuple[Problem, Array]:
    """A P matrix on which block pivoting from the given start runs {1} -> {2} -> {3} -> {1} for ever. Solution: 0."""
    M = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    return (M, np.ones(3), np.zeros(3), np.full(3, np.inf)), np.array([1.0, 0.0, 0.0])


def random_nonsymmetric(n: int, skew: float, rng: np.random.Generator, boxed: bool = True) -> Problem:
    """Positive definite A A^T / n + 0.02 I + skew (B - B^T): for skew = 1 Keller's method cycles on about half of the boxed ones."""
    A, B = rng.standard_normal((2, n, n))
    M = A @ A.T / n + 0.02 * np.eye(n) + skew * (B - B.T)
    q = rng.uniform(-100.0, 100.0, n)
    if not boxed:
        return M, q, np.zeros(n), np.full(n, np.inf)
    return M, q, rng.uniform(-100.0, 0.0, n), rng.uniform(0.0, 100.0, n)


def friction(
    contacts: int, mu: float, rng: np.random.Generator, regular: float = 1e-6, duplicates: int = 0, directions: int = 4
) -> Problem:
    """Polygonal dry friction of contacts of one free body (lacoursiere2007 (10.86)), unknowns: tangential and normal impulses, slip:

        [ D W D^T + G   D W C^T       E ]        D: tangential rows, `directions` per contact,  C: normal rows,  W: inverse mass matrix
        [ C W D^T       C W C^T + S   0 ]        E: ones,  U = diag mu,  G, S, L: `regular` times 1
        [ -E^T          U             L ]

    The matrix is strictly copositive for regular > 0 and mu >= 0: a solution exists. `duplicates`: contacts that occur twice.
    """
    which = np.r_[np.arange(contacts), rng.integers(0, contacts, duplicates)]
    nc = len(which)
    arms = rng.uniform(-1.0, 1.0, (contacts, 3))[which]
    normals = rng.standard_normal((contacts, 3))[which]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    first = np.cross(normals, np.eye(3)[np.argmin(np.abs(normals), axis=1)])
    first /= np.linalg.norm(first, axis=1)[:, None]
    angle = 2.0 * np.pi * np.arange(directions) / directions
    tangents = np.cos(angle)[:, None] * first[:, None, :] + np.sin(angle)[:, None] * np.cross(normals, first)[:, None, :]
    C = np.hstack([np.cross(arms, normals), normals])
    D = np.concatenate([np.cross(arms[:, None, :], tangents), tangents], axis=2).reshape(-1, 6)
    W = np.diag(np.r_[1.0 / rng.uniform(0.1, 1.0, 3), np.full(3, 1.0)])
    E = np.kron(np.eye(nc), np.ones((directions, 1)))
    M = np.block(
        [
            [D @ W @ D.T + regular * np.eye(len(D)), D @ W @ C.T, E],
            [C @ W @ D.T, C @ W @ C.T + regular * np.eye(nc), np.zeros((nc, nc))],
            [-E.T, mu * np.eye(nc), regular * np.eye(nc)],
        ]
    )
    v = rng.standard_normal(6)
    q = np.r_[D @ v, C @ v, np.zeros(nc)]
    return M, q, np.zeros(len(q)), np.full(len(q), np.inf)
