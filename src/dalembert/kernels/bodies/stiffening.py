"""Forces of joints as springs of rotation: what keeps light links between heavy bodies stable.

A force F at a place a of a body (from the centre of mass) does not turn with it: over a rotation theta it has the potential
theta.K theta/2,

    K = (F.a) 1 - (a F^T + F a^T)/2         body axes; all joints of the body added up

which the step sees at its beginning only. Where h^2 K is beyond the mass M of the rotation, that is unstable, however well the problem of
the step is solved: links of 1 kg that carry 500 kg at h = 1/60 fly apart. There the rotation is given the mass that makes it implicit,
with the forces of the step before, direction by direction of the body axes (after Tournier et al. 2015, Andrews et al. 2017):

    M <- M + C,   C_i = max(0, h^2 sum_j |K_ij| - M_ii),   w_free <- (M + C)^-1 M w_free

It takes energy, like a damper C/h, which the account has in its numerical column.
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.bodies.layout import (
    ARM_A,
    ARM_B,
    AT_CONSTRAINTS,
    AT_JOINTS,
    BODY_A,
    BODY_B,
    CONSTRAINT_SIZE,
    CONSTRAINTS,
    FIRST_ROW,
    HOLDS,
    JOINT_SIZE,
    LAST_ROW,
    OF_JOINT,
)
from dalembert.kernels.bodies.motion import inverse_symmetric
from dalembert.kernels.quat import load, rotate_inverse
from dalembert.kernels.smallmat import dot, load3


@kernel
def add_force(K, k, states, arm, F):
    """K[k] += (F.a) 1 - (a F^T + F a^T)/2 of a force in world axes."""
    f = rotate_inverse(load(states[k], 3), F)
    s = dot(f, arm)
    for i in range(3):
        for j in range(3):
            K[k, i, j] += (s if i == j else 0.0) - 0.5 * (arm[i] * f[j] + f[i] * arm[j])


@kernel
def stiffness(system, h, states, J, lam, K):
    """K (n, 3, 3) of the rows by which joints hold; lam: impulses of the step before."""
    for k in range(K.shape[0]):
        for i in range(3):
            for j in range(3):
                K[k, i, j] = 0.0
    for c in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + c * CONSTRAINT_SIZE
        if system[at + HOLDS] <= 0.0:
            continue
        joint = int(system[AT_JOINTS]) + int(system[at + OF_JOINT]) * JOINT_SIZE
        for side in range(2):
            k = int(system[joint + (BODY_A if side == 0 else BODY_B)])
            if k < 0:
                continue
            x, y, z = 0.0, 0.0, 0.0
            for r in range(int(system[at + FIRST_ROW]), int(system[at + LAST_ROW])):
                x += J[r, 6 * side + 3] * lam[r] / h
                y += J[r, 6 * side + 4] * lam[r] / h
                z += J[r, 6 * side + 5] * lam[r] / h
            add_force(K, k, states, load3(system, joint + (ARM_A if side == 0 else ARM_B)), (x, y, z))


@kernel
def stiffen(h, K, masses, inverse, free):
    """Masses, their inverses and free velocities of the bodies that need it; returns how many do."""
    count = 0
    for k in range(K.shape[0]):
        c0, c1, c2 = 0.0, 0.0, 0.0
        for i in range(3):
            if K[k, i, i] > 0.0:
                more = h * h * (abs(K[k, i, 0]) + abs(K[k, i, 1]) + abs(K[k, i, 2])) - masses[k, i, i]
                if more > 0.0:
                    if i == 0:
                        c0 = more
                    elif i == 1:
                        c1 = more
                    else:
                        c2 = more
        if c0 + c1 + c2 == 0.0:
            continue
        count += 1
        M = masses[k]
        w0, w1, w2 = free[6 * k], free[6 * k + 1], free[6 * k + 2]
        p0 = M[0, 0] * w0 + M[0, 1] * w1 + M[0, 2] * w2
        p1 = M[1, 0] * w0 + M[1, 1] * w1 + M[1, 2] * w2
        p2 = M[2, 0] * w0 + M[2, 1] * w1 + M[2, 2] * w2
        M[0, 0] += c0
        M[1, 1] += c1
        M[2, 2] += c2
        N = inverse_symmetric((M[0, 0], M[0, 1], M[0, 2], M[1, 0], M[1, 1], M[1, 2], M[2, 0], M[2, 1], M[2, 2]))
        for i in range(3):
            free[6 * k + i] = N[3 * i] * p0 + N[3 * i + 1] * p1 + N[3 * i + 2] * p2
            for j in range(3):
                inverse[k, i, j] = N[3 * i + j]
    return count
