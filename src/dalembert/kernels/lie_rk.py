"""The engine of all Lie-group Runge-Kutta methods of trees: a method is the tableau behind the system array.

    Theta = h sum_j alpha_j x_j,   g_i = g_start exp(Theta) exp(Theta') ...        first row first                 Park & Chung (46), (47)
    v_i   = v_0 + h sum_j a_ij acc_j
    x_i   = v_i,  or  dexp^-1_(-Theta) v_i  for methods in the algebra (one exponential per stage)
    acc_i = forward dynamics at (g_i, v_i)

The arrays of the stages are in the stepper's part of `work`: the configurations, the x_j, the accelerations, Theta, v (lie_rk_stages.py).
The forward dynamics is called by the two steps only, not by helpers: each level of functions above it would optimise all of it once more.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.lie_rk_account import enter_stages
from dalembert.kernels.lie_rk_stages import (
    ALGEBRA,
    AT_ERRORS,
    AT_PLAN,
    AT_ROWS,
    ATOL,
    ERROR_ROWS,
    EXPONENT,
    MAX_SUBSTEPS,
    RTOL,
    at_acc,
    at_asked,
    at_q,
    at_theta,
    at_v,
    at_x,
    combine,
    copy,
    set_time,
    stages_of,
    tableau,
    velocity,
)
from dalembert.kernels.status import NOT_CONVERGED, OK, SINGULAR, TINY
from dalembert.kernels.tree.aba import accelerations
from dalembert.kernels.tree.group import dexp_inv, move
from dalembert.kernels.tree.layout import AT_HELD, AT_HINT, AT_TAU, NQ, NV

# info
ITERATIONS = 0  # internal steps of an adaptive method, rejected ones included
RESIDUAL = 1  # largest error of an accepted internal step, in units of the tolerance

SAFETY = 0.9
SHRINK = 0.2
GROW = 10.0
SMALLEST = 1e-14  # internal step relative to the step


@inline
def configuration(h, system, work, i):
    """g_i of a stage, or of the step (i = number of stages); leaves the last exponent in Theta."""
    plan = int(tableau(system, AT_PLAN)) + 3 * i
    row = int(tableau(system, AT_ROWS)) + int(system[plan + 1]) * stages_of(system)
    q = at_q(system, int(system[plan]))
    theta = at_theta(system)
    for _ in range(int(system[plan + 2])):
        for k in range(int(system[NV])):
            work[theta + k] = 0.0
        combine(h, system, work, row, at_x(system, 0), theta)
        move(system, work, q, theta, at_q(system, i))
        q = at_q(system, i)
        row += stages_of(system)


@kernel
def arrive(h, system, work):
    """Configuration and velocity after the step."""
    configuration(h, system, work, stages_of(system))
    velocity(h, system, work, stages_of(system))


@inline
def held_force(system, state, work):
    """tau = the control that is held; the forward dynamics adds passive forces to it."""
    copy(state, int(system[AT_HELD]), work, int(system[AT_TAU]), int(system[NV]))


@kernel
def begin(system, state, work):
    """Stage 0 is the state itself; all but its acceleration."""
    nq = int(system[NQ])
    nv = int(system[NV])
    copy(state, 0, work, at_q(system, 0), nq)
    copy(state, nq, work, at_x(system, 0), nv)
    copy(state, nq, work, at_v(system), nv)
    held_force(system, state, work)


@kernel
def approach(h, system, state, work, i):
    """Stage i > 0: all but its acceleration."""
    configuration(h, system, work, i)
    velocity(h, system, work, i)
    if tableau(system, ALGEBRA) != 0.0:
        dexp_inv(system, work, at_theta(system), at_v(system), at_x(system, i))
    else:
        copy(work, at_v(system), work, at_x(system, i), int(system[NV]))
    held_force(system, state, work)


@kernel
def finish(system, state, work, q):
    """The new state: configuration at work[q:], velocity of the current stage."""
    nq = int(system[NQ])
    copy(work, q, state, 0, nq)
    copy(work, at_v(system), state, nq, int(system[NV]))


@kernel
def fixed_step(t, h, system, state, work, info):
    """One step of size h."""
    s = stages_of(system)
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    begin(system, state, work)
    for i in range(s):
        if i > 0:
            approach(h, system, state, work, i)
        set_time(t, h, system, work, i)
        if not accelerations(system, work, at_q(system, i), at_v(system), int(system[AT_TAU]), at_acc(system, i)):
            return SINGULAR
    arrive(h, system, work)
    finish(system, state, work, at_q(system, s))
    return OK


@inline
def squares(system, work, row):
    """Sum of squares of the combination `row` of the stages, each component in units of its tolerance."""
    n = int(system[NV])
    rtol = tableau(system, RTOL)
    atol = tableau(system, ATOL)
    total = 0.0
    for k in range(n):
        dq = 0.0
        dv = 0.0
        for j in range(stages_of(system)):
            dq += system[row + j] * work[at_x(system, j) + k]
            dv += system[row + j] * work[at_acc(system, j) + k]
        dq /= atol + rtol
        dv /= atol + rtol * max(abs(work[at_x(system, 0) + k]), abs(work[at_v(system) + k])) + TINY
        total += dq * dq + dv * dv
    return total


@kernel
def error(h, system, work):
    """Error of an internal step in units of the tolerance; NaN and infinity are possible."""
    row = int(tableau(system, AT_ERRORS))
    n = max(1, 2 * int(system[NV]))
    main = squares(system, work, row)
    if main == 0.0:
        return 0.0
    if tableau(system, ERROR_ROWS) < 2.0:
        return abs(h) * math.sqrt(main / n)
    return abs(h) * main / math.sqrt((main + 0.01 * squares(system, work, row + stages_of(system))) * n)


@kernel
def first_size(length, system, work):
    """A first internal step: (1/100 / size of the rates)^(1/k), rates in units of the tolerance; the error control does the rest."""
    n = int(system[NV])
    rtol = tableau(system, RTOL)
    atol = tableau(system, ATOL)
    total = 0.0
    for k in range(n):
        v = work[at_x(system, 0) + k]
        dq = v / (atol + rtol)
        dv = work[at_acc(system, 0) + k] / (atol + rtol * abs(v) + TINY)
        total += dq * dq + dv * dv
    if not 0.0 < total < 1e300:
        return length
    return min(length, (0.01 / math.sqrt(total / (2 * n))) ** tableau(system, EXPONENT))


@kernel
def factor(err, system):
    """Change of the internal step that an error asks for."""
    if err == 0.0:
        return GROW
    if not err < 1e300:
        return SHRINK
    return min(GROW, max(SHRINK, SAFETY * err ** -tableau(system, EXPONENT)))


@kernel
def advance(system, work):
    """The last stage becomes the first."""
    last = stages_of(system) - 1
    copy(work, at_q(system, last), work, at_q(system, 0), int(system[NQ]))
    copy(work, at_v(system), work, at_x(system, 0), int(system[NV]))
    copy(work, at_acc(system, last), work, at_acc(system, 0), int(system[NV]))


@inline
def trial_size(size, left):
    """An internal step that ends at the end of the step or leaves room for a sensible last one."""
    return left if size >= left else min(size, 0.5 * left)


@kernel
def adaptive_step(t, h, system, state, work, info):
    """From t to t + h by internal steps whose error is within the tolerance; each enters itself into the account, if that is asked for."""
    asked = work[at_asked(system)]
    work[at_asked(system)] = 0.0
    s, tau, hint = stages_of(system), int(system[AT_TAU]), int(system[AT_HINT])
    info[ITERATIONS] = 0.0
    info[RESIDUAL] = 0.0
    begin(system, state, work)
    set_time(t, h, system, work, 0)
    if not accelerations(system, work, at_q(system, 0), at_v(system), tau, at_acc(system, 0)):
        return SINGULAR
    left = length = abs(h)
    size = state[hint] if state[hint] > 0.0 else first_size(length, system, work)
    growth = GROW
    err = 0.0
    while info[ITERATIONS] < tableau(system, MAX_SUBSTEPS):
        trial = trial_size(size, left)
        ok = True
        for i in range(1, s):
            approach(math.copysign(trial, h), system, state, work, i)
            set_time(t + math.copysign(length - left, h), math.copysign(trial, h), system, work, i)
            ok = ok and accelerations(system, work, at_q(system, i), at_v(system), tau, at_acc(system, i))
        err = error(trial, system, work) if ok else math.inf
        info[ITERATIONS] += 1.0
        change = factor(err, system)
        if err <= 1.0:
            if asked != 0.0:
                enter_stages(t + math.copysign(length - left, h), math.copysign(trial, h), system, state, work)
            advance(system, work)
            info[RESIDUAL] = max(info[RESIDUAL], err)
            proposal = trial * min(change, growth)
            size = max(size, proposal) if trial < size else proposal
            growth = GROW
            if trial == left:
                finish(system, state, work, at_q(system, 0))
                state[hint] = size
                return OK
            left -= trial
        else:
            size = trial * min(change, 1.0)
            growth = 1.0
            if not size > SMALLEST * length:
                break
    info[RESIDUAL] = err
    return NOT_CONVERGED
