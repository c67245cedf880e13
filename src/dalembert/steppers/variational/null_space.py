"""Null-space midpoint rule in director coordinates, run in the joint coordinates of the machine.

    L_d = h L((q_k + q_k+1)/2, (q_k+1 - q_k)/h),    q = (phi, d1, d2, d3) of every body       Leyendecker et al. (8)-(11)
    P^T(q_k) [D2 L_d(q_k-1, q_k) + D1 L_d(q_k, q_k+1)] = 0,    q_k+1 = F(u, q_k)

The mass matrix of director coordinates is constant: each material point moves along a straight path (kernels/tree/variational/chord.py).
The reparametrisation F moves the joints by u = h v: bodies stay rigid and joints closed to round-off, and one equation per degree of
freedom is left. Loops keep multipliers. Weight, linear in q, is exact; other potentials are taken at both nodes, half each, in place of
the middle, where directors are no rotation: same order, same symmetries. For one free body this is Moser and Veselov's top.

Print: (7), (13a) and others are corrected where collisions need them, see `collision`.
"""

from dalembert.kernels.tree.variational.layout import FIRST, SECOND
from dalembert.steppers.variational._entry import enter

enter(
    FIRST,
    SECOND,
    chord=True,
    name="null-space",
    summary="midpoint rule in director coordinates, reduced by the null space of rigid bodies and joints; linear in bodies",
    order=2,
    self_adjoint=True,
    conserves=("momentum: exactly", "energy: bounded", "energy of the free body: exactly", "attitude: exactly"),
    references=("leyendecker", "betsch2006"),
    rank=4,
)
