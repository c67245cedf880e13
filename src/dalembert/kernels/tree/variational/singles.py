"""M(q)^-1 p of trees of hinges and slides: the elimination of `factor.py` where its matrix is the mass matrix, so symmetric.

In axes of the root link and about one origin (`one_joint.py`), with s the column of a joint, r its armature, J the inertia of a link:

    inward    A = J + sum of what the links on it leave,   u = A s,   D = s.u + r,   x = (p - s.B) / D
              it leaves A - u u^T / D and B + u x to its parent
    outward   v = x - u.y_parent / D,   y = y_parent + s v
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, far, inline
from dalembert.kernels.mat3 import conjugate_symmetric, load9, mul, store9
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3
from dalembert.kernels.tree.kinematics import place
from dalembert.kernels.tree.layout import ARMATURE, HEADER, KIND, LINK_SIZE, MASS, MOMENT, PARENT, REVOLUTE, SLIDES, TURNS, V_AT, P, R
from dalembert.kernels.tree.layout import INERTIA as LINK_INERTIA
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.variational.layout import FACTOR_SIZE, FRAME, INERTIA, RIGHT, ROW, SHIFT, SIDE_SIZE, UP, places
from dalembert.kernels.tree.variational.one_joint import IDENTITY, join, start_of
from dalembert.kernels.tree.variational.six import axpy6, dot6, load6, store6

BEHIND, MOVE = INERTIA + 21, ROW  # of a record: B; y


@inline
def put_link(system, work, i, side, fac):
    """Frame of link i; A = J, upper rows; B = 0. The frame of its parent is known."""
    at, out = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
    parent = int(system[at + PARENT])
    if parent >= 0:
        rec, above = record(side, i, SIDE_SIZE), record(fac, parent, FACTOR_SIZE)
        turn = load9(work, above + FRAME)
        rot = mul(turn, load9(work, rec + R))
        c = add(load3(work, above + FRAME + 9), mat_vec(turn, load3(work, rec + P)))
    else:
        rot, c = IDENTITY, start_of(system, work, i, side)
    store9(work, out + FRAME, rot)
    store3(work, out + FRAME + 9, c)
    xx, yy, zz = load3(system, at + LINK_INERTIA)
    xy, xz, yz = load3(system, at + LINK_INERTIA + 3)
    m, first = system[at + MASS], mat_vec(rot, load3(system, at + MOMENT))
    turned = conjugate_symmetric(rot, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
    k = axpy(0.5 * m, c, first)  # -hat(c) hat(k) - hat(k) hat(c) = 2 c.k - c k^T - k c^T
    d, f, to = 2.0 * dot(c, k), axpy(m, c, first), out + INERTIA
    xy, xz = turned[1] - c[0] * k[1] - k[0] * c[1], turned[2] - c[0] * k[2] - k[0] * c[2]
    yz = turned[5] - c[1] * k[2] - k[1] * c[2]
    store3(work, to, (turned[0] + d - 2.0 * c[0] * k[0], xy, xz))
    store3(work, to + 3, (0.0, -f[2], f[1]))
    store3(work, to + 6, (turned[4] + d - 2.0 * c[1] * k[1], yz, f[2]))
    store3(work, to + 9, (0.0, -f[0], turned[8] + d - 2.0 * c[2] * k[2]))
    store3(work, to + 12, (-f[1], f[0], 0.0))
    store3(work, to + 15, (m, 0.0, 0.0))
    store3(work, to + 18, (m, 0.0, m))
    store6(work, out + BEHIND, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@inline
def column(system, at, work, rec):
    """s"""
    c, z = load3(work, rec + FRAME + 9), (work[rec + FRAME + 2], work[rec + FRAME + 5], work[rec + FRAME + 8])
    if int(system[at + KIND]) == REVOLUTE:
        return join(z, cross(c, z))
    angular = scale(system[at + TURNS], z)
    return join(angular, axpy(system[at + SLIDES], z, cross(c, angular)))


@inline
def eliminate(system, work, i, fac, p):
    """The inward step of joint i. False where its inertia is not positive."""
    at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
    to, parent, s = rec + INERTIA, int(system[at + PARENT]), column(system, at, work, rec)
    (a00, a01, a02), (a03, a04, a05), (a11, a12, a13) = load3(work, to), load3(work, to + 3), load3(work, to + 6)
    (a14, a15, a22), (a23, a24, a25) = load3(work, to + 9), load3(work, to + 12)
    (a33, a34, a35), (a44, a45, a55) = load3(work, to + 15), load3(work, to + 18)
    u = (
        dot6((a00, a01, a02, a03, a04, a05), s), dot6((a01, a11, a12, a13, a14, a15), s), dot6((a02, a12, a22, a23, a24, a25), s),
        dot6((a03, a13, a23, a33, a34, a35), s), dot6((a04, a14, a24, a34, a44, a45), s), dot6((a05, a15, a25, a35, a45, a55), s),
    )  # fmt: skip
    d = system[at + ARMATURE] + dot6(s, u)
    if not d > 0.0:
        return False
    d_inv = 1.0 / d
    b = load6(work, rec + BEHIND)
    x = d_inv * (work[p + int(system[at + V_AT])] - dot6(s, b))
    w0, w1, w2, w3, w4, w5 = d_inv * u[0], d_inv * u[1], d_inv * u[2], d_inv * u[3], d_inv * u[4], d_inv * u[5]
    store6(work, rec + SHIFT, s)
    store6(work, rec + UP, (w0, w1, w2, w3, w4, w5))
    work[rec + RIGHT] = x
    if parent >= 0:
        to = record(fac, parent, FACTOR_SIZE) + INERTIA
        a = (
            a00 - w0 * u[0], a01 - w0 * u[1], a02 - w0 * u[2], a03 - w0 * u[3], a04 - w0 * u[4], a05 - w0 * u[5],
            a11 - w1 * u[1], a12 - w1 * u[2], a13 - w1 * u[3], a14 - w1 * u[4], a15 - w1 * u[5],
            a22 - w2 * u[2], a23 - w2 * u[3], a24 - w2 * u[4], a25 - w2 * u[5],
            a33 - w3 * u[3], a34 - w3 * u[4], a35 - w3 * u[5], a44 - w4 * u[4], a45 - w4 * u[5], a55 - w5 * u[5],
        )  # fmt: skip
        for k in range(21):
            work[to + k] += a[k]
        to += 21
        store6(work, to, axpy6(x, u, (b[0] + work[to], b[1] + work[to + 1], b[2] + work[to + 2], b[3] + work[to + 3],
                                      b[4] + work[to + 4], b[5] + work[to + 5])))  # fmt: skip
    return True


@far(BOOL(ARRAY, ARRAY, INT, INT, INT))
def velocities_of_singles(system, work, q, p, v):
    """work[v:] = M(q)^-1 work[p:] at the configuration work[q:]. False where M is singular. Uses the records of the first node."""
    s = places(system)
    n, side, fac, zero = s.links, s.side_0, s.factor, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        if system[record(HEADER, i, LINK_SIZE) + PARENT] >= 0.0:  # frames are those of the root
            place(system, work, i, q, record(side, i, SIDE_SIZE))
    for i in range(n):
        put_link(system, work, i, side, fac)
    for j in range(n):
        if not eliminate(system, work, n - 1 - j, fac, p):
            return False
    for i in range(n):
        at, rec = record(HEADER, i, LINK_SIZE), record(fac, i, FACTOR_SIZE)
        parent = int(system[at + PARENT])
        y = load6(work, record(fac, parent, FACTOR_SIZE) + MOVE) if parent >= 0 else zero
        found = work[rec + RIGHT] - dot6(load6(work, rec + UP), y)
        work[v + int(system[at + V_AT])] = found
        store6(work, rec + MOVE, axpy6(found, load6(work, rec + SHIFT), y))
    return True
