"""Symplectic Euler: L_d(q_k, q_k+1) = h L(q_k, v), q_k+1 = q_k tau(h v), forces at the first node.

    M(q_k) v - h/2 v^T dM(q_k) v + h dV(q_k) = p_k,   p_k+1 = M(q_k) v                                     Kobilarov, Fig. 1

Conserves momenta of symmetries to round-off and is symplectic, but of order 1 and not self-adjoint.
"""

from dalembert.kernels.tree.variational.layout import FIRST
from dalembert.steppers.variational._entry import enter

enter(
    FIRST,
    name="symplectic-euler",
    summary="variational Euler rule: order 1, symplectic",
    order=1,
    conserves=("momentum: exactly", "energy: bounded", "attitude: exactly"),
    references=("kobilarov2014",),
    limitations="order 1; converges for much smaller steps than the other two",
    rank=3,
)
