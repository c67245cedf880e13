"""Impacts and rest on rows c(q) >= 0 at one node, by complementarity. Plain arrays in and out.

At the node M v = p (less what does not depend on v), G v = 0 of equations, b = C v of the rows that touch. With K = M^-1 less what the
equations take, A = C K C^T is symmetric and not negative:

    impact    0 <= Lambda  _|_  A Lambda + (1 + e) b >= 0,              v+ = v + K C^T Lambda
    rest      0 <= nu      _|_  A nu + C a + (dC/dt) v >= 0             a: accelerations without the rows

With one row Lambda = -(1 + e) b / A; with several none is pulled, and with one e for all of them the energy changes by
(1 - e)/2 Lambda . b <= 0 (moreau1988): not at all for e = 1. Rows with different e can gain some; then the smallest of them holds for all.
A row that was opening, b > 0, may be left closing, and then has an impact of its own at the same time; after CASCADE of those e = 0 for
all, which ends it. One common impulse for several rows would be wrong physics: beads of masses 1 and 10 that hit together would leave with
2.64 and still enter with 0.64.

References: leyendecker (7, 13), lacoursiere2007 (10.31), moreau1988.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity import lcp
from dalembert.errors import SimulationError

REDUNDANT = 1e-10  # of the largest singular value of the equations
CASCADE = 50
NONE, SOLVED = 1e-13, 1e-9  # of the largest speed: round-off, and what an impact may leave of its conditions


class Metric(NamedTuple):
    """M and the rows of a node, reduced: B = L^-1 C^T less its part in the range of L^-1 G^T, M = L L^T; A = B^T B."""

    L: Array
    B: Array
    A: Array
    back: Array  # of the equations: kappa = back Lambda

    @classmethod
    def of(cls, M: Array, G: Array, C: Array) -> Metric:
        """Of a mass matrix, rows of equations and rows that touch."""
        L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
        B: Array = np.asarray(np.linalg.solve(L, C.T), dtype=np.float64)
        back = np.zeros((len(G), len(C)))
        if len(G):
            back = -np.linalg.pinv(np.linalg.solve(L, G.T), rcond=REDUNDANT) @ B
            B = B + np.linalg.solve(L, G.T) @ back
        return cls(L, B, B.T @ B, back)

    def velocity(self, impulse: Array) -> Array:
        """K C^T impulse."""
        return np.asarray(np.linalg.solve(self.L.T, self.B @ impulse))

    def momentum(self, G: Array, C: Array, impulse: Array) -> Array:
        """C^T impulse, and what the equations add to it."""
        push = C.T @ impulse
        return push + G.T @ (self.back @ impulse) if len(G) else push


def complementary(A: Array, b: Array) -> Array:
    """z of 0 <= z _|_ A z + b >= 0 for A = A^T >= 0. What of b is round-off beside its largest entry is none."""
    size = float(np.abs(b).max())
    b = np.where(np.abs(b) > NONE * size, b, 0.0)
    if (b >= 0.0).all():
        return np.zeros(len(b))
    if len(b) == 1:
        if not A[0, 0] > 0.0:
            raise SimulationError("impact: a row of the unilateral constraints that is met cannot move: its derivative is zero there.")
        return np.asarray(-b / A[0])
    found = lcp(A, b)
    if not min(found.residual, float(np.abs(np.minimum(found.z, A @ found.z + b)).max())) <= SOLVED * size:
        raise SimulationError(f"impact: the complementarity problem of {len(b)} rows that are met at once has no solution.")
    return np.asarray(found.z)


def impact(metric: Metric, b: Array, e: Array) -> Array:
    """Impulses of the rows that touch."""
    found = complementary(metric.A, (1.0 + e) * b)
    gain = found @ (0.5 * metric.A @ found + b)
    if gain > SOLVED * (found @ np.abs(b)):
        return complementary(metric.A, (1.0 + e.min()) * b)
    return found


def impacts(metric: Metric, b: Array, e: Array, least: Array) -> Iterator[tuple[Array, Array, Array]]:
    """(impulses, b before, b after) of impacts at one time, until no row closes faster than `least`."""
    for n in range(CASCADE + 1):
        if not (b < -least).any():
            return
        impulse = impact(metric, b, e if n < CASCADE else np.zeros_like(e))
        after = b + metric.A @ impulse
        yield impulse, b, after
        b = after


def resting(metric: Metric, c_dd: Array) -> Array:
    """Forces of rows that touch and do not move, from their second derivatives without these forces."""
    return complementary(metric.A, c_dd)


def stopping(metric: Metric, b: Array) -> Array:
    """Impulses, of either sign, after which the rows do not move."""
    return np.asarray(-np.linalg.pinv(metric.A, rcond=REDUNDANT, hermitian=True) @ b)
