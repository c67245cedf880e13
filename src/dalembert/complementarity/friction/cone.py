"""Coulomb's cone, exactly (lacoursiere2007 (10.54), (10.75)).

    u_t + s r_t / |r_t| = 0,    0 <= mu r_n - |r_t|  _|_  s >= 0,    0 <= r_n  _|_  u_n >= 0        s: slip speed

Solver      block Gauss-Seidel (each contact solved exactly: kernels/friction/local.py) and semismooth Newton on Alart and Curnier's
            function by turns. Print iterates on the direction r_t / |r_t| of an LCP (10.82); that converges on fewer than
            half of random problems.
Fallback    the path of solutions of W + e diag W, e from 10 to 0; then the polygonal cone of 8 directions by Lemke's
            method, refined by the directions of its impulses and slip speeds again and again, as start for both.
Guarantee   none is proved for the iteration. A solution exists for positive definite W; it need not be unique for large mu.
Isotropy    the threshold of sticking is mu r_n in every direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.disc import solve_discs
from dalembert.complementarity.friction.polygonal import solve_polygonal
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.registry import Answer, Task, register
from dalembert.complementarity.friction.shapes import DISC, directions
from dalembert.option import Option

INNER = 1e-3  # of the judge's tolerance: Newton then goes on to round-off
_LARGEST = 1500  # unknowns of a linear complementarity problem that is tried as a start
_REFINEMENTS = 30
_DECADES = np.arange(1.0, -12.5, -0.5)  # of the multiple of diag W along the path


def solve(task: Task) -> Answer:
    """Newton and Gauss-Seidel; along the path, then from polygonal cones, where they give up."""
    p, o = task.problem, task.options
    zero = np.zeros(p.contacts)
    found = best = solve_discs(p.W, p.b, p.mu, zero, task.start, INNER * task.tol, o["sweeps"], o["max_sweeps"], o["newton"])
    for name, start in _starts(p) if task.fallback else ():
        if best.status == "solved":
            break
        again = solve_discs(p.W, p.b, p.mu, zero, start.r, INNER * task.tol, 0, 30, o["newton"])
        total = (best.iterations + start.iterations + again.iterations, best.work + start.work + again.work)
        best = replace(again, iterations=total[0], work=total[1], fallback=name)
    return best if best.status == "solved" else replace(best, r=found.r)


def _starts(p: ContactProblem) -> Iterator[tuple[str, Answer]]:
    """Points near a solution, found by other means: see Fallback."""
    yield "path", _path(p)
    m = p.contacts
    d = np.tile(directions(8), (m, 1, 1))
    for _ in range(_REFINEMENTS):
        if m * (d.shape[1] + 2) > _LARGEST:
            return
        found = solve_polygonal(p, d, "lemke", 0.0)
        yield "polygon", replace(found, iterations=0)
        r, u = found.r.reshape(m, 3)[:, 1:], p.velocities(found.r).reshape(m, 3)[:, 1:]
        d = np.concatenate([d, _unit(r, d[:, 0])[:, None], _unit(-u, d[:, 1])[:, None]], axis=1)


def _unit(x: Array, other: Array) -> Array:
    """x / |x|, or the other where x is 0."""
    length = np.hypot(x[:, 0], x[:, 1])[:, None]
    return np.where(length > 0.0, x / np.where(length > 0.0, length, 1.0), other)


def _path(p: ContactProblem) -> Answer:
    """Solutions of W + e diag W, e from 10 to 0: contacts are nearly independent at first."""
    zero, r, iterations, sweeps = np.zeros(p.contacts), None, 0, 0
    diagonal = np.diag(np.diag(p.W))
    for decade in _DECADES:
        found = solve_discs(p.W + 10.0**decade * diagonal, p.b, p.mu, zero, r, 1e-9, 0 if r is not None else 4, 60, 50)
        r, iterations, sweeps = found.r, iterations + found.iterations, sweeps + found.work
    return Answer(np.zeros(len(p.b)) if r is None else r, "solved", iterations, sweeps)


register(
    name="cone",
    summary="Coulomb's cone, exact and isotropic: Gauss-Seidel and semismooth Newton, Lemke's polygon as fallback",
    law="sqrt(r_1^2 + r_2^2) <= mu r_n",
    guarantee="a solution exists for positive definite W; convergence is not proved",
    shape=lambda options: DISC,
    solve=solve,
    options=(
        Option(
            "sweeps",
            4,
            "sweeps of Gauss-Seidel before Newton is first tried",
            valid=lambda x: int(x) == x >= 0,
            expected="a whole number >= 0",
        ),
        Option("max_sweeps", 1000, "limit of sweeps", valid=lambda x: int(x) == x >= 0, expected="a whole number >= 0"),
        Option("newton", 50, "limit of Newton's iterations per round", valid=lambda x: int(x) == x >= 0, expected="a whole number >= 0"),
    ),
    same_law=("cylinder",),
    references=("lacoursiere2007", "alart1991", "bonnefon2011"),
    rank=10,
)
