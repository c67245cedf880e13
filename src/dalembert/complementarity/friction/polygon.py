"""Polygonal cone: r_t in the convex hull of n directions times mu r_n (lacoursiere2007 (10.86)), as one linear complementarity problem.

The threshold of sticking is mu r_n along the directions and cos(pi / n) mu r_n between them: 0.7071 for n = 4, 0.9239 for n = 8.
Guarantee   Lemke's method ends with a solution for positive semidefinite W and any mu >= 0.
Cost        m (n + 2) unknowns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.complementarity.friction.polygonal import solve_polygonal
from dalembert.complementarity.friction.pyramid import EPS_OPTION, METHOD
from dalembert.complementarity.friction.registry import Answer, Task, register
from dalembert.complementarity.friction.shapes import Shape, directions
from dalembert.complementarity.friction.shapes import polygon as polygon_shape
from dalembert.complementarity.registry import find_method
from dalembert.option import Option


def solve(task: Task) -> Answer:
    """One call of `lcp`."""
    o = task.options
    return solve_polygonal(task.problem, directions(int(o["directions"])), find_method(o["method"]).name, o["eps"], fallback=task.fallback)


def _shape(options: Mapping[str, Any]) -> Shape:
    return polygon_shape(int(options["directions"]))


register(
    name="polygon",
    summary="cone with n faces as one linear complementarity problem: solved for any mu",
    law="r_t in mu r_n times the convex hull of n directions",
    guarantee="positive semidefinite W, any mu >= 0",
    shape=_shape,
    solve=solve,
    options=(
        Option(
            "directions", 8, "number of directions", valid=lambda x: int(x) == x and 3 <= x <= 256, expected="a whole number from 3 to 256"
        ),
        METHOD,
        EPS_OPTION,
    ),
    references=("lacoursiere2007", "anitescu1997", "stewart1996"),
    rank=30,
)
