"""Small steps by the pivoting methods of `dal.lcp`, on dense matrices: judges of the other solvers, and solvers of small machines.

    u = W lam + q,   W = J M^-1 J^T + sigma,   rows by their bounds: bilateral -inf ... inf, unilateral 0 ... inf, boxed low ... high

is a boxed complementarity problem with a symmetric positive definite matrix (sigma > 0), which "lemke" and "keller" solve. Cones with
mu = 0 are a unilateral row and two without impulse. A cone with friction is no such row: with `corners` = k > 0 the polygon of k corners
inscribed in it stands for it,

    coulomb      z = (along k directions, normal, slip speed) >= 0 of each contact, one linear complementarity problem     (10.86), "lemke"
    associated   lam = sum_k z_k (1, mu d_k),  0 <= z  _|_  (1, mu d_k) . u >= 0: symmetric, positive semidefinite         "lemke", "keller"

and without it the problem is refused. The polygon allows less friction between its corners: the residual, which is that of the cone, says
how much that matters. Nothing is warm-started, no other method takes over.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.complementarity.friction.shapes import directions
from dalembert.complementarity.solve import lcp
from dalembert.contact.problem import CONE, StepProblem
from dalembert.contact.solver import SolverOptions, StepResult
from dalembert.errors import UnsupportedError
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK

#: unknowns of a dense problem: a pivot takes as many multiplications as it has entries, and there are about as many pivots as unknowns
LARGEST = 2000


class PivotingSolver:
    """Solves steps by one call of `dal.lcp` each."""

    def __init__(self, options: SolverOptions):
        self.options = options
        self.goal = max(options.tol, options.interior_tol)

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities into the result; iterations: pivots."""
        o = self.options
        if not len(problem.kind):
            return StepResult(OK, 0.0, 0, 0, 0, o.method, problem.free.copy())
        M, q, lower, upper, T = as_lcp(problem, o.method, o.law, o.corners)
        found = lcp(M, q, lower, upper, method=o.method, fallback=None)
        lam = T @ found.z[: T.shape[1]]
        residual = problem.natural_residual(lam, o.law, o.creep)
        problem.impulses[:] = lam
        status = OK if residual <= self.goal else NOT_CONVERGED if np.isfinite(residual) else NOT_FINITE
        branch = o.method if found.solved else f"{o.method} ({found.status})"
        return StepResult(status, residual, 0, found.pivots, 0, branch, problem.velocities(lam))


def refuse(problem: StepProblem, method: str, law: str, corners: int) -> None:
    """UnsupportedError where a method cannot be asked."""
    rough = int(((problem.kind == CONE) & (problem.mu > 0.0)).sum())
    if rough and not corners:
        raise UnsupportedError(
            f"method {method!r} solves complementarity problems of rows with bounds, and {rough} contacts have cones of friction; "
            "corners=8, say, puts inscribed polygons in their place, the methods 'direct', 'gauss-seidel' and 'split' solve cones."
        )
    if rough and method == "keller" and law == "coulomb":
        raise UnsupportedError(
            f"method 'keller' needs a symmetric matrix, and polygons with Coulomb's law have none ({rough} contacts); take 'lemke', or the "
            "associated law."
        )
    size = len(problem.J) + rough * (corners - 1 if law == "coulomb" else corners - 3)
    if size > LARGEST:
        raise UnsupportedError(
            f"method {method!r} works on a dense matrix, here of {size} unknowns ({len(problem.J)} rows), and takes at most {LARGEST}; the "
            "methods 'direct', 'gauss-seidel' and 'split' have no such limit."
        )


def as_lcp(problem: StepProblem, method: str, law: str, corners: int) -> tuple[Array, Array, Array, Array, Array]:
    """(M, q, lower, upper, T) of w = M z + q, lower <= z <= upper; the first unknowns give lam = T z."""
    refuse(problem, method, law, corners)
    W, q = problem.dense()
    lower, upper = problem.bounds()
    at = problem.first[:-1][problem.kind == CONE]
    mu = problem.mu[problem.kind == CONE]
    lower[at] = 0.0
    for t in (at + 1, at + 2):
        lower[t], upper[t] = 0.0, 0.0
    at, mu = at[mu > 0.0], mu[mu > 0.0]
    if not len(at):
        return W, q, lower, upper, np.eye(len(q))
    T, low, high = _generators(len(q), at, mu, corners, law == "coulomb", lower, upper)
    A, c = T.T @ W @ T, T.T @ q
    if law != "coulomb":
        return A, c, low, high, T
    n, m = len(c), len(at)
    M = np.zeros((n + m, n + m))
    M[:n, :n] = A
    normals = np.searchsorted(_kept(len(q), at), at)
    for i in range(m):
        along = slice(n - m * corners + i * corners, n - m * corners + (i + 1) * corners)
        M[along, n + i], M[n + i, along], M[n + i, normals[i]] = 1.0, -1.0, mu[i]
    more = np.zeros(m)
    return M, np.concatenate([c, more]), np.concatenate([low, more]), np.concatenate([high, np.full(m, np.inf)]), T


def _kept(rows: int, at: AnyArray, normals: bool = True) -> AnyArray:
    """Rows that stay as they are: all but those of cones; their normals too, if asked for."""
    keep = np.ones(rows, dtype=bool)
    for k in range(0 if not normals else 1, 3):
        keep[at + k] = False
    return np.flatnonzero(keep)


def _generators(rows: int, at: AnyArray, mu: Array, corners: int, coulomb: bool, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """(T, lower, upper): rows that stay, then the directions of each cone; with the associated law each direction brings its normal."""
    keep, d, m = _kept(rows, at, coulomb), directions(corners), len(at)
    T = np.zeros((rows, len(keep) + m * corners))
    T[keep, np.arange(len(keep))] = 1.0
    for i in range(m):
        along = slice(len(keep) + i * corners, len(keep) + (i + 1) * corners)
        T[at[i] + 1 : at[i] + 3, along] = d.T if coulomb else mu[i] * d.T
        if not coulomb:
            T[at[i], along] = 1.0
    return T, np.concatenate([low[keep], np.zeros(m * corners)]), np.concatenate([high[keep], np.full(m * corners, np.inf)])
