"""Outward sweep: where the links are and how fast they move.

R_i = R_tree R_joint(q),   p_i = p_tree + R_tree p_joint(q)                       link in its parent
omega_i = R_i^T omega_p + omega_joint,   v_i = R_i^T (v_p + omega_p x p_i) + v_joint      twist, link axes
c_i = ad(V_i) V_joint = (omega_i x omega_joint, v_i x omega_joint + omega_i x v_joint)     velocity-dependent acceleration
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import apply_transposed, load9, mul, store9
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, store3
from dalembert.kernels.tree.layout import (
    BIAS,
    FREE,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    P_TREE,
    P_W,
    PARENT,
    PRISMATIC,
    Q_AT,
    R_TREE,
    R_W,
    REVOLUTE,
    SCRATCH,
    SLIDES,
    SPHERICAL,
    TURNS,
    V_AT,
    VEL,
    P,
    R,
)
from dalembert.kernels.tree.record import record
from dalembert.kernels.trig import sin_cos


@inline
def quaternion_matrix(s, x, y, z):
    """R(q) of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - s * z), 2.0 * (x * z + s * y),
        2.0 * (x * y + s * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - s * x),
        2.0 * (x * z - s * y), 2.0 * (y * z + s * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@inline
def place(system, work, i, q, out):
    """R_i and p_i of link i from the configuration at work[q:], written to the record of the link at work[out:]."""
    at = record(HEADER, i, LINK_SIZE)
    kind = int(system[at + KIND])
    qi = record(q, int(system[at + Q_AT]), 1)
    tree = load9(system, at + R_TREE)
    p = load3(system, at + P_TREE)
    rot, turn = tree, 1.0 if kind == REVOLUTE else 0.0
    if kind == PRISMATIC:
        x, turn = system[at + SLIDES] * work[qi], system[at + TURNS]
        p = (p[0] + tree[2] * x, p[1] + tree[5] * x, p[2] + tree[8] * x)
    if turn != 0.0:
        s, c = sin_cos(turn * work[qi])
        # tree Rz(q): columns 0 and 1 are mixed, column 2 stays
        rot = (
            c * tree[0] + s * tree[1], c * tree[1] - s * tree[0], tree[2],
            c * tree[3] + s * tree[4], c * tree[4] - s * tree[3], tree[5],
            c * tree[6] + s * tree[7], c * tree[7] - s * tree[6], tree[8],
        )  # fmt: skip
    elif kind == SPHERICAL:
        rot = mul(tree, quaternion_matrix(work[qi], work[qi + 1], work[qi + 2], work[qi + 3]))
    elif kind == FREE:
        rot = mul(tree, quaternion_matrix(work[qi + 3], work[qi + 4], work[qi + 5], work[qi + 6]))
        p = add(p, mat_vec(tree, load3(work, qi)))
    store9(work, out + R, rot)
    store3(work, out + P, p)


@inline
def joint_twist(system, work, i, v):
    """(angular, linear) velocity of joint i, link axes."""
    at = record(HEADER, i, LINK_SIZE)
    kind = int(system[at + KIND])
    vi = record(v, int(system[at + V_AT]), 1)
    if kind == REVOLUTE:
        return (0.0, 0.0, work[vi]), (0.0, 0.0, 0.0)
    if kind == PRISMATIC:
        return (0.0, 0.0, system[at + TURNS] * work[vi]), (0.0, 0.0, system[at + SLIDES] * work[vi])
    if kind == SPHERICAL:
        return load3(work, vi), (0.0, 0.0, 0.0)
    return load3(work, vi), load3(work, vi + 3)


@inline
def move(system, work, i, v):
    """Twist and velocity-dependent acceleration of link i; its parent's are known."""
    at = record(HEADER, i, LINK_SIZE)
    out = record(0, i, SCRATCH)
    parent = int(system[at + PARENT])
    w, u = joint_twist(system, work, i, v)
    omega = w
    vel = u
    if parent >= 0:
        rot = load9(work, out + R)
        omega_p = load3(work, record(0, parent, SCRATCH) + VEL)
        vel_p = load3(work, record(0, parent, SCRATCH) + VEL + 3)
        omega = add(omega, apply_transposed(rot, omega_p))
        vel = add(vel, apply_transposed(rot, add(vel_p, cross(omega_p, load3(work, out + P)))))
    store3(work, out + VEL, omega)
    store3(work, out + VEL + 3, vel)
    store3(work, out + BIAS, cross(omega, w))
    store3(work, out + BIAS + 3, add(cross(vel, w), cross(omega, u)))


@kernel
def sweep(system, work, q, v):
    """Places and twists of all links from work[q:] and work[v:]."""
    for i in range(int(system[LINKS])):
        place(system, work, i, q, record(0, i, SCRATCH))
        move(system, work, i, v)


@kernel
def world(system, work):
    """World pose of every link, from the places of `sweep`."""
    for i in range(int(system[LINKS])):
        parent = int(system[record(HEADER, i, LINK_SIZE) + PARENT])
        out = record(0, i, SCRATCH)
        rot = load9(work, out + R)
        p = load3(work, out + P)
        if parent >= 0:
            rot_p = load9(work, record(0, parent, SCRATCH) + R_W)
            p = add(load3(work, record(0, parent, SCRATCH) + P_W), mat_vec(rot_p, p))
            rot = mul(rot_p, rot)
        store9(work, out + R_W, rot)
        store3(work, out + P_W, p)
