"""The midpoint rule with multipliers as unknowns, and the step of the form that is asked for; equations: null_space.py."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.common import FLOOR, largest, load, onto, push, start_increment, take_control
from dalembert.kernels.directors.dense import solve
from dalembert.kernels.directors.move import move
from dalembert.kernels.directors.null_space import finish, reduced, residual, verdict
from dalembert.kernels.directors.quadratic import constraints, gradients, hessian
from dalembert.kernels.directors.tree import tangent
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, SINGULAR


@kernel
def full(t, h, system, state, work, info):
    """One step of the form with multipliers: unknown dq and h w lambda."""
    s = at.places(system)
    n, m = s.n, s.rows
    size = n + m
    load(s, state, work, s.w)
    tangent(system, s, work, s.w, s.P)
    take_control(s, state, work, s.P)
    if not start_increment(system, s, h, state, work, s.w, s.P):
        return SINGULAR
    move(system, s, work, s.w, s.u, s.w1, s.dq)
    push(system, s, state, work, s.w)
    for i in range(m):
        work[s.lam + i] = 0.0
    scale, before, met = 1.0 + largest(work, s.w, n + at.Q0), 0.0, False
    info[0] = 0.0
    for _ in range(s.max_iterations):
        residual(system, s, h, state, work)
        fill_full(system, s, h, work)
        if not solve(work, s.K, size, s.x):
            return SINGULAR
        correction, whole = largest(work, s.x, n), largest(work, s.dq, n)
        if not correction < 1e300:
            return NOT_FINITE
        for i in range(n):
            work[s.dq + i] += work[s.x + i]
            work[s.w1 + at.Q0 + i] = work[s.w + at.Q0 + i] + work[s.dq + i]
        for r in range(m):
            work[s.lam + r] = work[s.x + n + r]
        info[0] += 1.0
        info[1] = correction / (whole + FLOOR * scale)
        met, done = verdict(correction, before, whole, scale, s.tol, met)
        before = correction
        if done:
            break
    if not met:
        return NOT_CONVERGED
    residual(system, s, h, state, work)
    increments_of(system, s, work)
    return finish(system, s, h, state, work)


@kernel
def increments_of(system, s, work):
    """u of an increment dq that is known, to first order: (P^T P)^-1 P^T dq. For the account alone."""
    k = s.k
    onto(s, work, s.P, s.dq, s.u)
    for i in range(k * k):
        work[s.A + i] = 0.0
    for r in range(s.n):
        for i in range(k):
            for j in range(k):
                work[s.A + i * k + j] += work[s.P + r * k + i] * work[s.P + r * k + j]
    solve(work, s.A, k, s.u)


@kernel
def fill_full(system, s, h, work):
    """[M + h^2/4 d^2V, G_0^T; G_1, 0] (d dq, h w lambda) = (h r, -g_1)."""
    n, m = s.n, s.rows
    size = n + m
    for i in range(size * size):
        work[s.K + i] = 0.0
    hessian(system, s, work, s.wm, 0.25 * h * h, s.K, size)
    for i in range(n):
        work[s.K + i * size + i] += system[s.at_mass + i]
        work[s.x + i] = h * work[s.r + i]
    gradients(system, s, work, s.w, s.G)
    for r in range(m):
        for i in range(n):
            work[s.K + i * size + n + r] = work[s.G + r * n + i]
    gradients(system, s, work, s.w1, s.G)
    constraints(system, s, work, s.w1, s.g)
    for r in range(m):
        work[s.x + n + r] = -work[s.g + r]
        for i in range(n):
            work[s.K + (n + r) * size + i] = work[s.G + r * n + i]


@kernel
def step(t, h, system, state, work, info):
    """One step of the form that the system array asks for."""
    if at.places(system).full == 1:
        return full(t, h, system, state, work, info)
    return reduced(t, h, system, state, work, info)
