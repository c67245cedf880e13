"""The discrete Euler-Lagrange equations of one step.

L_d = h L(q_k, v)                            symplectic Euler            dL/dv and forces at the first node
L_d = h L(q_k+1/2, v)                        midpoint                    between the nodes
L_d = h/2 [L(q_k, v) + L(q_k+1, v)]          trapezoidal                 at both nodes         Kobilarov (21)-(25), (62)-(64)

e(v) = dtau_hv^-T l - h f_left - p_k
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.layout import AT_CALL, LOADS, NV, STEPPER_DATA
from dalembert.kernels.tree.record import NOT_NEGATIVE
from dalembert.kernels.tree.variational.layout import (
    EULER,
    F_LEFT,
    F_RIGHT,
    F_SIDE,
    HV,
    L_BAR,
    L_SIDE,
    METHOD,
    MIDPOINT,
    P_OLD,
    Q_MID,
    Q_NEW,
    Q_OLD,
    RETRACTION,
    SIDE_0,
    SIDE_1,
    SIDE_M,
    E,
    V,
)
from dalembert.kernels.tree.variational.retraction import left_momentum, retract, share
from dalembert.kernels.tree.variational.side import evaluate


@kernel
def residual(h, system, work, again, last):
    """work[E:] = e(v); the records of the sides are those of v afterwards, the places of the first node are known.

    again: not for the first time in this step. last: evaluate also what only the momentum at the second node needs.
    """
    nv = int(system[NV])
    data = int(system[STEPPER_DATA])
    method, exponential = int(system[data + METHOD]), system[data + RETRACTION] != 0.0
    v, x = int(system[data + V]) & NOT_NEGATIVE, int(system[data + HV]) & NOT_NEGATIVE  # loops are vectorised then
    e, p_old = int(system[data + E]) & NOT_NEGATIVE, int(system[data + P_OLD]) & NOT_NEGATIVE
    l, fl, fr = int(system[data + L_BAR]), int(system[data + F_LEFT]), int(system[data + F_RIGHT])
    ls, fs, q_old = int(system[data + L_SIDE]), int(system[data + F_SIDE]), int(system[data + Q_OLD])
    call = int(system[AT_CALL])
    for i in range(nv):
        work[x + i] = h * work[v + i]
    first, end = (0, 1) if method == EULER else ((2, 3) if method == MIDPOINT else (0, 2))
    for k in range(first, end):  # 0: first node, 1: second node, 2: middle
        q, side, out = q_old, int(system[data + SIDE_0]), l
        if k == 1:
            q, side, out = int(system[data + Q_NEW]), int(system[data + SIDE_1]), ls
        elif k == 2:
            q, side = int(system[data + Q_MID]), int(system[data + SIDE_M])
        work[call + 1] = work[call] + (0.0 if k == 0 else (h if k == 1 else 0.5 * h))
        if k != 0:
            retract(system, work, q_old, x, q, exponential, k == 2)
        evaluate(system, work, q, v, side, out, fs, k == 0, k != 1 or last, again and k == 0 and system[LOADS] == 0.0)
        if method != MIDPOINT:
            part = 1.0 if method == EULER else 0.5
            to = fl if k == 0 else fr
            for i in range(nv):
                work[to + i] = part * work[fs + i]
    if method == EULER:
        for i in range(nv):
            work[fr + i] = 0.0
    elif method == MIDPOINT:
        share(system, work, x, fs, fl, fr, exponential)
    else:
        for i in range(nv):
            work[l + i] = 0.5 * (work[l + i] + work[ls + i])
    left_momentum(system, work, h, x, l, fl, e, exponential)
    for i in range(nv):
        work[e + i] -= work[p_old + i]
