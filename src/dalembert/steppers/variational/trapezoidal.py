"""Trapezoidal rule: L_d(q_k, q_k+1) = h/2 [L(q_k, v) + L(q_k+1, v)], q_k+1 = q_k tau(h v), forces at the nodes.

    1/2 dtau_hv^-T [M(r_k) + M(r_k+1)] v - h/4 v^T dM(r_k) v = p_k - h/2 dV(q_k) + ...      Kobilarov (62)-(64); (21)-(25) on a fixed base

Conserves momenta of symmetries to round-off, is symplectic, self-adjoint, of order 2; energy stays in a band. For this rule step sizes
are proved (`dal.advise`).
"""

from dalembert.kernels.tree.variational.layout import FIRST, SECOND
from dalembert.steppers.variational._entry import enter

enter(
    FIRST,
    SECOND,
    name="trapezoidal",
    summary="variational trapezoidal rule on SE(3) x R^m, the method whose step sizes are proved",
    order=2,
    self_adjoint=True,
    proved=True,
    conserves=("momentum: exactly", "energy: bounded", "attitude: exactly"),
    references=("kobilarov2014",),
    rank=2,
)
