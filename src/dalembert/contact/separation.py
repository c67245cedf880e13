"""`dal.contact.sshlp`: signed distance of convex polytopes by supporting separating hyperplanes, as a linear program.

    r = dal.contact.sshlp(A, B)          # vertices (n, 3) of two convex bodies
    r.distance, r.normal, r.a1, r.a2

Leyendecker, Hartmann, Koch, Johnson, Ortiz, section 4.1, with these corrections: <alpha, y> - a is a distance only for |alpha| = 1, and the
linear program has the value of the quadratic one only if beta is its solution, which is not known beforehand. What it computes otherwise,
and when it agrees, is in `docs/separation.md`; the kernels are in `kernels/separation/`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy import ascontiguousarray, empty

from dalembert.arrays import Array
from dalembert.contact.signed_distance import SignedDistance
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels._far import PENDING, raise_pending
from dalembert.kernels.separation import layout as at
from dalembert.kernels.separation.run import run

MODES = {"nearest": at.NEAREST, "centroids": at.CENTROIDS, "iterated": at.ITERATED}
METHODS = ("kernel", "highs")
FLOAT: Any = np.dtype(float)
SMALL, LARGE = 1e-60, 1e60  # sizes between which products of four lengths are numbers
ROOMS = (at.ROOM, 512, 4096, 32768)  # vertices of the polytope that finds a depth
_DIAGONALS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
STARTS = np.vstack([np.eye(3), -np.eye(3), np.array(_DIAGONALS) / np.sqrt(3.0)])  # six axes and eight diagonals


def sshlp(A: Any, B: Any, *, beta: Any = "nearest", starts: Any = 0, method: str = "kernel") -> SignedDistance:
    """max a1 - a2 with alpha.x >= a1 on the hull of A, alpha.y <= a2 on that of B, beta.alpha = 1.

    A, B: vertices (n, 3), m; points inside the hull, repeated ones, flat bodies, segments and single points are fine. A body that is not
    convex is a list of convex parts: the least distance of all pairs counts, and `pair` says of which.

    beta: "nearest", the normal of the signed distance itself, with which the program is equivalent to |alpha| = 1: `distance` is exact.
    "centroids": along the line of the means of the vertices, one linear program that needs nothing else; "iterated": from there on
    alpha / |alpha|, until both agree; or a vector. With these `distance` is a lower bound, `exact` says whether it is the distance.
    starts: with "iterated", more directions to start from: 14 for six axes and eight diagonals, or an array (k, 3).
    method: "kernel", or "highs" for the linear program by HiGHS, through SciPy (slow; to check). h is always the kernel's.

    Returns a SignedDistance. Input that cannot be raises OptionError.
    """
    if type(beta) is str and type(A) is not list and type(B) is not list:
        try:
            X, Y = ascontiguousarray(A, FLOAT), ascontiguousarray(B, FLOAT)
            if X.shape[1] == 3 == Y.shape[1] and X.ndim == 2 == Y.ndim and method == "kernel":
                desk: _Desk = _thread.desks[beta, starts]
                if desk.n >= len(X) + len(Y):
                    row = empty(at.SIZE)
                    code = desk.call(desk.address, X, Y, row)
                    if code == at.SOLVED and not PENDING and SMALL < row[at.SCALE] < LARGE:
                        return SignedDistance(row, code, desk.mode)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            pass
    return _with_care(A, B, beta, starts, method)


class _Desk:
    """What calls with one beta share, one per thread: options and workspace. n: vertices for which there is room."""

    __slots__ = ("_bound", "address", "call", "mode", "n")

    def __init__(self, mode: int, chosen: Array | None, starts: Array, n: int, room: int = at.ROOM):
        options = np.array(at.OPTIONS)
        options[at.MODE] = self.mode = mode
        if room > at.ROOM:
            options[at.PIVOTS] = 20.0 * room
        if chosen is not None:
            options[at.CHOSEN :] = chosen
        self._bound = run.bind(options, starts, empty((at.rows(n, n, room), at.WIDTH)))
        self.call, self.address, self.n = self._bound.call, self._bound.address, n

    def solve(self, X: Array, Y: Array) -> tuple[Array, int]:
        """(row, status)."""
        row = empty(at.SIZE)
        code = self.call(self.address, X, Y, row)
        raise_pending()
        return row, code


_thread = threading.local()


def _with_care(A: Any, B: Any, beta: Any, starts: Any, method: str) -> SignedDistance:
    """All that is not the short way: checks, unions, other sizes, more room."""
    if method not in METHODS:
        raise UnknownNameError("method of sshlp", method, METHODS)
    parts = [_parts("A", A), _parts("B", B)]
    mode, chosen = _beta(beta)
    first = _starts(starts, mode)
    found = [[_pair(X, Y, (beta, starts), mode, chosen, first, method) for Y in parts[1]] for X in parts[0]]
    distances = np.array([[r.distance for r in line] for line in found])
    i, j = divmod(int(distances.argmin()), len(parts[1]))
    out = found[i][j]
    out.pair = (i, j)
    out.all = distances if distances.size > 1 else None
    return out


def _pair(X: Array, Y: Array, key: Any, mode: int, chosen: Array | None, starts: Array, method: str) -> SignedDistance:
    """One pair of convex bodies, at a size with which products are numbers."""
    size = max(float(np.abs(X).max()), float(np.abs(Y).max()))
    factor = 1.0
    if not SMALL < size < LARGE and size > 0.0:
        factor = 2.0 ** np.floor(np.log2(size))
        X, Y = X / factor, Y / factor
    row, code = _solve(X, Y, key, mode, chosen, starts)
    if method == "highs":
        from dalembert.contact.separation_highs import solve

        solve(X, Y, row)
    if factor != 1.0:
        for name in ("h", "a1", "a2", "x", "y", "centre", "slack", "g", "gx", "gy", "size"):
            start, count = at.OUT.places[name]
            row[start : start + count] *= factor
    return SignedDistance(row, code, mode, method)


def _solve(X: Array, Y: Array, key: Any, mode: int, chosen: Array | None, starts: Array) -> tuple[Array, int]:
    """With as much room as it takes. The desk of a named beta is kept."""
    n = max(32, len(X) + len(Y))
    keep, desks = chosen is None and type(key[1]) is int and n <= 4096, getattr(_thread, "desks", {})
    desk = desks.get(key) if keep else None
    if desk is None or desk.n < n:
        desk = _Desk(mode, chosen, starts, n)
    if keep:
        _thread.desks = desks | {key: desk}
    row, code = desk.solve(X, Y)
    for room in ROOMS[1:]:
        if code != at.LIMIT:
            break
        row, code = _Desk(mode, chosen, starts, n, room).solve(X, Y)
    return row, code


def _parts(name: str, given: Any) -> list[Array]:
    """The convex parts of a body: one array of vertices, or several."""
    if isinstance(given, np.ndarray) and given.ndim == 3:
        given = list(given)
    if isinstance(given, (list, tuple)) and len(given) and _depth(given[0]) >= 2:
        return [_vertices(f"part {k} of {name}", part) for k, part in enumerate(given)]
    return [_vertices(name, given)]


def _depth(given: Any) -> int:
    """How deeply numbers are nested."""
    if isinstance(given, np.ndarray):
        return given.ndim
    return 1 + _depth(given[0]) if isinstance(given, (list, tuple)) and len(given) else int(isinstance(given, (list, tuple)))


def _vertices(name: str, given: Any) -> Array:
    expected = "expected an array (n, 3) of vertices, m, with n of 1 or more"
    try:
        found = ascontiguousarray(given, FLOAT)
    except (TypeError, ValueError):
        raise OptionError(f"{name} is no array of numbers; {expected}, or a list of such arrays.") from None
    if found.ndim == 3:
        raise OptionError(f"{name} has shape {found.shape}; {expected}. A union is a list of parts, not of unions.")
    if np.ndim(given) != 2 or found.shape[1] != 3 or not len(found):
        raise OptionError(f"{name} has shape {np.shape(given)}; {expected}.")
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if bad.size:
        raise OptionError(f"{name}: vertex {bad[0]} is {found[bad[0]].tolist()}; expected finite coordinates, m.")
    return found


def _numbers(given: Any) -> Array:
    """As an array; an empty one where that cannot be."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)


def _beta(given: Any) -> tuple[int, Array | None]:
    """(mode, vector)."""
    if isinstance(given, str):
        if given not in MODES:
            raise UnknownNameError("beta", given, MODES)
        return MODES[given], None
    found = _numbers(given)
    if found.shape != (3,) or not np.isfinite(found).all() or not found.any():
        raise OptionError(f"beta is {given!r}; expected a vector of three finite numbers that are not all zero, or {', '.join(MODES)}.")
    return at.GIVEN, found / np.abs(found).max()


def _starts(given: Any, mode: int) -> Array:
    """Unit vectors (k, 3)."""
    if isinstance(given, (int, np.integer)) and given in (0, len(STARTS)):
        found = STARTS[:given]
    else:
        found = _numbers(given)
        sizes = np.sqrt((found * found).sum(axis=1)) if found.ndim == 2 else np.zeros(1)
        if found.ndim != 2 or found.shape[1] != 3 or not np.isfinite(sizes).all() or not sizes.all():
            raise OptionError(f"starts is {given!r}; expected 0, {len(STARTS)}, or an array (k, 3) of directions, finite and not zero.")
        found = found / sizes[:, None]
    if len(found) and mode != at.ITERATED:
        raise OptionError("starts are given, but only beta='iterated' has more than one start.")
    return ascontiguousarray(found)
