"""Impacts on unilateral constraints c(q) >= 0, found within the step; between them a variational step.

Free motion is the discrete Euler-Lagrange step of `base`. Where it would violate c, the first root of s -> c(q(s)) within the step is
found, q(s) being the node that a step of length s leads to; the motion goes there, an impact changes its momentum, and the rest of the step
follows, with further impacts if there are any. Recorded nodes stay at t = k h. Laws of an impact, Lambda >= 0, e the restitution:

    nodal         0 <= Lambda  _|_  C v+ + e C v- >= 0, at the node; conserves energy at e = 1, several rows at once included
    variational   the impulse after which the discrete energy of the next interval equals that of the one before, less (1 - e^2) of what
                  the nodal law would stop: the action is stationary in the time of the impact too. Energy walks by O(h^2) per impact: a
                  falling ball changes its energy by m g^2 (h_2^2 - h_1^2) / 8, h_1 and h_2 being the parts of the step
    exact         the same with L_d = h L(q_0, w), the method of lacoursiere2007 (10.19-10.27), of order 1, for constant mass matrices

Where the energy condition has no root near the nodal impulse (grazing), or the next flight is shorter than h, which is below what it
resolves, the nodal law acts; the second root of the condition, no reflection at all, is never taken. A row whose next flight would be
shorter than 1e-6 h comes to rest: it is held as an equation as long as its force pushes, and let go where that changes sign, a time that is
found in the same way.

Symplectic between impacts; momenta of symmetries along which no row pushes are kept exactly.

References: leyendecker (12-15), fetecau2003, lacoursiere2007 (10.19-10.33).
"""

from typing import Any

from dalembert.kernels.lagrangian.collision import step
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.impacts import collision_program
from dalembert.lagrangian.program import Program
from dalembert.registry import Option, register
from dalembert.steppers.lagrangian._entry import CONSTRAINED, MAX_ITERATIONS, TOL

LAWS, BASES = ("nodal", "variational", "exact"), ("midpoint", "verlet")

OPTIONS = (
    Option("reflection", "nodal", "law of an impact", valid=lambda x: x in LAWS, expected="'nodal', 'variational' or 'exact'"),
    Option("base", "midpoint", "step between impacts", valid=lambda x: x in BASES, expected="'midpoint' or 'verlet'"),
    Option("gap", 1e-10, "of c below zero that counts as none", "of c", valid=lambda x: 0 < x < 1, expected="a number in (0, 1)"),
    Option("parts", 8, "parts of a step with an event that are looked at", valid=lambda n: n >= 1, expected="a whole number >= 1"),
    Option("max_events", 10_000, "impacts and releases in one step", valid=lambda n: n >= 1, expected="a whole number >= 1"),
)


def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """The step without rows that are held; others are made when they are needed (runs/engines/lagrangian_collision.py)."""
    return collision_program(formulas, options)


register(
    system="lagrangian",
    name="collision",
    summary="impacts on unilateral constraints at their exact times, a variational step between them",
    order=2,
    symplectic=True,
    conserves=("momentum: exactly", "energy: bounded", "constraint: exactly"),
    handles=(*CONSTRAINED, "unilateral"),
    limitations="symplectic, energy bounded between impacts; a row that is met and left between two looks is seen where c is convex",
    options=(*OPTIONS, TOL, MAX_ITERATIONS),
    references=("leyendecker", "fetecau2003", "lacoursiere2007"),
    rank=6,
    program=program,
    engine="lagrangian_collision",
)(step)
