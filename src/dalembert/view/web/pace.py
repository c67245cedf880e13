"""How many steps are due, in soft real time.

    credit += speed x wall time;   due = floor(credit / h);   what is left over above LAG when a tick ends is given up

so a machine that is too slow runs slower than real time, and no steps pile up. `ratio`: simulated time per wall time over the last WINDOW.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

WINDOW = 1.5  # s
LAG = 0.05  # s of wall time that may be caught up
KEPT = 400  # times of steps


class Pace:
    """Counts time. All times in s."""

    def __init__(self) -> None:
        self.credit, self._last = 0.0, math.nan
        self._marks: deque[tuple[float, float]] = deque()
        self.times: deque[float] = deque(maxlen=KEPT)

    def rest(self) -> None:
        """Nothing is due: the run stands still."""
        self.credit, self._last = 0.0, math.nan
        self._marks.clear()

    def due(self, now: float, speed: float, h: float) -> int:
        """Steps that are due at a wall time."""
        if math.isnan(self._last):
            self._last = now
        self.credit += speed * (now - self._last)
        self._last = now
        return int(self.credit / h + 1e-9)

    def did(self, steps: int, h: float, took: float) -> None:
        """Steps were done."""
        self.credit -= steps * h
        self.times.append(took / max(steps, 1))

    def tick(self, now: float, t: float, speed: float, h: float) -> None:
        """A tick ended at simulated time t: what could not be done is given up."""
        self.credit = min(self.credit, max(h, LAG * speed))
        if self._marks and t < self._marks[-1][1]:
            self._marks.clear()
        self._marks.append((now, t))
        while len(self._marks) > 2 and now - self._marks[1][0] >= WINDOW:
            self._marks.popleft()

    @property
    def ratio(self) -> float:
        """Simulated time per wall time; NaN: not known yet."""
        if len(self._marks) < 2 or self._marks[-1][0] - self._marks[0][0] < 0.3:
            return math.nan
        (w0, t0), (w1, t1) = self._marks[0], self._marks[-1]
        return (t1 - t0) / (w1 - w0)

    @property
    def step_time(self) -> float:
        """Median time of a step."""
        return float(np.median(self.times)) if self.times else 1e-3

    def percentiles(self) -> tuple[float, float, float]:
        """Median, 95 % and largest time of the last steps."""
        if not self.times:
            return math.nan, math.nan, math.nan
        times = np.array(self.times)
        return float(np.median(times)), float(np.percentile(times, 95.0)), float(times.max())
