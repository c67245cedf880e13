"""Potential energy as functions f(s) of quadratic s: gravity, springs between points, stiffness of joints.

gravity                            s = -m g.phi, f = s
spring, stiffness k, length L      s = |x_b - x_a|^2/2, f = k (sqrt(2 s) - L)^2/2
stiffness of a shift               s = n.d, f = k (s - rest)^2/2
stiffness of a turn                s = cos(angle - rest), f = k arccos(s)^2/2: beyond half a turn from rest it pulls the short way
stiffness of a ball joint          s = cos(angle) = (sum of d_i.d'_i - 1)/2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.directors.nodes import Node, Row, Vector, dot, less, number, plus
from dalembert.directors.rows import Ends, ends_of
from dalembert.errors import UnsupportedError
from dalembert.kernels.directors import layout as at
from dalembert.model.loops import across
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.model import Model


class Term(NamedTuple):
    """f(s)"""

    kind: int
    a: float
    b: float
    s: Row


def find_terms(model: Model, lead: dict[str, str], nodes: dict[str, Node]) -> list[Term]:
    """All that stores energy."""
    found = [Term(at.LINEAR, 0.0, 0.0, _weights(model, lead, nodes))] if np.any(model.gravity != 0.0) else []
    for f in model.forces:
        if f.kind == "spring":
            ends = [_place(model, lead, nodes, *end) for end in ((f.body_a, f.point_a), (f.body_b, f.point_b))]
            d = less(ends[1], ends[0])
            found.append(Term(at.SPRING, f.stiffness, f.rest_length, dot(d, d, 0.5)))
    for j in model.joints:
        if j.stiffness > 0.0 and lead[j.child] == j.child:
            found += _stiffness(ends_of(j, lead, nodes), j)
    return found


def _weights(model: Model, lead: dict[str, str], nodes: dict[str, Node]) -> Row:
    """-m g.x of all nodes, and of what is fixed to the world."""
    gravity: Vector = {i: float(x) for i, x in enumerate(model.gravity)}
    parts = [dot(gravity, {node.phi: node.mass for node in nodes.values() if node.name != WORLD}, -1.0)]
    for b in model.bodies:
        if lead[b.name] == WORLD:
            parts.append(number(-b.mass * float(model.gravity @ (b.position + matrix(b.quaternion) @ b.com))))
    return plus(*parts)


def _place(model: Model, lead: dict[str, str], nodes: dict[str, Node], body: str, point: object) -> Vector:
    """A point in the frame of a body."""
    x = np.asarray(point, dtype=float)
    if body == WORLD:
        return nodes[WORLD].point(x)
    b = model.body(body)
    return nodes[lead[body]].point(b.position + matrix(b.quaternion) @ x)


def _stiffness(e: Ends, joint: object) -> list[Term]:
    k, rest = joint.stiffness, joint.rest  # type: ignore[attr-defined]
    d = less(e.child.point(e.point), e.parent.point(e.anchor))
    a, b = across(e.axis)
    n = e.parent.direction(e.axis)

    def turn(axis_in: np.ndarray, x: np.ndarray, y: np.ndarray) -> Term:
        """cos(angle - rest): x of the child against x and y of the parent."""
        from_x, from_y = e.parent.direction(x), e.parent.direction(y)
        image = e.child.direction(x)
        return Term(at.ANGLE, k, 0.0, plus(dot(from_x, image, float(np.cos(rest))), dot(from_y, image, float(np.sin(rest)))))

    if e.kind == "prismatic":
        return [Term(at.SQUARE, k, rest, dot(n, d))]
    if e.kind == "revolute":
        return [turn(e.axis, a, b)]
    if e.kind == "cylindrical":
        return [turn(e.axis, a, b), Term(at.SQUARE, k, rest, dot(n, d))]
    if e.kind == "planar":
        x = joint.coordinates.axes(e.axis, e.axis2).axis2  # type: ignore[attr-defined]
        y = np.cross(e.axis, x)
        shifts = [Term(at.SQUARE, k, rest, dot(e.parent.direction(along), d)) for along in (x, y)]
        return [*shifts, turn(e.axis, a, b)]
    if e.kind == "spherical":
        trace = plus(*(dot(e.parent.direction(x), e.child.direction(x), 0.5) for x in np.eye(3)), number(-0.5))
        return [Term(at.ANGLE, k, 0.0, trace)]
    raise UnsupportedError(
        f"joint {e.name!r}: stiffness of a {e.kind} joint has no quadratic form in director coordinates; ignore='stiffness'."
    )
