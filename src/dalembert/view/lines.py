"""Long curves made short enough to draw, without losing their peaks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dalembert.arrays import Array


def thin(t: Array, y: Array, most: int = 4000) -> tuple[Array, Array]:
    """At most `most` points of the curve: of each run of neighbours the smallest and the largest value, in the order of time."""
    n = len(t)
    if n <= most:
        return t, y
    edges = np.linspace(0, n, (most - 2) // 2 + 1).astype(int)
    low, high = np.where(np.isfinite(y), y, np.inf), np.where(np.isfinite(y), y, -np.inf)
    keep = [a + f(x[a:b]) for a, b in pairwise(edges) for f, x in ((np.argmin, low), (np.argmax, high))]
    index = np.unique([0, *keep, n - 1])
    return t[index], y[index]


def strided(a: Array, most: int = 20000) -> Array:
    """At most `most` rows, evenly spread, with the last one."""
    if len(a) <= most:
        return a
    return a[np.unique(np.linspace(0, len(a) - 1, most).astype(int))]
