"""What is measured on a run: energy, momentum, attitude; of one rigid body, free or on a spherical joint to the world, of a tree, or of
a system given by a Lagrangian."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.comparison.tree_momentum import momentum_of_tree
from dalembert.families import find_family
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.model.forces import features
from dalembert.model.kinematics import frames
from dalembert.model.rotation import quat_conj, quat_mul, rotate
from dalembert.runs.as_bodies import as_bodies
from dalembert.runs.trajectory import Trajectory


class Energy(NamedTuple):
    """Relative to the largest kinetic energy: change of the fitted line over the run; largest departure from the start."""

    drift: float
    band: float


def forced(model: Any) -> bool:
    """True if more than gravity, springs and joint stiffness acts; forces or damping beside a Lagrangian."""
    return bool(find_family(model).features(model) & {"damping", "force", "drive", *features(conservative=False)})


def is_tree(model: Any) -> bool:
    """True for all but one rigid body that is free or on a spherical joint to the world: end states are then compared by coordinates."""
    return find_family(model).name != "rigid-body" or bool(getattr(model, "loops", ()))


def kinetic_scale(runs: Iterable[Trajectory]) -> float:
    """The smallest of the largest kinetic energies of several runs from one state: a scale that no run which gains energy can inflate."""
    with np.errstate(over="ignore", invalid="ignore"):
        return min((x for x in (float(traj.kinetic.max()) for traj in runs) if np.isfinite(x)), default=0.0)


def energy_error(traj: Trajectory, scale: float | None = None) -> Array:
    """Departure of the energy from the start over a scale: the largest kinetic energy of the run, if none is given.

    Of E - work where forces act: nan for peers, which keep no account of the work, and where constraints that depend on time do work
    that is not counted.
    """
    if traj._run_model.driven and "drive" not in traj._account:
        return np.full(len(traj), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        e = traj.energy - traj.work if forced(traj._run_model) else traj.energy
        scale = float(traj.kinetic.max()) if scale is None else scale
        return (e - e[0]) / scale if scale > 0.0 else np.zeros_like(e)


def energy(traj: Trajectory, scale: float | None = None) -> Energy:
    """Drift and band of `energy_error`."""
    departure = energy_error(traj, scale)
    if not np.isfinite(departure).all():
        return Energy(float("nan"), float("nan"))
    s = traj.t - traj.t.mean()
    slope = float(s @ departure / (s @ s)) if len(s) > 1 else 0.0
    return Energy(slope * float(traj.t[-1] - traj.t[0]), float(np.abs(departure).max()))


def momentum_error(traj: Trajectory) -> Array:
    """Departure from the start of the momenta that the motion keeps, over the largest momentum.

    Free body: angular momentum about the centre of mass, and P - m g t. Body on a pivot: angular momentum about the pivot, under
    gravity its component along gravity. Where other forces act: change of momentum minus impulse (nan for peers, which keep no
    account of it). Tree: see `tree_momentum.py`. Lagrangian: the declared symmetries, nan if there are none.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        traj = as_bodies(traj)
        return kept_momentum(traj._run_model, traj)


@singledispatch
def kept_momentum(system: Any, traj: Trajectory) -> Array:
    """`momentum_error` by the kind of system."""
    if is_tree(system):
        return momentum_of_tree(traj)
    return (_about_pivot if system.joints[0].kind == "spherical" else _of_free_body)(traj)


@kept_momentum.register
def _(model: Lagrangian, traj: Trajectory) -> Array:
    """The largest departure of a momentum dL/dv . xi, over the largest size of its terms."""
    if not model.symmetry_names:
        return np.full(len(traj), np.nan)
    terms = model.momentum_size(traj.q, traj.v).max(axis=0)
    kept = traj.momentum - traj.impulse if forced(model) else traj.momentum
    return np.asarray((np.abs(kept - kept[0]) / np.where(terms > 0.0, terms, 1.0)).max(axis=1))


def _about_pivot(traj: Trajectory) -> Array:
    g = traj._run_model.gravity
    angular = traj.momentum[:, :3] - np.cross(traj._run_model.joints[0].anchor, traj.momentum[:, 3:])
    if forced(traj._run_model):
        return _departure(angular - traj.impulse[:, :3], angular)
    if np.any(g != 0.0):
        return _departure((angular @ (g / np.linalg.norm(g)))[:, None], angular)
    return _departure(angular, angular)


def _of_free_body(traj: Trajectory) -> Array:
    angular, linear = traj.momentum[:, :3], traj.momentum[:, 3:]
    if forced(traj._run_model):
        return np.maximum(_departure(angular - traj.impulse[:, :3], angular), _departure(linear - traj.impulse[:, 3:], linear))
    body = traj._run_model.bodies[0]
    f = frames(traj._run_model, traj.q)[body.name]
    com = f.position + rotate(f.quaternion, np.broadcast_to(body.com, f.position.shape))
    spin = angular - np.cross(com, linear)
    weight = body.mass * np.outer(traj.t, traj._run_model.gravity)
    return np.maximum(_departure(spin, spin), _departure(linear - weight, linear))


def _departure(kept: Array, scale: Array) -> Array:
    size = float(np.linalg.norm(scale, axis=1).max())
    change = np.linalg.norm(kept - kept[0], axis=1)
    return change / size if size > 0.0 else np.zeros_like(change)


def momentum(traj: Trajectory) -> float:
    """Largest `momentum_error`."""
    return float(momentum_error(traj).max())


def attitude(model: Model, q: Array) -> Array:
    """The quaternion in q."""
    return q[..., 3:7] if model.joints[0].kind == "free" else q[..., :4]


def group_error(traj: Trajectory) -> float:
    """Largest departure of the norm of a quaternion from 1; nan where q has none. Lagrangian: largest holonomic residual."""
    traj = as_bodies(traj)
    return off_group(traj._run_model, traj)


@singledispatch
def off_group(model: Any, traj: Trajectory) -> float:
    """`group_error` by the kind of system."""
    at = model.q_slices()
    starts = [at[j.name].start + slot for j in model.joints for slot in j.coordinates.quaternion_slots()]
    with np.errstate(over="ignore"):
        off = [float(np.abs(np.linalg.norm(traj.q[:, k : k + 4], axis=1) - 1.0).max()) for k in starts]
    return max(off, default=float("nan"))


def angle_between(a: Array, b: Array) -> float:
    """Angle of the rotation from a to b, rad, 0 ... pi; exact for small angles too."""
    d = quat_mul(quat_conj(a), b)
    return 2.0 * float(np.arctan2(np.linalg.norm(d[1:]), abs(d[0])))


@off_group.register
def _(model: Lagrangian, traj: Trajectory) -> float:
    return float(np.abs(traj.constraint).max()) if traj.constraint.size else float("nan")
