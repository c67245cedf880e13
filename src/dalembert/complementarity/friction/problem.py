"""Contacts as they are given: u = W r + b and coefficients of friction.

Three rows per contact, interleaved as in FCLIB: normal, first tangent, second tangent. r: impulses, u: relative velocities after the step.
W = J M^-1 J^T + regularisation (lacoursiere2007 (10.79): S_CC, S_DC and S_DD in one matrix), b = J (free velocity) + stabilisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.problem import matrix, vector
from dalembert.errors import OptionError


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """W (3 m, 3 m), symmetric or not, b (3 m,), mu (m,) or one number for all contacts. Checked when it is made."""

    W: Array
    b: Array
    mu: Array

    def __post_init__(self) -> None:
        W = matrix(self.W)
        rows = len(W)
        if rows % 3:
            raise OptionError(f"W has {rows} rows; expected three per contact: normal, first tangent, second tangent.")
        b, mu = vector("b", self.b, rows), vector("mu", self.mu, rows // 3)
        for what, array in (("W", W), ("b", b)):
            if not np.isfinite(array).all():
                place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
                raise OptionError(f"{what}{list(place)} is {array[place]}; expected finite numbers.")
        for k, x in enumerate(mu):
            if not 0.0 <= x < np.inf:
                raise OptionError(f"mu[{k}] is {x}; expected a finite number >= 0.")
        for name, value in (("W", W), ("b", b), ("mu", mu)):
            object.__setattr__(self, name, value)

    @property
    def contacts(self) -> int:
        """m."""
        return len(self.mu)

    def velocities(self, r: Array) -> Array:
        """u = W r + b, flat."""
        return np.asarray(self.W @ r + self.b)


def impulses(what: str, value: Any, contacts: int) -> Array:
    """Impulses given as (m, 3) or flat, as a flat array."""
    array = np.array(value, dtype=np.float64).reshape(-1)
    if array.shape != (3 * contacts,):
        raise OptionError(f"{what} has shape {np.shape(value)}; expected ({contacts}, 3): normal and two tangential impulses per contact.")
    if not np.isfinite(array).all():
        raise OptionError(f"{what} holds {array[~np.isfinite(array)][0]}; expected finite numbers.")
    return array
