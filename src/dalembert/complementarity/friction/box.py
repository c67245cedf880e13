"""Box: |r_1|, |r_2| <= mu n with an estimate n of the normal impulse (lacoursiere2007 10.12.3, (17.18-25)).

With fixed n (`normal=`, say of the last step) one boxed problem: unique for positive definite W, a quadratic program where W is symmetric.
Otherwise n is taken from the last solution until it no longer changes (chapter 17), the limit obeying the law of the pyramid:

    n = 0;  repeat  (r_n, r_t) = MLCP(W, b, lower = (0, -mu n), upper = (inf, mu n));  n = r_n

Start       n = 0, that is no friction at first: 2 to 5 iterations for a block on an incline. `start="sticking"` begins with infinite limits
            and needs more, the steeper the incline.
tau, eps    0 is the loop above. Otherwise the scheme Sigma(tau, eps) of (17.3) on the augmented problem (17.20), slip speeds included.
Guarantee   with fixed n: positive definite W. The outer iteration is not proved to converge; the pyramid by Lemke's method takes over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.pyramid import METHOD
from dalembert.complementarity.friction.registry import Answer, Task, find_model, register
from dalembert.complementarity.friction.shapes import SQUARE
from dalembert.complementarity.registry import find_method
from dalembert.complementarity.solve import lcp
from dalembert.complementarity.splitting import OUTER, iterate_limits, split
from dalembert.option import Option


def solve(task: Task) -> Answer:
    """The outer iteration, or one solution where the limits are held."""
    p, o = task.problem, task.options
    method = find_method(o["method"])

    def inner(limits: Array, start: Array | None) -> Answer:
        high = np.column_stack([np.full(p.contacts, np.inf), limits, limits]).reshape(-1)
        low = np.column_stack([np.zeros(p.contacts), -limits, -limits]).reshape(-1)
        found = lcp(p.W, p.b, low, high, method=method.name, start=start if method.warm else None)
        return Answer(found.z, found.status, 1, found.pivots, found.fallback)

    if task.normal is not None:
        return inner(p.mu * task.normal, None if isinstance(task.start, str) else task.start)
    if o["tau"] > 0.0 or o["eps"] > 0.0:
        found = _split(task)
    else:
        found = iterate_limits(p, inner, SQUARE, task.start, o["relaxation"], o["stop"], o["max_iterations"])
    if found.status == "solved" or not task.fallback:
        return found
    pyramid = find_model("pyramid")
    again = pyramid.solve(replace(task, start=None, options=pyramid.resolve({})))
    return replace(again, iterations=found.iterations + 1, work=found.work + again.work, fallback="pyramid", changes=found.changes)


def augmented(problem: ContactProblem) -> tuple[Array, Array, Array, Array, Array]:
    """(H0, U, q, lower, upper) of (17.20-21): unknowns r, ordered by contacts, tangential rows free, then two slip speeds s >= 0 for each
    tangential row: r_t + mu r_n >= 0 and -r_t + mu r_n >= 0, complementary to them.

    Corrected   u_t = s_+ - s_- (print: -s_+ - s_-).
    """
    m = problem.contacts
    E = np.zeros((4 * m, 3 * m))
    U = np.zeros((7 * m, 7 * m))
    for i in range(m):
        for axis in (0, 1):
            row = 4 * i + 2 * axis
            E[row, 3 * i + 1 + axis], E[row + 1, 3 * i + 1 + axis] = 1.0, -1.0
            U[3 * m + row : 3 * m + row + 2, 3 * i] = problem.mu[i]
    H0 = np.block([[problem.W, -E.T], [E, np.zeros((4 * m, 4 * m))]])
    lower = np.zeros(7 * m)
    lower[1 : 3 * m : 3] = lower[2 : 3 * m : 3] = -np.inf
    return H0, U, np.concatenate([problem.b, np.zeros(4 * m)]), lower, np.full(7 * m, np.inf)


def _split(task: Task) -> Answer:
    p, o = task.problem, task.options
    H0, U, q, lower, upper = augmented(p)
    start: Any = None
    if isinstance(task.start, np.ndarray):
        start = np.concatenate([task.start, np.zeros(4 * p.contacts)])
    found = split(H0, U, q, lower, upper, tau=o["tau"], eps=o["eps"], method=o["method"], start=start, max_iterations=o["max_iterations"])
    return Answer(found.z[: 3 * p.contacts].copy(), found.status, found.iterations, found.pivots, "", found.changes)


register(
    name="box",
    summary="limits per tangent from the last normal impulses, any method of `lcp` inside; iterated, it is the pyramid",
    law="|r_1|, |r_2| <= mu r_n (or mu times a given normal impulse)",
    guarantee="fixed limits: positive definite W; outer iteration: none, the pyramid takes over",
    shape=lambda options: SQUARE,
    solve=solve,
    options=(
        METHOD,
        *OUTER,
        Option("tau", 0.0, "share of U - U^T kept in the matrix (17.3)", valid=lambda x: 0.0 <= x <= 1.0, expected="a number in [0, 1]"),
        Option("eps", 0.0, "added to the diagonal of the augmented matrix", valid=lambda x: 0.0 <= x < 1e6, expected="a number >= 0"),
    ),
    frozen=True,
    same_law=("pyramid",),
    references=("lacoursiere2007", "anitescu2004"),
    rank=50,
)
