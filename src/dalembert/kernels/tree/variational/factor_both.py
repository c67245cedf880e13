"""Newton's matrix of the trapezoidal rule, eliminated along the tree in O(n), exactly.

    L_d = h/2 [L(q_k, v) + L(q_k+1, v)],   e(v) = dtau_hv^-T (l + l')/2 - h/2 f(q_k, v) - p_k          Kobilarov (21)-(25), (62)-(64)

A change delta of the interval velocity changes twists and momenta at both nodes; pairs y_i = (dV_i; dV'_i), z_i = (dP_i; dP'_i) of
twelve numbers obey

    y_i = X_i y_parent + s_i delta_i,   z_i = I_i y_i + sum X_j^T (z_j + t'_j delta_j),   a_i^T z_i + b_i^T y_i + r_i delta_i = -e_i

(columns s, a, b, t', r of each joint: `both_joint.py`), from which, with z = A y + B on each subtree,

    u = A^T a + b,   D = u^T s + r,   w = A s + t',   A_parent += A - w D^-1 u^T,   B_parent += B - w D^-1 (e + a^T B)
    delta = -D^-1 (e + a^T B + u^T y_parent),   y = y_parent + s delta

All pairs are written in the axes and about the origin of the root link of the tree, at either node: there X = 1, which leaves one
update of rank one per joint instead of four products X^T A X. The lever arms cost digits of the matrix (the square of arm over size of
a link, times round-off), not of the solution. Neglected: the dependence of loads on the velocity (dampers of springs, drag), and
the exponential in place of the Cayley map.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline, kernel
from dalembert.kernels.mat3 import load9, store9
from dalembert.kernels.smallmat import add, load3, mat_vec, scale, store3
from dalembert.kernels.tree.layout import FREE, HEADER, KIND, LINK_SIZE, LINKS, PARENT, PRISMATIC, REVOLUTE, SPHERICAL, V_AT
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.ball import inverse
from dalembert.kernels.tree.variational.base import factor_free, move_free, reduce_free
from dalembert.kernels.tree.variational.both_joint import frame_of, own_inertia, put_ball, put_single
from dalembert.kernels.tree.variational.both_layout import BIAS, BOTH_SIZE, COLUMNS, FRAME_0, FRAME_1, FREE_RECORD, INERTIA, MOVE
from dalembert.kernels.tree.variational.layout import BIAS as FREE_BIAS
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE
from dalembert.kernels.tree.variational.layout import INERTIA as FREE_INERTIA
from dalembert.kernels.tree.variational.twelve import add12, axpy12, dot12, load12, scale12, store12


@inline
def prepare(system, work, i, side_0, side_1, fac, x, l, h):
    """Frames, inertia and columns of link i; those of its parent are known."""
    kind = int(system[record(HEADER, i, LINK_SIZE) + KIND])
    rot_0, c_0 = frame_of(system, work, i, side_0, fac, FRAME_0)
    rot_1, c_1 = frame_of(system, work, i, side_1, fac, FRAME_1)
    own_inertia(system, work, i, fac, rot_0, c_0, rot_1, c_1)
    if kind == REVOLUTE:
        put_single(system, work, i, side_0, side_1, fac, h, True, rot_0, c_0, rot_1, c_1)
    elif kind == PRISMATIC:
        put_single(system, work, i, side_0, side_1, fac, h, False, rot_0, c_0, rot_1, c_1)
    elif kind == SPHERICAL:
        put_ball(system, work, i, side_0, side_1, fac, x, l, h)


@inline
def multiply(work, matrix, a, s, u, w):
    """u += A^T a and w += A s."""
    x, y = load12(work, a), load12(work, s)
    for c in range(12):  # columns side by side, in vector registers
        k = matrix + c
        first = x[0] * work[k] + x[1] * work[k + 12] + x[2] * work[k + 24]
        second = x[3] * work[k + 36] + x[4] * work[k + 48] + x[5] * work[k + 60]
        third = x[6] * work[k + 72] + x[7] * work[k + 84] + x[8] * work[k + 96]
        fourth = x[9] * work[k + 108] + x[10] * work[k + 120] + x[11] * work[k + 132]
        work[u + c] += (first + second) + (third + fourth)
    for r in range(12):
        work[w + r] += dot12(load12(work, matrix + 12 * r), y)


@inline
def factor_single(work, rec, above, inner):
    """Eliminate a joint of one degree of freedom; above: the parent's record where there is one (inner). False where the pivot vanishes."""
    a, s = rec + INERTIA, rec + COLUMNS
    row, u, w = s + 12, s + 24, s + 36
    multiply(work, a, row, s, u, w)
    up = load12(work, u)
    d = work[s + 48] + dot12(up, load12(work, s))
    if not abs(d) > 0.0:
        return False
    d_inv = 1.0 / d
    up = scale12(d_inv, up)
    store12(work, u, up)
    work[s + 48] = d_inv
    if inner:
        to = above + INERTIA
        for r in range(12):
            line = axpy12(-work[w + r], up, load12(work, a + 12 * r))
            store12(work, to + 12 * r, add12(line, load12(work, to + 12 * r)))
    return True


@kernel
def factor_ball(work, fac, i, parent):
    """Eliminate a spherical joint: three columns, D is 3 x 3."""
    rec, above = record(fac, i, BOTH_SIZE), record(fac, parent, BOTH_SIZE)
    a, s = rec + INERTIA, rec + COLUMNS
    row, u, w, at_d = s + 36, s + 72, s + 108, s + 144
    for k in range(3):
        multiply(work, a, row + 12 * k, s + 12 * k, u + 12 * k, w + 12 * k)
    for r in range(3):
        for k in range(3):
            work[at_d + 3 * r + k] += dot12(load12(work, u + 12 * r), load12(work, s + 12 * k))
    det, d = inverse(load9(work, at_d))
    if not abs(det) > 0.0:
        return False
    store9(work, at_d, d)
    for k in range(12):  # D^-1 u^T in place of u
        store_strided(work, u + k, mat_vec(d, (work[u + k], work[u + 12 + k], work[u + 24 + k])))
    if parent >= 0:
        to = above + INERTIA
        for r in range(12):
            line = add12(load12(work, a + 12 * r), load12(work, to + 12 * r))
            for k in range(3):
                line = axpy12(-work[w + 12 * k + r], load12(work, u + 12 * k), line)
            store12(work, to + 12 * r, line)
    return True


@inline
def store_strided(work, at, x):
    """One entry of each of three columns."""
    work[at], work[at + 12], work[at + 24] = x[0], x[1], x[2]


@kernel
def factor_root(system, work, i, rec, x, l, h):
    """A free joint moves both nodes alike: the half sum of the four blocks of A takes the place of the inertia in `base.py`."""
    to = rec + FREE_RECORD
    for r in range(6):
        for c in range(6):
            work[to + FREE_INERTIA + 6 * r + c] = half_sum(work, rec + INERTIA + 12 * r + c)
    return factor_free(system, work, i, to - i * FACTOR_SIZE, x, l, 0.5 * h, 0.5 * h)


@inline
def half_sum(work, at):
    """Half the sum of the same entry of the four 6 x 6 blocks."""
    return 0.5 * (work[at] + work[at + 6] + work[at + 72] + work[at + 78])


@far(BOOL(ARRAY, ARRAY, INT, INT, INT, INT, INT, REAL))
def factor_both(system, work, side_0, side_1, fac, x, l, h):
    """Eliminate the tree at the records of both nodes; work[x:] is h v, work[l:] the mean of dL/dv. False if the matrix is singular."""
    n = int(system[LINKS])
    for i in range(n):
        prepare(system, work, i, side_0, side_1, fac, x, l, h)
    for j in range(n):
        i = n - 1 - j
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE)
        kind, parent = int(system[at + KIND]), int(system[at + PARENT])
        above = record(fac, parent, BOTH_SIZE)
        if kind <= PRISMATIC:
            ok = factor_single(work, rec, above, parent >= 0)
        elif kind == SPHERICAL:
            ok = factor_ball(work, fac, i, parent)
        else:
            ok = kind == FREE and factor_root(system, work, i, rec, x, l, h)
        if not ok:
            return False
    return True


@inline
def reduce_single(work, rec, above, inner, e):
    """D^-1 (e + a^T B) is kept; what is left of B goes to the parent."""
    s, b = rec + COLUMNS, load12(work, rec + BIAS)
    right = work[s + 48] * (work[e] + dot12(load12(work, s + 12), b))
    work[s + 49] = right
    if inner:
        left = axpy12(-right, load12(work, s + 36), b)
        store12(work, above + BIAS, add12(left, load12(work, above + BIAS)))


@kernel
def reduce_ball(work, fac, i, parent, e):
    """The same with three columns."""
    rec, above = record(fac, i, BOTH_SIZE), record(fac, parent, BOTH_SIZE)
    s, b = rec + COLUMNS, load12(work, rec + BIAS)
    row, w = s + 36, s + 108
    product = (dot12(load12(work, row), b), dot12(load12(work, row + 12), b), dot12(load12(work, row + 24), b))
    right = mat_vec(load9(work, s + 144), add(load3(work, e), product))
    store3(work, s + 153, right)
    if parent >= 0:
        left = axpy12(-right[0], load12(work, w), axpy12(-right[1], load12(work, w + 12), axpy12(-right[2], load12(work, w + 24), b)))
        store12(work, above + BIAS, add12(left, load12(work, above + BIAS)))


@kernel
def reduce_root(system, work, i, rec, e):
    """A free joint: half the sum of B at both nodes."""
    to = rec + FREE_RECORD
    for k in range(6):
        work[to + FREE_BIAS + k] = 0.5 * (work[rec + BIAS + k] + work[rec + BIAS + 6 + k])
    reduce_free(system, work, i, to - i * FACTOR_SIZE, e)


@inline
def move_single(work, rec, y, dv):
    """work[dv] = delta; returns y of the link from what it inherits."""
    s = rec + COLUMNS
    delta = -(work[s + 49] + dot12(load12(work, s + 24), y))
    work[dv] = delta
    return axpy12(delta, load12(work, s), y)


@kernel
def move_ball(work, fac, i, y, dv):
    """The same with three columns."""
    s = record(fac, i, BOTH_SIZE) + COLUMNS
    u = s + 72
    turned = (dot12(load12(work, u), y), dot12(load12(work, u + 12), y), dot12(load12(work, u + 24), y))
    delta = scale(-1.0, add(load3(work, s + 153), turned))
    store3(work, dv, delta)
    return axpy12(delta[0], load12(work, s), axpy12(delta[1], load12(work, s + 12), axpy12(delta[2], load12(work, s + 24), y)))


@far(VOID(ARRAY, ARRAY, INT, INT, INT, INT, INT))
def solve_both(system, work, side_0, side_1, fac, e, dv):
    """work[dv:] = minus the inverse of the factored matrix times work[e:]; the sides are not needed any more."""
    n = int(system[LINKS])
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        store12(work, record(fac, i, BOTH_SIZE) + BIAS, zero)
    for j in range(n):
        i = n - 1 - j
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE)
        kind, parent, vi = int(system[at + KIND]), int(system[at + PARENT]), int(system[at + V_AT])
        above = record(fac, parent, BOTH_SIZE)
        if kind <= PRISMATIC:
            reduce_single(work, rec, above, parent >= 0, e + vi)
        elif kind == SPHERICAL:
            reduce_ball(work, fac, i, parent, e + vi)
        else:
            reduce_root(system, work, i, rec, e)
    for i in range(n):
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, BOTH_SIZE)
        kind, parent, vi = int(system[at + KIND]), int(system[at + PARENT]), int(system[at + V_AT])
        y = load12(work, record(fac, parent, BOTH_SIZE) + MOVE) if parent >= 0 else zero
        if kind <= PRISMATIC:
            y = move_single(work, rec, y, dv + vi)
        elif kind == SPHERICAL:
            y = move_ball(work, fac, i, y, dv + vi)
        else:
            w, v = move_free(work, rec + FREE_RECORD, dv + vi)
            y = (w[0], w[1], w[2], v[0], v[1], v[2], w[0], w[1], w[2], v[0], v[1], v[2])
        store12(work, rec + MOVE, y)
