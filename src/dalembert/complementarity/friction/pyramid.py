"""Pyramid: |r_1|, |r_2| <= mu r_n, the normal impulse of the same solution (lacoursiere2007 10.12), as one linear complementarity problem.

One slip speed per axis. The limit is mu r_n along the axes and up to sqrt(2) mu r_n between them; tangents turn the result.
Guarantee   Lemke's method ends with a solution for positive semidefinite W and any mu >= 0.
"""

from __future__ import annotations

from dalembert.complementarity.friction.polygonal import solve_polygonal
from dalembert.complementarity.friction.registry import Answer, Task, register
from dalembert.complementarity.friction.shapes import SQUARE, directions
from dalembert.complementarity.registry import find_method
from dalembert.option import Option


def solve(task: Task) -> Answer:
    """One call of `lcp`."""
    o = task.options
    return solve_polygonal(task.problem, directions(4), find_method(o["method"]).name, o["eps"], per_axis=True, fallback=task.fallback)


METHOD = Option(
    "method", "lemke", "method of `lcp`", valid=lambda x: isinstance(x, str), expected="a name of dalembert.complementarity.methods()"
)
EPS_OPTION = Option(
    "eps", 0.0, "added to the diagonal of the complementarity problem", valid=lambda x: 0.0 <= x < 1e6, expected="a number >= 0"
)

register(
    name="pyramid",
    summary="limits per tangent, coupled to the normal impulse, as one linear complementarity problem",
    law="|r_1|, |r_2| <= mu r_n",
    guarantee="positive semidefinite W, any mu >= 0",
    shape=lambda options: SQUARE,
    solve=solve,
    options=(METHOD, EPS_OPTION),
    same_law=("box",),
    references=("lacoursiere2007",),
    rank=40,
)
