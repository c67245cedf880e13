"""Momentum that a floating tree should keep.

    linear     |P - P(0) - m g t| / max(|P(0)|, sqrt(2 m T))
    angular    |L - L(0)| / |L_com(0)|,  a tree that hardly turns: over sqrt(2 T J), the most that L_com can be

L is the angular momentum about the world's origin, under gravity L_com, that about the centre of mass. T is the kinetic energy at the
start (the largest, if the tree starts at rest), J = sum m |x - x_com|^2 + tr I at the start. A tree that is held by the world, or on which
more than gravity acts from outside, keeps no momentum: nan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.kinematics import frames, point
from dalembert.model.parts import WORLD
from dalembert.model.points import is_free

if TYPE_CHECKING:
    from dalembert.runs.trajectory import Trajectory

HARDLY = 1e-3
ROWS = 20_000  # nodes at a time: poses of all bodies take memory


def floats(model: Model) -> bool:
    """True if nothing but gravity acts on the machine from outside."""
    held = any(j.parent == WORLD and not is_free(model, j) for j in model.joints)
    held = held or any(WORLD in (x.parent, x.child) for x in model.loops)
    pushed = any(f.kept({WORLD}, lambda body, x: np.asarray(x)) is not None for f in model.forces)
    braked = any(j.coordinates.absolute and j.damping > 0 for j in model.joints)
    return not (held or pushed or braked)


def momentum_of_tree(traj: Trajectory) -> Array:
    """Relative departure of the momenta from the start, the larger of both."""
    model = traj._run_model
    if not floats(model):
        return np.full(len(traj), np.nan)
    mass, energy = model.total_mass, float(traj.kinetic[0]) or float(traj.kinetic.max())
    linear = traj.momentum[:, 3:]
    com = centre_of_mass(model, traj.q)
    spin = traj.momentum[:, :3] - np.cross(com, linear)
    falling = mass * np.outer(traj.t, model.gravity)
    largest = float(np.sqrt(2.0 * energy * _spread(model, traj.q[:1], com[0])))
    turning = float(np.linalg.norm(spin[0]))
    scales = max(float(np.linalg.norm(linear[0])), float(np.sqrt(2.0 * mass * energy))), turning if turning > HARDLY * largest else largest
    kept = linear - falling, spin if model.gravity.any() else traj.momentum[:, :3]
    errors = [np.linalg.norm(x - x[0], axis=1) / s if s > 0.0 else np.zeros(len(traj)) for x, s in zip(kept, scales, strict=True)]
    return np.maximum(*errors)


def centre_of_mass(model: Model, q: Array) -> Array:
    """World positions (n, 3) of the centre of mass."""
    return np.concatenate([_com(model, q[k : k + ROWS]) for k in range(0, len(q), ROWS)])


def _com(model: Model, q: Array) -> Array:
    found = frames(model, q)
    return np.sum([b.mass * point(found, b.name, b.com) for b in model.bodies], axis=0) / model.total_mass


def _spread(model: Model, q: Array, com: Array) -> float:
    found = frames(model, q)
    return float(sum(b.mass * np.sum((point(found, b.name, b.com)[0] - com) ** 2) + np.trace(b.inertia) for b in model.bodies))
