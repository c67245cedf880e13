"""Variational collision integrator: bodies that strike each other at instants within a step.

    smooth motion      a variational step of the tree: `null-space` (Leyendecker et al. (11)), or another base
    instant            q_i, t_i with g_c(q_i) = 0 on the step itself: the node that the discrete action inserts         (12), (14)
    impact             0 <= Lambda perp A Lambda + (1 + e) b >= 0 at that node, p+ = p- + G_c^T Lambda             "nodal"
                       or Lambda scaled so that the discrete energy of the next interval is that of the one before   "variational", (13c)
    rest               contacts that leave more slowly than rest_speed are kept closed, until their force would pull

Print: (6), (7) lost the reaction of holonomic constraints, which is in p+ here; one multiplier for all contacts of an instant (3.2) lets
bodies pass through each other, so each has its own. (13c) conserves a discrete energy that depends on the length of the interval, so the
energy of the nodes wanders from impact to impact (a bouncing ball: m g^2 (h2^2 - h1^2)/8 each time); the nodal law does not, and is the
default. With (13c) second and later impacts of one step, and those that end in rest, are nodal too. (13c) with base="symplectic-euler" is
the exact impact of Lacoursiere (10.25)-(10.27).

Contacts have no friction. The loop is compiled: kernels/collision.
"""

from __future__ import annotations

from typing import Any

from dalembert.arrays import Array
from dalembert.kernels.tree.variational.layout import FIRST, MIDDLE, SECOND
from dalembert.kernels.tree.variational.step import step
from dalembert.kernels.tree.variational.trust import TURN
from dalembert.registry import Option, register
from dalembert.steppers.variational._entry import COMMON, OPTIONS, pack

BASES: dict[str, tuple[tuple[int, ...], bool]] = {
    "null-space": ((FIRST, SECOND), True),
    "midpoint": ((MIDDLE,), False),
    "trapezoidal": ((FIRST, SECOND), False),
    "symplectic-euler": ((FIRST,), False),
}


def prepare(system: Array, options: dict[str, Any]) -> Array:
    """The system array of the base step."""
    sides, chord = BASES[options["base"]]
    return pack(system, sides, options, TURN if options["base"] != "symplectic-euler" else float("inf"), chord)


register(
    **{
        **COMMON,
        "name": "collision",
        "summary": "bodies without friction that collide at instants within a step; elastic impacts keep energy, momentum is exact",
        "order": 2,
        "self_adjoint": True,
        "symplectic": False,
        "conserves": ("momentum: exactly", "energy: bounded", "energy of the free body: exactly", "attitude: exactly"),
        "handles": tuple(x for x in (*COMMON["handles"], "contact") if x != "drive"),
        "options": (
            *OPTIONS,
            Option("base", "null-space", "step of the smooth motion", words=tuple(BASES)),
            Option(
                "response",
                "instant",
                "impacts at their instants, or by decomposition of momentum at nodes: quick, for first guesses; bodies overlap",
                words=("instant", "decomposition"),
            ),
            Option("reflection", "nodal", "impulse at the node, or by the energy of the next interval", words=("nodal", "variational")),
            Option("impacts", "together", "contacts of one instant: one problem, or one after the other", words=("together", "in turn")),
            Option(
                "restitution",
                -1.0,
                "of all contacts, 0 to 1; -1: that of shapes and add_contact",
                valid=lambda e: e == -1.0 or 0.0 <= e <= 1.0,
                expected="a number from 0 to 1",
            ),
            Option("smooth", False, "take all contacts without friction, whatever shapes say"),
            Option("rest_speed", 1e-6, "contacts that leave more slowly rest", "m/s", lambda x: 0 <= x < 1e9, "a number >= 0"),
            Option("max_impacts", 10000, "in one step", valid=lambda n: n >= 1, expected="a whole number >= 1"),
        ),
        "limitations": "no friction at contacts; spheres, capsules, boxes, convex hulls, planes",
        "references": ("leyendecker", "fetecau2003", "cirak2005"),
        "rank": 60,
        "named": True,
        "prepare": prepare,
        "engine": "collision",
    }
)(step)
