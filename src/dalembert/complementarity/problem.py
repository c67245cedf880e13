"""Complementarity problems as they are given: LCP, boxed and mixed ones.

    LCP(M, q)           w = M z + q,  0 <= z  _|_  w >= 0                                                    lacoursiere2007 (16.5)
    MLCP(M, q, l, u)    w = M z + q,  l <= z <= u,  w >= 0 where z = l,  w <= 0 where z = u,  w = 0 between        (16.6)

Bounds may be infinite: l = 0, u = inf is an LCP, l = -inf, u = inf an equation, l = u a fixed variable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels.lcp import codes

FLOAT = np.dtype(np.float64)


def system(M: Any, q: Any) -> tuple[Array, Array, int]:
    """M (n, n), q (n,) and n."""
    A = matrix(M)
    return A, vector("q", q, len(A)), len(A)


def matrix(M: Any) -> Array:
    """M as a contiguous square float64 array."""
    try:
        array = np.ascontiguousarray(M, FLOAT)
    except (TypeError, ValueError) as error:
        raise OptionError(f"M cannot be read as numbers ({error}); expected a square matrix.") from None
    shape = array.shape
    if len(shape) == 2 and shape[0] == shape[1]:
        return array
    if array.size == 0 and len(shape) <= 2:
        return np.empty((0, 0))
    raise OptionError(f"M has shape {np.shape(M)}; expected a square matrix.")


def vector(what: str, value: Any, n: int) -> Array:
    """A vector of length n; a single number stands for n of them, but not for q."""
    try:
        array = np.ascontiguousarray(value, FLOAT)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{what} cannot be read as numbers ({error}); expected {n} numbers.") from None
    if array.shape == (n,) and (n != 1 or np.ndim(value) == 1):
        return array
    if np.ndim(value):
        raise OptionError(f"{what} has shape {array.shape}; expected ({n},), the rows of M.")
    if what == "q":
        raise OptionError(f"q is {value!r}; expected a vector of {n} numbers.")
    return np.full(n, array[0])


def refuse(code: int, place: int, M: Array, q: Array, lower: Array, upper: Array, start: Any) -> None:
    """Raise OptionError for what a kernel found wrong with the input."""
    if code == codes.BAD_MATRIX:
        j = int(np.flatnonzero(~np.isfinite(M[place]))[0])
        raise OptionError(f"M[{place}, {j}] is {M[place, j]}; expected finite numbers.")
    if code == codes.BAD_VECTOR:
        raise OptionError(f"q[{place}] is {q[place]}; expected finite numbers.")
    if code == codes.BAD_BOUNDS:
        raise OptionError(
            f"bounds of z[{place}] are lower = {lower[place]}, upper = {upper[place]}; expected lower <= upper, lower < inf, upper > -inf."
        )
    if code == codes.BAD_START:
        raise OptionError(f"start[{place}] is {np.asarray(start).reshape(-1)[place]}; expected finite numbers.")
