"""Cottle and Dantzig's principal pivoting (lacoursiere2007 Alg. 16.5.5): indices one by one; those visited stay feasible.

    for s = 1 ... n: where w_s has the wrong sign, drive z_s as Keller's method does, stopping also at
        theta3   the first visited w_i to reach 0: i becomes free

Guarantee   P: solved. Symmetric and positive semidefinite: solved, or ends on a ray that proves infeasibility (on the edge of
            feasibility, where round-off decides, the ray proves nothing: status `ray`). Singular and not symmetric: none; M = [[0, 1],
            [-1, 0]], q = (-1, 1) ends on a ray though (1, 1) solves it.
Corrected   w_s must be recomputed when s is reached; the ratio over w runs over the visited indices at bounds, not the free ones.
Boxes       ours, after Keller's: z_s may stop at its other bound, free z at both; print gives the LCP only.
Warm start  none: the order of the indices is the method.
Cost        n^2 per pivot (a pivoted dictionary).
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.cottle_dantzig import run

register(
    name="cottle-dantzig",
    summary="principal pivoting that keeps every visited index feasible; about 2 n pivots",
    problems=("LCP", "boxed"),
    guarantee="P; symmetric and positive semidefinite: solved or infeasible",
    warm=False,
    run=run,
    limit=lambda n: 1000 + 100 * n,
    references=("lacoursiere2007", "cottle1968"),
    rank=50,
)
