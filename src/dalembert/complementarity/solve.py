"""`dal.lcp`: check the input, let the method solve, judge, let another method take over where it gave up."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy import ascontiguousarray, empty

from dalembert.arrays import AnyArray, Array
from dalembert.complementarity.problem import FLOAT, refuse, system, vector
from dalembert.complementarity.registry import Method, find_method
from dalembert.complementarity.residual import TOL, judge, proves_infeasible
from dalembert.complementarity.result import STATUS, LCPResult
from dalembert.errors import OptionError
from dalembert.kernels._far import PENDING, raise_pending
from dalembert.kernels.lcp.codes import BAD, INFO, PLACE, RAY, SINGULAR, SOLVED

_NOT_GIVEN: Any = object()


def lcp(
    M: Any,
    q: Any,
    lower: Any = None,
    upper: Any = None,
    method: str = "lemke",
    start: Any = None,
    *,
    tol: float = TOL,
    max_pivots: int | None = None,
    fallback: str | None = _NOT_GIVEN,
    **options: Any,
) -> LCPResult:
    """Solve w = M z + q, lower <= z <= upper, w >= 0 where z = lower, w <= 0 where z = upper, w = 0 between.

    M (n, n) and q (n,); lower is 0 and upper infinity unless given, so that the default is the linear complementarity problem
    0 <= z  _|_  M z + q >= 0. Bounds may be single numbers, and infinite; an index without bounds is an equation.

    method: a name of `dalembert.complementarity.methods()`: lemke, keller, block-pivot, newton, cottle-dantzig, murty, psor.
    start: a z near the solution, for methods that can use it; others refuse it.
    tol: of the relative natural residual that decides "solved" (see `residual.py`).
    max_pivots: limit of pivots (iterations, sweeps); by default the method's own.
    fallback: name of the method that takes over where this one ends without a solution or a proof that there is none; None for none. By
    default the method's own: Lemke's for keller, block-pivot and newton.

    Returns an LCPResult; nothing that a problem does is an error: see its `status`. Wrong input raises OptionError.
    """
    try:
        A, b = ascontiguousarray(M, FLOAT), ascontiguousarray(q, FLOAT)
        desk: _Desk = _thread.desks[method]
        n = desk.n
        if desk.shapes != (A.shape, b.shape):
            A, b, n, desk = _anew(M, q, method)
    except (AttributeError, KeyError, TypeError, ValueError):
        A, b, n, desk = _anew(M, q, method)
    if not 0.0 < tol < 1.0:
        raise OptionError(f"tol is {tol!r}; expected a number in (0, 1), the relative natural residual of a solution.")
    lower = desk.zero if lower is None else vector("lower", lower, n)
    upper = desk.infinity if upper is None else vector("upper", upper, n)
    if options or max_pivots is not None or start is not None:
        numbers = desk.method.numbers(n, options, max_pivots, start is not None)
        z, w, code, pivots, residual, relative = desk.attempt(A, b, lower, upper, start, numbers)
    else:
        z, w = empty(n), empty(n)
        code, pivots, residual, relative = desk.call(desk.address, A, b, lower, upper, z, w)
        if PENDING or code >= BAD:
            desk.refuse(code, A, b, lower, upper, start)
    if code == SOLVED and not relative <= tol:
        z, w, more, residual, relative = _mended(A, b, lower, upper, (z, w, 0, residual, relative))
        pivots += more
        if not relative <= tol:
            z, w, more, residual, relative = _apart(A, b, lower, upper, method, (z, w, 0, residual, relative))
            pivots += more
    if relative <= tol:
        return LCPResult(z, w, "solved", pivots, residual, relative, method, STATUS[code])
    word, claim, answered = desk.word(code, A, b, lower, upper), STATUS[code], ""
    then = desk.method.fallback if fallback is _NOT_GIVEN else fallback
    if then and word != "infeasible":
        desk, answered = _desk(then, n), then
        z, w, code, more, residual, relative = desk.attempt(A, b, lower, upper)
        word, pivots = "solved" if relative <= tol else desk.word(code, A, b, lower, upper), pivots + more
    ray = desk.ray.copy() if word in ("ray", "infeasible") else None
    return LCPResult(z, w, word, pivots, residual, relative, method, claim, answered, ray)


def _anew(M: Any, q: Any, method: str) -> tuple[Array, Array, int, _Desk]:
    """M, q, n and a desk for problems of another size or another method, or OptionError for what is no problem."""
    M, q, n = system(M, q)
    return M, q, n, _desk(method, n)


def _mended(M: Array, q: Array, lower: Array, upper: Array, found: tuple[Array, Array, int, float, float]) -> Any:
    """(z, w, pivots, residual, relative residual), the better of what a method found and of block pivoting from there.

    Methods measure violations against the size of z; the judge measures a row by its own terms. Rows that are smaller than the round-off
    of the others, such as the second of M = 1, q = (-1, -1e-17), leave their bounds, and a few block pivots put the rest right.
    """
    z, w = found[:2]
    start = np.where((z == lower) & (w < 0.0), np.nextafter(z, np.inf), z)
    start = np.where((z == upper) & (w > 0.0), np.nextafter(z, -np.inf), start)
    desk = _desk("block-pivot", len(q))
    z, w, _, pivots, residual, relative = desk.attempt(M, q, lower, upper, start, desk.method.numbers(desk.n, {}, None, True))
    return (z, w, pivots, residual, relative) if relative < found[4] else (*found[:2], pivots, *found[3:])


def _apart(M: Array, q: Array, lower: Array, upper: Array, method: str, found: tuple[Array, Array, int, float, float]) -> Any:
    """The better of what was found and of the parts of a problem that M does not couple, each solved alone: sizes then do not mix."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(M != 0.0, directed=False)
    if count == 1:
        return found
    z, pivots = np.empty(len(q)), 0
    for k in range(count):
        rows = np.flatnonzero(part == k)
        alone = lcp(M[np.ix_(rows, rows)], q[rows], lower[rows], upper[rows], method, fallback=None)
        z[rows], pivots = alone.z, pivots + alone.pivots
    judged = judge(M, q, z, lower, upper)
    better = judged.relative < found[4]
    return (z, judged.w, pivots, judged.residual, judged.relative) if better else (*found[:2], pivots, *found[3:])


def _nothing(*problem: Any) -> tuple[int, int, float, float]:
    """Of a problem without rows: solved."""
    return SOLVED, 0, 0.0, 0.0


class _Desk:
    """What problems of one method and one size share, one per thread: the compiled method, its options, bounds, workspace."""

    __slots__ = ("_bound", "address", "call", "infinity", "info", "method", "n", "numbers", "options", "ray", "shapes", "work", "zero")

    def __init__(self, method: Method, n: int, work: tuple[AnyArray, ...]) -> None:
        self.method, self.n, self.shapes, self.numbers = method, n, ((n, n), (n,)), method.numbers(n, {})
        self.work, self.ray, self.info = work, work[4][7], work[6]
        self.options = self.numbers.copy()  # the defaults, but during an attempt with others
        self._bound = method.run.bind(self.options, *work)
        self.call, self.address = self._bound.call if n else _nothing, self._bound.address
        self.zero, self.infinity = np.zeros(n), np.full(n, np.inf)

    def attempt(
        self, M: Array, q: Array, lower: Array, upper: Array, start: Any = None, numbers: Array | None = None
    ) -> tuple[Array, Array, int, int, float, float]:
        """(z, w, status, pivots, residual, relative residual), with other options where they are given."""
        z, w = empty(self.n), empty(self.n)
        if start is not None:
            if not self.method.warm:
                raise OptionError(f"method {self.method.name!r} cannot use a start; leave it out, or choose a method with warm = True.")
            z[:] = vector("start", start, self.n)
        try:
            self.options[:] = self.numbers if numbers is None else numbers
            code, pivots, residual, relative = self.call(self.address, M, q, lower, upper, z, w)
        finally:
            self.options[:] = self.numbers
        if PENDING or code >= BAD:
            self.refuse(code, M, q, lower, upper, start)
        return z, w, code, pivots, residual, relative

    def refuse(self, code: int, M: Array, q: Array, lower: Array, upper: Array, start: Any) -> None:
        """Raise what came of a call of compiled code."""
        raise_pending()
        refuse(code, int(self.info[PLACE]), M, q, lower, upper, start)

    def word(self, status: int, M: Array, q: Array, lower: Array, upper: Array) -> str:
        """What to call an answer that the judge does not accept."""
        if status == RAY and proves_infeasible(M, q, lower, upper, self.ray):
            return "infeasible"
        return STATUS[SINGULAR if status == SOLVED else status]


_thread = threading.local()


def _desk(method: str, n: int) -> _Desk:
    """A new desk for this thread; those of the last size are kept, unless they are large."""
    found, desks = find_method(method), getattr(_thread, "desks", {})
    kept = next(iter(desks.values()), None)
    if kept is None or kept.n != n:
        desks, kept = {}, None
    made = _Desk(found, n, _workspace(n) if kept is None else kept.work)
    desks[method] = made
    if n <= 512:
        _thread.desks = desks
    return made


def _workspace(n: int) -> tuple[AnyArray, ...]:
    """side, S, A, B, V, I, info of `run`."""
    side, whole = np.empty(n, dtype=np.int64), np.empty((6, 2 * n + 4), dtype=np.int64)
    return side, np.empty((n, n)), np.empty((n + 1, n)), np.empty((n + 5, n)), np.empty((13, n)), whole, np.empty(INFO)
