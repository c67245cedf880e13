"""Singular positions of loops: where rows of the constraints vanish or depend on each other, and only there.

All rods of a four-bar in one line: two branches of motion cross, a row says nothing, and neither the impulse of the step nor the velocity
of the node is determined. They are by continuity. With a motion v through such a position q, rows and residuals

    G(q tau(s v)),   g(q tau(s v)),     s |v| = ASIDE_TURN

a little beside it have their full rank. A step to or from there is solved with those behind its second node first, and then with what is
left of the rows there; its first node pushes along the rows before it. The momentum of a node is the mean of those that the rows on its
two sides leave, then projected by its own. A rank that is no higher beside a position is the usual one of redundant rows, and remembered.

Rows that vanish there and beside are those of a length that is small beside others, or round-off: three of the five rows that close a plane
machine say nothing, and are 0 only where its plane is one of the axes. Round-off is what no row of a machine is, below GHOST of the longest
one or below NOTHING, or other numbers a little further.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.tree.constraints import rates_missing
from dalembert.kernels.tree.layout import AT_CALL
from dalembert.kernels.tree.variational.constrained import impulses, push, rows_ahead, rows_at, small_matrix, velocity_of
from dalembert.kernels.tree.variational.layout import places
from dalembert.kernels.tree.variational.retraction import retract
from dalembert.kernels.tree.variational.vectors import largest, product

ASIDE_TURN = 1e-4  # rad, m; with 1e-6 velocities of nodes are 460 times worse, more moves further from the position
STILL = 1e-9  # a step that moves no joint by more than this (rad, m) has no direction: round-off of 1e-16, lifted by 1e4 and more
GHOST = 1e-11  # of a machine of 1e-7 m the rows of lengths are 1e-7 of those of angles; 1e4 m from the origin round-off is 1e-12
NOTHING = 1e-13  # rad, m: of a unit that is turned, and of a length that no machine has


@inline
def short(system, work, total, usual):
    """True where the small matrix has a rank that is lower than its size, and not the usual one. usual: where that of its kind is kept."""
    rank = work[places(system).rank]
    return rank < total and rank != work[usual]


@inline
def time_aside(h, system, work):
    """s; 0 without a motion."""
    s = places(system)
    fastest = largest(work, s.v, s.nv)
    return ASIDE_TURN / fastest if abs(h) * fastest > STILL and fastest < 1e290 else 0.0


@kernel
def rows_beside(system, work, q, time, rows):
    """Rows at work[q:] moved by the velocity of the interval for a time."""
    s = places(system)
    for i in range(s.nv):
        work[s.l_side + i] = time * work[s.v + i]
    retract(system, work, q, s.l_side, s.q_mid, s.exponential != 0, s.nv < 0)
    rows_at(system, work, s.q_mid, s.right, rows)


@kernel
def mark_ghosts(system, work, rows, beside):
    """Which rows at work[rows:] are round-off. beside: the same rows a little further."""
    s = places(system)
    nv, most = s.nv, 0.0
    for r in range(s.m):
        most = max(most, product(work, rows + r * nv, rows + r * nv, nv))
    for r in range(s.m):
        x, other = product(work, rows + r * nv, rows + r * nv, nv), 0.0
        for i in range(nv):
            other += (work[rows + r * nv + i] - work[beside + r * nv + i]) ** 2
        work[s.ghosts + r] = 1.0 if x <= max(GHOST * GHOST * most, NOTHING * NOTHING) or other > 0.25 * x else 0.0


@kernel
def accept_rank(system, work, side, both, rows, total, wl, wr, before, usual):
    """The rank is no higher beside this position: it is the usual one, and rows that vanish are small ones where that gives more."""
    s = places(system)
    known, work[s.small_rows] = work[s.small_rows], 1.0
    small_matrix(system, work, side, both, rows, total, wl, wr)
    if not work[s.rank] > before:
        work[s.small_rows] = known
        small_matrix(system, work, side, both, rows, total, wl, wr)
    work[usual] = work[s.rank]


@far(VOID(REAL, ARRAY, ARRAY, INT, BOOL, INT, REAL, REAL))
def look_aside(h, system, work, side, both, total, wl, wr):
    """The rank of the small matrix of a step is low: take rows beside the nodes, where it is higher there."""
    s = places(system)
    time, before = time_aside(h, system, work), work[s.rank]
    if time == 0.0:
        return
    work[s.later] = time if h > 0.0 else -time
    rows_beside(system, work, s.q_old, -work[s.later], s.rows_old)
    rows_ahead(h, system, work)
    small_matrix(system, work, side, both, s.rows_old, total, wl, wr)
    if work[s.rank] > before:
        return
    rows_beside(system, work, s.q_old, -work[s.later], s.spare_rows)
    work[s.later] = 0.0
    rows_at(system, work, s.q_old, s.right, s.rows_old)
    mark_ghosts(system, work, s.rows_old, s.spare_rows)
    rows_ahead(h, system, work)
    accept_rank(system, work, side, both, s.rows_old, total, wl, wr, before, s.usual)


@inline
def add_up(work, out, a, weights, m):
    """work[out:] += a work[weights:]"""
    for r in range(m):
        work[out + r] += a * work[weights + r]


@kernel
def between_sides(h, system, work, q, p, m):
    """work[p:] and the velocity work[s.dv:] become the mean of what the rows on both sides of a singular position leave of them."""
    s = places(system)
    rows, mean = s.rows_new, s.f_side
    time, before = time_aside(h, system, work), work[s.rank]
    if time == 0.0:
        return
    for i in range(s.nv):
        work[mean + i] = work[s.dv + i]
    for k in range(2):
        rows_beside(system, work, q, time if k == 0 else -time, rows)
        small_matrix(system, work, s.side_1, s.nv < 0, rows, m, 0.0, 0.0)
        if not work[s.rank] > before:
            break
        impulses(system, work, m, s.dv, s.gap)
        push(work, rows, s.change, m, s.nv, 0.5, p)
        add_up(work, s.impulses, 0.5, s.change, m)
        push(work, s.reply, s.change, m, s.nv, 0.5, mean)
    higher = work[s.rank] > before
    for i in range(s.nv):
        work[s.dv + i] = work[mean + i]
    rows_beside(system, work, q, time, s.spare_rows)
    rows_at(system, work, q, s.right, rows)
    if higher:
        small_matrix(system, work, s.side_1, s.nv < 0, rows, m, 0.0, 0.0)
    else:
        mark_ghosts(system, work, rows, s.spare_rows)
        accept_rank(system, work, s.side_1, s.nv < 0, rows, m, 0.0, 0.0, before, s.usual_node)


@far(BOOL(REAL, ARRAY, ARRAY, INT, INT))
def project(h, system, work, q, p):
    """Change work[p:] by impulses so that the velocity M(q)^-1 p satisfies all constraints at q, the second node; they are left in
    s.impulses. False where M is singular."""
    s = places(system)
    work[int(system[AT_CALL]) + 1] = work[int(system[AT_CALL])] + h
    rows_at(system, work, q, s.right, s.rows_new)
    rates_missing(system, work, s.gap)
    for r in range(s.m):
        work[s.impulses + r] = 0.0
    if not velocity_of(system, work, q, p, s.dv):
        return False
    small_matrix(system, work, s.side_1, s.nv < 0, s.rows_new, s.m, 0.0, 0.0)
    if short(system, work, s.m, s.usual_node):
        between_sides(h, system, work, q, p, s.m)
    impulses(system, work, s.m, s.dv, s.gap)
    push(work, s.rows_new, s.change, s.m, s.nv, 1.0, p)
    add_up(work, s.impulses, 1.0, s.change, s.m)
    return True
