"""Composite-rigid-body algorithm: the mass matrix.

I^c_i = I_i + sum over children X^T I^c X,    M_ik = S_i^T (X^T ... X^T) I^c_k S_k along the path from link k to its ancestors i
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.mat3 import load9
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, store3
from dalembert.kernels.tree.aba import pass_inward, rigid
from dalembert.kernels.tree.layout import (
    ARMATURE,
    FORCE,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    NV,
    PARENT,
    PRISMATIC,
    SCRATCH,
    SLIDES,
    TURNS,
    V_AT,
    A,
    B,
    M,
    P,
    R,
)
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.subspace import along, degrees, first


@kernel
def mass_matrix(system, work, out):
    """work[out : out + nv nv] = M by rows; places of the links are known (`sweep`)."""
    n, nv = int(system[LINKS]), int(system[NV])
    zero = (0.0, 0.0, 0.0)
    rigid(system, work)
    for k in range(nv * nv):
        work[out + k] = 0.0
    for j in range(n):
        i = n - 1 - j
        at = record(HEADER, i, LINK_SIZE)
        parent = int(system[at + PARENT])
        scratch = record(0, i, SCRATCH)
        if parent >= 0:
            pass_inward(work, i, parent, load9(work, scratch + A), load9(work, scratch + B), load9(work, scratch + M), zero, zero)
        for k in range(degrees(int(system[at + KIND]))):
            column(system, work, i, k, nv, out)
            row = int(system[at + V_AT]) + k
            work[out + row * nv + row] += system[at + ARMATURE]


@kernel
def column(system, work, i, k, nv, out):
    """Entries of M for degree k of link i and all degrees of i and its ancestors."""
    at = record(HEADER, i, LINK_SIZE)
    scratch = record(0, i, SCRATCH)
    kind = int(system[at + KIND])
    c = first(kind) + k
    me = int(system[at + V_AT]) + k
    for r in range(3):
        if c < 3:
            work[scratch + FORCE + r] = work[scratch + A + 3 * r + c]
            work[scratch + FORCE + 3 + r] = work[scratch + B + 3 * c + r]
        else:
            work[scratch + FORCE + r] = work[scratch + B + 3 * r + c - 3]
            work[scratch + FORCE + 3 + r] = work[scratch + M + 3 * r + c - 3]
        if kind == PRISMATIC:
            turn, slide = system[at + TURNS], system[at + SLIDES]
            work[scratch + FORCE + r] = slide * work[scratch + FORCE + r] + turn * work[scratch + A + 3 * r + 2]
            work[scratch + FORCE + 3 + r] = slide * work[scratch + FORCE + 3 + r] + turn * work[scratch + B + 6 + r]
    n, f = load3(work, scratch + FORCE), load3(work, scratch + FORCE + 3)
    link = i
    while link >= 0:
        mine = record(HEADER, link, LINK_SIZE)
        kind = int(system[mine + KIND])
        store3(work, scratch + FORCE, n)
        store3(work, scratch + FORCE + 3, f)
        for d in range(degrees(kind)):
            other = int(system[mine + V_AT]) + d
            value = along(system, mine, kind, d, work, scratch + FORCE)
            work[out + me * nv + other] = value
            work[out + other * nv + me] = value
        rot = load9(work, record(0, link, SCRATCH) + R)
        f = mat_vec(rot, f)
        n = add(mat_vec(rot, n), cross(load3(work, record(0, link, SCRATCH) + P), f))
        link = int(system[mine + PARENT])
