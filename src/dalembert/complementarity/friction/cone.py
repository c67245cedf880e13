"""Coulomb's cone, exactly (lacoursiere2007 (10.54), (10.75)).

    u_t + s r_t / |r_t| = 0,    0 <= mu r_n - |r_t|  _|_  s >= 0,    0 <= r_n  _|_  u_n >= 0        s: slip speed

Solver      block Gauss-Seidel (every contact solved exactly: kernels/friction/local.py) and semismooth Newton on Alart and Curnier's function by
            turns. Print iterates on the direction r_t / |r_t| of an LCP (10.82); that converges on fewer than half of random problems.
Fallback    the polygonal cone of 8, 16 and 32 directions by Lemke's method, which always ends with a solution, as start for both.
Guarantee   none is proved for the iteration. A solution exists for positive definite W; it need not be unique for large mu.
Isotropy    the threshold of sticking is mu r_n in every direction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.complementarity.friction.disc import solve_discs
from dalembert.complementarity.friction.polygonal import solve_polygonal
from dalembert.complementarity.friction.registry import Answer, Option, Task, register
from dalembert.complementarity.friction.shapes import DISC, directions

INNER = 1e-3  # of the judge's tolerance: Newton then goes on to round-off
_TRIES = (8, 16, 32)
_LARGEST = 2000  # unknowns of a linear complementarity problem that is tried as a start


def solve(task: Task) -> Answer:
    """Newton and Gauss-Seidel; from the solution of a polygonal cone where they give up."""
    p, o = task.problem, task.options
    zero = np.zeros(p.contacts)
    found = solve_discs(p.W, p.b, p.mu, zero, task.start, INNER * task.tol, o["sweeps"], o["max_sweeps"], o["newton"])
    if found.status == "solved" or not task.fallback:
        return found
    best = found
    for n in _TRIES:
        if p.contacts * (n + 2) > _LARGEST:
            break
        start = solve_polygonal(p, directions(n), "lemke", 0.0)
        again = solve_discs(p.W, p.b, p.mu, zero, start.r, INNER * task.tol, 0, o["max_sweeps"], o["newton"])
        best = replace(again, iterations=best.iterations + again.iterations, work=best.work + start.work + again.work, fallback=f"polygon {n}")
        if best.status == "solved":
            return best
    return replace(best, r=found.r)


register(
    name="cone",
    summary="Coulomb's cone, exact and isotropic: Gauss-Seidel and semismooth Newton, Lemke's polygon as fallback",
    law="sqrt(r_1^2 + r_2^2) <= mu r_n",
    guarantee="a solution exists for positive definite W; convergence is not proved",
    shape=lambda options: DISC,
    solve=solve,
    options=(
        Option("sweeps", 4, "sweeps of Gauss-Seidel before Newton is first tried", lambda x: int(x) == x >= 0, "a whole number >= 0"),
        Option("max_sweeps", 1000, "limit of sweeps", lambda x: int(x) == x >= 0, "a whole number >= 0"),
        Option("newton", 50, "limit of Newton's iterations per round", lambda x: int(x) == x >= 0, "a whole number >= 0"),
    ),
    same_law=("cylinder",),
    references=("lacoursiere2007", "alart1991", "bonnefon2011"),
    rank=10,
)
