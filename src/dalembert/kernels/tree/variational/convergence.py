"""When does Newton's iteration of a step end? When the next correction would be below the tolerance, judged by how much the last one was
smaller than the one before,

    |dv_next| ~ rate |dv|,   rate = |dv| / |dv_before|

After the first correction of a step there is none before, and the rate of an earlier step stands in, unless a joint is at its limit, where
forces have a kink. A rate has a share in proportion to the first correction (Newton's method converges
quadratically) and one in proportion to h^2 or a higher power (of what the matrix leaves out): it shrinks at most as much as the slower of
the two. It is taken SAFETY times, and ages, so that now and then a step makes a second correction and measures it anew. After a good
prediction (`history.py`) one correction does.

Corrections of long chains cease to shrink at the round-off of their velocities, 1e-11 of 300 links and 1e-9 of 1000. That level is kept
from step to step, fading, and no more than QUIET times it is asked for: it cost two corrections per step to find it again each time.
"""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.variational.layout import notes, places

# corrections per step with other values: benchmarks/tuning.py
SLOWEST = 0.1  # a rate that is counted on where constraints are kept; 0.01 leaves loops open 5 times wider, 0.5 costs 3 %
SAFETY = 3.0  # of a rate that was measured in another step; 1 to 9 change corrections by less than 1 %,
AGE = 1.05  # its growth from one step to the next; 1 would never measure again, 1.16 costs 2 to 3 %,
STALE = 1e15  # and where that ends: nothing is known of the rate any more
FLOOR = 1e-9  # corrections that stop to shrink below this part of the velocity are round-off; loops make 60 % more of them with 1e-11
LATE_FLOOR = 1e-6  # or, after some corrections, below this: a chain of 1000 links (tests/steppers/variational/test_long_chains.py),
LIFTED = 10.0  # or below this times the round-off of positions that constraints near singular positions lift; 0.1 costs 9 % there
QUIET = 4.0  # times the level of round-off that was seen, and no more, is asked for; 0 costs 42 % in a whip of 100 links
FADE = 0.995  # of that level from one step to the next: forgotten after some hundred; 0.9 to 1 make no difference


@inline
def counted_rate(h, system, state, iteration, change, before, lent):
    """By how much the next correction will be smaller than this one. lent: steps of this kind lend each other their rates.

    A dense matrix leaves nothing out.
    """
    s, n = places(system), notes(system)
    misfit = state[n.misfit]
    if iteration > 0:
        rate = change / before if before > 0.0 else 1.0
        if lent and iteration == 1 and misfit > 0.0:
            state[n.rate], state[n.rate_misfit], state[n.rate_step] = min(rate, STALE), misfit, abs(h)
        return rate
    if not lent or state[n.rate] == 0.0:
        return 1.0
    state[n.rate] = min(AGE * state[n.rate], STALE)
    shorter = 0.0 if s.small != 0 else h / state[n.rate_step]
    return SAFETY * state[n.rate] * max(shorter * shorter, misfit / state[n.rate_misfit])


@inline
def stagnates(rate, iteration, change, before, size, lifted):
    """True where corrections have ceased to shrink, at a level that is that of round-off."""
    larger = max(change, before)
    return (rate > 0.5 and larger <= max(FLOOR * size, lifted)) or (rate > 0.9 and iteration > 4 and larger <= LATE_FLOOR * size)
