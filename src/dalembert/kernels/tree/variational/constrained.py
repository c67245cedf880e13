"""Constraints of a variational step: closed loops and couplings on positions, rolling and blades on velocities.

    e(v) - G(q_k)^T lambda = 0,     g(q_k+1) = 0  (holonomic),    A(q_theta) v = 0  (nonholonomic, theta = 0 for symplectic Euler, else 1/2)
    p_k+1 <- p_k+1 + G(q_k+1)^T mu  with  G(q_k+1) M(q_k+1)^-1 p_k+1 = 0

lambda and mu are impulses at the nodes: the RATTLE scheme, constraints hold on both levels, and the discrete Lagrange-d'Alembert-Pontryagin
principle for the nonholonomic ones. The second line moves an impulse from the next step to this one and changes no configuration. With
Newton's matrix J and G' the rows where the constraints have to hold (g over h, so that it is a velocity), a correction is

    dv = -J^-1 (e - G^T lambda) + J^-1 G^T dlambda,     (G' J^-1 G^T + C) dlambda = -(g' + G' dv)

A load that J leaves out and that has a row, as a spring between two points of the tree has in the derivative of its length, is a row too,
with the compliance C = 1/(wl (wr k + c)) and no residual. The small matrix is scaled and eliminated with full pivoting: redundant rows have
no pivot and get no impulse, and so do rows that vanish (`singular.py`). It is kept as long as J; what the rows lose by that, and by the
curvature of the retraction and of nonholonomic rows, is made up by further corrections.
"""

import math

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.full_pivot import apply, eliminate
from dalembert.kernels.tree.constraints import constraint_rows
from dalembert.kernels.tree.kinematics import place, sweep, world
from dalembert.kernels.tree.layout import (
    AT_LOADS,
    AT_V,
    CONSTRAINTS,
    HOLONOMIC,
    LINKS,
    LOADS,
    NV,
    STEPPER_DATA,
    VEL,
)
from dalembert.kernels.tree.load_layout import GROUP_SIZE, LENGTH, ROW, ROW_DAMPING, ROW_STIFFNESS, STRIDE, call_row
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import (
    ASIDE,
    DELTA,
    DV,
    EULER,
    FACTOR,
    GAP,
    HV,
    LAMBDA,
    LATER,
    LIFT,
    METHOD,
    MIDPOINT,
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
    SMALL_ROWS,
    SOFT,
    SOLVED,
    SPARE_ROWS,
    TRIAL,
    V,
)
from dalembert.kernels.tree.variational.linear import solve_any
from dalembert.kernels.tree.variational.retraction import retract
from dalembert.kernels.tree.variational.vectors import product

REDUNDANT = 1e-10  # pivots of the small matrix below this part of the largest are zero,
VANISHED = 1e-6  # and rows of constraints below this part of the longest


@inline
def count(system):
    """(constraints, constraints and springs)"""
    m = int(system[CONSTRAINTS])
    return m, m + int(system[int(system[STEPPER_DATA]) + SOFT])


@far(VOID(ARRAY, ARRAY, INT, INT, INT))
def rows_at(system, work, q, g, G):
    """Residuals and Jacobian of the constraints at a configuration, then the rows of the springs."""
    nv = int(system[NV])
    sweep(system, work, q, int(system[AT_V]))
    world(system, work)
    constraint_rows(system, work, q, g, G)
    r, end = count(system)
    for i in range(r * nv, end * nv):
        work[G + i] = 0.0
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last = at + int(system[at + LENGTH])
        if r < end and system[at + ROW] != 0.0:
            call_row(int(system[at + ROW]), system, work, at + GROUP_SIZE, last, G + r * nv)
            r += (last - at - GROUP_SIZE) // int(system[at + STRIDE])
        at = last


@kernel
def begin(system, work):
    """Rows at the first node, no impulse yet."""
    data = int(system[STEPPER_DATA])
    _, total = count(system)
    for r in range(total):
        work[int(system[data + LAMBDA]) + r] = 0.0
        work[int(system[data + GAP]) + r] = 0.0
    work[int(system[data + ASIDE]) + LATER], work[int(system[data + ASIDE]) + SOLVED] = 0.0, 0.0
    rows_at(system, work, int(system[data + Q_OLD]), int(system[data + PUSH]), int(system[data + ROWS_OLD]))
    for i in range(total * int(system[NV])):
        work[int(system[data + ROWS_NEW]) + i] = work[int(system[data + ROWS_OLD]) + i]


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
    data = int(system[STEPPER_DATA])
    push(work, int(system[data + ROWS_OLD]), int(system[data + LAMBDA]), int(system[CONSTRAINTS]), int(system[NV]), s, out)


@far(VOID(REAL, ARRAY, ARRAY))
def rows_ahead(h, system, work):
    """Rows and residuals (as velocities) where the constraints have to hold, and rows of the springs, at the current velocity.

    Those on positions hold at the second node, or where the motion would be LATER later.
    """
    m, total = count(system)
    holonomic, nv = int(system[HOLONOMIC]), int(system[NV])
    data = int(system[STEPPER_DATA])
    exponential = system[data + RETRACTION] != 0.0
    method = int(system[data + METHOD])
    v, x, q_old = int(system[data + V]), int(system[data + HV]), int(system[data + Q_OLD])
    g, G, spare, old = int(system[data + GAP]), int(system[data + ROWS_NEW]), int(system[data + SPARE_ROWS]), int(system[data + ROWS_OLD])
    later = work[int(system[data + ASIDE]) + LATER]
    end = total if method == MIDPOINT else m
    for k in range(2):  # 0: on positions, 1: on velocities, and springs at the middle
        if (holonomic == 0 and k == 0) or (holonomic == end and k == 1):
            continue
        q = int(system[data + (Q_NEW if k == 0 else Q_MID)])
        for i in range(nv):
            work[x + i] = (h + later if k == 0 else h) * work[v + i]
        if k == 1 and method == EULER:
            q = q_old
        else:
            retract(system, work, q_old, x, q, exponential, k == 1)
        rows_at(system, work, q, int(system[data + PUSH]), spare)
        for r in range(0 if k == 0 else holonomic, holonomic if k == 0 else end):
            work[g + r] = work[int(system[data + PUSH]) + r] / (h + later) if k == 0 else 0.0
            for i in range(nv):
                work[G + r * nv + i] = work[spare + r * nv + i]
                if k == 1 and r < m:
                    work[g + r] += work[spare + r * nv + i] * work[v + i]
                elif r >= m:
                    work[old + r * nv + i] = work[spare + r * nv + i]
    for i in range(nv):
        work[x + i] = h * work[v + i]


@inline
def softness(system, r, wl, wr):
    """1/(wl (wr k + c)) of spring r; 0 where that is infinite."""
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last, stride = at + int(system[at + LENGTH]), int(system[at + STRIDE])
        if system[at + ROW] != 0.0:
            load = at + GROUP_SIZE + r * stride
            if load < last:
                stiffness = abs(wl) * (abs(wr) * system[load + ROW_STIFFNESS] + system[load + ROW_DAMPING])
                return 1.0 / stiffness if stiffness > 0.0 else 0.0
            r -= (last - at - GROUP_SIZE) // stride
        at = last
    return 0.0


@inline
def drop_vanished(work, rows, m, nv, scales):
    """No scale for rows that vanish beside the longest one: they take no part. Returns the ratio of the longest to the shortest left."""
    most = 0.0
    for r in range(m):
        most = max(most, product(work, rows + r * nv, rows + r * nv, nv))
    least = most
    for r in range(m):
        x = product(work, rows + r * nv, rows + r * nv, nv)
        if x <= VANISHED * VANISHED * most:
            work[scales + r] = 0.0
        else:
            least = min(least, x)
    return math.sqrt(most / least) if least > 0.0 else 1.0


@far(VOID(ARRAY, ARRAY, INT, BOOL, INT, INT, REAL, REAL))
def small_matrix(system, work, side, both, rows, total, wl, wr):
    """Replies J^-1 G^T to the first `total` rows, one by one, and the elimination of ROWS_NEW J^-1 G^T, springs with their softness.

    J has been factored. wl, wr: weights of velocity and position in the forces of the springs. Uses TRIAL and DELTA.
    """
    data = int(system[STEPPER_DATA])
    m, _ = count(system)
    nv = int(system[NV])
    e, dv = int(system[data + TRIAL]), int(system[data + DELTA])
    schur, ahead, reply = int(system[data + SCHUR]), int(system[data + ROWS_NEW]), int(system[data + REPLY])
    order = int(system[data + ORDER])
    for r in range(m, total):
        if softness(system, r - m, wl, wr) == 0.0:  # without stiffness it takes no part
            for i in range(nv):
                work[ahead + r * nv + i] = 0.0
    for r in range(total):
        soft = softness(system, r - m, wl, wr) if r >= m else 0.0
        for i in range(nv):
            work[e + i] = -work[rows + r * nv + i]
        solve_any(system, work, side, both, e, dv)
        for i in range(nv):
            work[reply + r * nv + i] = work[dv + i]
        for s in range(total):
            work[schur + s * total + r] = product(work, ahead + s * nv, dv, nv)
        work[schur + r * total + r] += 1.0 if r >= m and soft == 0.0 else soft
        diagonal = abs(work[schur + r * total + r])
        work[order + 2 * total + r] = 1.0 / math.sqrt(diagonal) if diagonal > 0.0 else 1.0
    lift = 1.0
    if work[int(system[data + ASIDE]) + SMALL_ROWS] == 0.0:
        drop_vanished(work, rows, m, nv, order + 2 * total)
        lift = drop_vanished(work, ahead, m, nv, order + 2 * total)
    for r in range(total):
        for s in range(total):
            work[schur + s * total + r] *= work[order + 2 * total + r] * work[order + 2 * total + s]
    rank = eliminate(work, schur, order, total, REDUNDANT)
    if rank > 0:
        lift *= math.sqrt(abs(work[schur] / work[schur + (rank - 1) * (total + 1)]))
    work[order + 3 * total], work[int(system[data + ASIDE]) + LIFT] = rank, lift


@inline
def impulses(system, work, total, velocity, gap):
    """Solve the small matrix for the impulses that take away gap + ROWS_NEW velocity; returns where they are."""
    data = int(system[STEPPER_DATA])
    nv = int(system[NV])
    right, order, rows = int(system[data + PUSH]), int(system[data + ORDER]), int(system[data + ROWS_NEW])
    scales = order + 2 * total
    for r in range(total):
        missing = product(work, rows + r * nv, velocity, nv) + (work[gap + r] if gap >= 0 else 0.0)
        work[right + r] = -missing * work[scales + r]
    apply(work, int(system[data + SCHUR]), order, total, int(work[order + 3 * total]), right, right + total)
    for r in range(total):
        work[right + total + r] *= work[scales + r]
    return right + total


@far(VOID(ARRAY, ARRAY))
def constrain(system, work):
    """Add to the correction work[DV:] what keeps the constraints and what the springs answer, and the impulses to LAMBDA."""
    data = int(system[STEPPER_DATA])
    m, total = count(system)
    dv, sums = int(system[data + DV]), int(system[data + LAMBDA])
    found = impulses(system, work, total, dv, int(system[data + GAP]))
    push(work, int(system[data + REPLY]), found, total, int(system[NV]), 1.0, dv)
    for r in range(m):
        work[sums + r] += work[found + r]


@kernel
def velocity_of(system, work, q, p, out):
    """work[out:] = M(q)^-1 work[p:]; M stays factored. False where it is singular. Uses the records of the second node."""
    data = int(system[STEPPER_DATA])
    nv = int(system[NV])
    side, fac, x, e = int(system[data + SIDE_1]), int(system[data + FACTOR]), int(system[data + HV]), int(system[data + TRIAL])
    for i in range(int(system[LINKS])):
        place(system, work, i, q, side + i * SIDE_SIZE)
        for k in range(VEL, SIDE_SIZE):
            work[side + i * SIDE_SIZE + k] = 0.0
    for i in range(nv):
        work[x + i] = 0.0
        work[e + i] = -work[p + i]
    if not factor(system, work, side, fac, x, x, x, 0.0, 0.0, nv < 0):
        return False
    solve(system, work, side, fac, e, out)
    return True
