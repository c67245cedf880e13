"""Complementarity problems as they are given: LCP, boxed and mixed ones.

    LCP(M, q)           w = M z + q,  0 <= z  _|_  w >= 0                                                    lacoursiere2007 (16.5)
    MLCP(M, q, l, u)    w = M z + q,  l <= z <= u,  w >= 0 where z = l,  w <= 0 where z = u,  w = 0 between        (16.6)

Bounds may be infinite: l = 0, u = inf is an LCP, l = -inf, u = inf an equation, l = u a fixed variable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.kernels.lcp import codes

Array = np.ndarray[Any, np.dtype[Any]]


def _numbers(what: str, value: Any, expected: str) -> Array:
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{what} cannot be read as numbers ({error}); expected {expected}.") from None
    return array


def matrix(M: Any) -> Array:
    """M as a contiguous square float64 array."""
    array = M if _ready(M) else _numbers("M", M, "a square matrix")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        if array.size == 0 and array.ndim <= 2:
            return np.empty((0, 0))
        raise OptionError(f"M has shape {array.shape}; expected a square matrix.")
    return array


def vector(what: str, value: Any, n: int) -> Array:
    """A vector of length n; a single number stands for n of them, but not for q."""
    array = value if _ready(value) else _numbers(what, value, f"{n} numbers")
    if array.ndim == 0 or (array.shape == (1,) and np.ndim(value) == 0):
        if what == "q":
            raise OptionError(f"q is {value!r}; expected a vector of {n} numbers.")
        return np.full(n, float(array.reshape(-1)[0]))
    if array.shape != (n,):
        raise OptionError(f"{what} has shape {array.shape}; expected ({n},), the rows of M.")
    return array


def _ready(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous and value.flags.aligned


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
