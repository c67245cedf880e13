"""A drive from a table: the cubic spline through (times, values), with continuous acceleration.

    f(t) = c_0 + c_1 s + c_2 s^2 + c_3 s^3,   s = t - t_k,   in the piece [t_k, t_k+1]

The ends are "not-a-knot": the first two pieces are one cubic, and the last two. The end pieces go on for their own length beyond the table,
which substeps of compositions need; further out there is no value (NaN), and a run that comes there ends.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.kernels.tree.constraint_layout import PIECE

LEAST = 4  # points of a spline


class TableDrive:
    """Values at times, both tuples of numbers. Constant, equal where the numbers are."""

    address = 0  # no machine code: the table itself is in the arrays

    def __init__(self, times: tuple[float, ...], values: tuple[float, ...]):
        self.times, self.values = times, values

    @classmethod
    def build(cls, owner: str, times: Any, values: Any) -> TableDrive:
        """Check everything that can be checked."""
        try:
            t, f = (np.array(x, dtype=float) for x in (times, values))
        except (TypeError, ValueError):
            raise ModelError(f"{owner}: drive is a pair that is no table of numbers; expected (times, values).") from None
        if t.ndim != 1 or t.shape != f.shape or len(t) < LEAST:
            raise ModelError(
                f"{owner}: times and values of its drive have the shapes {t.shape} and {f.shape}; expected the same number of both, at "
                f"least {LEAST}."
            )
        if not (np.isfinite(t).all() and np.isfinite(f).all() and (np.diff(t) > 0.0).all()):
            raise ModelError(f"{owner}: times and values of its drive are to be finite numbers, and the times to increase.")
        if not t[0] <= 0.0 < t[-1]:
            raise ModelError(
                f"{owner}: the table of its drive reaches from t = {t[0]:g} to {t[-1]:g} s; expected it to begin at 0 or before."
            )
        return cls(tuple(t.tolist()), tuple(f.tolist()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableDrive) and (self.times, self.values) == (other.times, other.values)

    def __hash__(self) -> int:
        return hash((self.times, self.values))

    def __repr__(self) -> str:
        return f"Drive(table of {len(self.times)} values)"

    def __reduce__(self) -> tuple[Any, ...]:
        return TableDrive, (self.times, self.values)

    def to_data(self) -> dict[str, Any]:
        """Plain data that `drives.build` reads."""
        return {"times": list(self.times), "values": list(self.values)}

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.times, self.values)

    @property
    def pieces(self) -> int:
        """Number of cubics."""
        return len(self.times) - 1

    @property
    def reach(self) -> tuple[float, float]:
        """From where to where there is a value."""
        t = self.times
        return 2.0 * t[0] - t[1], 2.0 * t[-1] - t[-2]

    @cached_property
    def coefficients(self) -> tuple[float, ...]:
        """As the arrays of a run hold it: the reach, then start and coefficients of every piece, lowest power first."""
        out = np.empty((self.pieces, PIECE))
        out[:, 0], out[:, 1:] = self.times[:-1], self._spline.c[::-1].T
        return (*self.reach, *out.ravel().tolist())

    def __call__(self, t: Any) -> Array:
        """(f, f', f'') at a time, or (3, N) at N of them."""
        times = np.asarray(t, dtype=float)
        low, high = self.reach
        return np.array([np.where((times >= low) & (times <= high), self._spline(times, k), np.nan) for k in range(3)])
