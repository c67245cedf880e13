"""Cycles of index sets are seen by Brent's method on a fingerprint of the sides: constant memory, a few operations per index.

A method that chooses its next sides from the present ones alone repeats itself for ever once it comes back to sides that it has had.
"""

from dalembert.kernels._jit import inline

# places in info: the fingerprint kept, steps since then, when to keep the next one
_KEPT, _STEPS, _POWER = 5, 6, 7


@inline
def fingerprint(side):
    """sum (side_i + 2) r_i with the random whole numbers r_i of Lehmer's generator: exact in float64 for n < 10^6.

    Remainders of whole numbers cost a tenth of those of floats.
    """
    r, total = 20061, 0
    for i in range(side.shape[0]):
        r = (r * 16807) % 2147483647
        total += (side[i] + 2) * r
    return float(total)


@inline
def forget(info):
    """Start anew."""
    info[_KEPT], info[_STEPS], info[_POWER] = -1.0, 0.0, 1.0


@inline
def repeats(side, moving, info):
    """True where these sides have been met before, with the same variable about to move; a method that needs no such number gives 0."""
    mark = fingerprint(side) + 2147483647.0 * moving
    if mark == info[_KEPT]:
        return True
    info[_STEPS] += 1.0
    if info[_STEPS] >= info[_POWER]:
        info[_KEPT], info[_STEPS], info[_POWER] = mark, 0.0, 2.0 * info[_POWER]
    return False
