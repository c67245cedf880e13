"""L D L^T of the saddle-point matrix of a tree of bodies and constraints, without fill, and the solution with it.

For M x - G^T y = b, G x + E y = c. From the leaves to the roots, with A = L d L^T of every diagonal block:

    body k under constraint i         Y = L^-1 G_ik^T    S_i += Y^T d^-1 Y    u = L^-1 b_k    c_i -= Y^T d^-1 u
    constraint i under body k         Y = L^-1 G_ik      D_k += Y^T d^-1 Y    u = L^-1 c_i    b_k += Y^T d^-1 u

starting from D_k = M_k, S_i = E_i, so that all blocks stay positive definite; and back

    x_k = L^-T d^-1 (u + Y y_i)       y_i = L^-T d^-1 (u - Y x_k)

This is the K form of lacoursiere2007, Alg. 18.4.1-2 (18.26-27). A leaf, that is a constraint on a single body k which is not a root, has
no block of its own to start from (E may be 0): it is merged with its body (18.28). With B = L^-1 G_l^T, S_l = E_l + B^T d^-1 B:

    Z = L_l^-1 B^T d^-1 Y,   S_i -= Z^T d_l^-1 Z,   w = L_l^-1 (c_l - B^T d^-1 u),   c_i -= Z^T d_l^-1 w,   y_l = L_l^-T d_l^-1 (w - Z y_i)

Print: x_k -= H_ki x_i of the sweep towards the roots is wrong (x_i -= L_ik x_k, i the parent).

Numbers of one line of the table, from AT_D: the block (SIZE^2), S_l, B; from AT_Y: Y (SIZE x PARENT_SIZE), Z (LEAF_ROWS x PARENT_SIZE).
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.linalg.dense import ldl, lower, scale, upper
from dalembert.kernels.linalg.six import (
    axpy6,
    diagonal6,
    dot6,
    gram_columns,
    gram_rows,
    load6,
    lower6,
    lower_columns,
    lower_rows,
    store6,
    times6,
    upper6,
)
from dalembert.kernels.linalg.tree_order import (
    AT_D,
    AT_Y,
    AT_Z,
    BODY,
    CHILDREN,
    EDGE,
    KIND,
    LEAF,
    LEAF_EDGE,
    LEAF_RHS,
    LEAF_ROWS,
    LEAF_SIZE,
    LEAF_SOURCE,
    LEAVES,
    OLD,
    PARENT_D,
    PARENT_SIZE,
    PARENT_Z,
    RHS,
    SIZE,
    SOURCE,
)
from dalembert.kernels.status import OK, SINGULAR


@inline
def _constraint(f, at, at_y, edge, G, r, slack, at_slack, old, at_old, p, tol):
    """Constraint of r rows under a body."""
    if not ldl(f, at, r, slack, at_slack, tol):
        return False
    lower_columns(f, at, r, G, edge, f, at_y)
    gram_columns(f, at, r, f, at_y, old, at_old, f, p)
    return True


@kernel
def _merge(table, line, leaves, E, G, f, slack, tol):
    """What the leaves of a body change, after the body itself."""
    at, rows, r, at_y = table[line, AT_D], table[line, LEAF_ROWS], table[line, PARENT_SIZE], table[line, AT_Y]
    at_s, at_b, at_z = at + 36, at + 36 + rows * rows, at_y + 6 * r
    for i in range(rows * rows):
        f[at_s + i] = 0.0
    done = 0
    for leaf in range(table[line, LEAF], table[line, LEAF] + table[line, LEAVES]):
        n, source = leaves[leaf, LEAF_SIZE], leaves[leaf, LEAF_SOURCE]
        lower_rows(f, at, n, G, leaves[leaf, LEAF_EDGE], f, at_b + 6 * done)
        for i in range(n):
            for j in range(i + 1):
                f[at_s + (done + i) * rows + done + j] = E[source + i * n + j]
        done += n
    gram_rows(f, at, rows, f, at_b, f, at_s, f, at_s)
    if not ldl(f, at_s, rows, slack, table[line, AT_Z] + 6, tol):
        return False
    d = diagonal6(f, at)
    for i in range(rows):
        w = times6(d, load6(f, at_b + 6 * i))
        for j in range(r):
            f[at_z + i * r + j] = dot6(w, load6(f, at_y + 6 * j))
    lower(f, at_s, rows, f, at_z, r)
    p, q = table[line, PARENT_D], table[line, PARENT_Z]
    for k in range(rows):
        for i in range(r):
            w = f[at_z + k * r + i] * f[at_s + k * (rows + 1)]
            slack[q + i] += w * f[at_z + k * r + i]
            for j in range(i + 1):
                f[p + i * r + j] -= w * f[at_z + k * r + j]
    return True


@inline
def _start(table, line, M, E, f):
    """D_k = M_k, S_i = E_i where no child has done it."""
    at, source = table[line, AT_D], table[line, SOURCE]
    if table[line, KIND] == BODY:
        for i in range(36):
            f[at + i] = M[source + i]
    else:
        for i in range(table[line, SIZE] ** 2):
            f[at + i] = E[source + i]


@kernel
def factor(table, leaves, M, G, E, f, slack, tol):
    """Factor into f. M, G, E: numbers of the mass, Jacobian and compliance blocks. slack: working space, one number per unknown."""
    for i in range(slack.shape[0]):
        slack[i] = 0.0
    for line in range(table.shape[0]):
        at, at_y, edge, p = table[line, AT_D], table[line, AT_Y], table[line, EDGE], table[line, PARENT_D]
        z, r, old = table[line, AT_Z], table[line, SIZE], table[line, OLD]
        if table[line, CHILDREN] == 0:
            _start(table, line, M, E, f)
        if table[line, KIND] == BODY:
            r = table[line, PARENT_SIZE]
            ok = ldl(f, at, 6, slack, z, tol)
            lower_rows(f, at, r, G, edge, f, at_y)
            if old >= 0:
                gram_rows(f, at, r, f, at_y, E, old, f, p)
            else:
                gram_rows(f, at, r, f, at_y, f, p, f, p)
            if ok and table[line, LEAVES] > 0:
                ok = _merge(table, line, leaves, E, G, f, slack, tol)
        elif edge < 0:
            ok = ldl(f, at, r, slack, z, tol)
        elif old < 0:
            ok = _constraint(f, at, at_y, edge, G, r, slack, z, f, p, p, tol)
        elif r == 5:
            ok = _constraint(f, at, at_y, edge, G, 5, slack, z, M, old, p, tol)
        elif r == 3:
            ok = _constraint(f, at, at_y, edge, G, 3, slack, z, M, old, p, tol)
        else:
            ok = _constraint(f, at, at_y, edge, G, r, slack, z, M, old, p, tol)
        if not ok:
            return SINGULAR
    return OK


@inline
def _body_up(f, at, at_y, r, z, at_z, at_p):
    """u = L^-1 b_k, c_i -= Y d^-1 u"""
    u = lower6(f, at, load6(z, at_z))
    store6(z, at_z, u)
    v = times6(diagonal6(f, at), u)
    for j in range(r):
        z[at_p + j] -= dot6(load6(f, at_y + 6 * j), v)


@inline
def _body_down(f, at, at_y, r, z, at_z, at_p):
    """x_k = L^-T d^-1 (u + Y^T y_i)"""
    u = load6(z, at_z)
    for j in range(r):
        u = axpy6(z[at_p + j], load6(f, at_y + 6 * j), u)
    store6(z, at_z, upper6(f, at, times6(diagonal6(f, at), u)))


@inline
def _constraint_up(f, at, at_y, r, z, at_z, at_p):
    """u = L^-1 c_i, b_k += Y^T d^-1 u"""
    lower(f, at, r, z, at_z, 1)
    if at_p >= 0:
        b = load6(z, at_p)
        for i in range(r):
            b = axpy6(z[at_z + i] * f[at + i * (r + 1)], load6(f, at_y + 6 * i), b)
        store6(z, at_p, b)


@inline
def _constraint_down(f, at, at_y, r, z, at_z, at_p):
    """y_i = L^-T d^-1 (u - Y x_k)"""
    if at_p >= 0:
        x = load6(z, at_p)
        for i in range(r):
            z[at_z + i] -= dot6(load6(f, at_y + 6 * i), x)
    scale(f, at, r, z, at_z)
    upper(f, at, r, z, at_z)


@inline
def _leaves_up(table, line, f, z):
    """w = L_l^-1 (c_l - B d^-1 u), c_i -= Z^T d_l^-1 w"""
    at, rows, r, at_z = table[line, AT_D], table[line, LEAF_ROWS], table[line, PARENT_SIZE], table[line, AT_Z]
    at_s, at_b, at_w, p = at + 36, at + 36 + rows * rows, table[line, AT_Y] + 6 * r, table[line, PARENT_Z]
    v = times6(diagonal6(f, at), load6(z, at_z))
    for i in range(rows):
        z[at_z + 6 + i] -= dot6(load6(f, at_b + 6 * i), v)
    lower(f, at_s, rows, z, at_z + 6, 1)
    for i in range(rows):
        w = z[at_z + 6 + i] * f[at_s + i * (rows + 1)]
        for j in range(r):
            z[p + j] -= f[at_w + i * r + j] * w


@inline
def _leaves_down(table, line, f, z):
    """y_l = L_l^-T d_l^-1 (w - Z y_i), u += B^T y_l"""
    at, rows, r, at_z = table[line, AT_D], table[line, LEAF_ROWS], table[line, PARENT_SIZE], table[line, AT_Z]
    at_s, at_b, at_w, p = at + 36, at + 36 + rows * rows, table[line, AT_Y] + 6 * r, table[line, PARENT_Z]
    for i in range(rows):
        for j in range(r):
            z[at_z + 6 + i] -= f[at_w + i * r + j] * z[p + j]
    scale(f, at_s, rows, z, at_z + 6)
    upper(f, at_s, rows, z, at_z + 6)
    u = load6(z, at_z)
    for i in range(rows):
        u = axpy6(z[at_z + 6 + i], load6(f, at_b + 6 * i), u)
    store6(z, at_z, u)


@inline
def _load(table, leaves, b, at_b, c, at_c, z):
    """Right-hand side in the order of elimination."""
    for line in range(table.shape[0]):
        at_z, source = table[line, AT_Z], table[line, RHS]
        if table[line, KIND] == BODY:
            for i in range(6):
                z[at_z + i] = b[at_b + source + i]
        else:
            for i in range(table[line, SIZE]):
                z[at_z + i] = c[at_c + source + i]
        at_z += 6
        for leaf in range(table[line, LEAF], table[line, LEAF] + table[line, LEAVES]):
            for i in range(leaves[leaf, LEAF_SIZE]):
                z[at_z + i] = c[at_c + leaves[leaf, LEAF_RHS] + i]
            at_z += leaves[leaf, LEAF_SIZE]


@inline
def _unload(table, leaves, z, x, at_x, y, at_y):
    """Solution in the order of bodies and constraints."""
    for line in range(table.shape[0]):
        at_z, source = table[line, AT_Z], table[line, RHS]
        if table[line, KIND] == BODY:
            for i in range(6):
                x[at_x + source + i] = z[at_z + i]
        else:
            for i in range(table[line, SIZE]):
                y[at_y + source + i] = z[at_z + i]
        at_z += 6
        for leaf in range(table[line, LEAF], table[line, LEAF] + table[line, LEAVES]):
            for i in range(leaves[leaf, LEAF_SIZE]):
                y[at_y + leaves[leaf, LEAF_RHS] + i] = z[at_z + i]
            at_z += leaves[leaf, LEAF_SIZE]


@kernel
def solve(table, leaves, f, b, at_b, c, at_c, z, x, at_x, y, at_y):
    """x, y of M x - G^T y = b, G x + E y = c, from numbers at_b, at_c, at_x, at_y on. z: working space; x, y may be b, c."""
    _load(table, leaves, b, at_b, c, at_c, z)
    for line in range(table.shape[0]):
        at, edge, at_z, p = table[line, AT_D], table[line, AT_Y], table[line, AT_Z], table[line, PARENT_Z]
        if table[line, KIND] == BODY:
            _body_up(f, at, edge, table[line, PARENT_SIZE], z, at_z, p)
            if table[line, LEAVES] > 0:
                _leaves_up(table, line, f, z)
        elif table[line, SIZE] == 5:
            _constraint_up(f, at, edge, 5, z, at_z, p)
        else:
            _constraint_up(f, at, edge, table[line, SIZE], z, at_z, p)
    for back in range(table.shape[0]):
        line = table.shape[0] - 1 - back
        at, edge, at_z, p = table[line, AT_D], table[line, AT_Y], table[line, AT_Z], table[line, PARENT_Z]
        if table[line, KIND] == BODY:
            if table[line, LEAVES] > 0:
                _leaves_down(table, line, f, z)
            _body_down(f, at, edge, table[line, PARENT_SIZE], z, at_z, p)
        elif table[line, SIZE] == 5:
            _constraint_down(f, at, edge, 5, z, at_z, p)
        else:
            _constraint_down(f, at, edge, table[line, SIZE], z, at_z, p)
    _unload(table, leaves, z, x, at_x, y, at_y)
