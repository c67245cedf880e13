"""Nodes in director coordinates: velocities from momenta, held forces; and functions of the coordinates for Python."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors import move, quadratic, tree
from dalembert.kernels.directors.common import load, onto, velocities
from dalembert.kernels.status import OK


@kernel
def nodal(system, state, work, q, v):
    """q, and v = P (P^T M P)^-1 P^T p (with loops: of what they allow); of methods that keep them as they are, M^-1 p."""
    s = at.places(system)
    for i in range(s.n):
        q[i] = state[i]
    if s.project == 0:
        for i in range(s.n):
            v[i] = state[s.n + i] / system[s.at_mass + i]
        return
    load(s, state, work, s.w)
    tree.tangent(system, s, work, s.w, s.P)
    for i in range(s.n):
        work[s.r + i] = state[s.n + i]
    onto(s, work, s.P, s.r, s.u)
    if s.loops > 0:
        quadratic.gradients(system, s, work, s.w, s.G)
    ok = velocities(system, s, work, s.P, s.u)
    for i in range(s.n):
        v[i] = 0.0 if ok else float("nan")
        for c in range(s.k):
            v[i] += work[s.P + i * s.k + c] * work[s.u + c]


@kernel
def hold(system, state, tau):
    """Keep a force on the coordinates for the next step."""
    n = tau.shape[0]
    for i in range(n):
        state[2 * n + i] = tau[i]


@kernel
def ledger(t, h, end, system, state, work, info):
    """Steps keep the account themselves."""
    return OK


@kernel
def null_matrix(system, q, work, out):
    """P(q), (n, k)."""
    s = at.places(system)
    load(s, q, work, s.w)
    tree.tangent(system, s, work, s.w, s.P)
    for i in range(s.n):
        for c in range(s.k):
            out[i, c] = work[s.P + i * s.k + c]


@kernel
def reparametrise(system, q, u, work, out, dq, slope):
    """q_1 = F(u, q), its increment and dF/du, (n, k)."""
    s = at.places(system)
    load(s, q, work, s.w)
    for c in range(s.k):
        work[s.u + c] = u[c]
    move.move(system, s, work, s.w, s.u, s.w1, s.dq)
    move.chart(system, s, work, s.w, s.u, s.w1, s.J)
    for i in range(s.n):
        out[i], dq[i] = work[s.w1 + at.Q0 + i], work[s.dq + i]
        for c in range(s.k):
            slope[i, c] = work[s.J + i * s.k + c]


@kernel
def constraint_rows(system, q, work, g):
    """g of every row of q."""
    s = at.places(system)
    for j in range(q.shape[0]):
        load(s, q[j], work, s.w)
        quadratic.constraints(system, s, work, s.w, s.g)
        for r in range(s.rows):
            g[j, r] = work[s.g + r]


@kernel
def constraint_gradients(system, q, work, G):
    """G(q), (rows, n)."""
    s = at.places(system)
    load(s, q, work, s.w)
    quadratic.gradients(system, s, work, s.w, s.G)
    for r in range(s.rows):
        for i in range(s.n):
            G[r, i] = work[s.G + r * s.n + i]


@kernel
def potential_rows(system, q, work, out):
    """V of every row of q."""
    s = at.places(system)
    for j in range(q.shape[0]):
        load(s, q[j], work, s.w)
        out[j] = quadratic.potential(system, s, work, s.w)


@kernel
def potential_slope(system, q, work, out):
    """dV/dq"""
    s = at.places(system)
    load(s, q, work, s.w)
    quadratic.potential_gradient(system, s, work, s.w, -1, -1, s.f)
    for i in range(s.n):
        out[i] = work[s.f + i]
