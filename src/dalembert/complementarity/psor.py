"""Projected successive over-relaxation, projected Gauss-Seidel with omega = 1 (lacoursiere2007 Alg. 16.6.1).

    z_i <- clip(z_i - omega w_i / M_ii, l_i, u_i),   w_i = q_i + sum_j M_ij z_j       i = 1 ... n, again and again

Guarantee   symmetric positive definite, 0 < omega < 2: converges. Linearly: the error ratio per sweep is about 0.92, 0.98, 0.99, 0.997 at
            condition numbers 1e3, 1e4, 1e5, 1e6.
Corrected   print divides z as well: (z - omega w) / M_ii stalls.
Finish      with `finish=True` (default) the sides that the sweeps found are solved for once; the answer is taken where it is right to
            round-off, otherwise that of the sweeps.
Needs       M_ii > 0; otherwise `singular`.
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.psor import run
from dalembert.option import Option

register(
    name="psor",
    summary="projected Gauss-Seidel with relaxation: cheap sweeps, linear convergence",
    problems=("LCP", "boxed"),
    guarantee="symmetric positive definite",
    warm=True,
    run=run,
    limit=lambda n: 10_000,
    options=(
        Option("omega", 1.0, "relaxation", valid=lambda x: 0 < x < 2, expected="a number in (0, 2)"),
        Option(
            "stop",
            1e-12,
            "natural residual of the scaled problem, relative to max(1, |z|)",
            valid=lambda x: 0 < x < 1,
            expected="a number in (0, 1)",
        ),
        Option("finish", True, "solve once for the sides that the sweeps found", valid=lambda x: x in (0, 1), expected="True or False"),
    ),
    counts="sweeps",
    limitations="slow at large condition numbers: 1e6 needs more sweeps than the limit",
    references=("lacoursiere2007", "cryer1971"),
    rank=70,
)
