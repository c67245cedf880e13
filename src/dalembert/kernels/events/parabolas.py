"""Instants in closed form: where c + b t + a t^2/2 first falls to zero, t >= 0.

    w = sqrt(b^2 - 2 a c),    t = 2 c/(w - b) for b < 0,  -(b + w)/a for b >= 0, a < 0,    slope there -w

No differences of like numbers: all digits are right however small a or c is. Balls on straight ways meet so, and bodies on parabolas.
"""

import math

from dalembert.kernels._jit import inline, kernel


@inline
def first_zero(c, b, a):
    """(t, slope there): the first t >= 0 at which a parabola that is not below zero at 0 falls to zero; (inf, 0) where it never does."""
    c = max(c, 0.0)
    under = b * b - 2.0 * a * c
    if not under > 0.0:
        return math.inf, 0.0
    root = math.sqrt(under)
    if b < 0.0:
        return 2.0 * c / (root - b), -root
    return (-(b + root) / a, -root) if a < 0.0 else (math.inf, 0.0)


@kernel
def meetings(gap, rate, turn, threshold, out):
    """out: first instants at which gaps that change with rate + turn t are closed, faster than the threshold; inf where they never are."""
    for i in range(gap.shape[0]):
        t, slope = first_zero(gap[i], rate[i], turn[i])
        out[i] = t if slope < -threshold else math.inf
