"""A tree with free and spherical joints as one of shifts and rotations about fixed axes, near one configuration; for estimates only.

A ball joint becomes three hinges about x, y, z of its present frame, a free joint three shifts and three hinges. All of these stand at
zero, where their rates are the velocities of the joint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.errors import UnsupportedError
from dalembert.kernels.tree import layout as at
from dalembert.model.compile_tree import Link, build_tree
from dalembert.model.rotation import matrix
from dalembert.solvability.tree_step import Array, DenseTree, assemble

if TYPE_CHECKING:
    from dalembert.model import Model

# frames whose z is x, y, z
TURNS = (np.eye(3)[:, [1, 2, 0]], np.eye(3)[:, [2, 0, 1]], np.eye(3))


def chart_tree(model: Model, q: Array) -> tuple[DenseTree, Array]:
    """The tree and its coordinates (nv,) at the configuration q."""
    links: list[Link] = []
    last: list[int] = []  # where each link of the model ends up
    coordinates = np.zeros(model.nv)
    for link in build_tree(model).links:
        parent = -1 if link.parent < 0 else last[link.parent]
        if link.turn * link.slide != 0.0:
            raise UnsupportedError(f"joint {link.joint.name!r} is a screw; expected rotations and shifts about fixed axes.")
        if link.kind in (at.REVOLUTE, at.PRISMATIC):
            coordinates[link.v_at] = q[link.q_at]
            links.append(replace(link, parent=parent))
        else:
            links += _unfold(link, q[link.q_at : link.q_at + at.NQ_OF[link.kind]], parent, len(links))
        last.append(len(links) - 1)
    places = np.argsort([link.v_at for link in links])
    where = np.argsort(places)
    parents = np.array([-1 if links[k].parent < 0 else where[links[k].parent] for k in places])
    return assemble([links[k] for k in places], parents, tuple(int(k) for k in where), np.asarray(model.gravity, dtype=float)), coordinates


def _unfold(link: Link, q: Array, parent: int, at_index: int) -> list[Link]:
    free = link.kind == at.FREE
    R, p = link.R_tree @ matrix(q[-4:]), link.p_tree + (link.R_tree @ q[:3] if free else 0.0)
    kinds = [(at.PRISMATIC, axis, 3 + axis) for axis in range(3)] if free else []
    kinds += [(at.REVOLUTE, axis, axis) for axis in range(3)]
    still = replace(link.joint, stiffness=0.0, rest=0.0)
    out = []
    for kind, axis, shift in kinds:
        Q = TURNS[axis]
        out.append(Link(parent, kind, 0, link.v_at + shift, R @ Q, p, still))
        parent, R, p = at_index + len(out) - 1, Q.T, np.zeros(3)
    out[-1].mass, out[-1].moment, out[-1].inertia = link.mass, link.moment, link.inertia
    return out
