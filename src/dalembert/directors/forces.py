"""Forces in director coordinates: of joints, of pushes, and those by which joints hold.

A force f and a torque m on a body: f on phi, m/2 x d_i on the directors; then P^T of it is (f, m) for (phi_dot, omega). A world force at a
point x adds (x - phi) x f to the torque.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.directors import states
from dalembert.directors.compile import Compiled
from dalembert.errors import OptionError, UnknownNameError
from dalembert.model import validate
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix


class Forces:
    """The part of `Directors` that knows forces."""

    compiled: Compiled
    model: Any
    nq: int

    def generalised_force(self, q: Array, body: Any, force: Any, torque: Any, point: Any) -> Array:
        """(n,) of a world force at a world point (default: the centre of mass of the body) and a world torque on a body."""
        if not validate.known(body, self.model._bodies):
            raise UnknownNameError("body", body, [b.name for b in self.model.bodies])
        owner = f"force on body {body!r}"
        f, m = (validate.vector(owner, what, x, 3, OptionError) for what, x in (("force", force), ("torque", torque)))
        out, lead = np.zeros(self.nq), self.compiled.lead[body]
        if lead == WORLD:
            return out
        node = self.compiled.nodes[lead]
        pose = states.poses(self.model, self.compiled, q)[[b.name for b in self.model.bodies].index(body)]
        here = pose[:3, :3] @ self.model.body(body).com + pose[:3, 3]
        x = here if point is None else validate.vector(owner, "point", point, 3, OptionError)
        self._press(out, q, node, f, m + np.cross(x - states.vectors(q, node.phi, 1)[0], f))
        return out

    def _press(self, out: Array, q: Array, node: Any, force: Array, torque: Array) -> None:
        """Add a force on the centre of mass of a node and a torque."""
        at = 3 * (node.phi - 4)
        out[at : at + 3] += force
        if node.rigid:
            out[at + 3 : at + 12] += 0.5 * np.cross(torque, states.vectors(q, node.dirs, 3)).ravel()

    def joint_forces(self, q: Any, tau: Any) -> Array:
        """B(q)^T tau, (n,): generalised forces tau (nv of the model), dual to the rates of its joints, on the director coordinates.

        The joint hands on a wrench S (S^T S)^-1 tau at its anchor to its child, and the opposite one to its parent.
        """
        q = np.asarray(q, dtype=float)
        given = validate.vector(f"directors of model {self.model.name!r}", "tau", tau, self.model.nv, OptionError)
        rest, out = np.zeros(self.nq), np.zeros(self.nq)
        joints, _ = states.to_joints(self.model, self.compiled, q, rest)
        found = states.frames(self.model, self.compiled, q, rest)
        sq, sv = self.model.q_slices(), self.model.v_slices()
        for j in self.model.joints:
            part = given[sv[j.name]]
            if not part.any():
                continue
            place, child = self.model.placement(j.name), found[j.child]
            S = j.coordinates.subspace(joints[sq[j.name]], place.axes)
            wrench = S @ np.linalg.solve(S.T @ S, part)
            R = matrix(child.quaternion)
            anchor = child.position + R @ place.anchor_C
            for body, sign in ((j.child, 1.0), (j.parent, -1.0)):
                lead = WORLD if body == WORLD else self.compiled.lead[body]
                if lead != WORLD:
                    node = self.compiled.nodes[lead]
                    force, arm = sign * (R @ wrench[3:]), anchor - states.vectors(q, node.phi, 1)[0]
                    self._press(out, q, node, force, sign * (R @ wrench[:3]) + np.cross(arm, force))
        return out

    def reaction(self, traj: Any, joint: str) -> Array:
        """What a joint exerts, from the multipliers of the run; those of a node belong to the step that begins there: NaN at the last one.

        Of "energy-momentum" they are those of the middle of that step.

        Joint of the tree: (N + 1, 6), torque about the anchor and force on the child by its parent, in the axes of the child body.
        Loop joint, link: (N + 1, rows), -lambda: a positive one pushes the child towards a larger residual.
        """
        lam = self.multipliers(traj)["holonomic"]
        lam = np.concatenate([lam, np.full_like(lam[:1], np.nan)]) if len(lam) else np.full((len(traj.q), len(self.compiled.rows)), np.nan)
        rows = [r for r, x in enumerate(self.compiled.labels) if x.joint == joint and x.row not in INTERNAL]
        if joint in self.model._loops:
            return self._of_loop(lam, joint)
        if joint not in self.model._joints:
            raise UnknownNameError("joint", joint, [*self.model._joints, *self.model._loops])
        return np.array([self._wrench(q, lam_q, rows, joint) for q, lam_q in zip(traj.q, lam, strict=True)])

    def _of_loop(self, lam: Array, joint: str) -> Array:
        """Rows that were dropped carry nothing."""
        own = next(t for t in self.compiled.ties if t.name == joint and not t.labels[0].row.startswith("|"))
        at = {x: r for r, x in enumerate(self.compiled.labels)}
        return np.stack([-lam[:, at[x]] if x in at else np.zeros(len(lam)) for x in own.labels], axis=1)

    def _wrench(self, q: Array, lam: Array, rows: list[int], joint: str) -> Array:
        j = self.model.joint(joint)
        lead = self.compiled.lead[j.child]
        if lead == WORLD or not rows:
            return np.zeros(6)
        node = self.compiled.nodes[lead]
        on = -(self.gradients(q)[rows].T @ lam[rows])  # type: ignore[attr-defined]
        phi, force = states.vectors(q, node.phi, 1)[0], states.vectors(on, node.phi, 1)[0]
        torque = np.cross(states.vectors(q, node.dirs, 3), states.vectors(on, node.dirs, 3)).sum(axis=0)
        pose = states.poses(self.model, self.compiled, q)[[b.name for b in self.model.bodies].index(j.child)]
        R, anchor = pose[:3, :3], pose[:3, 3] + pose[:3, :3] @ self.model.placement(joint).anchor_C
        return np.concatenate([R.T @ (torque + np.cross(phi - anchor, force)), R.T @ force])

    def multipliers(self, traj: Any) -> dict[str, Array]:
        """{"holonomic": (N, rows)}: of the step after each node but the last; the joints exert -G^T lambda. Rows: `constraint_labels`."""
        if traj._multipliers is None:
            return {"holonomic": np.full((len(traj.q) - 1, len(self.compiled.rows)), np.nan)}
        return {"holonomic": np.asarray(traj._multipliers)[1:]}


INTERNAL = ("|d1|", "|d2|", "|d3|", "d1.d2", "d1.d3", "d2.d3")
