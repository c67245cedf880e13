"""Bodies that are fixed to each other, as one body."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model.parts import WORLD, Body
from dalembert.model.rotation import matrix
from dalembert.model.touching import leads

if TYPE_CHECKING:
    from dalembert.model.model import Model


class Rigid(NamedTuple):
    """A body and all that is fixed to it as one: mass, centre of mass and inertia about it, in the frame of the body."""

    body: Body
    mass: float
    com: Array
    inertia: Array


def lump(model: Model) -> tuple[dict[str, str], dict[str, Rigid]]:
    """(body -> the body that carries it by fixed joints, or the world; carrying body -> the whole)."""
    lead = leads(model)
    members: dict[str, list[Body]] = {}
    for b in model.bodies:
        members.setdefault(lead[b.name], []).append(b)
    return lead, {name: _whole(model.body(name), parts) for name, parts in members.items() if name != WORLD}


def _whole(body: Body, parts: list[Body]) -> Rigid:
    """Parallel axes: I = sum R I_b R^T + m_b (d.d 1 - d d^T) with d from the common centre of mass."""
    if len(parts) == 1:
        return Rigid(body, body.mass, body.com, body.inertia)
    R_B = matrix(body.quaternion)
    turns = [R_B.T @ matrix(b.quaternion) for b in parts]
    coms = [R_B.T @ (b.position - body.position) + R @ b.com for b, R in zip(parts, turns, strict=True)]
    mass = sum(b.mass for b in parts)
    com = np.average(coms, axis=0, weights=[b.mass for b in parts]) if mass > 0 else np.zeros(3)
    inertia = np.zeros((3, 3))
    for b, R, c in zip(parts, turns, coms, strict=True):
        d = c - com
        inertia += R @ b.inertia @ R.T + b.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Rigid(body, mass, com, 0.5 * (inertia + inertia.T))
