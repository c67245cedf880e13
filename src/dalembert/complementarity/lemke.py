"""Lemke's complementary pivoting with the lexicographic rule (lacoursiere2007 Alg. 16.5.6), for boxes and equality rows as well.

    w = M z + q + t p,   l <= z <= u,   w >= 0 at l, w <= 0 at u, w = 0 between

For t large enough all z at their bounds are a solution (p = 1 at lower bounds, -1 at upper ones, 0 on equality rows, whose z are eliminated
first). The path of solutions is followed as t varies: one variable moves, the first basic variable to reach a bound leaves, its partner
moves next, until t = 0 (solved) or nothing stops the moving variable (a ray).

Dictionary  n x (n + 1), half of the tableau of the textbooks, exchanged in place, from 32 rows on four pivots at a time
            (`kernels/lcp/exchanges.py`). Rows with two bounds need no second row: the path is that of the problem of size 2 n,
            [M I; -I 0](z - l, w_-) + (q + M l, u - l), with the covering vector (1, 0).
Ties        q_j + e^j for small e > 0 makes every problem nondegenerate; the rows of the basis inverse that this needs are the columns of w
            in the dictionary, looked up only where ratios tie.
Ray         d = direction of z: d M d <= 0 (16.64). `infeasible` is reported where d proves it: sup over the bounds of (M^T d) z + q d < 0.
Guarantee   strictly copositive, P: solved. Copositive-plus, positive semidefinite: solved or infeasible. All bounds finite: solved,
            whatever M is (the path is bounded and can only end at t = 0).
Corrected   w = q + z0 p at the start; v_b without q_b; the ratio is the minimum over v < 0 (print: maximum, v > 0).
Warm start  ours: from the sides of the start, with a column of t that makes every basic variable feasible at t = 1; then t moves to 0. For
            P matrices t falls all the way. Where this path ends on a ray the method starts again from the bounds.
Accuracy    one factorisation of the final free set with a refinement (of a symmetric one where its equations do not hold to 1e-14 of q);
            where that contradicts the dictionary, another path from there, then from the bounds with other covering vectors (entries
            between 1 and 2) and larger least pivots, eight paths at most, the best end of which counts. A ray is reported when two
            covering vectors meet one.
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.lemke import run

register(
    name="lemke",
    summary="complementary pivoting along a path, lexicographic: the widest guarantee, friction included; 0.7 n pivots for an LCP",
    problems=("LCP", "boxed"),
    guarantee="P, strictly copositive; copositive-plus and positive semidefinite: solved or infeasible; any matrix with finite boxes",
    warm=True,
    run=run,
    limit=lambda n: 1000 + 50 * n,
    references=("lacoursiere2007", "lemke1965", "murty1988"),
    rank=10,
)
