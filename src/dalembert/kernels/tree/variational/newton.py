"""Newton's method for e(v) = 0, the discrete Euler-Lagrange equations of one step.

Newton's matrix is eliminated along the tree (`factor.py`) and kept as long as two more corrections with it suffice. When the iteration ends
is in `convergence.py`. After the last correction forces are evaluated once more; with a dense matrix (`dense.py`) they follow from its
derivatives where the product of first and last correction is small.

careful: a new matrix each time and a line search. A correction is shortened until the one that the old matrix gives at its end is smaller
(Deuflhard's natural monotonicity test).
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.kernels.tree.variational.constrained import add_impulses, constrain, rows_ahead, small_matrix
from dalembert.kernels.tree.variational.convergence import FADE, FLOOR, LIFTED, QUIET, SLOWEST, counted_rate, stagnates
from dalembert.kernels.tree.variational.dense import follow
from dalembert.kernels.tree.variational.layout import SECOND, notes, places
from dalembert.kernels.tree.variational.linear import factor_step, solve_any
from dalembert.kernels.tree.variational.residual import residual
from dalembert.kernels.tree.variational.singular import look_aside, short
from dalembert.kernels.tree.variational.vectors import advance_along, copy, largest

# info
ITERATIONS, RESIDUAL = 0, 1

EPS = 2.2e-16
ENOUGH = 1e-13  # forces are not evaluated again after a last correction below this part of the velocity: the tolerance of a step
TURN = 0.02  # a matrix is not kept after a correction by more than this (rad, m); 0.002 saves 9 % of the corrections of coarse steps
SHORTEST = 1e-3  # part of a correction below which a line search gives up: ten halvings, and parts of the step do more than an eleventh


@inline
def renewed(h, system, work, both):
    """Factor the matrix at the current velocity, and that of the constraints. False if it is singular."""
    s = places(system)
    if not factor_step(h, system, work):
        return False
    if s.total != 0:
        wl = s.left * h
        wr = h - wl if s.inside != 0 else 0.0
        small_matrix(system, work, s.side, both, s.rows_old, s.total, wl, wr)
        if undecided(system, work):
            look_aside(h, system, work, s.side, both, s.total, wl, wr)
    return True


@inline
def undecided(system, work):
    """True where the small matrix has a low rank, and rows beside the nodes have not been asked yet in this step."""
    s = places(system)
    return work[s.later] == 0.0 and work[s.solved] == 0.0 and short(system, work, s.total, s.usual)


@inline
def shortened(system, work, both, part, before):
    """(part, status) of a line search: the same part where the correction may stand, a smaller one to be tried, or NOT_CONVERGED."""
    s = places(system)
    solve_any(system, work, s.side, both, s.e, s.dv)
    if largest(work, s.dv, s.nv) <= max((1.0 - 0.5 * part) * before, FLOOR * largest(work, s.v, s.nv)):
        return part, OK
    part *= 0.5
    advance_along(work, s.trial, part, s.delta, s.v, s.nv)
    return part, NOT_CONVERGED if part < SHORTEST else OK


@kernel
def newton(h, system, state, work, info, careful):
    """Solve e(v) = 0 from work[s.v:]. On success forces and momenta of the step are known."""
    s, n = places(system), notes(system)
    nv, both, bound = s.nv, s.end - s.first == 2, s.total != 0
    renew, finished, careful = True, s.max_iterations < 0, careful and not bound
    part, before, least, lifted = 1.0, 0.0, 0.0, 0.0
    noise = max(EPS * work[s.reach] / abs(h), TINY) if bound else TINY  # residuals of constraints are known to round-off of positions
    work[s.touched] = 0.0
    for iteration in range(s.max_iterations + 1):
        residual(h, system, work, iteration > 0, finished)
        if finished:
            return OK
        if bound:
            add_impulses(system, work, -1.0, s.e)
            rows_ahead(h, system, work)
        info[ITERATIONS] += 1.0
        if careful and iteration > 0:
            shorter, status = shortened(system, work, both, part, before)
            if status != OK:
                return status
            if shorter < part:
                part = shorter
                continue
            renew = True
        if renew and not renewed(h, system, work, both):
            return SINGULAR
        solve_any(system, work, s.side, both, s.e, s.dv)
        if bound:
            if iteration == 0:  # what constraints hold back sets a scale where they let nothing move
                least = largest(work, s.dv, nv)
            constrain(system, work)
        change = largest(work, s.dv, nv)
        if careful:
            part = min(1.0, 2.0 * part)
            copy(work, s.v, work, s.trial, nv)
            copy(work, s.dv, work, s.delta, nv)
        advance_along(work, s.v, part, s.dv, s.v, nv)
        size = max(largest(work, s.v, nv), least)
        info[RESIDUAL] = change / size if size > 0.0 else 0.0
        if not (info[RESIDUAL] < 1e300 and size < 1e300):
            info[RESIDUAL] = change
            return NOT_CONVERGED
        if iteration == 0:
            state[n.misfit] = min(abs(h) * change, 1e300)
        smooth = work[s.touched] == 0.0
        lent = smooth and not bound and not careful
        rate = counted_rate(h, system, state, iteration, change, before, lent)
        if bound:  # the small matrix is kept, and what it misses shrinks at its own rate
            rate = max(rate, SLOWEST)
            lifted = LIFTED * noise * work[s.lift] if iteration > 0 else 0.0
        still = stagnates(rate, iteration, change, before, size, lifted)
        if still and iteration > 0 and not bound:
            state[n.noise] = min(change, before) / size
        allowed = s.tol * size + noise + (0.0 if bound or careful else QUIET * state[n.noise] * size)
        # a new matrix where links have turned, or where two more corrections by this one would not do
        renew = abs(h) * change > TURN or (iteration > 0 and rate**3 * change > s.tol * size) or (bound and undecided(system, work))
        before = change
        if part == 1.0 and (min(rate, 1.0) * change <= allowed or still):
            if bound and work[s.later] != 0.0:  # solved beside a singular position: now at the node itself
                work[s.later], work[s.solved], renew = 0.0, 1.0, True
                continue
            state[n.noise] *= FADE
            if change <= ENOUGH * size and s.end != SECOND + 1:  # forces at the second node are evaluated last
                return OK
            if s.small != 0 and smooth and state[n.misfit] * change <= s.tol * size:  # derivatives at the prediction are good enough
                follow(work, s.dense, nv, s.dv, s.f_left, s.f_right)
                return OK
            finished = True
    return NOT_CONVERGED
