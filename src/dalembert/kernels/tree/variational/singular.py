"""Singular positions of loops: where rows of the constraints vanish or depend on each other, and only there.

All rods of a four-bar in one line: two branches of motion cross, a row says nothing, and neither the impulse of the step nor the velocity
of the node is determined. They are by continuity. With a motion v through such a position q, rows and residuals

    G(q tau(s v)),   g(q tau(s v)),     s |v| = ASIDE_TURN

a little beside it have their full rank. A step to or from there is solved with those behind its second node first, and then with what is
left of the rows there; its first node pushes along the rows before it. The momentum of a node is the mean of those that the rows on its
two sides leave, then projected by its own. A rank that is no higher beside a position is the usual one of redundant rows, and remembered.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.tree.constraints import rates_missing
from dalembert.kernels.tree.layout import AT_CALL, CONSTRAINTS, NV, STEPPER_DATA
from dalembert.kernels.tree.variational.constrained import impulses, push, rows_ahead, rows_at, small_matrix, velocity_of
from dalembert.kernels.tree.variational.layout import (
    ASIDE,
    DV,
    F_SIDE,
    GAP,
    L_SIDE,
    LAMBDA,
    LATER,
    ORDER,
    PUSH,
    Q_MID,
    Q_OLD,
    REPLY,
    RETRACTION,
    ROWS_NEW,
    ROWS_OLD,
    SIDE_1,
    SMALL_ROWS,
    USUAL,
    USUAL_NODE,
    V,
)
from dalembert.kernels.tree.variational.retraction import retract
from dalembert.kernels.tree.variational.vectors import largest

ASIDE_TURN = 1e-4  # rad, m
STILL = 1e-9  # a step that moves no joint by more than this (rad, m) has no direction: round-off of 1e-16, lifted by 1e4 and more


@inline
def short(system, work, total, usual):
    """True where the small matrix has a rank that is lower than its size, and not the usual one. usual: which of the two matrices."""
    data = int(system[STEPPER_DATA])
    rank = work[int(system[data + ORDER]) + 3 * total]
    return rank < total and rank != work[int(system[data + ASIDE]) + usual]


@inline
def time_aside(h, system, work):
    """s; 0 without a motion."""
    fastest = largest(work, int(system[int(system[STEPPER_DATA]) + V]), int(system[NV]))
    return ASIDE_TURN / fastest if abs(h) * fastest > STILL and fastest < 1e290 else 0.0


@kernel
def rows_beside(system, work, q, s, rows):
    """Rows at work[q:] moved by the velocity of the interval for a time s."""
    data, nv = int(system[STEPPER_DATA]), int(system[NV])
    v, x, there = int(system[data + V]), int(system[data + L_SIDE]), int(system[data + Q_MID])
    for i in range(nv):
        work[x + i] = s * work[v + i]
    retract(system, work, q, x, there, system[data + RETRACTION] != 0.0, nv < 0)
    rows_at(system, work, there, int(system[data + PUSH]), rows)


@kernel
def accept_rank(system, work, side, both, rows, total, wl, wr, before, usual):
    """The rank is no higher beside this position: it is the usual one, and rows that vanish are small ones where that gives more."""
    data = int(system[STEPPER_DATA])
    aside, rank = int(system[data + ASIDE]), int(system[data + ORDER]) + 3 * total
    known, work[aside + SMALL_ROWS] = work[aside + SMALL_ROWS], 1.0
    small_matrix(system, work, side, both, rows, total, wl, wr)
    if not work[rank] > before:
        work[aside + SMALL_ROWS] = known
        small_matrix(system, work, side, both, rows, total, wl, wr)
    work[aside + usual] = work[rank]


@far(VOID(REAL, ARRAY, ARRAY, INT, BOOL, INT, REAL, REAL))
def look_aside(h, system, work, side, both, total, wl, wr):
    """The rank of the small matrix of a step is low: take rows beside the nodes, where it is higher there."""
    data = int(system[STEPPER_DATA])
    aside, rows, rank = int(system[data + ASIDE]), int(system[data + ROWS_OLD]), int(system[data + ORDER]) + 3 * total
    s, before = time_aside(h, system, work), work[rank]
    if s == 0.0:
        return
    work[aside + LATER] = s if h > 0.0 else -s
    rows_beside(system, work, int(system[data + Q_OLD]), -work[aside + LATER], rows)
    rows_ahead(h, system, work)
    small_matrix(system, work, side, both, rows, total, wl, wr)
    if work[rank] > before:
        return
    work[aside + LATER] = 0.0
    rows_at(system, work, int(system[data + Q_OLD]), int(system[data + PUSH]), rows)
    rows_ahead(h, system, work)
    accept_rank(system, work, side, both, rows, total, wl, wr, before, USUAL)


@inline
def add_up(work, out, s, weights, m):
    """work[out:] += s work[weights:]"""
    for r in range(m):
        work[out + r] += s * work[weights + r]


@kernel
def between_sides(h, system, work, q, p, m):
    """work[p:] and the velocity work[DV:] become the mean of what the rows on both sides of a singular position leave of them."""
    data, nv = int(system[STEPPER_DATA]), int(system[NV])
    rows, v, mean = int(system[data + ROWS_NEW]), int(system[data + DV]), int(system[data + F_SIDE])
    rank, side = int(system[data + ORDER]) + 3 * m, int(system[data + SIDE_1])
    s, before = time_aside(h, system, work), work[rank]
    if s == 0.0:
        return
    for i in range(nv):
        work[mean + i] = work[v + i]
    for k in range(2):
        rows_beside(system, work, q, s if k == 0 else -s, rows)
        small_matrix(system, work, side, nv < 0, rows, m, 0.0, 0.0)
        if not work[rank] > before:
            break
        found = impulses(system, work, m, v, int(system[data + GAP]))
        push(work, rows, found, m, nv, 0.5, p)
        add_up(work, int(system[data + LAMBDA]), 0.5, found, m)
        push(work, int(system[data + REPLY]), found, m, nv, 0.5, mean)
    higher = work[rank] > before
    for i in range(nv):
        work[v + i] = work[mean + i]
    rows_at(system, work, q, int(system[data + PUSH]), rows)
    if higher:
        small_matrix(system, work, side, nv < 0, rows, m, 0.0, 0.0)
    else:
        accept_rank(system, work, side, nv < 0, rows, m, 0.0, 0.0, before, USUAL_NODE)


@far(BOOL(REAL, ARRAY, ARRAY, INT, INT))
def project(h, system, work, q, p):
    """Change work[p:] by impulses so that the velocity M(q)^-1 p satisfies all constraints at q, the second node; they are left in LAMBDA.
    False where M is singular."""
    data = int(system[STEPPER_DATA])
    m, nv = int(system[CONSTRAINTS]), int(system[NV])
    side, rows, v = int(system[data + SIDE_1]), int(system[data + ROWS_NEW]), int(system[data + DV])
    missing, mu = int(system[data + GAP]), int(system[data + LAMBDA])
    work[int(system[AT_CALL]) + 1] = work[int(system[AT_CALL])] + h
    rows_at(system, work, q, int(system[data + PUSH]), rows)
    rates_missing(system, work, missing)
    for r in range(m):
        work[mu + r] = 0.0
    if not velocity_of(system, work, q, p, v):
        return False
    small_matrix(system, work, side, nv < 0, rows, m, 0.0, 0.0)
    if short(system, work, m, USUAL_NODE):
        between_sides(h, system, work, q, p, m)
    found = impulses(system, work, m, v, missing)
    push(work, rows, found, m, nv, 1.0, p)
    add_up(work, mu, 1.0, found, m)
    return True
