"""`dal.lcp`: check the input, let the method solve, judge, let another method take over where it gave up."""

from __future__ import annotations

import threading
from functools import cache, lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from dalembert.complementarity.problem import Array, matrix, refuse, vector
from dalembert.complementarity.registry import Method, find_method
from dalembert.complementarity.residual import TOL, proves_infeasible
from dalembert.complementarity.result import STATUS, LCPResult
from dalembert.errors import OptionError
from dalembert.kernels._jit import first_class
from dalembert.kernels.lcp.codes import LIMIT, PIVOTS, PLACE, RAY, RELATIVE, RESIDUAL, SINGULAR, SOLVED, WARM
from dalembert.kernels.lcp.run import RUN, run

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
    began = perf_counter()
    chosen = find_method(method)
    M = matrix(M)
    n = M.shape[0]
    q = vector("q", q, n)
    lower = _orthant(n)[0] if lower is None else vector("lower", lower, n)
    upper = _orthant(n)[1] if upper is None else vector("upper", upper, n)
    numbers = chosen.numbers(n, options)
    if max_pivots is not None:
        numbers[LIMIT] = _limit(max_pivots)
    if not 0.0 < tol < 1.0:
        raise OptionError(f"tol is {tol!r}; expected a number in (0, 1), the relative natural residual of a solution.")
    if start is not None and not chosen.warm:
        raise OptionError(f"method {method!r} cannot use a start; leave it out, or choose a method with warm = True.")
    z, w, info, status, ray = _attempt(chosen, M, q, lower, upper, start, numbers)
    pivots, answered, claim = int(info[PIVOTS]), "", STATUS[status]
    then = chosen.fallback if fallback is _NOT_GIVEN else fallback
    if then and _word(status, info, tol, M, q, lower, upper, ray) not in ("solved", "infeasible"):
        second = find_method(then)
        z, w, info, status, ray = _attempt(second, M, q, lower, upper, None, second.numbers(n, {}))
        pivots, answered = pivots + int(info[PIVOTS]), then
    word = _word(status, info, tol, M, q, lower, upper, ray)
    return LCPResult(
        z=z,
        w=w,
        status=word,
        pivots=pivots,
        residual=float(info[RESIDUAL]),
        relative_residual=float(info[RELATIVE]),
        method=method,
        claim=claim,
        fallback=answered,
        seconds=perf_counter() - began,
        ray=ray.copy() if word in ("ray", "infeasible") else None,
    )


def _limit(max_pivots: Any) -> float:
    if isinstance(max_pivots, bool) or not isinstance(max_pivots, (int, np.integer)) or max_pivots < 0:
        raise OptionError(f"max_pivots is {max_pivots!r}; expected a whole number >= 0.")
    return float(max_pivots)


@lru_cache(maxsize=16)
def _orthant(n: int) -> tuple[Array, Array]:
    """The bounds of an LCP; nobody writes to them."""
    return np.zeros(n), np.full(n, np.inf)


_workspace = threading.local()


def _work(n: int) -> tuple[Array, ...]:
    """S, A, B, V, I of the kernels; the last ones of a thread are kept, unless they are large."""
    kept: tuple[Array, ...] | None = getattr(_workspace, "kept", None)
    if kept is not None and kept[0].shape[0] == n:
        return kept
    made = np.empty((n, n)), np.empty((n + 1, n)), np.empty((n, n)), np.empty((12, n)), np.empty((5, 2 * n + 1), dtype=np.int64)
    if n <= 512:
        _workspace.kept = made
    return made


@cache
def _run() -> Any:
    return first_class(run, RUN)


def _attempt(
    method: Method, M: Array, q: Array, lower: Array, upper: Array, start: Any, numbers: Array
) -> tuple[Array, Array, Array, int, Array]:
    """(z, w, info, status, ray) of one method."""
    n = M.shape[0]
    z, w, info = np.empty(n), np.empty(n), np.zeros(8)
    if n == 0:
        return z, w, info, SOLVED, w
    if start is not None:
        z[:] = vector("start", start, n)
        numbers[WARM] = 1.0
    work = _work(n)
    code = _run()(method.kernel, M, q, lower, upper, np.empty(n, dtype=np.int64), z, w, numbers, *work, info)
    if code >= 10:
        refuse(code, int(info[PLACE]), M, q, lower, upper, start)
    return z, w, info, code, work[3][7]


def _word(status: int, info: Array, tol: float, M: Array, q: Array, lower: Array, upper: Array, ray: Array) -> str:
    """The status in words: the judge's word first."""
    if info[RELATIVE] <= tol:
        return "solved"
    if status == RAY and proves_infeasible(M, q, lower, upper, ray):
        return "infeasible"
    return STATUS[SINGULAR if status == SOLVED else status]
