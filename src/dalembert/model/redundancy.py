"""Which constraints follow from the others, and how many degrees of freedom a mechanism has.

The rank of the Jacobian G at a closed configuration may be low because rows follow from the others wherever the mechanism goes (the hinges
of a plane four-bar hold it in its plane several times over) or because this configuration is singular (stretched arms). Configurations
nearby, reached by moving along the null space of G and closing the loops again, tell the two apart: the greatest rank that is met counts.
Ranks are those of a QR decomposition with pivoting, on rows of unit length. Where none of the moved configurations can be closed, q alone
counts.

A row is called redundant if it lies in the span of the rows before it; so the joint that was added last is the one to relax. `involved` are
all joints with a row in such a dependency: instead, one of those may be relaxed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from dalembert.arrays import Array
from dalembert.errors import AssemblyError

TOLERANCE = 1e-7  # of the diagonal of R, relative to the largest: a closed configuration is known to about 1e-10
STEPS = (0.05, 0.1, 0.2)  # rad or m along the null space


@dataclass(frozen=True)
class Redundancy:
    """What the rows of a model's constraints are worth.

    rows, rank: number of rows, and their rank where the mechanism is not singular; rank_here: their rank at q; redundant: {joint: rows that
    follow from the rows before them}; involved: joints that take part in a dependency; independent: numbers of the other rows (those of
    `Model.constraint_rows`); degrees_of_freedom: of the velocities; mobility: of the configurations (rows on velocities not counted).
    """

    model: str
    rows: int
    rank: int
    rank_here: int
    redundant: dict[str, list[str]]
    involved: tuple[str, ...]
    independent: tuple[int, ...]
    degrees_of_freedom: int
    mobility: int

    @property
    def singular(self) -> bool:
        """True if q is a singular configuration: the rank is lower there than nearby."""
        return self.rank_here < self.rank

    @property
    def text(self) -> str:
        """All of it in words."""
        lines = [f"model {self.model!r}: {self.rows} constraint rows of rank {self.rank}, {self.degrees_of_freedom} degrees of freedom"]
        if self.mobility != self.degrees_of_freedom:
            lines[0] += f" ({self.mobility} of the configuration)"
        for joint, rows in self.redundant.items():
            lines.append(f"  redundant at {joint!r}: {', '.join(rows)}")
        if self.redundant:
            lines.append(f"  joints that hold each other: {', '.join(map(repr, self.involved))}; relax one of them")
        if self.singular:
            lines.append(f"  singular configuration: the rank is {self.rank_here} here and {self.rank} nearby")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text


def rank(G: Array) -> int:
    """Rank of rows of unit length, from a QR decomposition of G^T with column pivoting."""
    if G.size == 0:
        return 0
    diagonal = np.abs(np.diag(qr(G.T, mode="r", pivoting=True)[0]))
    return int(np.sum(diagonal > TOLERANCE * max(diagonal[0], TOLERANCE)))


def _unit_rows(G: Array) -> Array:
    length = np.linalg.norm(G, axis=1, keepdims=True)
    return G / np.where(length > 1e-12, length, 1.0)


def _nearby(model: Any, q: Array, G: Array) -> list[Array]:
    """Jacobians at configurations near q."""
    N = np.linalg.svd(G)[2][rank(_unit_rows(G)) :]
    out = []
    for k, step in enumerate(STEPS if len(N) else ()):
        y = np.random.default_rng(k).normal(size=len(N))
        try:
            moved, _ = model.assemble(model.integrate(q, step * N.T @ (y / np.linalg.norm(y))))
        except AssemblyError:  # a mechanism that cannot move that way: one configuration less to judge by
            continue
        out.append(model.constraint_rows(moved)[1])
    return out


def _independent(G: Array) -> list[int]:
    """Rows that do not lie in the span of the rows before them."""
    kept: list[int] = []
    for r in range(len(G)):
        if rank(G[[*kept, r]]) > len(kept):
            kept.append(r)
    return kept


def analyse(model: Any, q: Array) -> Redundancy:
    """Redundancy of the constraints of a model near a closed configuration."""
    labels, holonomic = model.constraint_labels, model._constraints().holonomic
    here = model.constraint_rows(q)[1]
    found = [_unit_rows(G) for G in (here, *_nearby(model, q, here))]
    best = max(found, key=rank)
    kept = _independent(best)
    redundant: dict[str, list[str]] = {}
    for r in sorted(set(range(len(best))) - set(kept)):
        redundant.setdefault(labels[r][0], []).append(labels[r][1])
    dependencies = np.linalg.svd(best.T)[2][len(kept) :] if len(best) else np.zeros((0, 0))
    tied = {labels[r][0] for r in range(len(best)) if len(dependencies) and np.abs(dependencies[:, r]).max() > 1e-6}
    return Redundancy(
        model=model.name,
        rows=len(best),
        rank=len(kept),
        rank_here=rank(found[0]),
        redundant=redundant,
        involved=tuple(name for name in dict.fromkeys(name for name, _ in labels) if name in tied),
        independent=tuple(kept),
        degrees_of_freedom=model.nv - len(kept),
        mobility=model.nv - rank(best[:holonomic]),
    )
