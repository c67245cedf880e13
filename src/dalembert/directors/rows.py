"""Constraints as quadratic rows, sums of products of vectors.

    body          (d_i.d_i - 1)/2, d_1.d_2, d_1.d_3, d_2.d_3                                            6

With x' a point and n, n_a, n_b (n x n_a = n_b) directions of the parent, x and c_k those of the child, d = x - x':

    spherical     d                             3       planar       n.d, tilt                          3
    revolute      d, tilt                       5       universal    d, n.c_2 - its value               4
    prismatic     n_a.d, n_b.d, turn            5       slot         n_a.d, n_b.d                       2
    cylindrical   n_a.d, n_b.d, tilt            4       distance     (d.d - l^2)/(2 l)                  1
    fixed         d, turn                       6       translation  turn                               3

    tilt   n.c_k - its value, for two directors of the child: the one most parallel to n is left out, so that the rows have full rank
    turn   n_a.c_b, n_b.c_n, n.c_a

A tilt is met by the reverse of the axis as well, a turn by half turns about the three directions: a start must tell (`joins`, > 0 where
the axes agree); no continuous motion leads from one to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.directors.nodes import Node, Row, Vector, dot, less, number, plus
from dalembert.errors import UnsupportedError
from dalembert.model.loops import across
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.model import Model

UNIT: list[Vector] = [{0: 1.0}, {1: 1.0}, {2: 1.0}]
KINDS = ("spherical", "revolute", "prismatic", "cylindrical", "fixed", "planar", "universal", "slot", "distance", "translation", "free")


class Label(NamedTuple):
    """Whose row it is, and which."""

    joint: str
    row: str


class Tie(NamedTuple):
    """What a joint holds: rows with their labels, and products of axes that are positive where they agree."""

    name: str
    labels: list[Label]
    rows: list[Row]
    agrees: list[Row]


class Ends(NamedTuple):
    """A joint between two nodes: points and the axis; all places in the world at the reference configuration."""

    name: str
    kind: str
    parent: Node
    child: Node
    anchor: Array
    point: Array
    axis: Array
    axis2: Array | None
    turn: Array
    length: float | None


def ends_of(joint: Any, lead: dict[str, str], nodes: dict[str, Node]) -> Ends:
    """Of a joint of the tree, or of one that closes a loop."""
    parent, child = (nodes[WORLD if body == WORLD else lead[body]] for body in (joint.parent, joint.child))
    turn = matrix(joint.turn) if hasattr(joint, "turn") else np.eye(3)
    point, length = getattr(joint, "point", joint.anchor), getattr(joint, "length", None)
    return Ends(joint.name, joint.kind, parent, child, joint.anchor, point, joint.axis, joint.axis2, turn, length)


def internal(node: Node) -> Tie:
    """That directors are orthonormal."""
    d: list[Vector] = [{node.dirs + i: 1.0} for i in range(3)]
    rows = [plus(dot(x, x, 0.5), number(-0.5)) for x in d] + [dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2])]
    names = ("|d1|", "|d2|", "|d3|", "d1.d2", "d1.d3", "d2.d3")
    return Tie(node.name, [Label(node.name, x) for x in names], rows, [])


def tie(e: Ends) -> Tie:
    """What a joint holds."""
    if e.kind not in KINDS:
        raise UnsupportedError(
            f"joint {e.name!r} ({e.kind}): director coordinates have no quadratic rows of it; known: {', '.join(KINDS)}."
        )
    d = less(e.child.point(e.point), e.parent.point(e.anchor))
    rows: list[tuple[str, Row]] = []
    agrees: list[Row] = []
    if e.kind in ("spherical", "revolute", "fixed", "universal"):
        rows += [(f"shift {x}", dot(unit, d)) for x, unit in zip("xyz", UNIT, strict=True)]
    if e.kind in ("prismatic", "cylindrical", "slot"):
        rows += [(f"across {k + 1}", dot(e.parent.direction(b), d)) for k, b in enumerate(across(e.axis))]
    if e.kind == "planar":
        rows.append(("height", dot(e.parent.direction(e.axis), d)))
    if e.kind in ("revolute", "cylindrical", "planar"):
        rows += _tilt(e)
        agrees.append(dot(e.parent.direction(e.axis), e.child.direction(e.axis, e.turn)))
    if e.kind in ("prismatic", "fixed", "translation"):
        triad = (e.axis, *across(e.axis))
        ours, theirs = [e.parent.direction(x) for x in triad], [e.child.direction(x, e.turn) for x in triad]
        rows += [(f"turn {k + 1}", dot(ours[(k + 1) % 3], theirs[(k + 2) % 3])) for k in range(3)]
        agrees += [dot(a, b) for a, b in zip(ours, theirs, strict=True)]
    if e.kind == "universal":
        assert e.axis2 is not None  # a universal joint has one
        product = dot(e.parent.direction(e.axis), e.child.direction(e.axis2, e.turn))
        rows.append(("axes", plus(product, number(-float(e.axis @ e.axis2)))))
    if e.kind == "distance":
        assert e.length is not None  # a distance has one
        rows.append(("length", plus(dot(d, d, 0.5 / e.length), number(-0.5 * e.length))))
    return Tie(e.name, [Label(e.name, name) for name, _ in rows], [row for _, row in rows], agrees)


def _tilt(e: Ends) -> list[tuple[str, Row]]:
    """n.d_k - c_k for the two directors of the child that are least parallel to n."""
    comps = (e.turn @ e.child.axes).T @ e.axis
    left_out = int(np.argmax(np.abs(comps)))
    n = e.parent.direction(e.axis)
    kept = [k for k in range(3) if k != left_out]
    return [(f"tilt {i + 1}", plus(dot(n, {e.child.dirs + k: 1.0}), number(-float(comps[k])))) for i, k in enumerate(kept)]


def tree_ties(model: Model, lead: dict[str, str], nodes: dict[str, Node]) -> list[Tie]:
    """Of all bodies, and of all joints of the tree that hold something."""
    found = [internal(node) for node in nodes.values() if node.rigid]
    for j in model.joints:
        if j.kind not in ("fixed", "free") and nodes[lead[j.child]].rigid:
            found.append(tie(ends_of(j, lead, nodes)))
    return found
