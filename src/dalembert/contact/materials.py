"""Materials of a scene: what model/materials.py says, as a table and ranks.

The larger of two values has the larger of their ranks among all values, so the material of two shapes is a place in a table of all
combinations of friction, restitution, torsion, rolling, and the `condim` of imported files. Rows of `add_contact` follow. condim says, as
in MuJoCo, what counts, and the larger one of two shapes holds: 1 no friction, 3 friction, 4 torsion too, 6 rolling too.
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
    """table (k, 18); ranks (shapes, 5), how many there are, priorities of shapes; sorted keys of pairs of shapes with rows of their own."""

    table: Array
    ranks: Any
    counts: Any
    priority: Any
    special: Any
    of_special: Any

    @classmethod
    def of(cls, model: Model, found: Sequence[Any]) -> Materials:
        """Materials of placed shapes."""
        numbers = np.array([_numbers(p.shape) for p in found], dtype=float).reshape(-1, 5)
        if not (numbers[:, 4] > 3.0).any():
            numbers[:, 2:4] = 0.0  # no torque counts
        several = [np.unique(column, return_inverse=True) for column in numbers.T]
        rows: list[tuple[float, ...]] = [_plain(*combined) for combined in product(*(values for values, _ in several))]
        priority = np.array([int(p.shape.extra.get("priority", 0)) for p in found], dtype=np.int64)
        special: dict[int, int] = {}
        for law in model.contacts:
            first, second = ([i for i, p in enumerate(found) if p.part == name] for name in (law.a, law.b))
            for i, j in product(first, second):
                k, l = (i, j) if priority[i] == priority[j] else (max((i, j), key=lambda s: priority[s]),) * 2
                special[min(i, j) * len(found) + max(i, j)] = len(rows)
                shapes = _of_two(found[k].shape, found[l].shape)
                rows.append((*_row(law, shapes), *_further(law, 1.0 if i < j else -1.0, found[i], shapes)))
        keys = sorted(special)
        return cls(
            np.array(rows, dtype=float).reshape(-1, len(COLUMNS) + len(FURTHER)),
            np.ascontiguousarray(np.array([rank.reshape(-1) for _, rank in several], dtype=np.int64).T),
            np.array([max(len(values), 1) for values, _ in several], dtype=np.int64),
            priority,
            np.array(keys, dtype=np.int64),
            np.array([special[k] for k in keys], dtype=np.int64),
        )


def _numbers(shape: Any) -> tuple[float, ...]:
    """friction, restitution, torsion, rolling, condim (of what is not from a file: all count)."""
    return shape.friction, shape.restitution, shape.torsion, shape.rolling, float(shape.extra.get("condim", 6))


def _of_two(a: Any, b: Any) -> tuple[float, ...]:
    """friction, restitution, torsion, rolling of two shapes: the larger ones, as far as they count."""
    friction, restitution, torsion, rolling, condim = (max(pair) for pair in zip(_numbers(a), _numbers(b), strict=True))
    return friction * (condim > 1.0), restitution, torsion * (condim > 3.0), rolling * (condim > 4.0)


def _plain(friction: float, restitution: float, torsion: float, rolling: float, condim: float) -> tuple[float, ...]:
    """A row without a law of its own."""
    further = list(PLAIN)
    further[FURTHER.index("torsion")], further[FURTHER.index("rolling")] = torsion * (condim > 3.0), rolling * (condim > 4.0)
    return (friction * (condim > 1.0), restitution, np.nan, np.nan, *further)


def _row(law: Contact, own: tuple[float, ...]) -> tuple[float, ...]:
    """What the law says, else what the shapes say, else NaN."""
    shapes = dict(zip(("friction", "restitution"), own[:2], strict=True))
    given = {what: getattr(law, what) for what in COLUMNS}
    if isinstance(law.friction, tuple):
        given["friction"] = max(law.friction)
    return tuple(float(given[w] if given[w] is not None else shapes.get(w, np.nan)) for w in COLUMNS)


def _further(law: Contact, sign: float, a: Any, shapes: tuple[float, ...]) -> tuple[float, ...]:
    """sign: 1 where a is the first body of the contact, -1 where it is the second, whose belt runs the other way seen from the first.
    a: placed shape of that body; shapes: what the two say."""
    kinetic = np.nan if law.kinetic_friction is None else law.kinetic_friction
    speed = SLIP_SPEED if law.slip_speed is None else law.slip_speed
    belt = [sign * v for v in law.surface_velocity or (0.0, 0.0, 0.0)]
    torques = (own if given is None else given for given, own in zip((law.torsion, law.rolling), shapes[2:], strict=True))
    numbers = (kinetic, speed, float(law.friction_law == "linear"), *torques)
    return (*numbers, *belt, *_directions(law, sign, a))


def _directions(law: Contact, sign: float, a: Any) -> tuple[float, ...]:
    """Along, across, whose axis, axis in axes of the body that carries a."""
    mu = law.friction if isinstance(law.friction, tuple) and max(law.friction) > 0.0 else (1.0, 1.0)
    scales = (mu[0] / max(mu), mu[1] / max(mu))
    if law.friction_axis is None:
        return (*scales, 0.0, 0.0, 0.0, 0.0)
    turn = quat_mul(a.quaternion, quat_conj(np.array(a.shape.quaternion)))
    return (*scales, 1.0 if sign > 0.0 else 2.0, *rotate(turn, np.array(law.friction_axis)))
