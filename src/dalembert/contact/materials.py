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
from dalembert.model.rotation import quat_conj, quat_mul, rotate

COLUMNS = ("friction", "restitution", "compliance", "damping_time")
#: further columns of rows of `add_contact`: 0 where nothing is said, kinetic friction NaN; belt: velocity of the surface of the first body;
#: along, across: friction by tangents, in units of the larger one; axis: of the first tangent, in axes of the first (1) or second body (2)
FURTHER = (
    "kinetic_friction", "slip_speed", "linear", "torsion", "rolling", "belt x", "belt y", "belt z",
    "along", "across", "axis of", "axis x", "axis y", "axis z",
)  # fmt: skip
PLAIN = (np.nan, 1.0, *(0.0,) * 6, 1.0, 1.0, *(0.0,) * 4)
SLIP_SPEED = 0.01


class Materials(NamedTuple):
    """table (k, 18); ranks and priorities of shapes; sorted keys of pairs of shapes that have rows of their own."""

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
                rows.append((*_row(law, found[k].shape, found[l].shape), *_further(law, 1.0 if i < j else -1.0, found[i])))
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
    if isinstance(law.friction, tuple):
        given["friction"] = max(law.friction)
    return tuple(float(given[w] if given[w] is not None else shapes.get(w, np.nan)) for w in COLUMNS)


def _further(law: Contact, sign: float, a: Any) -> tuple[float, ...]:
    """sign: 1 where a is the first body of the contact, -1 where it is the second, whose belt runs the other way seen from the first.
    a: placed shape of that body."""
    kinetic = np.nan if law.kinetic_friction is None else law.kinetic_friction
    speed = SLIP_SPEED if law.slip_speed is None else law.slip_speed
    belt = [sign * v for v in law.surface_velocity or (0.0, 0.0, 0.0)]
    numbers = (kinetic, speed, float(law.friction_law == "linear"), law.torsion or 0.0, law.rolling or 0.0)
    return (*numbers, *belt, *_directions(law, sign, a))


def _directions(law: Contact, sign: float, a: Any) -> tuple[float, ...]:
    """Along, across, whose axis, axis in axes of the body that carries a."""
    mu = law.friction if isinstance(law.friction, tuple) and max(law.friction) > 0.0 else (1.0, 1.0)
    scales = (mu[0] / max(mu), mu[1] / max(mu))
    if law.friction_axis is None:
        return (*scales, 0.0, 0.0, 0.0, 0.0)
    turn = quat_mul(a.quaternion, quat_conj(np.array(a.shape.quaternion)))
    return (*scales, 1.0 if sign > 0.0 else 2.0, *rotate(turn, np.array(law.friction_axis)))
