"""Constraints of a variational step: closed loops and couplings on positions, rolling and blades on velocities.

    e(v) - G(q_k)^T lambda = 0,     g(q_k+1) = 0  (holonomic),    A(q_theta) v = 0  (nonholonomic, theta = 0 for symplectic Euler, else 1/2)
    p_k+1 <- p_k+1 + G(q_k+1)^T mu  with  G(q_k+1) M(q_k+1)^-1 p_k+1 = 0

lambda and mu are impulses at the nodes: the RATTLE scheme, constraints hold on both levels, and the discrete Lagrange-d'Alembert-Pontryagin
principle for the nonholonomic ones. The second line moves an impulse from the next step to this one and changes no configuration. Rows
of drives depend on time too, g = q - f(t) at t_k+1, and their velocity is f'(t_k+1) instead of 0 (`drives.py`). With
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
from dalembert.kernels.tree.constraint_layout import ROW_LINK_A, ROW_LINK_B, ROW_SIZE
from dalembert.kernels.tree.constraints import constraint_rows, first_drive
from dalembert.kernels.tree.kinematics import place, sweep, world
from dalembert.kernels.tree.layout import (
    AT_CALL,
    AT_CONSTRAINTS,
    AT_LOADS,
    AT_V,
    LOADS,
    P_W,
    SCRATCH,
    VEL,
)
from dalembert.kernels.tree.load_layout import GROUP_SIZE, LENGTH, ROW, ROW_DAMPING, ROW_STIFFNESS, STRIDE, call_row
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.factor import factor, solve
from dalembert.kernels.tree.variational.layout import FIRST, SIDE_SIZE, places
from dalembert.kernels.tree.variational.linear import solve_any
from dalembert.kernels.tree.variational.retraction import retract
from dalembert.kernels.tree.variational.vectors import product

REDUNDANT = 1e-10  # pivots of the small matrix below this part of the largest are zero; 1e-14 and 1e-6 make folds 2000 and 500 times worse,
LEAST_WEIGHT = 0.1
VANISHED = 1e-6  # and rows of constraints below this part of the longest; folds of benchmarks/tuning.py allow 1e-9 to 1e-3


@far(VOID(ARRAY, ARRAY, INT, INT, INT))
def rows_at(system, work, q, g, G):
    """Residuals and Jacobian of the constraints at a configuration, then the rows of the springs."""
    s = places(system)
    sweep(system, work, q, int(system[AT_V]))
    world(system, work)
    constraint_rows(system, work, q, g, G)
    r = s.m
    for i in range(r * s.nv, s.total * s.nv):
        work[G + i] = 0.0
    at = int(system[AT_LOADS])
    for _ in range(int(system[LOADS])):
        last = at + int(system[at + LENGTH])
        if r < s.total and system[at + ROW] != 0.0:
            call_row(int(system[at + ROW]), system, work, at + GROUP_SIZE, last, G + r * s.nv)
            r += (last - at - GROUP_SIZE) // int(system[at + STRIDE])
        at = last


@inline
def reach(system, work):
    """Largest coordinate of the links that constraints join, at least 1 (m)."""
    most = 1.0
    for k in range(2 * places(system).m):
        link = int(system[int(system[AT_CONSTRAINTS]) + k // 2 * ROW_SIZE + (ROW_LINK_A if k % 2 == 0 else ROW_LINK_B)])
        for i in range(3 if link >= 0 else 0):
            most = max(most, abs(work[record(0, link, SCRATCH) + P_W + i]))
    return most


@kernel
def begin(system, work):
    """Rows at the first node, no impulse yet."""
    s = places(system)
    for r in range(s.m):
        work[s.impulses + r] = 0.0
    for r in range(s.total):
        work[s.gap + r] = 0.0
    work[s.later], work[s.solved] = 0.0, 0.0
    rows_at(system, work, s.q_old, s.right, s.rows_old)
    work[s.reach] = reach(system, work)
    for i in range(s.total * s.nv):
        work[s.rows_new + i] = work[s.rows_old + i]


@inline
def push(work, G, weights, m, nv, a, out):
    """work[out:] += a G^T weights"""
    for r in range(m):
        x = a * work[weights + r]
        if x != 0.0:
            for k in range(nv):
                work[out + k] += x * work[G + r * nv + k]


@kernel
def add_impulses(system, work, a, out):
    """work[out:] += a G(q_k)^T lambda"""
    s = places(system)
    push(work, s.rows_old, s.impulses, s.m, s.nv, a, out)


@far(VOID(REAL, ARRAY, ARRAY))
def rows_ahead(h, system, work):
    """Rows and residuals (as velocities) where the constraints have to hold, and rows of the springs, at the current velocity.

    Those on positions hold at the second node, or where the motion would be s.later later; drives at the node in any case.
    """
    s = places(system)
    later, end = work[s.later], s.total if s.inside != 0 else s.m
    work[int(system[AT_CALL]) + 1] = work[int(system[AT_CALL])] + h
    for k in range(2):  # 0: on positions, 1: on velocities, and springs at the middle
        if (s.holonomic == 0 and k == 0) or (s.holonomic == end and k == 1):
            continue
        q = s.q_new if k == 0 else s.q_mid
        for i in range(s.nv):
            work[s.hv + i] = (h + later if k == 0 else h) * work[s.v + i]
        if k == 1 and s.first == FIRST and s.end == FIRST + 1:
            q = s.q_old
        else:
            retract(system, work, s.q_old, s.hv, q, s.exponential != 0, k == 1)
        rows_at(system, work, q, s.right, s.spare_rows)
        for r in range(0 if k == 0 else s.holonomic, s.holonomic if k == 0 else end):
            work[s.gap + r] = work[s.right + r] / (h + later) if k == 0 else 0.0
            for i in range(s.nv):
                x = work[s.spare_rows + r * s.nv + i]
                work[s.rows_new + r * s.nv + i] = x
                if k == 1 and r < s.m:
                    work[s.gap + r] += x * work[s.v + i]
                elif r >= s.m:
                    work[s.rows_old + r * s.nv + i] = x
    if later != 0.0:
        for r in range(first_drive(system), s.holonomic):  # linear: the motion from the node on adds s.later times the velocity
            ahead = later * product(work, s.rows_new + r * s.nv, s.v, s.nv)
            work[s.gap + r] = (work[s.gap + r] * (h + later) - ahead) / h
    for i in range(s.nv):
        work[s.hv + i] = h * work[s.v + i]


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
def drop_vanished(work, rows, m, nv, scales, small, ghosts):
    """No scale for rows that vanish beside the longest one: they take no part. small: only for those that work[ghosts:] knows.

    Returns the ratio of the longest to the shortest left.
    """
    most = 0.0
    for r in range(m):
        most = max(most, product(work, rows + r * nv, rows + r * nv, nv))
    least = most
    for r in range(m):
        x = product(work, rows + r * nv, rows + r * nv, nv)
        if x <= VANISHED * VANISHED * most and (not small or work[ghosts + r] != 0.0):
            work[scales + r] = 0.0
        else:
            least = min(least, x)
    return math.sqrt(most / least) if least > 0.0 else 1.0


@inline
def prefer_long(work, schur, total, m, scales):
    """Scales of short rows are a little smaller, by the fourth root of their length beside the longest one, at most LEAST_WEIGHT.

    Of two rows that say the same, the longer one then has the pivot: a row that passes 0 says it with the error of the other, lifted.
    """
    most = 0.0
    for r in range(m):
        most = max(most, abs(work[schur + r * (total + 1)]))
    for r in range(m):
        diagonal = abs(work[schur + r * (total + 1)])
        if diagonal > 0.0:
            work[scales + r] *= max(LEAST_WEIGHT, (diagonal / most) ** 0.125)


@far(VOID(ARRAY, ARRAY, INT, BOOL, INT, INT, REAL, REAL))
def small_matrix(system, work, side, both, rows, total, wl, wr):
    """Replies J^-1 G^T to the first `total` rows, one by one, and the elimination of rows_new J^-1 G^T, springs with their softness.

    J has been factored. wl, wr: weights of velocity and position in the forces of the springs. Uses s.trial and s.delta.
    """
    s = places(system)
    nv, schur, ahead = s.nv, s.schur, s.rows_new
    for r in range(s.m, total):
        if softness(system, r - s.m, wl, wr) == 0.0:  # without stiffness it takes no part
            for i in range(nv):
                work[ahead + r * nv + i] = 0.0
    for r in range(total):
        soft = softness(system, r - s.m, wl, wr) if r >= s.m else 0.0
        for i in range(nv):
            work[s.trial + i] = -work[rows + r * nv + i]
        solve_any(system, work, side, both, s.trial, s.delta)
        for i in range(nv):
            work[s.reply + r * nv + i] = work[s.delta + i]
        for k in range(total):
            work[schur + k * total + r] = product(work, ahead + k * nv, s.delta, nv)
        work[schur + r * total + r] += 1.0 if r >= s.m and soft == 0.0 else soft
        diagonal = abs(work[schur + r * total + r])
        work[s.scales + r] = 1.0 / math.sqrt(diagonal) if diagonal > 0.0 else 1.0
    prefer_long(work, s.schur, total, s.m, s.scales)
    small = work[s.small_rows] != 0.0
    drop_vanished(work, rows, s.m, nv, s.scales, small, s.ghosts)
    lift = drop_vanished(work, ahead, s.m, nv, s.scales, small, s.ghosts)
    if small:
        lift = 1.0
    for r in range(total):
        for k in range(total):
            work[schur + k * total + r] *= work[s.scales + r] * work[s.scales + k]
    rank = eliminate(work, schur, s.order, total, REDUNDANT)
    if rank > 0:
        lift *= math.sqrt(abs(work[schur] / work[schur + (rank - 1) * (total + 1)]))
    work[s.rank], work[s.lift] = rank, lift


@inline
def impulses(system, work, total, velocity, gap):
    """Solve the small matrix for the impulses at s.change that take away work[gap:] + rows_new velocity."""
    s = places(system)
    for r in range(total):
        missing = product(work, s.rows_new + r * s.nv, velocity, s.nv) + work[gap + r]
        work[s.right + r] = -missing * work[s.scales + r]
    apply(work, s.schur, s.order, total, int(work[s.rank]), s.right, s.change)
    for r in range(total):
        work[s.change + r] *= work[s.scales + r]


@far(VOID(ARRAY, ARRAY))
def constrain(system, work):
    """Add to the correction work[s.dv:] what keeps the constraints and what the springs answer, and the impulses to their sums."""
    s = places(system)
    impulses(system, work, s.total, s.dv, s.gap)
    push(work, s.reply, s.change, s.total, s.nv, 1.0, s.dv)
    for r in range(s.m):
        work[s.impulses + r] += work[s.change + r]


@kernel
def velocity_of(system, work, q, p, out):
    """work[out:] = M(q)^-1 work[p:]; M stays factored. False where it is singular. Uses the records of the second node."""
    s = places(system)
    for i in range(s.links):
        place(system, work, i, q, s.side_1 + i * SIDE_SIZE)
        for k in range(VEL, SIDE_SIZE):
            work[s.side_1 + i * SIDE_SIZE + k] = 0.0
    for i in range(s.nv):
        work[s.hv + i] = 0.0
        work[s.trial + i] = -work[p + i]
    if not factor(system, work, s.side_1, s.factor, s.hv, s.hv, s.hv, 0.0, 0.0, s.nv < 0):
        return False
    solve(system, work, s.side_1, s.factor, s.trial, out)
    return True
