"""Newton's matrix of a variational step, eliminated along the tree in O(n).

For the discrete Lagrangian h L(q_theta, v) with q_theta = q_k tau(theta h v), and the weights wl = (1 - theta) h, wr = theta h, a change
delta of the interval velocity changes twists by y_i, momenta by z_i:

    y_i = X_i y_parent + s_i delta_i,                   s_i = S_i + wr ad(V_i) S_i
    z_i = I_i y_i + sum X_j^T (z_j + t'_j delta_j),     t'_j = -wr ad(S_j)^T P_j
    a_i^T z_i + b_i^T y_i + r_i delta_i = -e_i,         a_i = S_i - wl ad(V_i) S_i,  b_i = wl ad(S_i)^T P_i

r_i: armature, wl damping, wl wr stiffness. All twists and wrenches are written in the axes of the root link of the tree and about one
origin: there X = 1 (`one_joint.py`). From the leaves to the root, with z = A y + B on each subtree:

    u = A^T a + b,   D = u^T s + r,   w = A s + t',   A_parent += A - w D^-1 u^T,   B_parent += B - w D^-1 (e + a^T B)

and back: delta = -D^-1 (e + a^T B + u^T y_parent), y = y_parent + s delta. Spherical joints have 6 x 3 matrices in place of s, a, u, w,
and dtau_x^-T in front of their momentum (`ball.py`); a free joint is the root and gives six equations (`base.py`). The lever arms cost
digits of the matrix (the square of arm over size of a link, times round-off), not of the solution.
This is the exact linearisation but for the exponential in place of the Cayley map, loads that tell no matrix (rows of springs are in
`constrained.py`), and the following for the weight: where it is taken at q_theta (`stiff`), P - wl G takes the place of P in t' and the
turning of the weight enters with wl wr: exact up to h^3. wl = wr = 0 gives the mass matrix: `solve` then applies -M^-1.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline
from dalembert.kernels.mat3 import load9
from dalembert.kernels.smallmat import load3
from dalembert.kernels.tree.layout import FREE, HEADER, KIND, LINK_SIZE, LINKS, LOADS, PARENT, PRISMATIC, REVOLUTE, SPHERICAL, V_AT
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.ball import factor_ball, move_ball, put_ball, reduce_ball
from dalembert.kernels.tree.variational.base import factor_free, move_free, reduce_free
from dalembert.kernels.tree.variational.layout import (
    BIAS,
    D_INV,
    DOWN,
    FACTOR_SIZE,
    FRAME,
    INERTIA,
    MOVE,
    RIGHT,
    ROW,
    SHIFT,
    SIDE_SIZE,
    UP,
)
from dalembert.kernels.tree.variational.one_joint import add_load_matrices, add_own, add_row, columns, put_frame, with_own
from dalembert.kernels.tree.variational.six import add6, axpy6, dot6, load6, scale6, store6


@inline
def factor_single(system, at, work, rec, out, above, inner, wl, wr, stiff, turning, revolute):
    """Eliminate a joint of one degree of freedom; above: the parent's record where there is one (inner). False where the pivot vanishes."""
    rot, c = load9(work, out + FRAME), load3(work, out + FRAME + 9)
    A0, A1, A2, A3, A4, A5 = with_own(system, at, work, rec, out, rot, c, turning)
    s, a, b, t, r = columns(system, at, work, rec, rot, c, wl, wr, stiff, revolute)
    u = axpy6(a[0], A0, axpy6(a[1], A1, axpy6(a[2], A2, b)))
    u = add6(u, axpy6(a[3], A3, axpy6(a[4], A4, scale6(a[5], A5))))
    w = (t[0] + dot6(A0, s), t[1] + dot6(A1, s), t[2] + dot6(A2, s), t[3] + dot6(A3, s), t[4] + dot6(A4, s), t[5] + dot6(A5, s))
    d = r + dot6(u, s)
    if not abs(d) > 0.0:
        return False
    d_inv = 1.0 / d
    u = scale6(d_inv, u)
    store6(work, out + SHIFT, s)
    store6(work, out + ROW, a)
    store6(work, out + UP, u)
    store6(work, out + DOWN, w)
    work[out + D_INV] = d_inv
    if inner:
        to = above + INERTIA
        add_row(work, to, axpy6(-w[0], u, A0))
        add_row(work, to + 6, axpy6(-w[1], u, A1))
        add_row(work, to + 12, axpy6(-w[2], u, A2))
        add_row(work, to + 18, axpy6(-w[3], u, A3))
        add_row(work, to + 24, axpy6(-w[4], u, A4))
        add_row(work, to + 30, axpy6(-w[5], u, A5))
    return True


@far(BOOL(ARRAY, ARRAY, INT, INT, INT, INT, INT, REAL, REAL, BOOL))
def factor(system, work, side, fac, x, l, f, wl, wr, stiff):
    """Eliminate the tree at the records of `side`; work[x:] is h v, work[l:] dL/dv, work[f:] dL/dq. False if the matrix is singular.

    stiff: gravity and stiffness are taken at the configuration of the side.
    """
    n = int(system[LINKS])
    turning = wl * wr if stiff else 0.0
    for i in range(n):
        put_frame(system, work, i, side, fac)
    if system[LOADS] != 0.0 and wl != 0.0:
        add_load_matrices(system, work, fac, wl)
    for j in range(n):
        i = n - 1 - j
        at, rec, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE), record(fac, i, FACTOR_SIZE)
        kind, parent = int(system[at + KIND]), int(system[at + PARENT])
        above = record(fac, parent, FACTOR_SIZE)
        if kind == REVOLUTE:
            ok = factor_single(system, at, work, rec, out, above, parent >= 0, wl, wr, stiff, turning, True)
        elif kind == PRISMATIC:
            ok = factor_single(system, at, work, rec, out, above, parent >= 0, wl, wr, stiff, turning, False)
        else:
            add_own(system, at, work, rec, out, turning)
            if kind == SPHERICAL:
                put_ball(system, work, i, side, fac, x, l, f, wl, wr, stiff)
                ok = factor_ball(work, out, above, parent >= 0)
            else:
                if stiff:
                    turn_share(work, out, f + int(system[at + V_AT]), 0.5 * turning)
                ok = kind == FREE and factor_free(system, work, i, fac, x, l, wl, wr)
        if not ok:
            return False
    return True


@inline
def turn_share(work, rec, f, s):
    """A += s [[hat(a), hat(b)], [hat(b), 0]] for the force (a, b) of a free joint: its share at the first node, (1 + Ad_E)^-T f, turns
    with the step (to order h^2; ball.py has it exactly)."""
    (x, y, z), (p, q, r) = load3(work, f), load3(work, f + 3)
    to = rec + INERTIA
    add_row(work, to, (0.0, -s * z, s * y, 0.0, -s * r, s * q))
    add_row(work, to + 6, (s * z, 0.0, -s * x, s * r, 0.0, -s * p))
    add_row(work, to + 12, (-s * y, s * x, 0.0, -s * q, s * p, 0.0))
    add_row(work, to + 18, (0.0, -s * r, s * q, 0.0, 0.0, 0.0))
    add_row(work, to + 24, (s * r, 0.0, -s * p, 0.0, 0.0, 0.0))
    add_row(work, to + 30, (-s * q, s * p, 0.0, 0.0, 0.0, 0.0))


@inline
def reduce_single(work, rec, above, inner, e):
    """D^-1 (e + a^T B) is kept; what is left of B goes to the parent."""
    b = load6(work, rec + BIAS)
    right = work[rec + D_INV] * (work[e] + dot6(load6(work, rec + ROW), b))
    work[rec + RIGHT] = right
    if inner:
        add_row(work, above + BIAS, axpy6(-right, load6(work, rec + DOWN), b))


@inline
def move_single(work, rec, y, dv):
    """work[dv] = delta; returns y of the link from what it inherits."""
    delta = -(work[rec + RIGHT] + dot6(load6(work, rec + UP), y))
    work[dv] = delta
    return axpy6(delta, load6(work, rec + SHIFT), y)


@far(VOID(ARRAY, ARRAY, INT, INT, INT, INT))
def solve(system, work, side, fac, e, dv):
    """work[dv:] = minus the inverse of the factored matrix times work[e:]; the side is not needed any more."""
    n = int(system[LINKS])
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        store6(work, record(fac, i, FACTOR_SIZE) + BIAS, zero)
    for j in range(n):
        i = n - 1 - j
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
        kind, parent, to = int(system[at + KIND]), int(system[at + PARENT]), record(e, int(system[at + V_AT]), 1)
        above = record(fac, parent, FACTOR_SIZE)
        if kind <= PRISMATIC:
            reduce_single(work, rec, above, parent >= 0, to)
        elif kind == SPHERICAL:
            reduce_ball(work, rec, above, parent >= 0, to)
        else:
            reduce_free(system, work, i, fac, e)
    for i in range(n):
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
        kind, parent, to = int(system[at + KIND]), int(system[at + PARENT]), record(dv, int(system[at + V_AT]), 1)
        y = load6(work, record(fac, parent, FACTOR_SIZE) + MOVE) if parent >= 0 else zero
        if kind <= PRISMATIC:
            y = move_single(work, rec, y, to)
        elif kind == SPHERICAL:
            store6(work, rec + MOVE, y)
            move_ball(work, rec, to)
            continue
        else:
            w, v = move_free(work, rec, to)
            y = (w[0], w[1], w[2], v[0], v[1], v[2])
        store6(work, rec + MOVE, y)
