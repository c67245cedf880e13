"""Energy-momentum scheme in director coordinates, reduced to the discrete null space: one step.

    M (v_1 - v_0)/h = -dV_01 - G(m)^T lambda + f,   q_1 - q_0 = h (v_0 + v_1)/2,   g(q_1) = 0,   m = (q_0 + q_1)/2

with the discrete gradient dV_01.dq = V_1 - V_0 (kernels/directors/quadratic.py). Constraints are quadratic: G(m) dq = g_1 - g_0 = 0, so
that lambda does no work and  v_1.M v_1/2 + V_1 = v_0.M v_0/2 + V_0. Momenta are kept since all is built of products w_i.w_j. With
v_1 = 2 dq/h - v_0 and the null-space matrix of G(m), which is P at the vectors of the middle (kernels/directors/tree.py), unknown u:

    P(m)^T (2 p_0 - 2 M dq/h - h dV_01 + h f) = 0,   q_1 = F(u, q_0)

The derivative of P(m) by u is left out of Newton's matrix: corrections shrink by some (h omega)^2/4. Velocities of nodes need not be
tangential: G(q_1) v_1 = O(h^2), without drift.

References: betsch2006, gonzalez1999.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.common import (
    FLOOR,
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
from dalembert.kernels.directors.dense import solve
from dalembert.kernels.directors.move import chart, move, tidy
from dalembert.kernels.directors.null_space import free_of_loops, newton_matrix, verdict, with_loops
from dalembert.kernels.directors.quadratic import potential_gradient
from dalembert.kernels.directors.tree import tangent
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR


@kernel
def residual(system, s, h, state, work):
    """2 p_0 - 2 M dq/h - h dV_01"""
    middle(s, work, s.w, s.dq, s.wm)
    potential_gradient(system, s, work, s.wm, s.w, s.w1, s.f)
    for i in range(s.n):
        work[s.r + i] = 2.0 * state[s.n + i] - 2.0 * system[s.at_mass + i] * work[s.dq + i] / h - h * work[s.f + i]


@kernel
def step(t, h, system, state, work, info):
    """One step."""
    s = at.places(system)
    held = 3 * s.n
    load(s, state, work, s.w)
    tangent(system, s, work, s.w, s.P)
    take_control(s, state, work, s.P)
    if not start_increment(system, s, h, state, work, s.w, s.P):
        return SINGULAR
    scale, before, met = 1.0 + largest(work, s.w, s.n + at.Q0), 0.0, False
    info[0] = 0.0
    for _ in range(s.max_iterations):
        move(system, s, work, s.w, s.u, s.w1, s.dq)
        residual(system, s, h, state, work)
        chart(system, s, work, s.w, s.u, s.w1, s.J)
        tangent(system, s, work, s.wm, s.P)
        onto(s, work, s.P, s.r, s.b)
        for i in range(s.k):
            work[s.b + i] += h * state[held + i]
        newton_matrix(system, s, 2.0 / h, 0.5 * h, work, s.P, s.A)
        if s.loops > 0:
            free_of_loops(system, s, work, s.wm, s.P)
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
    """The next node; multipliers are those of the middle."""
    at_p, held, at_u, at_lam, tail = state_places(s)
    push(system, s, state, work, s.wm)
    for i in range(s.n):
        work[s.r + i] = work[s.r + i] / h + work[s.push + i]
    if s.rows > 0 and not recover(system, s, work, s.wm, s.r):
        return SINGULAR
    for r in range(s.rows):
        state[at_lam + r] = work[s.lam + r]
    add_impulse(system, s, state, work, s.wm, -h, s.f)
    add_impulse(system, s, state, work, s.wm, h, s.push)
    tidy(system, s, work, s.w1)
    for i in range(s.n):
        state[i] = work[s.w1 + at.Q0 + i]
        state[at_p + i] = 2.0 * system[s.at_mass + i] * work[s.dq + i] / h - state[at_p + i]
    for i in range(s.k):
        state[tail + at.WORK] += state[held + i] * work[s.u + i]
        state[at_u + i] = work[s.u + i] / h
    state[tail + at.BEFORE] = h
    return OK
