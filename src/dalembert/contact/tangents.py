"""Contacts of a step as rows of their own: a normal, and tangents whose impulses lie in a set of given size.

    square     |lam_1|, |lam_2| <= R                         two rows with bounds
    polygon    lam_t in R times the regular polygon of n corners, the first on the first tangent: the sum of n/2 segments along its edges,
               lam_t = sum of c_j e_j, |c_j| <= R sin(pi/n), which are n/2 rows with bounds; n is even
    disc       |lam_t| <= R                                  a cone with a normal row of its own, J = 0 and u = s (lam_0 - R), mu = 1

Sets of tangential impulses with u_t: the most work against it (lacoursiere2007, 10.12). sigma of the rows of a polygon is n/4 times that of
the tangents, which lets a contact that sticks creep as it does with two rows.
In the disc's cone the associated law makes lam_0 = R + (|u_t| - d)/s of b_0 = -s R + d: the radius is R where d = |u_t| (`shift`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.problem import BOXED, CONE, UNILATERAL, StepProblem

#: s of discs, in units of the diagonal of J M^-1 J^T: |u_t| - d is an error of the radius that counts as 1/STIFF of it
STIFF = 100.0


@dataclass(frozen=True, eq=False)
class Section:
    """edges (k, 2): directions of rows with bounds, size times the radius; a disc has none."""

    edges: Array
    size: float = 1.0

    @property
    def disc(self) -> bool:
        """Whether it is a disc."""
        return not len(self.edges)

    def gauge(self, t: Array) -> Array:
        """(m,): the radii of the sets on whose boundaries t (m, 2) are."""
        if self.disc:
            return np.hypot(t[:, 0], t[:, 1])
        normals = self.edges @ np.array([[0.0, 1.0], [-1.0, 0.0]])
        width = self.size * np.abs(normals @ self.edges.T).sum(axis=1)  # the support function of a sum of segments
        return np.asarray((np.abs(t @ normals.T) / width).max(axis=1, initial=0.0))


DISC, SQUARE = Section(np.zeros((0, 2))), Section(np.eye(2))


def polygon(corners: int) -> Section:
    """The regular polygon with an even number of corners."""
    angle = 0.5 * np.pi + (2 * np.arange(corners // 2) + 1) * np.pi / corners
    return Section(np.column_stack([np.cos(angle), np.sin(angle)]), float(np.sin(np.pi / corners)))


class Tangents:
    """A problem in which each cone of another one is a normal row and rows of its tangents. `problem`: for solvers of associated laws."""

    def __init__(self, given: StepProblem, section: Section):
        self.given, self.section = given, section
        self.cones = given.kind == CONE
        self.mu = given.mu[self.cones]
        self.at = given.first[:-1][self.cones]
        k = 3 if section.disc else len(section.edges)
        rows = np.where(self.cones, 1 + k, np.diff(given.first))
        starts = np.concatenate([[0], np.cumsum(rows)])
        self.base = starts[:-1][self.cones]
        self.to = self.base[:, None] + 1 + np.arange(k)
        owner = np.repeat(np.arange(len(given.kind)), np.diff(given.first))
        self.old = np.flatnonzero(~self.cones[owner])
        self.new = starts[owner[self.old]] + self.old - given.first[owner[self.old]]
        self.pairs = given.bodies[self.cones]
        self.problem = self._problem(int(starts[-1]), k)

    def _problem(self, total: int, k: int) -> StepProblem:
        p, parts = self.given, 1 if self.section.disc else k
        split = np.where(self.cones, 1 + parts, 1)
        begins = (np.cumsum(split) - split)[self.cones]
        tangents = begins[:, None] + 1 + np.arange(parts)
        kind, bodies, mu = (np.repeat(a, split, axis=0) for a in (p.kind, p.bodies, np.where(self.cones, 0.0, p.mu)))
        width = np.repeat(np.diff(p.first), split)
        kind[begins], width[begins] = UNILATERAL, 1
        kind[tangents], width[tangents] = (CONE, 3) if self.section.disc else (BOXED, 1)
        self.constraints = tangents
        J, b, sigma, lam = np.zeros((total, 12)), *(np.zeros(total) for _ in range(3))
        low, high = np.full(total, -np.inf), np.full(total, np.inf)
        for out, of in ((J, p.J), (b, p.b), (sigma, p.sigma), (low, p.lows), (high, p.highs), (lam, p.impulses)):
            out[self.new], out[self.base] = of[self.old], of[self.at]
        first = np.concatenate([[0], np.cumsum(width)])
        self.soft = p.sigma[self.at + 1]
        self._fill(J, b, sigma, lam)
        return StepProblem(bodies, kind, first, J, b, sigma, mu, p.masses, p.inverse, p.free, low, high, p.start, lam, check=False)

    def _fill(self, J: Array, b: Array, sigma: Array, lam: Array) -> None:
        """The rows of the tangents."""
        p, to, at = self.given, self.to, self.at[:, None] + 1 + np.arange(2)
        if self.section.disc:
            J[to[:, 1:]], b[to[:, 1:]], sigma[to[:, 1:]], lam[to[:, 1:]] = p.J[at], p.b[at], p.sigma[at], p.impulses[at]
            self.D = self._mobilities(J[to[:, 1:]]).max(axis=1)
            self.stiff = sigma[to[:, 0]] = STIFF * self.D
            return
        e, k = self.section.edges, len(self.section.edges)
        J[to], b[to] = np.einsum("ja,nai->nji", e, p.J[at]), p.b[at] @ e.T
        sigma[to], lam[to] = 0.5 * k * self.soft[:, None], 2.0 / k * (p.impulses[at] @ e.T)
        self.D = self._mobilities(J[to])

    def _mobilities(self, J: Array) -> Array:
        """(contacts, rows): J M^-1 J^T of rows of the contacts."""
        total = np.zeros(J.shape[:2])
        for side in range(2):
            free = self.pairs[:, side] >= 0
            half = J[free, :, 6 * side : 6 * side + 6]
            total[free] += np.einsum("nri,nij,nrj->nr", half, self.given.inverse[self.pairs[free, side]], half)
        return np.where(total > 0.0, total, 1.0)

    # what changes between two solutions

    def limit(self, radius: Array) -> None:
        """The radii of the sets."""
        self.radius = radius
        if self.section.disc:
            self.problem.mu[self.constraints[:, 0]] = radius > 0.0
            self.problem.impulses[self.to[:, 0]] = radius
            self.shift(np.zeros(len(radius)))
        else:
            high = np.repeat(self.section.size * radius[:, None], self.to.shape[1], axis=1)
            self.problem.highs[self.to], self.problem.lows[self.to] = high, -high

    def shift(self, speed: Array) -> None:
        """d of discs."""
        self.problem.b[self.to[:, 0]] = -self.stiff * self.radius + speed

    def speeds(self, x: Array) -> Array:
        """(contacts, rows): u of the tangents at velocities x."""
        to, p = self.to[:, -2:] if self.section.disc else self.to, self.problem
        bodies = np.vstack([x.reshape(-1, 6), np.zeros((1, 6))])
        J = p.J[to]
        moving = sum(np.einsum("nri,ni->nr", J[:, :, 6 * s : 6 * s + 6], bodies[self.pairs[:, s]]) for s in range(2))
        return np.asarray(moving + p.b[to] + p.sigma[to] * p.impulses[to])

    def miss(self, u: Array, radius: Array) -> float:
        """Largest D |lam - P(lam - u/D)| of the tangents, with sets of these radii."""
        if self.section.disc:
            lam, D = self.problem.impulses[self.to[:, 1:]], self.D[:, None]
            y = lam - u / D
            length = np.hypot(y[:, 0], y[:, 1])
            nearest = np.where((length > radius)[:, None], (radius / np.maximum(length, 1e-300))[:, None] * y, y)
        else:
            lam, D = self.problem.impulses[self.to], self.D
            bound = self.section.size * radius[:, None]
            nearest = np.clip(lam - u / D, -bound, bound)
        return float(np.abs(D * (lam - nearest)).max(initial=0.0))

    @property
    def normals(self) -> Array:
        """Normal impulses."""
        return np.asarray(self.problem.impulses[self.base])

    def start(self, normals: Array, x: Array) -> None:
        """Other normal impulses and velocities to begin from."""
        self.problem.impulses[self.base], self.problem.start = normals, x.copy()

    def back(self) -> None:
        """The impulses, into the problem that was given."""
        out, lam = self.given.impulses, self.problem.impulses
        out[self.old], out[self.at] = lam[self.new], lam[self.base]
        t = lam[self.to[:, 1:]] if self.section.disc else lam[self.to] @ self.section.edges
        out[self.at + 1], out[self.at + 2] = t[:, 0], t[:, 1]

    def take(self) -> None:
        """`back` the other way, for discs."""
        given, lam = self.given.impulses, self.problem.impulses
        lam[self.new], lam[self.base] = given[self.old], given[self.at]
        lam[self.to[:, 0]], lam[self.to[:, 1:]] = self.mu * given[self.at], given[self.at[:, None] + (1, 2)]
