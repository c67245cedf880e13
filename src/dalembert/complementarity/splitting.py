"""Splitting for friction (lacoursiere2007 chapter 17): a problem that is not monotone as a sequence of ones that are.

    H = H0 + U,   H0 positive definite or semidefinite, U >= 0                                                     (17.1)
    H(tau) = H0 + tau (U - U^T) + eps 1,   V(tau) = tau U^T + (1 - tau) U
    z' = SOL(H(tau), q + V(tau) z),   from z = 0 on, that is without friction at first                              (17.3)

tau (U - U^T) is skew: H(tau) is as definite as H0. The limit solves LCP(H + eps 1, q). Iterates stay bounded (17.5); convergence is not
guaranteed, linear at most (17.17), and certain with the ratio |V| / (lambda_min + eps) where that is below 1, lambda_min of the symmetric
part of H0. For contacts tau = eps = 0 needs no slip speeds: `iterate_limits` takes the limits of friction from the last normal impulses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.judge import judge_shape
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.registry import Answer
from dalembert.complementarity.friction.shapes import Shape
from dalembert.complementarity.problem import matrix, vector
from dalembert.complementarity.registry import find_method
from dalembert.complementarity.residual import TOL, judge
from dalembert.complementarity.solve import lcp
from dalembert.errors import OptionError
from dalembert.option import Option

CHANGE, STOP, LIMIT = 1e-12, 1e-10, 200

#: options of the outer iteration, for the models that use it
OUTER = (
    Option(
        "relaxation",
        1.0,
        "share of the new normal impulses in the next limits",
        valid=lambda x: 0.0 < x <= 1.0,
        expected="a number in (0, 1]",
    ),
    Option(
        "stop",
        STOP,
        "relative residual of the law at which the outer iteration ends",
        valid=lambda x: 0.0 < x < 1.0,
        expected="a number in (0, 1)",
    ),
    Option("max_iterations", LIMIT, "limit of outer iterations", valid=lambda x: int(x) == x >= 1, expected="a whole number >= 1"),
)


@dataclass(frozen=True, eq=False)
class SplitResult:
    """z and w = (H + eps 1) z + q, status "solved", "iteration-limit" or that of the inner method, outer iterations, pivots of all of them,
    the judge's residuals of LCP(H + eps 1, q), relative changes per iteration, and the ratio that is proved where it is below 1.
    """

    z: Array
    w: Array
    status: str
    iterations: int
    pivots: int
    residual: float
    relative_residual: float
    changes: tuple[float, ...]
    ratio_bound: float

    @property
    def solved(self) -> bool:
        """Whether z solves LCP(H + eps 1, q)."""
        return self.status == "solved"


def split(
    H0: Any,
    U: Any,
    q: Any,
    lower: Any = None,
    upper: Any = None,
    *,
    tau: float = 0.0,
    eps: float = 0.0,
    method: str = "lemke",
    start: Any = None,
    tol: float = CHANGE,
    max_iterations: int = LIMIT,
) -> SplitResult:
    """The scheme Sigma(tau, eps) of (17.3) for any linear complementarity problem, boxed ones included; any method of `lcp` inside.

    tol: relative change of z at which it ends; a relative residual of 1e-11 ends it as well. The judge of `lcp` decides whether that is a
    solution.
    """
    H0, U = matrix(H0), matrix(U)
    n = len(H0)
    if U.shape != H0.shape or not (U >= 0.0).all():
        raise OptionError(f"U has shape {U.shape} and least entry {U.min(initial=0.0):g}; expected {H0.shape} and entries >= 0.")
    if not 0.0 <= tau <= 1.0 or not 0.0 <= eps < np.inf:
        raise OptionError(f"tau is {tau!r}, eps {eps!r}; expected tau in [0, 1] and eps >= 0.")
    if max_iterations < 1:
        raise OptionError(f"max_iterations is {max_iterations!r}; expected a whole number >= 1.")
    q = vector("q", q, n)
    H, V = H0 + tau * (U - U.T) + eps * np.eye(n), tau * U.T + (1.0 - tau) * U
    total, warm = H0 + U + eps * np.eye(n), find_method(method).warm
    z = np.zeros(n) if start is None else np.array(vector("start", start, n))
    changes, pivots, status, known = [], 0, "iteration-limit", start is not None
    for _ in range(int(max_iterations)):
        found = lcp(H, q + V @ z, lower, upper, method=method, start=z if warm and known else None)
        pivots += found.pivots
        changes.append(_change(found.z, z))
        z, known = found.z, True
        if not found.solved:
            status = found.status
            break
        if changes[-1] <= tol or judge(total, q, z, lower, upper).relative <= 0.1 * STOP:
            status = "solved"
            break
    verdict = judge(total, q, z, lower, upper)
    if verdict.solved(TOL):
        status = "solved"
    elif status == "solved":
        status = "inaccurate"
    return SplitResult(z, verdict.w, status, len(changes), pivots, verdict.residual, verdict.relative, tuple(changes), _ratio(H0, V, eps))


def _ratio(H0: Array, V: Array, eps: float) -> float:
    """|V|_2 / (lambda_min(sym H0) + eps), infinite where the denominator is not positive."""
    if not len(H0):
        return 0.0
    least = float(np.linalg.eigvalsh(0.5 * (H0 + H0.T))[0]) + eps
    return float(np.linalg.norm(V, 2)) / least if least > 0.0 else float("inf")


def _change(new: Array, old: Array) -> float:
    size = np.abs(new).max(initial=0.0)
    return float(np.abs(new - old).max(initial=0.0) / size) if size > 0.0 else float(np.abs(old).max(initial=0.0) > 0.0)


Inner = Callable[[Array, Array | None], Answer]


def iterate_limits(
    problem: ContactProblem, inner: Inner, shape: Shape, start: Any, relaxation: float, stop: float, max_iterations: int
) -> Answer:
    """Limits of friction from the last normal impulses until the law is obeyed.

    inner(limits (m,), start): impulses with the tangential ones limited. start: None or "frictionless" (limits 0 at first, no friction),
    "sticking" (infinite at first), or impulses, whose normal ones give the first limits. stop: the judge's relative residual.
    """
    mu = problem.mu
    r: Array | None = start if isinstance(start, np.ndarray) else None
    normal = np.zeros(problem.contacts) if r is None else np.maximum(r[::3], 0.0)
    limits = mu * normal
    if isinstance(start, str) and start == "sticking":
        limits = np.where(mu > 0.0, np.inf, 0.0)
    found, changes, work, status, fallback = Answer(np.zeros(3 * len(mu)), "iteration-limit", 0), [], 0, "iteration-limit", ""
    for k in range(int(max_iterations)):
        found = inner(limits, r)
        work += found.work
        fallback = fallback or found.fallback
        changes.append(1.0 if r is None else _change(found.r, r))
        r = found.r
        if found.status != "solved":
            status = found.status
            break
        if judge_shape(problem, r, shape).relative <= stop:
            status = "solved"
            break
        share = relaxation if k else 1.0
        normal = share * np.maximum(r[::3], 0.0) + (1.0 - share) * normal
        limits = mu * normal
    return Answer(found.r, status, len(changes), work, fallback, tuple(changes))
