"""Newton's method for e(v) = 0, the discrete Euler-Lagrange equations of one step.

Newton's matrix is eliminated along the tree (`factor.py`) and kept as long as two more corrections with it suffice. The iteration ends
when the next correction would be below the tolerance, judged by how much the last one was smaller than the one before,

    |dv_next| ~ rate |dv|,   rate = |dv| / |dv_before|

After the first correction of a step there is none before, and the rate of an earlier step stands in, unless the correction is large or a
joint is at its limit, where forces have a kink. A rate has a share in proportion to
the first correction (Newton's method converges quadratically) and one in proportion to h^2 or a higher power (of what the matrix leaves
out): it shrinks at most as much as the slower of the two. It is taken SAFETY times, and ages, so that now and then a step makes a second
correction and measures it anew. After a good prediction (`history.py`) one correction does. After the last correction forces are evaluated
once more; with a dense matrix (`dense.py`) they follow from its derivatives where the product of first and last correction is small.

Corrections of long chains cease to shrink at the round-off of their velocities, 1e-11 of 300 links and 1e-9 of 1000. That level is kept
from step to step, fading, and no more than QUIET times it is asked for: it cost two corrections per step to find it again each time.

careful: a new matrix each time and a line search. A correction is shortened until the one that the old matrix gives at its end is smaller
(Deuflhard's natural monotonicity test).
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.kernels.tree.layout import CONSTRAINTS, NV, STEPPER_DATA
from dalembert.kernels.tree.variational.constrained import add_impulses, constrain, rows_ahead, small_matrix
from dalembert.kernels.tree.variational.dense import follow
from dalembert.kernels.tree.variational.history import tail
from dalembert.kernels.tree.variational.layout import (
    ASIDE,
    DELTA,
    DENSE,
    DV,
    EULER,
    F_LEFT,
    F_RIGHT,
    LATER,
    LIFT,
    MAX_ITERATIONS,
    METHOD,
    MIDPOINT,
    MISFIT,
    NOISE,
    RATE,
    RATE_MISFIT,
    RATE_STEP,
    ROWS_OLD,
    SIDE_0,
    SIDE_M,
    SOFT,
    SOLVED,
    TOL,
    TOUCHED,
    TRAPEZOIDAL,
    TRIAL,
    USUAL,
    E,
    V,
)
from dalembert.kernels.tree.variational.linear import factor_step, solve_any
from dalembert.kernels.tree.variational.residual import residual
from dalembert.kernels.tree.variational.singular import look_aside, short
from dalembert.kernels.tree.variational.vectors import advance_along, copy, largest

# info
ITERATIONS, RESIDUAL = 0, 1

EPS = 2.2e-16
SLOWEST = 0.1  # a rate of convergence that is counted on where constraints are kept
LARGE = 0.01  # part of the velocity: a first correction beyond it is never the last
SAFETY = 3.0  # of a rate that was measured in another step,
AGE = 1.05  # its growth from one step to the next,
STALE = 1e15  # and where that ends: nothing is known of the rate any more
FLOOR = 1e-9  # corrections that stop to shrink below this part of the velocity are round-off,
LATE_FLOOR = 1e-6  # or, after some corrections, below this: chains of a thousand links, loops near singular positions,
LIFTED = 10.0  # or below this times the round-off of positions that constraints near singular positions lift
QUIET = 4.0  # times the level of round-off that was seen, and no more, is asked for
FADE = 0.995  # of that level from one step to the next, so that it is measured anew
ENOUGH = 1e-13  # forces need not be evaluated again after a last correction below this part of the velocity
TURN = 0.02  # a matrix is not kept after a correction by more than this (rad, m)
SHORTEST = 1e-3  # part of a correction below which a line search gives up


@inline
def renewed(h, system, work, side, both, bound):
    """Factor the matrix at the current velocity, and that of the constraints. False if it is singular."""
    data = int(system[STEPPER_DATA])
    if not factor_step(h, system, work):
        return False
    if bound:
        method = int(system[data + METHOD])
        wl = h if method == EULER else 0.5 * h
        total = int(system[CONSTRAINTS] + system[data + SOFT])
        wr = h - wl if method == MIDPOINT else 0.0
        small_matrix(system, work, side, both, int(system[data + ROWS_OLD]), total, wl, wr)
        if undecided(system, work):
            look_aside(h, system, work, side, both, total, wl, wr)
    return True


@inline
def undecided(system, work):
    """True where the small matrix has a low rank, and rows beside the nodes have not been asked yet in this step."""
    data = int(system[STEPPER_DATA])
    aside, total = int(system[data + ASIDE]), int(system[CONSTRAINTS] + system[data + SOFT])
    return work[aside + LATER] == 0.0 and work[aside + SOLVED] == 0.0 and short(system, work, total, USUAL)


@inline
def counted_rate(h, system, state, iteration, change, before, misfit, lent, exact):
    """By how much the next correction will be smaller than this one.

    lent: steps of this kind lend each other their rates. exact: the matrix leaves nothing out.
    """
    end = tail(system)
    if iteration > 0:
        rate = change / before if before > 0.0 else 1.0
        if lent and iteration == 1 and misfit > 0.0:
            state[end + RATE], state[end + RATE_MISFIT], state[end + RATE_STEP] = min(rate, STALE), misfit, abs(h)
        return rate
    if not lent or state[end + RATE] == 0.0:
        return 1.0
    state[end + RATE] = min(AGE * state[end + RATE], STALE)
    shorter = 0.0 if exact else h / state[end + RATE_STEP]
    return SAFETY * state[end + RATE] * max(shorter * shorter, misfit / state[end + RATE_MISFIT])


@kernel
def newton(h, system, state, work, info, careful):
    """Solve e(v) = 0 from work[V:]. On success forces and momenta of the step are known."""
    nv, data = int(system[NV]), int(system[STEPPER_DATA])
    method = int(system[data + METHOD])
    v, dv, e = int(system[data + V]), int(system[data + DV]), int(system[data + E])
    trial, delta = int(system[data + TRIAL]), int(system[data + DELTA])
    side, both = int(system[data + SIDE_M]) if method == MIDPOINT else int(system[data + SIDE_0]), method == TRAPEZOIDAL
    tol, limit = system[data + TOL], int(system[data + MAX_ITERATIONS])
    renew, finished, bound = True, limit < 0, system[CONSTRAINTS] != 0.0 or system[data + SOFT] != 0.0
    careful, dense = careful and not bound, system[data + DENSE] != 0.0
    part, before, least, misfit, lifted = 1.0, 0.0, 0.0, 0.0, 0.0
    noise = max(EPS / abs(h), TINY) if bound else TINY  # residuals of constraints are known to round-off of positions
    work[int(system[data + ASIDE]) + TOUCHED] = 0.0
    for iteration in range(limit + 1):
        residual(h, system, work, iteration > 0, finished)
        if finished:
            return OK
        if bound:
            add_impulses(system, work, -1.0, e)
            rows_ahead(h, system, work)
        info[ITERATIONS] += 1.0
        if careful and iteration > 0:
            solve_any(system, work, side, both, e, dv)
            if not largest(work, dv, nv) <= max((1.0 - 0.5 * part) * before, FLOOR * largest(work, v, nv)):
                part *= 0.5
                if part < SHORTEST:
                    return NOT_CONVERGED
                advance_along(work, trial, part, delta, v, nv)
                continue
            renew = True
        if renew and not renewed(h, system, work, side, both, bound):
            return SINGULAR
        solve_any(system, work, side, both, e, dv)
        if bound:
            if iteration == 0:  # what constraints hold back sets a scale where they let nothing move
                least = largest(work, dv, nv)
            constrain(system, work)
        change = largest(work, dv, nv)
        if careful:
            part = min(1.0, 2.0 * part)
            copy(work, v, work, trial, nv)
            copy(work, dv, work, delta, nv)
        advance_along(work, v, part, dv, v, nv)
        size = max(largest(work, v, nv), least)
        info[RESIDUAL] = change / size if size > 0.0 else 0.0
        if not (info[RESIDUAL] < 1e300 and size < 1e300):
            info[RESIDUAL] = change
            return NOT_CONVERGED
        if iteration == 0:
            misfit = min(abs(h) * change, 1e300)
            state[tail(system) + MISFIT] = misfit
        smooth = work[int(system[data + ASIDE]) + TOUCHED] == 0.0
        lent = smooth and not bound and not careful and (iteration > 0 or change <= LARGE * size)
        rate = counted_rate(h, system, state, iteration, change, before, misfit, lent, dense)
        if bound:  # the small matrix is kept, and what it misses shrinks at its own rate
            rate = max(rate, SLOWEST)
            lifted = LIFTED * noise * work[int(system[data + ASIDE]) + LIFT] if iteration > 0 else 0.0
        stagnates = (rate > 0.5 and max(change, before) <= max(FLOOR * size, lifted)) or (
            rate > 0.9 and iteration > 4 and max(change, before) <= LATE_FLOOR * size
        )
        level = tail(system) + NOISE
        if stagnates and iteration > 0 and not bound:
            state[level] = min(change, before) / size
        allowed = tol * size + noise + (0.0 if bound or careful else QUIET * state[level] * size)
        # a new matrix where links have turned, or where two more corrections by this one would not do
        renew = abs(h) * change > TURN or (iteration > 0 and rate**3 * change > tol * size) or (bound and undecided(system, work))
        before = change
        if part == 1.0 and (min(rate, 1.0) * change <= allowed or stagnates):
            if bound and work[int(system[data + ASIDE]) + LATER] != 0.0:  # solved beside a singular position: now at the node itself
                work[int(system[data + ASIDE]) + LATER], work[int(system[data + ASIDE]) + SOLVED], renew = 0.0, 1.0, True
                continue
            state[level] *= FADE
            if change <= ENOUGH * size and method != TRAPEZOIDAL:
                return OK
            if dense and smooth and misfit * change <= tol * size:  # derivatives at the prediction, off by its misfit, are good enough
                follow(work, int(system[data + DENSE]), nv, dv, int(system[data + F_LEFT]), int(system[data + F_RIGHT]))
                return OK
            finished = True
    return NOT_CONVERGED
