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
#: further columns of rows of `add_contact`: 0 where nothing is said, kinetic friction NaN; belt: velocity of the surface of the first body
FURTHER = ("kinetic_friction", "slip_speed", "linear", "torsion", "rolling", "belt x", "belt y", "belt z")
PLAIN = (np.nan, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SLIP_SPEED = 0.01


class Materials(NamedTuple):
    """table (k, 12); ranks and priorities of shapes; sorted keys of pairs of shapes that have rows of their own."""

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
        rows: list[tuple[float, ...]] = [(f, r, np.nan, np.nan, *PLAIN) for f, r in product(frictions, restitutions)]
        priority = np.array([int(p.shape.extra.get("priority", 0)) for p in found], dtype=np.int64)
        special: dict[int, int] = {}
        for law in model.contacts:
            first, second = ([i for i, p in enumerate(found) if p.part == name] for name in (law.a, law.b))
            for i, j in product(first, second):
                k, l = (i, j) if priority[i] == priority[j] else (max((i, j), key=lambda s: priority[s]),) * 2
                special[min(i, j) * len(found) + max(i, j)] = len(rows)
                rows.append((*_row(law, found[k].shape, found[l].shape), *_further(law, 1.0 if i < j else -1.0)))
        keys = sorted(special)
        return cls(
            np.array(rows, dtype=float).reshape(-1, len(COLUMNS) + len(FURTHER)),
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


def _further(law: Contact, sign: float) -> tuple[float, ...]:
    """sign: 1 where a is the first body of the contact, -1 where it is the second, whose belt runs the other way seen from the first."""
    kinetic = np.nan if law.kinetic_friction is None else law.kinetic_friction
    speed = SLIP_SPEED if law.slip_speed is None else law.slip_speed
    belt = [sign * v for v in law.surface_velocity or (0.0, 0.0, 0.0)]
    return (kinetic, speed, float(law.friction_law == "linear"), law.torsion or 0.0, law.rolling or 0.0, *belt)
