"""Energies, momentum and poses of many states by the compiled kernels; `kinematics.py` says the same in NumPy, and is their judge.

Bodies that are fixed to the world are no links: what they and forces between them add to the potential energy is a constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels._far import raise_pending
from dalembert.kernels.tree import rows as at
from dalembert.model.compile_tree import Place, work_size
from dalembert.model.kinematics import need
from dalembert.model.parts import WORLD, Body

if TYPE_CHECKING:
    from dalembert.model.dynamics import TreeDynamics
    from dalembert.model.model import Model

NONE, NO_ROWS = np.zeros(0), np.zeros((0, 6))


class Survey(NamedTuple):
    """What a report asks of the bodies at the nodes of a run: see `kernels/tree/rows.py`."""

    spins: Array
    reach: Array
    moments: Array
    changes: Array


class StateRows:
    """Functions of arrays of states (..., nq), (..., nv) of one model with at least one degree of freedom."""

    def __init__(self, model: Model, tree: TreeDynamics):
        self.nq, self.nv, self.system = tree.nq, tree.nv, tree.system
        self.size = work_size(tree.system)
        free = {j.child for j in model.joints if j.kind == "free"}
        self.bodies = np.concatenate([_record(b, tree.places[b.name], b.name in free) for b in model.bodies])
        self.constant = fixed_energy(model, tree.places)

    def _rows(self, q: Array, v: Array | None = None) -> tuple[Array, Array, tuple[int, ...]]:
        """q and v as matrices of one row per state, and the shape of the states."""
        need("q", q, self.nq)
        if v is None:
            return np.ascontiguousarray(q.reshape(-1, self.nq)), np.zeros((0, self.nv)), q.shape[:-1]
        need("v", v, self.nv)
        lead = q.shape[:-1]
        if v.shape[:-1] != lead:
            lead = np.broadcast_shapes(lead, v.shape[:-1])
            q, v = np.broadcast_to(q, (*lead, self.nq)), np.broadcast_to(v, (*lead, self.nv))
        return np.ascontiguousarray(q.reshape(-1, self.nq)), np.ascontiguousarray(v.reshape(-1, self.nv)), lead

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Of bodies and armatures, J."""
        q, v, lead = self._rows(q, v)
        out = np.empty(len(q))
        at.state_rows(self.system, q, v, np.zeros(self.size + 6), out, NONE, NO_ROWS)
        return out.reshape(lead)[()]

    def potential_energy(self, q: Array) -> Array:
        """Of gravity, springs and joint stiffness, J."""
        q, v, lead = self._rows(q)
        out = np.empty(len(q))
        at.state_rows(self.system, q, v, np.zeros(self.size + 6), NONE, out, NO_ROWS)
        raise_pending()
        return (out + self.constant).reshape(lead)[()]

    def momentum(self, q: Array, v: Array) -> Array:
        """(angular about the world origin, linear), (..., 6)."""
        q, v, lead = self._rows(q, v)
        out = np.empty((len(q), 6))
        at.state_rows(self.system, q, v, np.zeros(self.size + 6), NONE, NONE, out)
        return out.reshape(*lead, 6)

    def mechanics(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Kinetic energy, potential energy and momentum, of one sweep over each state."""
        q, v, lead = self._rows(q, v)
        kinetic, potential, momentum = np.empty(len(q)), np.empty(len(q)), np.empty((len(q), 6))
        at.state_rows(self.system, q, v, np.zeros(self.size + 6), kinetic, potential, momentum)
        return kinetic.reshape(lead), (potential + self.constant).reshape(lead), momentum.reshape(*lead, 6)

    def poses(self, q: Array) -> Array:
        """(..., bodies, 4, 4)."""
        q, _, lead = self._rows(q)
        n = len(self.bodies) // at.BODY_SIZE
        out = np.zeros((len(q), n, 4, 4))
        at.pose_rows(self.system, self.bodies, q, np.zeros(self.size), out)
        return out.reshape(*lead, n, 4, 4)

    def survey(self, q: Array, v: Array, centre: Array) -> Survey:
        """Rates, reaches and moments about a point, of states (N, nq), (N, nv) that follow each other."""
        q, v, _ = self._rows(q, v)
        n = len(self.bodies) // at.BODY_SIZE
        out = Survey(np.empty((len(q), n)), np.empty(len(q)), np.empty(len(q)), np.empty(max(len(q) - 1, 0)))
        at.survey_rows(self.system, self.bodies, q, v, np.array(centre, dtype=float), np.zeros(self.size + 6 * n), *out)
        return out


def _record(body: Body, place: Place, free: bool) -> Array:
    """The record of a body in the frame of its link."""
    r = np.zeros(at.BODY_SIZE)
    r[at.LINK], r[at.BODY_MASS], r[at.COM_ARM], r[at.AS_IT_IS] = place.link, body.mass, float(np.linalg.norm(body.com)), free
    r[at.FRAME_R : at.FRAME_R + 9], r[at.FRAME_P : at.FRAME_P + 3] = place.R.ravel(), place.p
    r[at.COM : at.COM + 3] = place.R @ body.com + place.p
    I = place.R @ body.inertia @ place.R.T
    r[at.BODY_INERTIA : at.BODY_INERTIA + 6] = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return r


def fixed_energy(model: Model, places: dict[str, Place]) -> float:
    """Potential energy of the bodies that are fixed to the world, and of the forces between them."""

    def where(body: str, point: Any) -> Array:
        return np.asarray(point, dtype=float) if body == WORLD else places[body].at(point)

    fixed = {name for name, place in places.items() if place.link < 0}
    total = -sum(b.mass * float(where(b.name, b.com) @ model.gravity) for b in model.bodies if b.name in fixed)
    for f in model.forces:
        if fixed.issuperset(f.ends):
            total += float(f.stored(where))
    return total
