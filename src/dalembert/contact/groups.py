"""Islands of a step: bodies that no constraint joins have problems of their own.

Islands whose impulses are settled are left alone. Of the others large ones are solved one by one, small ones together: one group of those
that almost fit, one of those that do not, since a call costs as much as a dozen contacts. Groups depend on the problem alone, not on the
number of threads that solve them: neither does any digit of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import AnyArray
from dalembert.contact.problem import StepProblem

#: constraints of an island that is solved alone, and of a problem that is divided
LARGE = 64


@dataclass(frozen=True)
class Group:
    """Some constraints with their rows and bodies, in the order of the whole problem."""

    constraints: AnyArray
    rows: AnyArray
    bodies: AnyArray

    def problem(self, p: StepProblem, lam: Any) -> StepProblem:
        """The problem of these alone, from impulses lam of the whole."""
        number = np.full(len(p.masses) + 1, -1, dtype=np.int64)  # the last: the world
        number[self.bodies] = np.arange(len(self.bodies))
        sixes = self.velocities
        counts = np.diff(p.first)[self.constraints]
        return StepProblem(
            number[p.bodies[self.constraints]], p.kind[self.constraints], np.concatenate([[0], np.cumsum(counts)]), p.J[self.rows],
            p.b[self.rows], p.sigma[self.rows], p.mu[self.constraints], p.masses[self.bodies], p.inverse[self.bodies], p.free[sixes],
            p.lows[self.rows], p.highs[self.rows], p.started[sixes], lam[self.rows], check=False,
        )  # fmt: skip

    @property
    def velocities(self) -> AnyArray:
        """Places of its velocities among those of all bodies."""
        return np.asarray((6 * self.bodies[:, None] + np.arange(6)).ravel())


def groups_of(p: StepProblem, island: AnyArray, worst: Any, tol: float, little: float) -> list[Group]:
    """Groups to be solved: islands (numbers of bodies' islands) with residuals above tol. [] where that is the whole problem at once."""
    owner = island[np.where(p.bodies[:, 0] >= 0, p.bodies[:, 0], p.bodies[:, 1])]
    sizes = np.bincount(owner, minlength=len(worst))
    if np.count_nonzero(sizes) == 1:
        return []
    unsettled = ~(worst <= tol) & (sizes > 0)
    large = unsettled & (sizes >= LARGE)
    sets = [np.array([k]) for k in np.flatnonzero(large)]
    sets += [np.flatnonzero(s) for s in (unsettled & ~large & (worst <= little), unsettled & ~large & ~(worst <= little)) if s.any()]
    if len(sets) == 1 and len(sets[0]) == np.count_nonzero(sizes):
        return []
    return [_group(p, owner, island, numbers) for numbers in sets]


def _group(p: StepProblem, owner: AnyArray, island: AnyArray, numbers: AnyArray) -> Group:
    chosen = np.isin(owner, numbers)
    return Group(np.flatnonzero(chosen), np.flatnonzero(np.repeat(chosen, np.diff(p.first))), np.flatnonzero(np.isin(island, numbers)))
