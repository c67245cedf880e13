"""Newton's method on F(z) = 0 with a line search on |F|^2 (lacoursiere2007 16.7), for three functions whose zeros are the solutions:

    smoothing            F = z - clip_c(z - w),  clip_c(x) = (l + sqrt((x - l)^2 + c^2) + u - sqrt((x - u)^2 + c^2)) / 2,  c -> 0
                         for an LCP (16.69): (z + w - sqrt((z - w)^2 + c^2)) / 2 = 0, that is z, w > 0 with z w = c^2 / 4
    fischer-burmeister   F = z + w - sqrt(z^2 + w^2); z - l for z and -phi(u - z, -w) for w with two bounds (Billups)
    min                  F = z - clip(z - w, l, u): min(z, w) for an LCP

    (diag F_z + diag F_w M) step = -F;  step halved until |F|^2 falls by 2e-4 of itself times the length

w stands for w / (weight mean |M_ii|): solutions do not change, but the number of iterations does. Medians for boxed problems of size 100 at
condition numbers 1e2, 1e4, 1e6: 12, 26, 58 with weight = 10; 5, 12, 24 with 1; 7, 7, 12 with 0.2.
c starts at the natural residual and falls while max |F| <= c, so that the iterates stay near the path of zeros.

Print calls min(z, w) Fischer and Burmeister's function; it is not. After each step the sides that z - w suggests are solved for once, if
the step before suggested the same: the method ends with the exact solution, not with a small residual.

Guarantee   smoothing, fischer-burmeister: the matrix is nonsingular for P0 (P) matrices and the line search finds descent; P: converges.
            min: none (Newton's direction need not be one of descent).
Fallback    where the line search or the factorisation fails, or the limit is met, `dal.lcp` lets Lemke's method take over.
Cost        one LU factorisation of size n per iteration.
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.newton import run
from dalembert.option import Option

register(
    name="newton",
    summary="Newton on a smoothed, Fischer-Burmeister or min function with line search: about ten iterations, any start",
    problems=("LCP", "boxed"),
    guarantee="P (smoothing, fischer-burmeister)",
    warm=True,
    run=run,
    limit=lambda n: 200,
    options=(
        Option("function", "smoothing", "whose zero is sought", words=("smoothing", "fischer-burmeister", "min")),
        Option(
            "weight", 0.2, "w is divided by this fraction of the mean of |M_ii|", valid=lambda x: 1e-6 < x < 1e6, expected="a number > 0"
        ),
        Option("reduction", 0.1, "factor of c per full step", valid=lambda x: 0 < x < 1, expected="a number in (0, 1)"),
    ),
    counts="iterations",
    fallback="lemke",
    references=("lacoursiere2007", "fischer1992", "billups1995", "chen1993"),
    rank=40,
)
