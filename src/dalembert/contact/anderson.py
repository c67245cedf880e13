"""Acceleration of a fixed point s = F(s) by its last few iterates (Anderson 1965): the combination of them with the smallest F(s) - s."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array


class Anderson:
    """next(s, F(s)) is the next s; with `depth` differences of the past. Least squares cut off at 1e-8 of the largest singular value."""

    def __init__(self, depth: int):
        self.depth = depth
        self.inputs: list[Array] = []
        self.misses: list[Array] = []

    def next(self, s: Array, wanted: Array) -> Array:
        """The next s from F(s) = wanted."""
        self.inputs.append(s.copy())
        self.misses.append(wanted - s)
        self.inputs, self.misses = self.inputs[-self.depth - 1 :], self.misses[-self.depth - 1 :]
        if len(self.inputs) == 1:
            return wanted.copy()
        steps = np.diff(np.array(self.inputs), axis=0)
        changes = np.diff(np.array(self.misses), axis=0)
        weights = np.linalg.lstsq(changes.T, self.misses[-1], rcond=1e-8)[0]
        return np.asarray(wanted - (steps + changes).T @ weights)


def warm_up() -> None:
    """The first least squares of a process takes 20 ms: not within a step."""
    a = Anderson(1)
    for s in (np.zeros(2), np.ones(2)):
        a.next(s, 0.5 * s + 1.0)
