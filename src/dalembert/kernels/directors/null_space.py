"""Midpoint rule of the action in director coordinates, reduced to the null space: one step.

    L_d = h L((q_0 + q_1)/2, (q_1 - q_0)/h),   p_1 = D_2 L_d = M dq/h - h/2 dV((q_0 + q_1)/2) + h/2 B_1^T tau

    P(q_0)^T (p_0 - M dq/h - h/2 dV + h/2 B_0^T tau) = 0,   q_1 = F(u, q_0)                           reduced, (11)
    p_0 - M dq/h - h/2 dV + h/2 B_0^T tau - w G(q_0)^T lambda = 0,   g(q_1) = 0                       with multipliers, (10)

w = (h' + h)/2 with the step h' before, h/2 at the first node. Newton's matrix of the reduced form is -P^T (M/h + h/4 d^2V) dF/du. Where
loops are closed, Z spans what their rows R = G_l(q_0) P leave free (R Z = 0), and the equations are Z^T P^T (...) = 0 and g_l(F(u)) = 0.

The full form is solved for dq and w h lambda, its first rows times h: its condition number is then that of the machine, at every h.

References: leyendecker (10), (11).
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.common import (
    FLOOR,
    STALLED,
    add_impulse,
    largest,
    load,
    middle,
    onto,
    push,
    recover,
    start_increment,
    state_places,
    take_control,
)
from dalembert.kernels.directors.dense import null_space, solve
from dalembert.kernels.directors.move import chart, move, tidy
from dalembert.kernels.directors.quadratic import add_hessian, constraints, gradients, potential_gradient
from dalembert.kernels.directors.tree import tangent
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR


@kernel
def residual(system, s, h, state, work):
    """r = p_0 - M dq/h - h/2 dV + h/2 B_0^T tau with dV in the middle; work[s.push:] is B_0^T tau."""
    middle(s, work, s.w, s.dq, s.wm)
    potential_gradient(system, s, work, s.wm, -1, -1, s.f)
    for i in range(s.n):
        work[s.r + i] = state[s.n + i] - system[s.at_mass + i] * work[s.dq + i] / h + 0.5 * h * (work[s.push + i] - work[s.f + i])


@kernel
def newton_matrix(system, s, mass, stiffness, work, left, A):
    """left^T (mass M + stiffness d^2V) J, k x k, with d^2V in the middle and J = dF/du."""
    k = s.k
    for i in range(s.n):
        m = mass * system[s.at_mass + i]
        for c in range(k):
            work[s.B + i * k + c] = m * work[s.J + i * k + c]
    add_hessian(system, s, work, s.wm, stiffness, s.J, s.B)
    for i in range(k * k):
        work[A + i] = 0.0
    for r in range(s.n):
        for i in range(k):
            x = work[left + r * k + i]
            if x != 0.0:
                for j in range(k):
                    work[A + i * k + j] += x * work[s.B + r * k + j]


@kernel
def free_of_loops(system, s, work, base, P):
    """Q with R Z = 0 for its last columns Z, R = G_l P at the vectors work[base:]."""
    k, m = s.k, s.loops
    gradients(system, s, work, base, s.G)
    for r in range(m):
        for c in range(k):
            total = 0.0
            for i in range(s.n):
                total += work[s.G + (s.rows - m + r) * s.n + i] * work[P + i * k + c]
            work[s.C + r * k + c] = total
    null_space(work, s.C, m, k, s.Q, s.c)


@kernel
def with_loops(system, s, work):
    """Equations Z^T A du = Z^T b, G_l(q_1) J du = -g_l(q_1) in the place of A du = b; the vectors of q_1 are in work[s.w1:]."""
    k, m = s.k, s.loops
    for i in range(k - m):
        for j in range(k):
            total = 0.0
            for r in range(k):
                total += work[s.Q + r * k + m + i] * work[s.A + r * k + j]
            work[s.C + i * k + j] = total
        total = 0.0
        for r in range(k):
            total += work[s.Q + r * k + m + i] * work[s.b + r]
        work[s.c + i] = total
    gradients(system, s, work, s.w1, s.G)
    constraints(system, s, work, s.w1, s.g)
    for r in range(m):
        row = s.rows - m + r
        for j in range(k):
            total = 0.0
            for i in range(s.n):
                total += work[s.G + row * s.n + i] * work[s.J + i * k + j]
            work[s.C + (k - m + r) * k + j] = total
        work[s.c + k - m + r] = -work[s.g + row]
    for i in range(k * k):
        work[s.A + i] = work[s.C + i]
    for i in range(k):
        work[s.b + i] = work[s.c + i]


@inline
def verdict(size, before, whole, scale, tol, met):
    """(met, done) of an iteration whose correction has a size: the tolerance is met, and a further correction brings nothing."""
    if met and (size <= FLOOR or size > STALLED * before or size <= 1e-14 * whole):
        return True, True
    return met or size <= tol * whole + FLOOR * scale, False


@kernel
def reduced(t, h, system, state, work, info):
    """One step of the reduced form; multipliers are recovered afterwards."""
    s = at.places(system)
    load(s, state, work, s.w)
    tangent(system, s, work, s.w, s.P)
    take_control(s, state, work, s.P)
    if not start_increment(system, s, h, state, work, s.w, s.P):
        return SINGULAR
    push(system, s, state, work, s.w)
    if s.loops > 0:
        free_of_loops(system, s, work, s.w, s.P)
    scale, before, met = 1.0 + largest(work, s.w, s.n + at.Q0), 0.0, False
    info[0] = 0.0
    for _ in range(s.max_iterations):
        move(system, s, work, s.w, s.u, s.w1, s.dq)
        residual(system, s, h, state, work)
        chart(system, s, work, s.w, s.u, s.w1, s.J)
        onto(s, work, s.P, s.r, s.b)
        newton_matrix(system, s, 1.0 / h, 0.25 * h, work, s.P, s.A)
        if s.loops > 0:
            with_loops(system, s, work)
        if not solve(work, s.A, s.k, s.b):
            return SINGULAR
        size, whole = largest(work, s.b, s.k), largest(work, s.u, s.k)
        if not size < 1e300:
            return NOT_FINITE
        for i in range(s.k):
            work[s.u + i] += work[s.b + i]
        info[0] += 1.0
        info[1] = size / (whole + FLOOR * scale)
        met, done = verdict(size, before, whole, scale, s.tol, met)
        before = size
        if done:
            break
    if not met:
        return NOT_CONVERGED
    move(system, s, work, s.w, s.u, s.w1, s.dq)
    residual(system, s, h, state, work)
    return finish(system, s, h, state, work)


@kernel
def finish(system, s, h, state, work):
    """The next node from dq, with multipliers from the residual."""
    at_p, held, at_u, at_lam, tail = state_places(s)
    if s.rows > 0 and not recover(system, s, work, s.w, s.r):
        return SINGULAR
    weight = 0.5 * (abs(state[tail + at.BEFORE]) + abs(h)) * (1.0 if h > 0.0 else -1.0)
    for r in range(s.rows):
        state[at_lam + r] = work[s.lam + r] / weight
    add_impulse(system, s, state, work, s.wm, -h, s.f)
    add_impulse(system, s, state, work, s.w, 0.5 * h, s.push)
    tidy(system, s, work, s.w1)
    push(system, s, state, work, s.w1)
    add_impulse(system, s, state, work, s.w1, 0.5 * h, s.push)
    for i in range(s.n):
        state[i] = work[s.w1 + at.Q0 + i]
        state[at_p + i] = system[s.at_mass + i] * work[s.dq + i] / h + 0.5 * h * (work[s.push + i] - work[s.f + i])
    for i in range(s.k):
        state[tail + at.WORK] += state[held + i] * work[s.u + i]
        state[at_u + i] = work[s.u + i] / h
    state[tail + at.BEFORE] = h
    return OK
