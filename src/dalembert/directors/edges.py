"""The spanning tree: how each node hangs on its parent, and in which coordinates of motion u.

    joint                      edge     u
    free                       FREE     increment of phi (3), rotation vector (3), world axes
    translation (particle)     POINT    increment of phi (3)
    spherical                  BALL     rotation vector of the child itself (3), world axes, not relative to the parent
    revolute, prismatic, cylindrical, universal, planar, translation (body)     CHAIN     those of the joint, relative to the parent
    distance to a particle that nothing else carries                            LINK      two angles of the link

All other loop joints close loops. Fixed joints make one node of two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.directors.nodes import Node
from dalembert.directors.rows import Ends, ends_of
from dalembert.kernels.directors import layout as at
from dalembert.model.loops import across
from dalembert.model.parts import WORLD

if TYPE_CHECKING:
    from dalembert.model.model import Model

COUNTS = {at.FREE: 6, at.POINT: 3, at.BALL: 3, at.LINK: 2}
NAMES = {
    at.FREE: ("x", "y", "z", "wx", "wy", "wz"),
    at.POINT: ("x", "y", "z"),
    at.BALL: ("wx", "wy", "wz"),
    at.LINK: ("a1", "a2"),
}
X, Y, Z = np.eye(3)


@dataclass
class Edge:
    """A node on its parent. axes: (kind, whose, axis, second) of a chain, world directions at the reference configuration;

    second: of a slide its second factor, of a turn the axis in the child, where it is the same.
    """

    joint: str
    type: int
    parent: Node
    child: Node
    anchor: Array
    parent_anchor: Array
    length: float = 0.0
    axes: tuple[tuple[int, int, Array, Array], ...] = ()

    @property
    def count(self) -> int:
        """Coordinates of motion."""
        return COUNTS.get(self.type, len(self.axes))

    @property
    def names(self) -> list[str]:
        """Of these."""
        return [f"{self.joint}.{x}" for x in NAMES.get(self.type, [str(i + 1) for i in range(self.count)])]

    def record(self, first: int, slots: dict[str, int]) -> list[float]:
        """The edge in the system array; first: its first coordinate."""
        axes: list[float] = []
        for kind, whose, axis, second in self.axes:
            node = self.child if whose == at.CHILD else self.parent
            other = self.child if kind == at.TURN else node
            axes += [kind, whose, *(node.axes.T @ axis), *(other.axes.T @ second)]
        return at.edge_record(
            type=self.type,
            slot=slots[self.child.name],
            parent_slot=slots[self.parent.name],
            phi=self.child.phi,
            dirs=self.child.dirs,
            rigid=self.child.rigid,
            parent_phi=self.parent.phi,
            parent_dirs=self.parent.dirs,
            u=first,
            count=self.count,
            anchor=self.child.axes.T @ (self.anchor - self.child.place),
            parent_anchor=self.parent.axes.T @ (self.parent_anchor - self.parent.place),
            length=self.length,
            slides=any(kind == at.SLIDE for kind, *_ in self.axes),
            axes=[*axes, *[0.0] * (24 - len(axes))],
        )


def _turn(axis: Array, whose: int = at.PARENT, both: bool = True) -> tuple[int, int, Array, Array]:
    """both: the axis is fixed in the child too."""
    return at.TURN, whose, axis, axis if both else np.zeros(3)


def _slide(a: Array, b: Array) -> tuple[int, int, Array, Array]:
    """Along a x b."""
    return at.SLIDE, at.PARENT, a, b


def _chain(e: Ends, kind: Any) -> tuple[tuple[int, int, Array, Array], ...]:
    """Primitives of a joint in the order of its coordinates."""
    if e.kind == "revolute":
        return (_turn(e.axis),)
    a, b = across(e.axis)
    if e.kind == "prismatic":
        return (_slide(a, b),)
    if e.kind == "cylindrical":
        return _turn(e.axis), _slide(a, b)
    if e.kind == "universal":
        assert e.axis2 is not None  # a universal joint has one
        return _turn(e.axis, both=False), _turn(e.axis2, at.CHILD, both=False)
    if e.kind == "planar":
        x = kind.axes(e.axis, e.axis2).axis2
        y = np.cross(e.axis, x)
        return _slide(y, e.axis), _slide(e.axis, x), _turn(e.axis)
    return _slide(Y, Z), _slide(Z, X), _slide(X, Y)


def _edge(joint: Any, lead: dict[str, str], nodes: dict[str, Node]) -> Edge:
    e = ends_of(joint, lead, nodes)
    place = e.child.place
    if e.kind == "free":
        return Edge(e.name, at.FREE, e.parent, e.child, place, place)
    if e.kind == "translation":
        if not e.child.rigid:
            return Edge(e.name, at.POINT, e.parent, e.child, place, place)
        return Edge(e.name, at.CHAIN, e.parent, e.child, place, e.parent.place, axes=_chain(e, None))
    if e.kind == "spherical":
        return Edge(e.name, at.BALL, e.parent, e.child, e.anchor, e.anchor)
    return Edge(e.name, at.CHAIN, e.parent, e.child, e.anchor, e.anchor, axes=_chain(e, joint.coordinates))


def find_edges(model: Model, lead: dict[str, str], nodes: dict[str, Node]) -> tuple[list[Edge], set[str]]:
    """(edges, parents first; names of the loops that are links of the tree)."""
    found = {lead[j.child]: _edge(j, lead, nodes) for j in model.joints if lead[j.child] == j.child}
    links: set[str] = set()
    for loop in model.loops:
        if loop.kind == "distance":
            e = ends_of(loop, lead, nodes)
            for child, parent, place in ((e.child, e.parent, e.anchor), (e.parent, e.child, e.point)):
                own = found.get(child.name)
                if own is not None and own.type == at.POINT and child.name not in _above(parent.name, found):
                    length = float(loop.length or 0.0)
                    found[child.name] = Edge(loop.name, at.LINK, parent, child, child.place, place, length)
                    links.add(loop.name)
                    break
    return _ordered(found), links


def _above(name: str, found: dict[str, Edge]) -> set[str]:
    """A node and all that carry it."""
    out = {name}
    while name != WORLD:
        name = found[name].parent.name
        out.add(name)
    return out


def _ordered(found: dict[str, Edge]) -> list[Edge]:
    done, out, waiting = {WORLD}, [], list(found.values())
    while waiting:
        ready = [e for e in waiting if e.parent.name in done]
        out += ready
        done |= {e.child.name for e in ready}
        waiting = [e for e in waiting if e.child.name not in done]
    return out
