"""Constraints of a variational step: closed loops and couplings on positions, rolling and blades on velocities.

    e(v) - G(q_k)^T lambda = 0,     g(q_k+1) = 0  (holonomic),    A(q_theta) v = 0  (nonholonomic, theta = 0 for symplectic Euler, else 1/2)
    p_k+1 <- p_k+1 + G(q_k+1)^T mu  with  G(q_k+1) M(q_k+1)^-1 p_k+1 = 0

lambda and mu are impulses at the nodes: the RATTLE scheme, constraints hold on both levels, and the discrete Lagrange-d'Alembert-Pontryagin
principle for the nonholonomic ones. The second line moves an impulse from the next step to this one and changes no configuration. With
Newton's matrix J and G' the rows where the constraints have to hold (g over h, so that it is a velocity), a correction is

    dv = -J^-1 (e - G^T lambda) + J^-1 G^T dlambda,     G' J^-1 G^T dlambda = -(g' + G' dv)

The small matrix is eliminated with full pivoting: redundant rows have no pivot and get no impulse. It is kept for a step; what the rows lose by that
(and by the curvature of the retraction and of nonholonomic rows) is made up by further corrections.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.full_pivot import apply, eliminate
from dalembert.kernels.tree.constraints import constraint_rows
from dalembert.kernels.tree.kinematics import place, sweep, world
from dalembert.kernels.tree.layout import AT_V, CONSTRAINTS, HOLONOMIC, LINKS, NV, STEPPER_DATA, VEL
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import (
    DELTA,
    DV,
    FACTOR,
    FALL,
    GAP,
    HV,
    LAMBDA,
    METHOD,
    ORDER,
    PUSH,
    Q_MID,
    Q_NEW,
    Q_OLD,
    REPLY,
    RETRACTION,
    ROWS_NEW,
    ROWS_OLD,
    SCHUR,
    SIDE_1,
    SIDE_SIZE,
    SPARE_ROWS,
    TRIAL,
    V,
)
from dalembert.kernels.tree.variational.residual import EULER, slot
from dalembert.kernels.tree.variational.retraction import retract

REDUNDANT = 1e-10  # pivots of the small matrix below this part of the largest are zero


@kernel
def rows_at(system, work, q, g, G):
    """Residuals and Jacobian at a configuration."""
    sweep(system, work, q, int(system[AT_V]))
    world(system, work)
    constraint_rows(system, work, q, g, G)


@kernel
def begin(system, work):
    """Rows at the first node, no impulse yet."""
    for r in range(int(system[CONSTRAINTS])):
        work[slot(system, LAMBDA) + r] = 0.0
    rows_at(system, work, slot(system, Q_OLD), slot(system, GAP), slot(system, ROWS_OLD))


@inline
def push(work, G, weights, m, nv, s, out):
    """work[out:] += s G^T weights"""
    for r in range(m):
        x = s * work[weights + r]
        if x != 0.0:
            for k in range(nv):
                work[out + k] += x * work[G + r * nv + k]


@kernel
def add_impulses(system, work, s, out):
    """work[out:] += s G(q_k)^T lambda"""
    push(work, slot(system, ROWS_OLD), slot(system, LAMBDA), int(system[CONSTRAINTS]), int(system[NV]), s, out)


@kernel
def rows_ahead(h, system, work):
    """Rows and residuals (as velocities) where the constraints have to hold, at the current velocity."""
    m, holonomic, nv = int(system[CONSTRAINTS]), int(system[HOLONOMIC]), int(system[NV])
    data = int(system[STEPPER_DATA])
    exponential = system[data + RETRACTION] != 0.0
    euler = int(system[data + METHOD]) == EULER
    v, x, q_old = slot(system, V), slot(system, HV), slot(system, Q_OLD)
    g, G, spare = slot(system, GAP), slot(system, ROWS_NEW), slot(system, SPARE_ROWS)
    for i in range(nv):
        work[x + i] = h * work[v + i]
    for k in range(2):  # 0: on positions, 1: on velocities
        if (holonomic == 0 and k == 0) or (holonomic == m and k == 1):
            continue
        q, rows = slot(system, Q_NEW if k == 0 else Q_MID), G if k == 0 else spare
        if k == 1 and euler:
            q = q_old
        else:
            retract(system, work, q_old, x, q, exponential, k == 1)
        rows_at(system, work, q, slot(system, PUSH), rows)
        for r in range(0 if k == 0 else holonomic, holonomic if k == 0 else m):
            if k == 0:
                work[g + r] = work[slot(system, PUSH) + r] / h
                continue
            work[g + r] = 0.0
            for i in range(nv):
                work[g + r] += work[spare + r * nv + i] * work[v + i]
                work[G + r * nv + i] = work[spare + r * nv + i]


@kernel
def small_matrix(system, work, side, rows, reply):
    """Replies J^-1 G^T to the rows, one by one, and the elimination of ROWS_NEW J^-1 G^T. J has been factored. Uses TRIAL and DELTA."""
    m, nv = int(system[CONSTRAINTS]), int(system[NV])
    e, dv, fac = slot(system, TRIAL), slot(system, DELTA), slot(system, FACTOR)
    schur, ahead = slot(system, SCHUR), slot(system, ROWS_NEW)
    for r in range(m):
        for i in range(nv):
            work[e + i] = -work[rows + r * nv + i]
        solve(system, work, side, fac, e, dv)
        for i in range(nv):
            work[reply + r * nv + i] = work[dv + i]
        for s in range(m):
            total = 0.0
            for i in range(nv):
                total += work[ahead + s * nv + i] * work[dv + i]
            work[schur + s * m + r] = total
    order = slot(system, ORDER)
    work[order + 2 * m] = eliminate(work, schur, order, m, REDUNDANT)


@inline
def impulses(system, work, rows, velocity, gap):
    """Solve the small matrix for the impulses that take away gap + rows velocity; returns where they are."""
    m, nv = int(system[CONSTRAINTS]), int(system[NV])
    right = slot(system, PUSH)
    for r in range(m):
        total = -work[gap + r] if gap >= 0 else 0.0
        for i in range(nv):
            total -= work[rows + r * nv + i] * work[velocity + i]
        work[right + r] = total
    order = slot(system, ORDER)
    apply(work, slot(system, SCHUR), order, m, int(work[order + 2 * m]), right, right + m)
    return right + m


@kernel
def constrain(system, work):
    """Add to the correction work[DV:] what keeps the constraints, and the impulses to LAMBDA."""
    m, nv = int(system[CONSTRAINTS]), int(system[NV])
    dv, total = slot(system, DV), slot(system, LAMBDA)
    found = impulses(system, work, slot(system, ROWS_NEW), dv, slot(system, GAP))
    push(work, slot(system, REPLY), found, m, nv, 1.0, dv)
    for r in range(m):
        work[total + r] += work[found + r]


@kernel
def project(system, work, q, p):
    """Change work[p:] by impulses so that the velocity M(q)^-1 p satisfies all constraints at q. False where M is singular."""
    m, nv = int(system[CONSTRAINTS]), int(system[NV])
    side, fac, rows = slot(system, SIDE_1), slot(system, FACTOR), slot(system, ROWS_NEW)
    x, e, dv = slot(system, HV), slot(system, TRIAL), slot(system, DV)
    rows_at(system, work, q, slot(system, GAP), rows)
    for i in range(nv):
        work[x + i] = 0.0
        work[e + i] = -work[p + i]
    for i in range(int(system[LINKS])):
        place(system, work, i, q, side + i * SIDE_SIZE)
        for k in range(VEL, FALL):
            work[side + i * SIDE_SIZE + k] = 0.0
    if not factor(system, work, side, fac, x, x, x, 0.0, 0.0, False):
        return False
    solve(system, work, side, fac, e, dv)
    small_matrix(system, work, side, rows, slot(system, REPLY))
    found = impulses(system, work, rows, dv, -1)
    push(work, rows, found, m, nv, 1.0, p)
    return True
