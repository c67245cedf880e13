"""RATTLE: SHAKE, then the momentum of the new node is projected, so that velocities keep the constraints too.

    p_1 = p_1^SHAKE + G(q_1)^T mu,   G(q_1) v_1 + dg/dt = 0,   p_1 = dL/dv (q_1, v_1)

Positions equal those of SHAKE. Symplectic on the constraint manifold, self-adjoint, of order 2. The multiplier is (Lambda + mu) / h: the
force in the interval.

References: andersen1983, hairer2006 (section VII.1.4).
"""

from typing import Any

from dalembert.lagrangian.discrete import canonical, nodal_velocity
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Move, Program, Scope
from dalembert.steppers.lagrangian._entry import CONSTRAINED, lagrangian
from dalembert.steppers.lagrangian.shake import shaken


def projected(s: Scope) -> Move:
    """The move that takes from the momentum of a node what violates the constraints."""
    block = nodal_velocity(s)
    v, mu = block.unknowns[: s.n, :], block.unknowns[s.n :, :]
    return Move(s.next(s.q, s.formulas.momentum(s.q, v), s.w, mu=s.mu + mu / s.h, time=s.time), block)


@lagrangian(
    name="rattle",
    summary="SHAKE with velocities that keep the constraints too",
    order=2,
    self_adjoint=True,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded", "constraint: exactly"),
    handles=CONSTRAINED,
    references=("andersen1983", "hairer2006", "lacoursiere2007"),
    rank=4,
)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """SHAKE and the projection."""
    s = Scope(formulas)
    return canonical(s, [shaken(s), projected(s)] if s.multipliers else [shaken(s)])
