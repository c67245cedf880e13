"""Nodes: the bodies of a machine (with all that is fixed to them) and its particles, as vectors of director coordinates.

A body has phi, its centre of mass, and d_1, d_2, d_3, unit vectors along its principal axes: 12 coordinates. A particle has phi. The mass
matrix is constant and diagonal: every vector w has a mass, phi that of the body, d_i the second moment E_i = (J_j + J_k - J_i)/2 of the
matter along it:  T = sum m w_dot.w_dot/2.

Vectors are numbered as in kernels/directors/layout.py: e_1, e_2, e_3 of the world, 0, then those of the nodes. A place or a direction
that is fixed in a node is a combination {number: coefficient} of vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.directors.layout import ZERO
from dalembert.model.lumps import Rigid, lump
from dalembert.model.parts import WORLD
from dalembert.model.points import is_free
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.model import Model

#: sum of coefficient * vector
Vector = dict[int, float]
DIAGONAL = 1e-14  # products of inertia below this share of the largest moment are none


class Node(NamedTuple):
    """A body or a particle; the world is one too. Vectors phi and first director; place and axes (columns) at the reference configuration.

    com, axes_B: centre of mass and principal axes in the frame of the body that leads the node.
    """

    name: str
    phi: int
    dirs: int
    rigid: bool
    place: Array
    axes: Array
    com: Array
    axes_B: Array
    mass: float
    moments: Array

    def point(self, where: Array) -> Vector:
        """A place that is given in the world at the reference configuration."""
        return {**({self.phi: 1.0} if self.phi > ZERO else {}), **self.direction(where - self.place)}

    def direction(self, along: Array, turn: Array | None = None) -> Vector:
        """A direction given there; turn: rotation from the reference orientation of the node to the one that is meant."""
        axes = self.axes if turn is None else turn @ self.axes
        return {self.dirs + i: float(x) for i, x in enumerate(axes.T @ along)}


#: sum of the products of two vectors
Row = list[tuple[Vector, Vector]]


def dot(a: Vector, b: Vector, factor: float = 1.0) -> Row:
    """factor a.b"""
    return [({i: factor * x for i, x in a.items() if x != 0.0}, {i: x for i, x in b.items() if x != 0.0})]


def plus(*sums: Row) -> Row:
    """The sum of some."""
    return [product for one in sums for product in one]


def number(c: float) -> Row:
    """A constant: c e_1.e_1."""
    return [({0: c}, {0: 1.0})] if c != 0.0 else []


def less(a: Vector, b: Vector) -> Vector:
    """a - b"""
    return {i: a.get(i, 0.0) - b.get(i, 0.0) for i in {**a, **b}}


def world() -> Node:
    """The node that does not move."""
    zero, one = np.zeros(3), np.eye(3)
    return Node(WORLD, ZERO, 0, False, zero, one, zero, one, 0.0, zero)


def find_nodes(model: Model) -> tuple[dict[str, str], dict[str, Node]]:
    """(body -> the body that leads its node, or the world; leading body -> node), nodes in the order of the bodies."""
    lead, wholes = lump(model)
    joints = {j.child: j for j in model.joints}
    nodes, free = {WORLD: world()}, ZERO + 1
    for name, whole in wholes.items():
        joint = joints[name]
        point = joint.kind == "translation" and is_free(model, joint) and not whole.inertia.any()
        nodes[name] = _node(whole, free, point)
        free += 1 if point else 4
    return lead, nodes


def _node(whole: Rigid, phi: int, point: bool) -> Node:
    R_WB = matrix(whole.body.quaternion)
    moments, axes = _principal(whole.inertia)
    if point:
        axes = R_WB.T  # the axes of the world
    second = 0.5 * moments.sum() - moments
    place = whole.body.position + R_WB @ whole.com
    dirs = 0 if point else phi + 1
    return Node(whole.body.name, phi, dirs, not point, place, R_WB @ axes, np.array(whole.com), axes, whole.mass, second)


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments and axes (columns, right-handed); of a diagonal matrix the axes of the body."""
    if np.abs(inertia - np.diag(np.diag(inertia))).max() <= DIAGONAL * np.abs(inertia).max():
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    return moments, axes if np.linalg.det(axes) > 0.0 else -axes
