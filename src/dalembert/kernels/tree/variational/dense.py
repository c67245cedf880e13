"""Newton's matrix of the midpoint rule as a dense matrix, for small trees of joints of one degree of freedom (`DENSE_MOST` of them).

    l_i = S_i^T P_i + armature v_i,     f_i = N_i^T P_i + S_i^T G_i + joint force,     N_i = ad(V_i) S_i,     e = l - wl f - p

P_i, G_i: momentum and weight of the subtree. A change delta of the velocity, with which the configuration of the side turns by wr delta,
changes body-fixed twists by y, momenta by z, the turn of links by theta and weights by gamma (notation of `factor.py`):

    y_i = sum s_j delta_j,  theta_i = wr sum S_j delta_j                        over j up to the root, s_j = S_j + wr N_j
    z_i = sum over the subtree of I_k y_k + t_j delta_j,                        t_j = -wr ad(S_j)^T P_j,   j below i
    gamma_i = sum over the subtree of (F_k x (g x theta_k), m_k g x theta_k) + t'_j delta_j,     t'_j = -wr ad(S_j)^T G_j
    dl_i = S_i^T z_i + armature delta_i
    df_i = N_i^T z_i - (ad(S_i)^T P_i)^T y_i + S_i^T gamma_i - (damping + wr stiffness) delta_i

So with the inertia I_j = (m, F, J) of whole subtrees, S = (w, u), i above j or equal to it, L = dl/ddelta and K = df/ddelta are

    L_ij = S_i . (A_j + wr U_j),     K_ij = N_i . (A_j + wr U_j) + w_i . H_j,     A_j = I_j S_j,   U_j = I_j N_j - ad(S_j)^T P_j
    L_ji = (S_i + wr N_i) . A_j,     K_ji = (S_i + wr N_i) . U_j + w_i . H_j,     H_j = wr (w_j x F_j + m_j u_j) x g

This is the exact linearisation: Newton's method converges quadratically, and after a last small correction df = K dv takes the place of
another evaluation. Twists and wrenches in axes of the root link and about one origin, as in `one_joint.py`.
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, far, inline, kernel
from dalembert.kernels.mat3 import conjugate_symmetric, load9, mul, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3
from dalembert.kernels.tree.layout import (
    ARMATURE,
    DAMPING,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    MASS,
    MOMENT,
    PARENT,
    REVOLUTE,
    SLIDES,
    STIFFNESS,
    TURNS,
    V_AT,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.layout import INERTIA as LINK_INERTIA
from dalembert.kernels.tree.record import NOT_NEGATIVE, record
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE, FALL, FRAME, MOM, SIDE_SIZE, STOP
from dalembert.kernels.tree.variational.one_joint import IDENTITY, across, join, start_of, wrench
from dalembert.kernels.tree.variational.six import axpy6, dot6, load6, store6

# record of a link, beside FRAME
AXIS = 0  # S (6)
BENT = 6  # N (6)
BODY = 12  # m, F (3), J (6) of the subtree


@inline
def put_body(system, work, i, side, fac):
    """Axes and origin of link i, its own inertia, S and N there."""
    at, rec, out = record(HEADER, i, LINK_SIZE), record(side, i, SIDE_SIZE), record(fac, i, FACTOR_SIZE)
    parent = int(system[at + PARENT])
    if parent >= 0:
        above = record(fac, parent, FACTOR_SIZE)
        turn = load9(work, above + FRAME)
        rot = mul(turn, load9(work, rec + R))
        c = add(load3(work, above + FRAME + 9), mat_vec(turn, load3(work, rec + P)))
    else:
        rot, c = IDENTITY, start_of(system, work, i, side)
    store9(work, out + FRAME, rot)
    store3(work, out + FRAME + 9, c)
    xx, yy, zz = load3(system, at + LINK_INERTIA)
    xy, xz, yz = load3(system, at + LINK_INERTIA + 3)
    m = system[at + MASS]
    first = mat_vec(rot, load3(system, at + MOMENT))
    J = conjugate_symmetric(rot, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
    k = axpy(0.5 * m, c, first)  # -hat(c) hat(k) - hat(k) hat(c) = 2 c.k - c k^T - k c^T
    d = 2.0 * dot(c, k)
    work[out + BODY] = m
    store3(work, out + BODY + 1, axpy(m, c, first))
    store3(work, out + BODY + 4, (J[0] + d - 2.0 * c[0] * k[0], J[4] + d - 2.0 * c[1] * k[1], J[8] + d - 2.0 * c[2] * k[2]))
    store3(work, out + BODY + 7, (J[1] - c[0] * k[1] - k[0] * c[1], J[2] - c[0] * k[2] - k[0] * c[2], J[5] - c[1] * k[2] - k[1] * c[2]))
    z, w = (rot[2], rot[5], rot[8]), across(rot, 1.0, load3(work, rec + VEL))
    if int(system[at + KIND]) == REVOLUTE:  # ad(V) S = (w x z, v x z)
        store6(work, out + AXIS, join(z, cross(c, z)))
        store6(work, out + BENT, join(w, add(across(rot, 1.0, load3(work, rec + VEL + 3)), cross(c, w))))
    else:  # slide (0, w x z) and turn times that of a rotation
        turn, slide = system[at + TURNS], system[at + SLIDES]
        axis, bent = scale(turn, z), scale(turn, w)
        v = across(rot, turn, load3(work, rec + VEL + 3))
        store6(work, out + AXIS, join(axis, axpy(slide, z, cross(c, axis))))
        store6(work, out + BENT, join(bent, axpy(slide, w, add(v, cross(c, bent)))))


@inline
def momentum(m, F, diagonal, off, x):
    """(J w + F x u, m u - F x w) for the twist x = (w, u)."""
    w, u = (x[0], x[1], x[2]), (x[3], x[4], x[5])
    a, b = cross(F, u), cross(F, w)
    return (
        diagonal[0] * w[0] + off[0] * w[1] + off[1] * w[2] + a[0],
        off[0] * w[0] + diagonal[1] * w[1] + off[2] * w[2] + a[1],
        off[1] * w[0] + off[2] * w[1] + diagonal[2] * w[2] + a[2],
        m * u[0] - b[0],
        m * u[1] - b[1],
        m * u[2] - b[2],
    )


@inline
def vectors(work, rec, out, wr, turn, slide):
    """A, U and H of a link, from the inertia of its subtree."""
    rot, c = load9(work, out + FRAME), load3(work, out + FRAME + 9)
    L, p = across(rot, 1.0, load3(work, rec + MOM)), across(rot, 1.0, load3(work, rec + MOM + 3))
    B = wrench(c, add(scale(turn, L), scale(slide, p)), scale(turn, p))  # ad(S)^T P = turn (L x z, p x z) + slide (p x z, 0)
    m, F, diagonal, off = work[out + BODY], load3(work, out + BODY + 1), load3(work, out + BODY + 4), load3(work, out + BODY + 7)
    S, N = load6(work, out + AXIS), load6(work, out + BENT)
    lever = axpy(m, (S[3], S[4], S[5]), cross((S[0], S[1], S[2]), F))
    H = cross(lever, scale(wr, mat_vec(rot, load3(work, rec + FALL))))
    return momentum(m, F, diagonal, off, S), axpy6(-1.0, B, momentum(m, F, diagonal, off, N)), H


@inline
def add_pairs(system, work, j, fac, A, U, H, wl, wr, matrix, forces, n):
    """Entries of J = L - wl K and of K of joint j and the joints above it."""
    i, col = j, int(system[record(HEADER, j, LINK_SIZE) + V_AT])
    while i >= 0:
        at, above = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
        row = int(system[at + V_AT])
        S, N = load6(work, above + AXIS), load6(work, above + BENT)
        SA, SU, NA, NU = dot6(S, A), dot6(S, U), dot6(N, A), dot6(N, U) * wr + dot((S[0], S[1], S[2]), H)
        to, back = (row * n + col) & NOT_NEGATIVE, (col * n + row) & NOT_NEGATIVE
        work[forces + to] = NA + NU
        work[matrix + to] = SA + wr * SU - wl * (NA + NU)
        work[forces + back] = SU + NU
        work[matrix + back] = SA + wr * NA - wl * (SU + NU)
        i = int(system[at + PARENT])


@inline
def add_joint(system, work, j, rec, wl, wr, matrix, forces, n):
    """Armature, and forces of the joint itself: -(damping + wr stiffness)."""
    at = record(HEADER, j, LINK_SIZE)
    to = (int(system[at + V_AT]) * (n + 1)) & NOT_NEGATIVE
    k = system[at + DAMPING] + wr * (system[at + STIFFNESS] + work[rec + STOP])
    work[forces + to] -= k
    work[matrix + to] += system[at + ARMATURE] + wl * k


@far(BOOL(ARRAY, ARRAY, INT, INT, INT, REAL, REAL))
def factor_dense(system, work, side, fac, matrix, wl, wr):
    """Fill work[matrix:] with J, by rows and eliminated without pivoting, and what follows it with K. False if J is singular."""
    n = int(system[LINKS])
    matrix = matrix & NOT_NEGATIVE
    forces = matrix + n * n
    for k in range(2 * n * n):
        work[matrix + k] = 0.0
    for i in range(n):
        put_body(system, work, i, side, fac)
    for k in range(n):
        j = n - 1 - k
        at, rec, out = record(HEADER, j, LINK_SIZE), record(side, j, SIDE_SIZE), record(fac, j, FACTOR_SIZE)
        parent = int(system[at + PARENT])
        A, U, H = vectors(work, rec, out, wr, system[at + TURNS], system[at + SLIDES])
        add_pairs(system, work, j, fac, A, U, H, wl, wr, matrix, forces, n)
        add_joint(system, work, j, rec, wl, wr, matrix, forces, n)
        if parent >= 0:
            above = record(fac, parent, FACTOR_SIZE)
            for i in range(10):
                work[above + BODY + i] += work[out + BODY + i]
    return eliminate(work, matrix, n)


@inline
def eliminate(work, matrix, n):
    """L U = J in place, 1/U_kk on the diagonal. False where a pivot vanishes."""
    for k in range(n):
        pivot = work[matrix + k * n + k]
        if not abs(pivot) > 0.0:
            return False
        inverse = 1.0 / pivot
        work[matrix + k * n + k] = inverse
        for i in range(k + 1, n):
            factor = work[matrix + i * n + k] * inverse
            work[matrix + i * n + k] = factor
            for j in range(k + 1, n):
                work[matrix + i * n + j] -= factor * work[matrix + k * n + j]
    return True


@kernel
def solve_dense(work, matrix, n, e, dv):
    """work[dv:] = -J^-1 work[e:]"""
    matrix, e, dv = matrix & NOT_NEGATIVE, e & NOT_NEGATIVE, dv & NOT_NEGATIVE
    for i in range(n):
        x = -work[e + i]
        for j in range(i):
            x -= work[matrix + i * n + j] * work[dv + j]
        work[dv + i] = x
    for k in range(n):
        i = n - 1 - k
        x = work[dv + i]
        for j in range(i + 1, n):
            x -= work[matrix + i * n + j] * work[dv + j]
        work[dv + i] = x * work[matrix + i * n + i]


@kernel
def follow(work, matrix, n, dv, f_left, f_right):
    """Forces after the correction dv: half of K dv belongs to each node."""
    forces = (matrix + n * n) & NOT_NEGATIVE
    dv, f_left, f_right = dv & NOT_NEGATIVE, f_left & NOT_NEGATIVE, f_right & NOT_NEGATIVE
    for i in range(n):
        x = 0.0
        for j in range(n):
            x += work[forces + i * n + j] * work[dv + j]
        work[f_left + i] += 0.5 * x
        work[f_right + i] += 0.5 * x
