"""A bracket of the first sign change of an event function f, narrowed point by point: who owns f asks for the next point and tells f there.

    bracket = (lo, f(lo), hi, f(hi), side),    f(lo) >= 0 > f(hi)

Points come from false position with the rule of Illinois (the value at an end that stays twice is halved), which converges with order
1.44 per evaluation; every fourth one is the middle, so that no function needs more than four times as many as bisection. Who has a better
guess, a secant or the place where straight ways meet, gives it to `aim`, which takes it for some points if it lies inside. A function that
falls below zero and rises again is found by its slopes: between two points where it falls and rises, a convex function lies above both
tangents, so below the place where they meet there is nothing.

References: leyendecker (first sign change over subintervals).
"""

from dalembert.kernels._jit import inline

LO, F_LO, HI, F_HI, SIDE = 0, 1, 2, 3, 4
SIZE = 5
AIMED = 12  # points that are taken from elsewhere, at most


@inline
def begin(bracket, lo, f_lo, hi, f_hi):
    """A new bracket."""
    bracket[LO], bracket[F_LO], bracket[HI], bracket[F_HI], bracket[SIDE] = lo, f_lo, hi, f_hi, 0.0


@inline
def propose(bracket, k):
    """The next point; every fourth one is the middle."""
    lo, hi = bracket[LO], bracket[HI]
    middle = lo + 0.5 * (hi - lo)
    x = lo + (hi - lo) * (bracket[F_LO] / (bracket[F_LO] - bracket[F_HI]))
    if k % 4 == 3 or not lo < x < hi:
        return middle
    return x


@inline
def aim(bracket, x, k):
    """x where it lies inside, for the first points; then, and where it does not, the point of `propose`."""
    if k < AIMED and bracket[LO] < x < bracket[HI]:
        return x
    return propose(bracket, k)


@inline
def narrow(bracket, x, f):
    """f at a point inside: the bracket shrinks to the side of the sign change."""
    if f >= 0.0:
        bracket[LO], bracket[F_LO] = x, f
        if bracket[SIDE] > 0.0:
            bracket[F_HI] *= 0.5
        bracket[SIDE] = 1.0
    else:
        bracket[HI], bracket[F_HI] = x, f
        if bracket[SIDE] < 0.0:
            bracket[F_LO] *= 0.5
        bracket[SIDE] = -1.0


@inline
def below(f0, slope0, f1, slope1, h):
    """The lowest value that a convex function with these values and slopes at the ends of an interval h can have within it."""
    if not slope0 * h < 0.0 < slope1 * h:
        return min(f0, f1)
    s = (f1 - f0 - slope1 * h) / (slope0 - slope1)
    return f0 + slope0 * s
