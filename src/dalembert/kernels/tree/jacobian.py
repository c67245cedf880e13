"""Body Jacobian: the twist of a frame on a link as a linear function of v, in O(depth).

A column of link i on the path to the root is the joint axis S_i carried to the frame b:  R_b^T R_i omega,  R_b^T (R_i v + (R_i omega) x
(p_b - p_i)).
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.mat3 import apply_transposed, load9, mul
from dalembert.kernels.smallmat import add, cross, load3, mat_vec, sub
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, NV, P_W, PARENT, R_W, SCRATCH, V_AT
from dalembert.kernels.tree.subspace import degrees, first


@kernel
def body_jacobian(system, work, link, R_LB, p_LB, out):
    """work[out : out + 6 nv] by rows (angular first, axes of the frame); the frame sits at (R_LB, p_LB) on the link. World poses are
    known."""
    nv = int(system[NV])
    for k in range(6 * nv):
        work[out + k] = 0.0
    rot_b = mul(load9(work, link * SCRATCH + R_W), R_LB)
    p_b = add(load3(work, link * SCRATCH + P_W), mat_vec(load9(work, link * SCRATCH + R_W), p_LB))
    i = link
    while i >= 0:
        at = HEADER + i * LINK_SIZE
        rot = load9(work, i * SCRATCH + R_W)
        lever = sub(p_b, load3(work, i * SCRATCH + P_W))
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        for k in range(degrees(kind)):
            c = first(kind) + k
            axis = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
            direction = mat_vec(rot, axis)
            linear = apply_transposed(rot_b, cross(direction, lever) if c < 3 else direction)
            angular = apply_transposed(rot_b, direction)
            for r in range(3):
                work[out + r * nv + vi + k] = angular[r] if c < 3 else 0.0
                work[out + (r + 3) * nv + vi + k] = linear[r]
        i = int(system[at + PARENT])
