"""Newton on a law of friction itself, from near its solution: normal impulses limit friction within the same step.

    y = lam - u/D,   F = lam - Q(y) = 0:   normals Q = max(y_n, 0),   tangents Q = P(y_t) on the set of radius mu max(y_n, 0),   others
                                           their bounds               (the map of `kernels/contact/laws.py`: coulomb_miss)
    dF = (1 - Q') dlam + (Q'/D) du,   du = J dx + sigma dlam,   M dx = J^T dlam - r,   r = M (x - free) - J^T lam
    (M + J^T S (Q'/D) J) dx = -r - J^T S F,    dlam = -S (F + (Q'/D) J dx),    S = (1 - Q' + (Q'/D) sigma)^-1

Q' has a column below the normal of a contact that slides, so the matrix is not symmetric (SuperLU). Squares and polygons have linear
pieces: where the right ones are found, one correction is exact. Lengths by halving until |D F| falls. From far away this does not end;
after rounds of contact/friction_laws.py, which leave states that fit each other, it mostly does: 200 boxes dropped at 5 m/s, from residuals
of 1e-2 m/s, 1 to 12 corrections to 1e-11 in 35 of 42 problems of pyramids and polygons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.problem import BILATERAL, BOXED
from dalembert.contact.tangents import Tangents

HALVINGS = 10
TINY = 1e-300


@dataclass
class _Point:
    lam: Array
    y: Array
    F: Array
    size: float  # |D F|^2
    miss: float  # largest D |F|


class Finishing:
    """The contacts of `tangents`; `run` begins from its impulses and leaves better ones there."""

    def __init__(self, tangents: Tangents):
        from scipy.sparse import block_diag, csr_matrix

        t = self.t = tangents
        self.disc = t.section.disc
        self.p = p = t.given if self.disc else t.problem
        base, to = (t.at, t.at[:, None] + (1, 2)) if self.disc else (t.base, t.to)
        self.rows, self.part = np.column_stack([base, to]), t.mu * t.section.size
        owner = np.repeat(np.arange(len(p.kind)), np.diff(p.first))
        ends, law = p.bodies[owner], p.kind[owner]
        at, column = np.nonzero(np.repeat(ends >= 0, 6, axis=1))
        places = (at, 6 * ends[at, column // 6] + column % 6)
        self.J: Any = csr_matrix((p.J[at, column], places), shape=(len(p.J), 6 * len(p.masses)))
        self.M, self.inverse = (block_diag(list(a), format="csr") for a in (p.masses, p.inverse))
        D = np.asarray((self.J @ self.inverse).multiply(self.J).sum(axis=1)).ravel()
        D[self.rows] = D[self.rows].max(axis=1, keepdims=True)
        self.D = np.where(D > 0.0, D, 1.0)
        self.low = np.where(law == BILATERAL, -np.inf, np.where(law == BOXED, p.lows, 0.0))
        self.high = np.where(law == BOXED, p.highs, np.inf)
        self.factors = 0

    def run(self, most: int, tol: float) -> float:
        """At most so many corrections. Returns the residual of the best point, which is left in the impulses of `tangents`."""
        if self.disc:
            self.t.back()
        best = point = self._at(self.p.impulses.copy())
        for _ in range(most):
            step = None if best.miss <= tol else self._step(point)
            if step is None:
                break
            point = self._along(point, step)
            best = point if point.miss < best.miss else best
        self.p.impulses[:] = best.lam
        if self.disc:
            self.t.take()
        return best.miss

    def velocities(self) -> Array:
        """x of the impulses."""
        return self._x(self.p.impulses)

    def _x(self, lam: Array) -> Array:
        return np.asarray(self.p.free + self.inverse @ (self.J.T @ lam))

    def _at(self, lam: Array) -> _Point:
        y = lam - (self.J @ self._x(lam) + self.p.b + self.p.sigma * lam) / self.D
        image = np.clip(y, self.low, self.high)
        n, t = y[self.rows[:, 0]], y[self.rows[:, 1:]]
        radius = (self.part * np.maximum(n, 0.0))[:, None]
        image[self.rows[:, 0]] = np.maximum(n, 0.0)
        if self.disc:
            length = np.hypot(t[:, 0], t[:, 1])[:, None]
            image[self.rows[:, 1:]] = np.where(length > radius, t * (radius / np.maximum(length, TINY)), t)
        else:
            image[self.rows[:, 1:]] = np.clip(t, -radius, radius)
        F = lam - image
        return _Point(lam, y, F, float(((self.D * F) ** 2).sum()), float(np.abs(self.D * F).max()))

    def _derivative(self, y: Array) -> Array:
        """Q' of the contacts, (m, 1 + k, 1 + k)."""
        n, t = y[self.rows[:, 0]], y[self.rows[:, 1:]]
        radius, closed = (self.part * np.maximum(n, 0.0))[:, None], n > 0.0
        k = t.shape[1]
        Q = np.zeros((len(n), 1 + k, 1 + k))
        Q[:, 0, 0] = closed
        if self.disc:
            length = np.maximum(np.hypot(t[:, 0], t[:, 1]), TINY)[:, None]
            e, slides = t / length, length > radius
            turn = (radius / length)[:, :, None] * (np.eye(2) - e[:, :, None] * e[:, None, :])
            Q[:, 1:, 1:] = np.where(slides[:, :, None], turn, np.eye(2))
        else:
            e, slides = np.sign(t), np.abs(t) > radius
            Q[:, 1 + np.arange(k), 1 + np.arange(k)] = ~slides
        Q[:, 1:, 0] = np.where(slides & closed[:, None], self.part[:, None] * e, 0.0)
        return Q

    def _step(self, point: _Point) -> Array | None:
        """dlam; None where the matrix is singular."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.linalg import splu

        y, F, rows, D, sigma = point.y, point.F, self.rows, self.D, self.p.sigma
        q = ((y >= self.low) & (y <= self.high)).astype(float)
        own = 1.0 / (1.0 - q + q * sigma / D)
        Q = self._derivative(y)
        B = Q / D[rows][:, None, :]
        S = np.linalg.inv(np.eye(rows.shape[1]) - Q + B * sigma[rows][:, None, :])
        others = np.setdiff1d(np.arange(len(y)), rows)
        places = [np.concatenate([np.broadcast_to(a, S.shape).ravel(), others]) for a in (rows[:, :, None], rows[:, None, :])]
        W: Any = csr_matrix((np.concatenate([(S @ B).ravel(), (own * q / D)[others]]), places), shape=(len(y), len(y)))
        c = own * F
        c[rows] = np.einsum("mij,mj->mi", S, F[rows])
        r = self.M @ (self._x(point.lam) - self.p.free) - self.J.T @ point.lam
        try:
            lu = splu((self.M + self.J.T @ W @ self.J).tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        except RuntimeError:
            return None
        self.factors += 1
        step = -(c + W @ (self.J @ lu.solve(-r - self.J.T @ c)))
        return step if np.isfinite(step).all() else None

    def _along(self, point: _Point, step: Array) -> _Point:
        """The first of the halved steps that is better, or the best of all."""
        best, length = None, 1.0
        for _ in range(HALVINGS):
            other = self._at(point.lam + length * step)
            best = other if best is None or other.size < best.size else best
            if other.size <= (1.0 - 1e-4 * length) * point.size:
                break
            length *= 0.5
        assert best is not None
        return best
