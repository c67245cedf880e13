"""Joints whose force, or torque, has a greatest length whatever its direction (lacoursiere2007, 10.10: ||lam|| <= lam_max).

The rows of one such group, lam in R^2 or R^3 with u = J x + b + sigma lam, hold (u = 0) while |lam| <= r = h F. Beyond, they yield by the
law of most work, as friction in a disc does:

    lam = -r u/|u|

Rounds: the rows are turned so that the first, e, points along the force. It is bounded by +-r; those across have the derivative of the law
there, a drag |u|/r: u_c + (|u|/r) lam_c = 0. The next e is that of the new force: Newton's iteration on the sphere. Where the force along e
is below its bound, the group holds again. A step without a group that yields is solved once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import StepResult
from dalembert.kernels.status import NOT_CONVERGED, OK

ROUNDS = 40
SLACK = 1e-9  # of r


def _turned(e: Array) -> Array:
    """An orthonormal matrix whose first row is e."""
    basis = np.linalg.qr(np.column_stack([e, np.eye(len(e))]))[0].T
    return np.asarray(basis * np.sign(basis[0] @ e))


class Group:
    """Rows of one problem that yield together."""

    def __init__(self, p: StepProblem, first: int, count: int, greatest: float, tol: float):
        self.p, self.at, self.r, self.tol = p, slice(first, first + count), greatest, tol
        self.J, self.b, self.sigma = p.J[self.at].copy(), p.b[self.at].copy(), p.sigma[self.at].copy()
        self.ends = p.bodies[int(np.searchsorted(p.first, first, side="right")) - 1]
        self.Q, self.yields, self.miss = np.eye(count), False, 0.0
        blocks = [p.inverse[k] if k >= 0 else np.zeros((6, 6)) for k in self.ends]
        own = self.J.reshape(count, 2, 6)
        self.scale = max(float(np.einsum("rsi,sij,rsj->r", own, np.array(blocks), own).max(initial=0.0)), 1e-300)

    def look(self, x: Array) -> bool:
        """Whether the force is that of the law at velocities x; where it is not, the rows of the next round are written."""
        lam = self.Q.T @ self.p.impulses[self.at]
        v = np.concatenate([x[6 * k : 6 * k + 6] if k >= 0 else np.zeros(6) for k in self.ends])
        u, size = self.J @ v + self.b + self.sigma * lam, float(np.linalg.norm(lam))
        y = lam - u / self.scale
        image = y * min(1.0, self.r / max(float(np.linalg.norm(y)), 1e-300))
        self.miss = float(np.abs(lam - image).max()) * self.scale
        if self.miss <= self.tol and size <= self.r * (1.0 + SLACK):
            return True
        self.yields = size > self.r * (1.0 - SLACK)
        self._write(lam / size if self.yields else None, float(np.linalg.norm(u)) if self.miss > 0.0 else 0.0, lam)
        return False

    def _write(self, e: Array | None, slip: float, lam: Array) -> None:
        p, at = self.p, self.at
        self.Q = np.eye(len(lam)) if e is None else _turned(e)
        p.J[at], p.b[at], p.sigma[at], p.impulses[at] = self.Q @ self.J, self.Q @ self.b, self.sigma, self.Q @ lam
        p.lows[at], p.highs[at] = -np.inf, np.inf
        if e is not None and self.r > 0.0:
            p.lows[at.start], p.highs[at.start] = -self.r, self.r
            p.impulses[at.start] = np.clip(p.impulses[at.start], -self.r, self.r)
            p.sigma[at.start + 1 : at.stop] += slip / self.r

    def restore(self) -> None:
        """Rows as they were given, with the force in their axes, of at most the greatest length."""
        p, at = self.p, self.at
        lam = self.Q.T @ p.impulses[at]
        p.J[at], p.b[at], p.sigma[at] = self.J, self.b, self.sigma
        p.impulses[at] = lam
        p.lows[at], p.highs[at] = -np.inf, np.inf


class Yielding:
    """The groups of a machine. lengths: (first row, number of rows, greatest force). enough: residual of a solved step."""

    def __init__(self, lengths: tuple[tuple[int, int, float], ...], tol: float, enough: float):
        self.lengths, self.tol, self.enough = lengths, tol, max(tol, enough)

    def let_go(self, low: Array, high: Array) -> None:
        """In an instant a force that is bounded has no impulse."""
        for first, count, _ in self.lengths:
            low[first : first + count] = high[first : first + count] = 0.0

    def solve(self, solver: Any, p: StepProblem, h: float) -> StepResult:
        """Impulses into the problem, velocities into the result."""
        result: StepResult = solver.solve(p)
        if not self.lengths:
            return result
        groups = [Group(p, first, count, abs(h) * most, self.tol) for first, count, most in self.lengths]
        counts = np.array([result.factorisations, result.iterations, result.solves])
        for _ in range(ROUNDS):
            settled = [g.look(result.x) for g in groups]  # all of them: each writes its rows
            if all(settled):
                break
            result = solver.solve(p)
            counts += (result.factorisations, result.iterations, result.solves)
        for g in groups:
            g.restore()
        miss = max(g.miss for g in groups)
        status = result.status if result.status != OK or miss <= self.enough else NOT_CONVERGED
        factors, iterations, solves = (int(c) for c in counts)
        residual = max(result.residual, miss)
        return replace(result, status=status, residual=residual, factorisations=factors, iterations=iterations, solves=solves)
