"""Materials of a scene: what model/materials.py says, as a table and ranks.

The larger of two values has the larger of their ranks among all values, so the material of two shapes is a place in a table of all
combinations: row = rank of friction * number of restitutions + rank of restitution. Rows of `add_contact` follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.materials import Contact

COLUMNS = ("friction", "restitution", "compliance", "damping_time")


class Materials(NamedTuple):
    """table (k, 4); ranks and priorities of shapes; sorted keys of pairs of shapes that have rows of their own."""

    table: Array
    friction: Any
    restitution: Any
    restitutions: int
    priority: Any
    special: Any
    of_special: Any

    @classmethod
    def of(cls, model: Model, found: Sequence[Any]) -> Materials:
        """Materials of placed shapes."""
        frictions, friction = np.unique([p.shape.friction for p in found], return_inverse=True)
        restitutions, restitution = np.unique([p.shape.restitution for p in found], return_inverse=True)
        rows: list[tuple[float, ...]] = [(f, r, np.nan, np.nan) for f, r in product(frictions, restitutions)]
        priority = np.array([int(p.shape.extra.get("priority", 0)) for p in found], dtype=np.int64)
        special: dict[int, int] = {}
        for law in model.contacts:
            first, second = ([i for i, p in enumerate(found) if p.part == name] for name in (law.a, law.b))
            for i, j in product(first, second):
                k, l = (i, j) if priority[i] == priority[j] else (max((i, j), key=lambda s: priority[s]),) * 2
                special[min(i, j) * len(found) + max(i, j)] = len(rows)
                rows.append(_row(law, found[k].shape, found[l].shape))
        keys = sorted(special)
        return cls(
            np.array(rows, dtype=float).reshape(-1, 4),
            friction.astype(np.int64).reshape(-1),
            restitution.astype(np.int64).reshape(-1),
            max(len(restitutions), 1),
            priority,
            np.array(keys, dtype=np.int64),
            np.array([special[k] for k in keys], dtype=np.int64),
        )


def _row(law: Contact, a: Any, b: Any) -> tuple[float, ...]:
    """What the law says, else what the shapes say, else NaN."""
    shapes = {"friction": max(a.friction, b.friction), "restitution": max(a.restitution, b.restitution)}
    given = {what: getattr(law, what) for what in COLUMNS}
    return tuple(float(given[w] if given[w] is not None else shapes.get(w, np.nan)) for w in COLUMNS)
