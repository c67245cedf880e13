"""Keller's principal pivoting (lacoursiere2007 Alg. 16.5.3-4): an active-set method; bounds of z hold throughout.

    while some w has the wrong sign: s = the worst one, p = 1 off a lower bound, -1 off an upper
        repeat   v_a = -M_aa^-1 M_as,  rho = M_ss + M_sa v_a
                 theta0 = -w_s / (p rho)   w_s = 0: s becomes free                      (rho > 0)
                 theta1                    z_s reaches its other bound
                 theta2                    the first free z_i to reach a bound: i goes there
                 z_a += p theta v_a,  z_s += p theta,  w += p theta (M_.s + M_.a v_a)
        until theta is theta0 or theta1

Guarantee   symmetric positive definite M: the quadratic 1/2 z M z + q z falls at every major step. On strongly nonsymmetric matrices the
            method cycles (positive definite ones too): sets at the start of a major step determine z, so a repetition is seen and
            reported as `cycle`; `dal.lcp` then lets Lemke's method take over.
Corrected   rho has a minus sign in (16.43) when written with M_aa^-1; z_s += theta is missing; theta2, theta3 lack the outer p; the start
            needs the term M_ab z_b and u, not l, on upper bounds; the inner loop ends with theta1 too.
Warm start  ours: from the start walk towards the solution of its free set, leaving indices at the bounds that they meet.
Cost        n^2 per pivot (a pivoted dictionary).
"""

from dalembert.complementarity.registry import register
from dalembert.kernels.lcp.keller import run

register(
    name="keller",
    summary="active-set principal pivoting, the worst violator first; about n/2 pivots for an LCP, 1.4 n with boxes",
    problems=("LCP", "boxed"),
    guarantee="symmetric positive definite",
    warm=True,
    run=run,
    limit=lambda n: 100 + 20 * n,
    fallback="lemke",
    limitations="cycles on strongly nonsymmetric matrices (reported)",
    references=("lacoursiere2007", "keller1973", "judice1994"),
    rank=20,
)
