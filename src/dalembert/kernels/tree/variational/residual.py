"""The discrete Euler-Lagrange equations of one step.

L_d = h L(q_k, v)                            symplectic Euler            dL/dv and forces at the first node
L_d = h L(q_k+1/2, v)                        midpoint                    between the nodes
L_d = h/2 [L(q_k, v) + L(q_k+1, v)]          trapezoidal                 at both nodes         Kobilarov (21)-(25), (62)-(64)
straight paths                               null-space                  `chord.py`

e(v) = dtau_hv^-T l - h f_left - p_k
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.tree.layout import AT_CALL, LOADS
from dalembert.kernels.tree.variational.chord import chord_residual
from dalembert.kernels.tree.variational.layout import FIRST, MIDDLE, SECOND, places
from dalembert.kernels.tree.variational.retraction import left_momentum, retract, share
from dalembert.kernels.tree.variational.side import evaluate


@kernel
def residual(h, system, work, again, last):
    """work[s.e:] = e(v); the records of the sides are those of v afterwards, the places of the first node are known.

    again: not for the first time in this step. last: evaluate also what only the momentum at the second node needs.
    """
    s = places(system)
    if s.chord != 0:
        chord_residual(h, system, work, again, last)
        return
    call, exponential, part = int(system[AT_CALL]), s.exponential != 0, 1.0 / (s.end - s.first)
    for i in range(s.nv):
        work[s.hv + i] = h * work[s.v + i]
    for k in range(s.first, s.end):
        q, side, out, c = s.q_old, s.side_0, s.l, 0.0
        if k == SECOND:
            q, side, out, c = s.q_new, s.side_1, s.l if s.first == SECOND else s.l_side, 1.0
        elif k == MIDDLE:
            q, side, c = s.q_mid, s.side_m, 0.5
        work[call + 1] = work[call] + c * h
        if k != FIRST:
            retract(system, work, s.q_old, s.hv, q, exponential, k == MIDDLE)
        kept = again and k == FIRST and system[LOADS] == 0.0
        evaluate(system, work, q, s.v, side, out, s.f_side, k == FIRST, k != SECOND or last, kept)
        if k != MIDDLE:
            to = s.f_left if k == FIRST else s.f_right
            for i in range(s.nv):
                work[to + i] = part * work[s.f_side + i]
    if s.inside != 0:
        share(system, work, s.hv, s.f_side, s.f_left, s.f_right, exponential)
    elif s.end - s.first == 2:
        for i in range(s.nv):
            work[s.l + i] = 0.5 * (work[s.l + i] + work[s.l_side + i])
    else:
        none = s.f_right if s.first == FIRST else s.f_left
        for i in range(s.nv):
            work[none + i] = 0.0
    left_momentum(system, work, h, s.hv, s.l, s.f_left, s.e, exponential)
    for i in range(s.nv):
        work[s.e + i] -= work[s.p_old + i]
