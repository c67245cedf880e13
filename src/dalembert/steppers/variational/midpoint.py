"""Midpoint rule: L_d(q_k, q_k+1) = h L(q_k+1/2, v), q_k+1 = q_k tau(h v), forces at the middle of the step.

Conserves momenta of symmetries to round-off, is symplectic, self-adjoint, of order 2; energy stays in a band. Stable on stiff springs.
"""

from dalembert.kernels.tree.variational.layout import MIDDLE
from dalembert.steppers.variational._entry import enter

enter(
    MIDDLE,
    name="midpoint",
    summary="variational midpoint rule: implicit, one evaluation per iteration, stable on stiff springs",
    order=2,
    self_adjoint=True,
    conserves=("momentum: exactly", "energy: bounded", "attitude: exactly"),
    references=("kobilarov2014", "marsden2001"),
    rank=1,
)
