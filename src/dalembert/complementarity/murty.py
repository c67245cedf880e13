"""Murty's principal pivoting with the least-index rule (lacoursiere2007 Alg. 16.5.1-2).

    M_aa z_a = -q_a - M_ab z_b,  z_b at its bounds,  w = M z + q                    a free, b at a bound
    infeasible: free with z < l or z > u | at the lower bound with w < 0 | at the upper with w > 0
    r = the last infeasible index (`order="first"`: the first one); none: solved
    r free goes to the bound that it broke; r at a bound becomes free

Any fixed order of the indices does. The sets are a function of the sets before, so they end at the solution or repeat themselves.

Guarantee   P matrices, symmetric or not: at most 2^n sets for an LCP, 3^n with boxes, from any start, without a cycle.
            With M unit lower triangular, 2 below the diagonal, q = -1, the last-index rule takes exactly 2^n - 1 pivots and the first-index
            rule one.
Corrected   The start puts l = -inf, u finite at the upper bound and only l = -inf, u = inf into the free set (print: sides swapped once);
            w+ and w- are w on the lower and -w on the upper set only: (16.37) unmasked flags feasible rows.
Cost        n^2 per pivot (a pivoted dictionary, rebuilt every 4 n + 40 pivots).
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.murty import run
from dalembert.option import Option

register(
    name="murty",
    summary="one infeasible index at a time, the last one first; can take 2^n - 1 pivots",
    problems=("LCP", "boxed"),
    guarantee="P",
    warm=True,
    run=run,
    limit=lambda n: 1000 + 20 * n,
    options=(Option("order", "last", "which infeasible index is taken", words=("first", "last")),),
    limitations="the number of pivots grows fast with n: thousands at n = 100 with boxes",
    references=("lacoursiere2007", "murty1974"),
    rank=60,
)
