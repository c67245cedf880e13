"""One step of a variational integrator on a tree: solve e(v) = 0 for the interval velocity, then move on.

    q_k+1 = q_k tau(h v),    p_k+1 = Ad_tau^T (p_k + h f_left) + h f_right                                 (`retraction.py`)

Newton's matrix is eliminated along the tree (`factor.py`) and kept as long as two more corrections with it suffice. The iteration ends
when the next correction would be below the tolerance, judged by how much the last one was smaller than the one before. A step that
does not converge, or that bends sharply and does not keep the balance of energy between its nodes, is repeated by Newton's method
from the last velocity with a new matrix each time and a line search (a correction is shortened until the one that the old matrix
gives at its end is smaller: Deuflhard's natural monotonicity test), then in 2, 4, 8 ... equal parts.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import (
    CONSTRAINTS,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    NQ,
    NV,
    PRISMATIC,
    REVOLUTE,
    STEPPER_DATA,
    V_AT,
)
from dalembert.kernels.tree.variational.constrained import add_impulses, begin, constrain, project, rows_ahead, small_matrix, velocity_of
from dalembert.kernels.tree.variational.history import history, predict, remember
from dalembert.kernels.tree.variational.layout import (
    DELTA,
    DV,
    F_LEFT,
    F_RIGHT,
    HV,
    MAX_ITERATIONS,
    METHOD,
    P_OLD,
    Q_MID,
    Q_NEW,
    Q_OLD,
    RESCUE,
    RETRACTION,
    ROWS_OLD,
    SAVED,
    SIDE_0,
    SIDE_1,
    SIDE_M,
    SIDE_SIZE,
    SOFT,
    TOL,
    TRIAL,
    E,
    V,
)
from dalembert.kernels.tree.variational.linear import factor_step, solve_any
from dalembert.kernels.tree.variational.residual import EULER, MIDPOINT, TRAPEZOIDAL, residual
from dalembert.kernels.tree.variational.retraction import retract, right_momentum
from dalembert.kernels.tree.variational.side import evaluate

# info
ITERATIONS, RESIDUAL, SUBSTEPS = 0, 1, 2

EPS = 2.2e-16
ROUND_OFF = 1e-12  # of a sum over a tree
SLOWEST = 0.1  # a rate of convergence that is counted on where constraints are kept
FLOOR = 1e-9  # corrections that stop to shrink below this part of the velocity are round-off,
LATE_FLOOR = 1e-6  # or, after some corrections, below this: chains of a thousand links, loops near singular positions
ENOUGH = 1e-13  # forces need not be evaluated again after a last correction below this part of the velocity
BEND = 0.25  # a step in which a rate changes by more than this per step (rad) is doubtful,
SHARE = 0.1  # and not trusted where the energy of its nodes differs by more than this share
TURN = 0.02  # a matrix is not kept after a correction by more than this (rad, m)
SHORTEST = 1e-3  # part of a correction below which a line search gives up
TRIALS = 10  # as it is, with a line search, then in 2, 4, ..., 256 parts


@inline
def largest(work, at, n):
    """max |work[at : at + n]|; NaN if one entry is."""
    m = 0.0
    for i in range(n):
        x = abs(work[at + i])
        if x > m or x != x:
            m = x
    return m


@inline
def product(work, a, b, n):
    """work[a : a + n] . work[b : b + n]"""
    total = 0.0
    for i in range(n):
        total += work[a + i] * work[b + i]
    return total


@inline
def advance_along(work, start, s, direction, out, n):
    """work[out:] = work[start:] + s work[direction:]"""
    for i in range(n):
        work[out + i] = work[start + i] + s * work[direction + i]


@kernel
def newton(h, system, work, info, careful):
    """Solve e(v) = 0 from work[V:]. On success forces and momenta of the step are known."""
    nv = int(system[NV])
    data = int(system[STEPPER_DATA])
    method = int(system[data + METHOD])
    v, dv, e = int(system[data + V]), int(system[data + DV]), int(system[data + E])
    trial, delta = int(system[data + TRIAL]), int(system[data + DELTA])
    side, both = int(system[data + SIDE_M]) if method == MIDPOINT else int(system[data + SIDE_0]), method == TRAPEZOIDAL
    wl = h if method == EULER else 0.5 * h
    tol, limit = system[data + TOL], int(system[data + MAX_ITERATIONS])
    renew, finished, bound = True, limit < 0, system[CONSTRAINTS] != 0.0 or system[data + SOFT] != 0.0
    total = int(system[CONSTRAINTS] + system[data + SOFT])
    careful = careful and not bound
    part, before, least = 1.0, 0.0, 0.0
    noise = max(EPS / abs(h), TINY) if bound else TINY  # residuals of constraints are known to round-off of positions
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
        if renew:
            if not factor_step(h, system, work):
                return SINGULAR
            renew = False
            if bound:
                small_matrix(system, work, side, both, int(system[data + ROWS_OLD]), total, wl, h - wl if method == MIDPOINT else 0.0)
        solve_any(system, work, side, both, e, dv)
        if bound:
            if iteration == 0:  # what constraints hold back sets a scale where they let nothing move
                least = largest(work, dv, nv)
            constrain(system, work)
        change = largest(work, dv, nv)
        if careful:
            part = min(1.0, 2.0 * part)
            advance_along(work, v, 0.0, v, trial, nv)
            advance_along(work, dv, 0.0, dv, delta, nv)
            advance_along(work, trial, part, delta, v, nv)
        else:
            advance_along(work, v, 1.0, dv, v, nv)
        size = max(largest(work, v, nv), least)
        info[RESIDUAL] = change / size if size > 0.0 else 0.0
        if not (info[RESIDUAL] < 1e300 and size < 1e300):
            info[RESIDUAL] = change
            return NOT_CONVERGED
        rate = change / before if iteration > 0 else 1.0
        if bound:  # the small matrix is kept, and what it misses shrinks at its own rate
            rate = max(rate, SLOWEST)
        stagnates = (rate > 0.5 and max(change, before) <= FLOOR * size) or (
            rate > 0.9 and iteration > 4 and max(change, before) <= LATE_FLOOR * size
        )
        if part == 1.0 and (min(rate, 1.0) * change <= tol * size + noise or stagnates):
            if change <= ENOUGH * size and method != TRAPEZOIDAL:
                return OK
            finished = True
        else:  # a new matrix where links have turned, or where two more corrections by this one would not do
            renew = abs(h) * change > TURN or (iteration > 0 and rate**3 * change > tol * size)
        before = change
    return NOT_CONVERGED


@inline
def bend(h, system, state, work):
    """Largest change of the turn of a joint in one step, h |v - v_before|. Shifts have no natural size."""
    v, before = int(system[int(system[STEPPER_DATA]) + V]), history(system)
    most = 0.0
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        if kind != PRISMATIC:
            for k in range(1 if kind == REVOLUTE else 3):
                most = max(most, abs(h * (work[v + vi + k] - state[before + vi + k])))
    return most


@kernel
def work_done(h, system, work):
    """(h v . (forces without those of inertia), its round-off): what the kinetic energy gains."""
    data, nv = int(system[STEPPER_DATA]), int(system[NV])
    method = int(system[data + METHOD])
    v, other = int(system[data + V]), int(system[data + DELTA])
    power = product(work, v, int(system[data + F_LEFT]), nv) + product(work, v, int(system[data + F_RIGHT]), nv)
    noise = 0.0
    first, end = (2, 3) if method == MIDPOINT else ((0, 1) if method == EULER else (0, 2))
    for k in range(first, end):
        q = int(system[data + (Q_OLD if k == 0 else (Q_NEW if k == 1 else Q_MID))])
        side = int(system[data + (SIDE_0 if k == 0 else (SIDE_1 if k == 1 else SIDE_M))])
        evaluate(system, work, q, v, side, int(system[data + DV]), other, k >= 0, k < 0, k < 0)  # without forces
        power -= product(work, v, other, nv) / (end - first)
        for i in range(nv):
            noise += ROUND_OFF * abs(work[v + i] * work[other + i])
    return h * power, abs(h) * noise


@kernel
def trusted(system, state, work, gain, noise, p):
    """False where the kinetic energy of the nodes, p . M^-1 p/2, changed by far more or less than the work of the forces."""
    data, nq, nv = int(system[STEPPER_DATA]), int(system[NQ]), int(system[NV])
    before, v = int(system[data + P_OLD]), int(system[data + DV])
    for i in range(nv):
        work[before + i] = state[nq + i]
    kinetic = 0.0
    least, change = abs(gain) if noise < abs(gain) else 0.0, -gain
    for k in range(2):
        at = before if k == 0 else p
        if not velocity_of(system, work, int(system[data + (Q_OLD if k == 0 else Q_NEW)]), at, v):
            return False
        kinetic = 0.5 * product(work, at, v, nv)
        change += kinetic if k == 1 else -kinetic
        least = max(least, kinetic)
    return abs(change) <= SHARE * least and noise <= SHARE * least and least < 1e300


@kernel
def set_up(h, system, state, work, careful):
    """Copy the node to work, predict the velocity, place what does not change during the iteration."""
    nq, nv = int(system[NQ]), int(system[NV])
    data = int(system[STEPPER_DATA])
    q_old, p_old, side = int(system[data + Q_OLD]), int(system[data + P_OLD]), int(system[data + SIDE_0])
    for i in range(nq):
        work[q_old + i] = state[i]
    for i in range(nv):
        work[p_old + i] = state[nq + i]
    predict(system, state, work, h, int(system[data + V]), careful)
    if int(system[data + METHOD]) != MIDPOINT:
        for i in range(int(system[LINKS])):
            place(system, work, i, q_old, side + i * SIDE_SIZE)
    if system[CONSTRAINTS] != 0.0 or system[data + SOFT] != 0.0:
        begin(system, work)


@kernel
def move_on(h, system, state, work):
    """Advance the state with the velocity that was found."""
    nq, nv = int(system[NQ]), int(system[NV])
    data = int(system[STEPPER_DATA])
    exponential = system[data + RETRACTION] != 0.0
    q_old, q_new, p_old = int(system[data + Q_OLD]), int(system[data + Q_NEW]), int(system[data + P_OLD])
    v, x, out = int(system[data + V]), int(system[data + HV]), int(system[data + E])
    bound = system[CONSTRAINTS] != 0.0
    if bound:
        add_impulses(system, work, 1.0, p_old)
    doubtful = system[data + RESCUE] != 0.0 and bend(h, system, state, work) > BEND
    gain, noise = 0.0, 0.0
    if doubtful:
        gain, noise = work_done(h, system, work)
    for i in range(nv):
        work[x + i] = h * work[v + i]
    retract(system, work, q_old, x, q_new, exponential, False)
    right_momentum(system, work, h, x, p_old, int(system[data + F_LEFT]), int(system[data + F_RIGHT]), out, exponential)
    if bound and not project(system, work, q_new, out):
        return SINGULAR
    if doubtful and not trusted(system, state, work, gain, noise, out):
        return NOT_CONVERGED
    for i in range(nq):
        state[i] = work[q_new + i]
    for i in range(nv):
        state[nq + i] = work[out + i]
    remember(system, state, work, h, v)
    return OK


@kernel
def step(t, h, system, state, work, info):
    """One step, and where it fails and rescue is on, the same once more with a line search, then in parts (info[SUBSTEPS] of them)."""
    data = int(system[STEPPER_DATA])
    rescue = system[data + RESCUE] != 0.0
    saved = int(system[data + SAVED])
    info[ITERATIONS], info[RESIDUAL], info[SUBSTEPS] = 0.0, 0.0, 0.0
    for i in range(state.shape[0]):
        work[saved + i] = state[i]
    status = OK
    parts = 1
    for trial in range(TRIALS):
        if trial > 1:
            parts *= 2
        for _ in range(parts):
            set_up(h / parts, system, state, work, trial > 0)
            status = newton(h / parts, system, work, info, trial > 0)
            if status == OK:
                status = move_on(h / parts, system, state, work)
            if status != OK:
                break
        if status == OK or not rescue:
            break
        for i in range(state.shape[0]):
            state[i] = work[saved + i]
    if status == OK and parts > 1:
        info[SUBSTEPS] = parts
    return status
