"""Pieces that are not convex are put together without touching on the way: N = 29 steps of 0.01 s, rest to rest, with the least effort.

Two L-shaped pieces of three cells (0.1 m, 1000 kg/m^3), each a union of two boxes, end side by side as a rectangle of 2 x 3 cells; where
that is, is free. In case 1 the way is open: the pieces only graze each other. In case 2 they begin on the wrong sides. "puzzle-three" has
a third, larger L around the other two (after the example of Leyendecker et al., whose masses and states are not printed).

Pieces are kept apart by one plane for each pair of boxes and each step, but for the last step, which ends in contact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.dmoc import dmoc
from dalembert.control.scenes._base import Finding, PlanScene, register
from dalembert.model import Model
from dalembert.model.rotation import quat_about, quat_mul
from dalembert.model.shapes import Box

CELL, DENSITY = 0.1, 1000.0  # m, kg/m^3
#: boxes (x from, to, y from, to) of the pieces where they belong, in cells
PIECES = {
    "A": ((0, 2, 0, 1), (0, 1, 1, 2)),
    "B": ((1, 2, 1, 2), (0, 2, 2, 3)),
    "C": ((2, 3, 0, 4), (0, 2, 3, 4)),
}
#: (place, turns about z, y, x) of A, and of B in both cases, and of C
FIRST = ((0.0, 0.0, 0.0), (0.2, 0.1, 0.0))
SECOND = {1: ((-0.2, 0.32, 0.05), (1.3, -0.3, 0.4)), 2: ((-0.2, -0.15, 0.02), (0.6, -0.3, 0.4))}
THIRD = ((0.3, 0.25, 0.1), (-0.5, 0.2, 0.1))
#: costs of both cases where nothing is avoided, with torques that are constant in the world during a step (here: in the piece)
UNHINDERED = {1: 131.2373, 2: 29.0045}


def model(names: str = "AB") -> tuple[Model, dict[str, Array]]:
    """The pieces, free, with their frames at their centres of mass; and where these are in the finished puzzle."""
    m, centres = Model("puzzle", gravity=(0, 0, 0)), dict[str, Array]()
    for name in names:
        boxes = CELL * np.array(PIECES[name], dtype=float)
        low = np.column_stack([boxes[:, 0], boxes[:, 2], np.zeros(len(boxes))])
        size = np.column_stack([boxes[:, 1], boxes[:, 3], np.full(len(boxes), CELL)]) - low
        mass = DENSITY * size.prod(axis=1)
        x = low + 0.5 * size
        centres[name] = centre = mass @ x / mass.sum()
        shapes = [Box(tuple(s), position=tuple(c - centre)) for s, c in zip(size, x, strict=True)]
        inertia = np.zeros((3, 3))
        for k, shape in enumerate(shapes):
            r = x[k] - centre
            inertia += np.diag(shape.inertia(float(mass[k]))) + mass[k] * (r @ r * np.eye(3) - np.outer(r, r))
        m.add_body(name, float(mass.sum()), inertia, shapes=shapes)
    return m, centres


def attitude(turns: tuple[float, float, float]) -> Array:
    """Quaternion of turns about z, then y, then x, axes of the world."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(np.eye(3)[::-1], turns, strict=True):
        q = quat_mul(quat_about(axis, np.array([angle])), q)
    return q


def build(N: int = 29, case: int = 1, pieces: str = "AB", **more: Any) -> Any:
    """From apart to put together, T = 0.29 s."""
    m, centres = model(pieces)
    states = {"A": FIRST, "B": SECOND[case], "C": THIRD}
    start = np.concatenate([np.append(states[name][0], attitude(states[name][1])) for name in pieces])
    beside = {(name, "A"): (centres[name] - centres["A"], (1, 0, 0, 0)) for name in pieces[1:]}
    return dmoc(m, N, start, {"relative": beside}, h=0.29 / N, **{"stepper": "null-space", "avoid": True, **more})


def three(N: int = 29, **more: Any) -> Any:
    """With the third piece."""
    return build(N, pieces="ABC", **more)


def check(solution: Any) -> list[Finding]:
    """Nothing overlaps at or between nodes; the pieces end where they belong."""
    apart = solution.verify(true_motion=False).clearance
    worst = 0.0
    T = solution.problem.machine.whole.poses(solution.q[-1])
    names = [b.name for b in solution.problem.machine.whole.bodies]
    for (body, other), (r, _) in solution.problem.goal.relative.items():
        A, B = T[names.index(other)], T[names.index(body)]
        worst = max(worst, float(np.abs(A[:3, :3].T @ (B[:3, 3] - A[:3, 3]) - r).max()), float(np.abs(A[:3, :3] - B[:3, :3]).max()))
    found = [
        Finding("apart at nodes, m", apart.at_nodes, ">= 1e-4", apart.at_nodes >= 1e-4 - 1e-8),
        Finding("apart between nodes, m", apart.between, "> 0", apart.between > 0.0),
        Finding("apart in the last step, m", apart.in_contact, ">= -1e-6", apart.in_contact >= -1e-6),
        Finding("off the finished puzzle by", worst, "<= 1e-8", worst <= 1e-8),
    ]
    for case, (place, _) in SECOND.items():
        if len(names) == 2 and np.allclose(solution.q[0, 7:10], place):
            free = UNHINDERED[case]
            found.append(Finding("cost", solution.cost, f">= {free} but for 1 %, without avoidance", solution.cost > 0.99 * free))
    return found


register(PlanScene("puzzle", "two L-shaped pieces are put together without overlap on the way", build, check, ("leyendecker",)))
register(PlanScene("puzzle-three", "three pieces that are not convex are put together without overlap", three, check, ("leyendecker",)))
