"""One step of a variational integrator on a tree: solve for the interval velocity, then move on.

    L_d = h L(q_k, v)                            symplectic Euler            dL/dv and forces at the first node
    L_d = h L(q_k+1/2, v)                        midpoint                    between the nodes
    L_d = h/2 [L(q_k, v) + L(q_k+1, v)]          trapezoidal                 at both nodes         Kobilarov (21)-(25), (62)-(64)

    e(v) = dtau_hv^-T l - h f_left - p_k = 0,    q_k+1 = q_k tau(h v),    p_k+1 by `right_momentum`

e is evaluated by one or two sweeps over the tree. The corrections solve Newton's matrix of the method (of the midpoint rule for
the trapezoidal one: they differ by h^2) by elimination along the tree; the matrix is kept until convergence slows down. The velocity is
predicted from up to three earlier intervals by extrapolation in time.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import LINKS, NQ, NV, STEPPER_DATA
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import (
    DV,
    F_LEFT,
    F_RIGHT,
    F_SIDE,
    FACTOR,
    HISTORY,
    HV,
    KNOWN,
    L_BAR,
    L_SIDE,
    MAX_ITERATIONS,
    METHOD,
    P_OLD,
    Q_MID,
    Q_NEW,
    Q_OLD,
    RESCUE,
    RETRACTION,
    SIDE_0,
    SIDE_1,
    SIDE_M,
    SIDE_SIZE,
    STATE_TAIL,
    TIMES,
    TOL,
    E,
    V,
)
from dalembert.kernels.tree.variational.retraction import left_momentum, retract, right_momentum, share
from dalembert.kernels.tree.variational.side import evaluate

EULER, MIDPOINT, TRAPEZOIDAL = 0, 1, 2

# info
ITERATIONS, RESIDUAL, SUBSTEPS = 0, 1, 2

SLOW = 0.1  # convergence by less than this factor renews the matrix
FLOOR = 1e-9  # corrections that stop to shrink below this part of the velocity are round-off
MAX_HALVINGS = 7


@inline
def slot(system, name):
    """An entry of the stepper's data as a place in work."""
    return int(system[int(system[STEPPER_DATA]) + name])


@inline
def history(system):
    """Where the interval velocities start in the state."""
    return int(system[NQ]) + int(system[NV])


@inline
def predict(system, state, work, h, v):
    """work[v:] = polynomial through the kept interval velocities, at the middle of the next interval."""
    nv = int(system[NV])
    at = history(system)
    tail = at + HISTORY * nv
    known = int(state[tail + KNOWN])
    t = 0.5 * h
    t1, t2, t3 = state[tail + TIMES], state[tail + TIMES + 1], state[tail + TIMES + 2]
    near = 0.4 * abs(h)
    if known >= 3 and (abs(t1 - t2) < near or abs(t1 - t3) < near or abs(t2 - t3) < near):
        known = 2
    if known == 2 and abs(t1 - t2) < near:
        known = 1
    c1, c2, c3 = 1.0, 0.0, 0.0
    if known >= 3:
        c1 = (t - t2) * (t - t3) / ((t1 - t2) * (t1 - t3))
        c2 = (t - t1) * (t - t3) / ((t2 - t1) * (t2 - t3))
        c3 = (t - t1) * (t - t2) / ((t3 - t1) * (t3 - t2))
    elif known == 2:
        c1, c2 = (t - t2) / (t1 - t2), (t - t1) / (t2 - t1)
    for i in range(nv):
        work[v + i] = c1 * state[at + i] + c2 * state[at + nv + i] + c3 * state[at + 2 * nv + i]


@inline
def remember(system, state, work, h, v):
    """Keep the velocity of the interval that was just travelled."""
    nv = int(system[NV])
    at = history(system)
    tail = at + HISTORY * nv
    for i in range(nv):
        state[at + 2 * nv + i] = state[at + nv + i]
        state[at + nv + i] = state[at + i]
        state[at + i] = work[v + i]
    if state[tail + KNOWN] == 0.0:  # what was known so far is the velocity of the first node
        state[tail + TIMES + 1] = -h
    else:
        state[tail + TIMES + 2] = state[tail + TIMES + 1] - h
        state[tail + TIMES + 1] = state[tail + TIMES] - h
    state[tail + TIMES] = -0.5 * h
    state[tail + KNOWN] = min(3.0, state[tail + KNOWN] + 1.0) if state[tail + KNOWN] > 0.0 else 2.0


@inline
def largest(work, at, n):
    """max |work[at : at + n]|; NaN if one entry is."""
    m = 0.0
    for i in range(n):
        x = abs(work[at + i])
        if x > m or x != x:
            m = x
    return m


@kernel
def attempt(h, system, state, work, info):
    """Solve one step and, if that succeeds, advance the state."""
    nq, nv = int(system[NQ]), int(system[NV])
    data = int(system[STEPPER_DATA])
    method, exponential = int(system[data + METHOD]), system[data + RETRACTION] != 0.0
    v, dv, e, x = slot(system, V), slot(system, DV), slot(system, E), slot(system, HV)
    l, fl, fr = slot(system, L_BAR), slot(system, F_LEFT), slot(system, F_RIGHT)
    ls, fs = slot(system, L_SIDE), slot(system, F_SIDE)
    q_old, q_new, q_mid, p_old = slot(system, Q_OLD), slot(system, Q_NEW), slot(system, Q_MID), slot(system, P_OLD)
    side_0, side_1, side_m, fac = slot(system, SIDE_0), slot(system, SIDE_1), slot(system, SIDE_M), slot(system, FACTOR)
    for i in range(nq):
        work[q_old + i] = state[i]
    for i in range(nv):
        work[p_old + i] = state[nq + i]
    predict(system, state, work, h, v)
    if method != MIDPOINT:
        for i in range(int(system[LINKS])):
            place(system, work, i, q_old, side_0 + i * SIDE_SIZE)
    wl = h if method == EULER else 0.5 * h
    wr = h - wl
    side = side_0 if method == EULER else side_m
    tol, limit = system[data + TOL], int(system[data + MAX_ITERATIONS])
    renew = True
    before = 0.0
    status = NOT_CONVERGED
    finished = False
    for iteration in range(limit + 1):
        for i in range(nv):
            work[x + i] = h * work[v + i]
        if method != TRAPEZOIDAL or renew:
            where = q_old
            if method != EULER:
                retract(system, work, q_old, x, q_mid, exponential, True)
                where = q_mid
            evaluate(system, work, where, v, side, l, fs, method == EULER, method != TRAPEZOIDAL)
        if renew and not finished:
            if not factor(system, work, side, fac, x, l, wl, wr, method == MIDPOINT):
                status = SINGULAR
                break
            renew = False
        if method == MIDPOINT:
            share(system, work, x, fs, fl, fr, exponential)
        elif method == EULER:
            for i in range(nv):
                work[fl + i] = work[fs + i]
                work[fr + i] = 0.0
        else:
            evaluate(system, work, q_old, v, side_0, l, fl, True, True)
            retract(system, work, q_old, x, q_new, exponential, False)
            evaluate(system, work, q_new, v, side_1, ls, fr, False, finished)
            for i in range(nv):
                work[l + i] = 0.5 * (work[l + i] + work[ls + i])
                work[fl + i] *= 0.5
                work[fr + i] *= 0.5
        if finished:
            status = OK
            break
        left_momentum(system, work, h, x, l, fl, e, exponential)
        for i in range(nv):
            work[e + i] -= work[p_old + i]
        solve(system, work, side, fac, e, dv)
        size, change = 0.0, largest(work, dv, nv)
        for i in range(nv):
            work[v + i] += work[dv + i]
        size = largest(work, v, nv)
        info[ITERATIONS] += 1.0
        relative = change / size if size > 0.0 else 0.0
        if not relative < 1e300:
            break
        slow = iteration > 0 and change > SLOW * before
        if change <= tol * size + TINY or (iteration > 0 and change > 0.5 * before and change <= FLOOR * size):
            finished = True
            info[RESIDUAL] = max(info[RESIDUAL], relative)
            if method == MIDPOINT and change <= 1e-12 * size:
                status = OK
                break
        elif slow:
            renew = True
        before = change
    if status != OK:
        info[RESIDUAL] = max(info[RESIDUAL], relative)
        return status
    for i in range(nv):
        work[x + i] = h * work[v + i]
    if method != TRAPEZOIDAL:
        retract(system, work, q_old, x, q_new, exponential, False)
    right_momentum(system, work, h, x, p_old, fl, fr, e, exponential)
    for i in range(nq):
        state[i] = work[q_new + i]
    for i in range(nv):
        state[nq + i] = work[e + i]
    remember(system, state, work, h, v)
    return OK


@kernel
def step(t, h, system, state, work, info):
    """One step; where it does not converge and rescue is on, the same time in 2, 4, 8 ... equal steps (info[SUBSTEPS] of them)."""
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    info[SUBSTEPS] = 0.0
    return attempt(h, system, state, work, info)
