"""Block principal pivoting (Kostreva; lacoursiere2007 Alg. 16.7.1): all infeasible indices move at once. Newton's method on min(z, w).

    M_aa z_a = -q_a - M_ab z_b,  z_b at its bounds,  w = M z + q
    free with z < l -> lower bound | free with z > u -> upper bound | at a bound with w of the wrong sign -> free

Direct jumps between two bounds (the set {z - w in (l, u)} of the natural map) are not taken: they cycle on nearly every boxed problem.

Guarantee   none: P matrices can cycle. M = [1 0 2; 2 1 0; 0 2 1], q = 1, start {1}: {1} -> {2} -> {3} -> {1}. The sets are a function
            of the sets before; a fingerprint of them is kept, a repetition is reported as `cycle`; then `dal.lcp` turns to Lemke.
Start       ours: without a start the sides after twelve projected Gauss-Seidel sweeps (relaxation 1.3) on a symmetric M: as dear as one
            iteration, they save three or more. `sweeps=0`: all at their bounds, as in print.
Count       from the bounds 6, 9, 13 iterations at condition numbers 1e2, 1e3, 1e4, hardly dependent on n; cycles become common at 1e6.
Cost        one factorisation of M_aa per iteration: the fastest method by far where it converges, and from a start nearby.
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.block_pivot import run
from dalembert.option import Option

register(
    name="block-pivot",
    summary="all infeasible indices at once: about ten factorisations, the fastest; may cycle (seen, then Lemke takes over)",
    problems=("LCP", "boxed"),
    guarantee="none; in practice condition numbers up to 1e4",
    warm=True,
    run=run,
    limit=lambda n: 100,
    options=(
        Option(
            "sweeps", 12, "Gauss-Seidel sweeps for the first sets", valid=lambda x: x == int(x) and 0 <= x <= 1000, expected="0 ... 1000"
        ),
    ),
    counts="iterations",
    fallback="lemke",
    references=("lacoursiere2007", "kostreva1978", "judice1994"),
    rank=30,
)
