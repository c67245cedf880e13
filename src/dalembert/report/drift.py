"""Does a quantity drift, or does it only oscillate?

The run is cut into 32 blocks. A least-squares line through the block means gives the rise D over the run and Student's t of its slope. The
quantity drifts if

    |t| >= 6  and  |D| >= 2 (max - min of what is left without the line),

that is, if the rise is not an accident of a few blocks and has become larger than twice the oscillation about it. A piece of a slow
oscillation looks the same; the drift is certain only if the quantity also crosses its line in at least 3/4 of the blocks: it has oscillated
all along, and still rose.

It wanders, like a random walk, if the block means spread over 1.5 times the largest oscillation within one block. That says something only
if each block holds some turns of the motion, which the caller has to know.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.report.facts import ratio

BLOCKS = 32
LEAST_NODES = 4 * BLOCKS
T_VALUE = 6.0
RISE = 2.0
CROSSED = 0.75
SPREAD = 1.5


class Drift(NamedTuple):
    """What the blocks say.

    rise over the run, t of its slope, oscillation about the line, share of the blocks that cross the line, spread of the block means
    divided by the largest oscillation within a block.
    """

    rise: float
    t: float
    oscillation: float
    crossed: float
    spread: float

    @property
    def wanders(self) -> bool:
        """The means of the blocks leave the band of a single block."""
        return self.spread >= SPREAD

    @property
    def steady(self) -> bool:
        """The rise is significant and exceeds the oscillation."""
        return abs(self.t) >= T_VALUE and abs(self.rise) >= RISE * self.oscillation

    @property
    def certain(self) -> bool:
        """Steady, and not a piece of a slow oscillation."""
        return self.steady and self.crossed >= CROSSED


def find_drift(x: Array) -> Drift | None:
    """The drift of equally spaced samples; None for fewer than 128."""
    if len(x) < LEAST_NODES:
        return None
    n = len(x) // BLOCKS
    s = np.linspace(0.0, 1.0, len(x))
    S, X = s[: n * BLOCKS].reshape(BLOCKS, n), x[: n * BLOCKS].reshape(BLOCKS, n)
    at, means = S.mean(axis=1), X.mean(axis=1)
    square = float(np.sum((at - at.mean()) ** 2))
    rise = float((at - at.mean()) @ (means - means.mean())) / square
    line = means.mean() + rise * (S - at.mean())
    left = X - line
    misfit = means - means.mean() - rise * (at - at.mean())
    error = float(np.sqrt(np.sum(misfit**2) / (BLOCKS - 2) / square))
    crossed = np.mean((left.min(axis=1) < 0.0) & (left.max(axis=1) > 0.0))
    spread = ratio(float(np.ptp(means)), float(np.max(np.ptp(X, axis=1))))
    return Drift(rise, float(np.copysign(ratio(abs(rise), error), rise)), float(np.ptp(left)), float(crossed), spread)
