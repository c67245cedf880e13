"""Null-space method: the variational midpoint rule in director coordinates, reduced to what the constraints leave free.

    L_d = h L((q_0 + q_1)/2, (q_1 - q_0)/h)

    form="reduced"        P(q_0)^T (p_0 + D_1 L_d(q_0, q_1)) = 0,  q_1 = F(u, q_0): k equations for u                              (11)
    form="multipliers"    p_0 + D_1 L_d(q_0, q_1) - w G(q_0)^T lambda = 0,  g(q_1) = 0: n + m equations for q_1 and lambda         (10)

P spans the null space of the constraints, G P = 0, and F stays on them, g(F) = 0: both are explicit along trees (joints of all kinds, links
between particles); loops are closed by rows of their own, in an orthonormal basis Z of what they leave free. Both forms are one method. The
step is in kernels/directors/null_space.py and full.py; constraints hold to round-off at nodes, their rates at v.

Symplectic, self-adjoint, of order 2; conserves momenta to round-off, energy in a band.

References: leyendecker (10), (11), betsch2006. Condition of (10): scaled by h, where print has h^-3.
"""

from dalembert.kernels.directors.full import step
from dalembert.registry import MAX_ITERATIONS, TOL, Option, register

FORMS = ("reduced", "multipliers")
HANDLES = ("free", "pivot", "tree", "gravity", "spring", "stiffness", "loops", "control")

register(
    name="null-space",
    summary="variational midpoint rule in director coordinates, reduced to the null space of the constraints",
    system="directors",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded"),
    handles=HANDLES,
    limitations="dense: effort grows with the cube of the number of bodies",
    options=(
        Option("form", "reduced", "'reduced' to the null space, or with 'multipliers' as unknowns", words=FORMS),
        TOL,
        MAX_ITERATIONS,
    ),
    references=("leyendecker", "betsch2006"),
    rank=1,
)(step)
