"""Poincare sections: states of a run at which a coordinate passes through a value upwards, between nodes.

Between nodes k and k + 1 everything is the polynomial in t through the four nodes around; its root is found by bisection, of all
crossings at once. Error O(h^4) of the step between recorded nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array

HALVINGS = 55


class Section(NamedTuple):
    """Times (n,) of the crossings, and what was asked for there (n, columns)."""

    t: Array
    x: Array


def crossings(t: Array, s: Array, x: Array) -> Section:
    """Where s (N,) passes 0 upwards, and columns x (N, columns) there. Nodes that are not finite are no crossings."""
    with np.errstate(invalid="ignore"):
        k = np.flatnonzero((s[:-1] < 0.0) & (s[1:] >= 0.0))
    if not len(k):
        return Section(np.zeros(0), np.zeros((0, x.shape[1])))
    width = min(4, len(t))
    around = np.clip(k - 1, 0, len(t) - width)[:, None] + np.arange(width)
    whole = np.isfinite(s[around]).all(axis=1) & np.isfinite(x[around]).all(axis=(1, 2))
    k, around = k[whole], around[whole]
    low, high = t[k], t[k + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        above = polynomial(t[around], s[around][..., None], middle)[:, 0] >= 0.0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    when = 0.5 * (low + high)
    return Section(when, polynomial(t[around], x[around], when))


def polynomial(t: Array, y: Array, at: Array) -> Array:
    """(n, columns): polynomials through nodes t (n, m), y (n, m, columns) at times (n,), by Neville's scheme."""
    p = y.copy()
    for m in range(1, t.shape[1]):
        early, late = t[:, :-m, None], t[:, m:, None]
        p = ((at[:, None, None] - late) * p[:, :-1] + (early - at[:, None, None]) * p[:, 1:]) / (early - late)
    return p[:, 0]
