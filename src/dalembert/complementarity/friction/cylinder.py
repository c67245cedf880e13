"""Cylinder: sqrt(r_1^2 + r_2^2) <= mu n with an estimate n of the normal impulse (lacoursiere2007 10.12.1).

With fixed n (`normal=`, say of the last step) one convex problem for symmetric positive definite W: unique. Otherwise n is taken from the
last solution, from n = 0 on, until the law is obeyed (chapter 17); the limit obeys the law of the cone.

Inner       block Gauss-Seidel and semismooth Newton by turns, radius fixed.
Guarantee   with fixed n: positive definite W has one solution. The outer iteration is not proved to converge; the cone's solver takes over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.cone import INNER
from dalembert.complementarity.friction.disc import solve_discs
from dalembert.complementarity.friction.registry import Answer, Task, find_model, register
from dalembert.complementarity.friction.shapes import DISC
from dalembert.complementarity.splitting import OUTER, iterate_limits


def solve(task: Task) -> Answer:
    """The outer iteration, or one solution where the limits are held."""
    p, o = task.problem, task.options
    zero = np.zeros(p.contacts)

    def inner(limits: Array, start: Array | None) -> Answer:
        return solve_discs(p.W, p.b, zero, limits, start, INNER * task.tol)

    if task.normal is not None:
        return inner(p.mu * task.normal, None if isinstance(task.start, str) else task.start)
    found = iterate_limits(p, inner, DISC, task.start, o["relaxation"], o["stop"], o["max_iterations"])
    if found.status == "solved" or not task.fallback:
        return found
    cone = find_model("cone")
    again = cone.solve(replace(task, start=found.r, options=cone.resolve({})))
    return replace(
        again, iterations=found.iterations + again.iterations, work=found.work + again.work, fallback="cone", changes=found.changes
    )


register(
    name="cylinder",
    summary="disc limits from the last normal impulses; iterated, it is the cone",
    law="sqrt(r_1^2 + r_2^2) <= mu r_n (or mu times a given normal impulse)",
    guarantee="fixed limits: positive definite W; outer iteration: none, the cone's solver takes over",
    shape=lambda options: DISC,
    solve=solve,
    options=OUTER,
    frozen=True,
    same_law=("cone",),
    references=("lacoursiere2007",),
    rank=20,
)
