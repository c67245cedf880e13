"""Which of many machines with other numbers differ in numbers alone: none is refused, and all have the same features.

    mass, inertia     above 0; the largest moment below the sum of the others, unless the body is said not to be physical
    com, rest, gravity, limits (least < most)      any finite numbers
    all others        not below 0

and 0 where those of the first of them are 0. What is not known here, such as a body with a negative moment of inertia, is not among them:
`with_values` looks at each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array

if TYPE_CHECKING:
    from dalembert.model.model import Model

SIGNED = ("com", "rest", "gravity")  # values of which every finite number may be one
ROUND_OFF = 1e-12


def alike(model: Model, columns: Mapping[str, Array]) -> np.ndarray:
    """(n,): samples whose values are sound beyond doubt, and of the kind of those of the first that is. columns: (n, ...) by name."""
    sound = np.logical_and.reduce([test for name, x in columns.items() for test in (finite(x), _sound(model, name, x))])
    if not sound.any():
        return sound
    first = int(np.argmax(sound))
    for column in columns.values():
        flat = column.reshape(len(column), -1)
        sound = sound & ((flat == 0.0) == (flat[first] == 0.0)).all(axis=1)
    return np.asarray(sound)


def finite(column: Array) -> np.ndarray:
    """(n,): rows of finite numbers."""
    return np.asarray(np.isfinite(column.reshape(len(column), -1)).all(axis=1))


def _sound(model: Model, name: str, column: Array) -> np.ndarray:
    """(n,): values that `with_values` takes. False where that is not known here."""
    part, _, what = name.rpartition(".")
    body, none = model._bodies.get(part), np.zeros(len(column), dtype=bool)
    if body is not None and (body.mass == 0.0 or np.linalg.eigvalsh(body.inertia)[0] < 0.0):
        return none  # the mass matrix would have to be looked at
    if body is not None and what == "inertia":
        return _inertias(column, body.physical) if column.shape[1:] in ((3,), (3, 3)) else none
    if what == "limits":
        return np.asarray(column[:, 0] < column[:, 1]) if column.shape[1:] == (2,) else none
    if what in SIGNED:
        return ~none
    least = column.reshape(len(column), -1).min(axis=1, initial=np.inf)
    return np.asarray(least > 0.0 if what == "mass" else least >= 0.0)


def _inertias(column: Array, physical: bool) -> np.ndarray:
    """Positive definite, and where it is physical the largest moment below the sum of the others."""
    moments: np.ndarray = np.sort(column, axis=1)
    if column.ndim == 3:
        finite = np.where(np.isfinite(column), column, 0.0)
        moments = np.linalg.eigvalsh(0.5 * (finite + finite.transpose(0, 2, 1)))
        if not (column == column.transpose(0, 2, 1)).all():
            return np.zeros(len(column), dtype=bool)
    triangle = (moments[:, 2] < (moments[:, 0] + moments[:, 1]) * (1.0 - ROUND_OFF)) | (not physical)
    return np.asarray((moments[:, 0] > ROUND_OFF * moments[:, 2]) & triangle)
