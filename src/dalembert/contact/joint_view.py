"""`JointView`: a machine cut free, seen in the joint coordinates of the machine that its user knows.

Controls, monitors and `Simulation.state` speak q and v of that machine, whatever coordinates it runs in. What is needed of it is the order
of its joints, [(kind, name)] with the name of the body for a free joint: `order_of`. It is written into files, whose model is the cut one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.bodies import coordinates as at
from dalembert.kernels.bodies.coordinates import push_coordinates, read_coordinates
from dalembert.kernels.bodies.layout import AT_JOINTS, FIRST_MEASURE, JOINT_SIZE
from dalembert.kernels.bodies.measures import measure
from dalembert.model.joints import KINDS

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine
    from dalembert.model.compile_bodies import BodySystem
    from dalembert.model.model import Model

Order = Sequence[Sequence[str]]


def order_of(model: Model) -> list[list[str]]:
    """[kind, name] of the joints with coordinates, in the order of q and v; of a free joint and of a particle the name of the body."""
    return [[j.kind, j.child if j.coordinates.absolute else j.name] for j in model.joints if j.coordinates.nv]


def size_of(order: Order) -> tuple[int, int]:
    """(nq, nv)"""
    return sum(KINDS[kind].nq for kind, _ in order), sum(KINDS[kind].nv for kind, _ in order)


class JointView:
    """q, v of the machine as its user knows it from the bodies, and generalised forces tau, dual to v, on them."""

    def __init__(self, bodies: BodySystem, order: Order):
        self.order = [(kind, name) for kind, name in order]
        self.nq, self.nv = size_of(self.order)
        self.bodies = bodies
        rows, q, v = [], 0, 0
        for kind, name in self.order:
            k = KINDS[kind]
            code = {"free": at.FREE, "translation": at.POINT, "spherical": at.BALL}.get(kind, at.PLAIN)
            rows.append((code, bodies.names.index(name) if k.absolute else bodies.joints.index(name), q, v, k.nv))
            q, v = q + k.nq, v + k.nv
        self.view = np.array(rows, dtype=np.int64).reshape(-1, at.COLUMNS)
        self._room = np.zeros(3)

    def read(self, m: Machine) -> tuple[Array, Array]:
        """q and v of the node, new arrays; measures of the machine are then those of the node."""
        q, v, b, room = np.empty(self.nq), np.empty(self.nv), self.bodies, m.room
        measure(b.system, m.states, room.values, room.J_measures)
        read_coordinates(b.system, self.view, m.states, b.com, room.values, room.J_measures, q, v)
        return q, v

    def push(self, m: Machine, tau: Array) -> None:
        """Hold tau over the next step. Measures are to be those of the node."""
        b = self.bodies
        push_coordinates(b.system, self.view, m.states, b.com, m.intact, m.room.J_measures, tau, self._room, m.held)

    def seed(self, m: Machine, q: Array) -> None:
        """Let angles go on from those of q, which may be beyond half a turn."""
        system = self.bodies.system
        for code, of, at_q, _, n in self.view:
            if code == at.PLAIN:
                first = int(system[int(system[AT_JOINTS]) + of * JOINT_SIZE + FIRST_MEASURE])
                m.room.values[first : first + n] = q[at_q : at_q + n]

    def along(self, names: Sequence[str]) -> list[int]:
        """Where in v the first rates of joints stand; -1: of a joint that has no coordinates there."""
        where: dict[str, Any] = {
            name: row[at.AT_V] for (_, name), row in zip(self.order, self.view, strict=True) if row[at.KIND] in (at.PLAIN, at.BALL)
        }
        return [int(where.get(name, -1)) for name in names]
