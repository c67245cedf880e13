"""Kinematics, energy and momentum of a model over whole trajectories (NumPy, any leading dimensions).

The pose of a child is  g_child = g_parent X_PJ g_joint(q) X_JC, with both joint frames at the anchor, in the axes of the child at the
reference
configuration. Twists are body-fixed, angular first: V_child = Ad(g_rel^-1) V_parent + Ad(X_JC^-1) S(q) v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.errors import OptionError
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import Array, matrix, quat_conj, quat_mul, rotate

if TYPE_CHECKING:
    from dalembert.model.model import Model


class Frame(NamedTuple):
    """Pose and body-fixed twist of a body frame."""

    position: Array
    quaternion: Array
    omega: Array
    velocity: Array


def slices(joints: tuple[Joint, ...], size: str) -> dict[str, slice]:
    """Consecutive slices, one per joint."""
    out, start = {}, 0
    for j in joints:
        stop = start + getattr(j.coordinates, size)
        out[j.name] = slice(start, stop)
        start = stop
    return out


def joint_neutral(model: Model, joint: Joint) -> Array:
    """Coordinates of one joint at the reference configuration."""
    if joint.kind == "free":
        body = model.body(joint.child)
        return np.concatenate([body.position, body.quaternion])
    return joint.coordinates.neutral()


def _need(what: str, a: Array, n: int) -> None:
    if a.ndim == 0 or a.shape[-1] != n:
        raise OptionError(f"{what} has shape {a.shape}; expected (..., {n}).")


def integrate(model: Model, q: Array, dq: Array) -> Array:
    """Joint by joint."""
    _need("q", q, model.nq)
    _need("dq", dq, model.nv)
    sq, sv = model.q_slices(), model.v_slices()
    return np.concatenate([j.coordinates.integrate(q[..., sq[j.name]], dq[..., sv[j.name]]) for j in model.joints], axis=-1)


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """Joint by joint."""
    _need("q0", q0, model.nq)
    _need("q1", q1, model.nq)
    sq = model.q_slices()
    return np.concatenate([j.coordinates.difference(q0[..., sq[j.name]], q1[..., sq[j.name]]) for j in model.joints], axis=-1)


def frames(model: Model, q: Array, v: Array | None = None) -> dict[str, Frame]:
    """Pose and twist of every body; twists are zero without v."""
    _need("q", q, model.nq)
    if v is None:
        v = np.zeros((*q.shape[:-1], model.nv))
    _need("v", v, model.nv)
    sq, sv = model.q_slices(), model.v_slices()
    lead = q.shape[:-1]
    zero = np.zeros((*lead, 3))
    done = {WORLD: Frame(zero, np.broadcast_to([1.0, 0, 0, 0], (*lead, 4)), zero, zero)}
    waiting = list(model.joints)
    while waiting:
        joint = next(j for j in waiting if j.parent in done)
        waiting.remove(joint)
        done[joint.child] = _child_frame(model, joint, done[joint.parent], q[..., sq[joint.name]], v[..., sv[joint.name]])
    del done[WORLD]
    return done


def _child_frame(model: Model, joint: Joint, parent: Frame, q: Array, v: Array) -> Frame:
    twist = joint.coordinates.twist(q, v)
    if joint.kind == "free":
        return Frame(q[..., :3], q[..., 3:], twist[..., :3], twist[..., 3:])
    child = model.body(joint.child)
    p_ref, q_ref = (np.zeros(3), np.array([1.0, 0, 0, 0])) if joint.parent == WORLD else _reference(model, joint.parent)
    anchor_P = rotate(quat_conj(q_ref), joint.anchor - p_ref)  # anchor and joint axes in the parent frame
    q_PJ = quat_mul(quat_conj(q_ref), child.quaternion)
    anchor_C = rotate(quat_conj(child.quaternion), joint.anchor - child.position)  # anchor in the child frame, whose axes are the joint's
    shift, turn = joint.coordinates.transform(q)
    q_PC = quat_mul(np.broadcast_to(q_PJ, turn.shape), turn)
    p_PC = anchor_P + rotate(q_PJ, shift) - rotate(q_PC, anchor_C)
    position = parent.position + rotate(parent.quaternion, p_PC)
    to_child = quat_conj(q_PC)
    omega_P = rotate(to_child, parent.omega)
    velocity_P = rotate(to_child, parent.velocity + np.cross(parent.omega, p_PC))
    omega = twist[..., :3]
    velocity = twist[..., 3:] - np.cross(omega, anchor_C)
    return Frame(position, quat_mul(parent.quaternion, q_PC), omega_P + omega, velocity_P + velocity)


def _reference(model: Model, body: str) -> tuple[Array, Array]:
    b = model.body(body)
    return b.position, b.quaternion


def poses(model: Model, q: Array) -> Array:
    """4x4 world poses of the body frames."""
    found = frames(model, q)
    out = np.zeros((*q.shape[:-1], len(model.bodies), 4, 4))
    for i, b in enumerate(model.bodies):
        out[..., i, :3, :3] = matrix(found[b.name].quaternion)
        out[..., i, :3, 3] = found[b.name].position
        out[..., i, 3, 3] = 1.0
    return out


def kinetic_energy(model: Model, q: Array, v: Array) -> Array:
    """sum m |v_com|^2/2 + omega . I omega/2."""
    total = np.zeros(q.shape[:-1])
    found = frames(model, q, v)
    for b in model.bodies:
        f = found[b.name]
        v_com = f.velocity + np.cross(f.omega, b.com)
        total = total + 0.5 * b.mass * np.sum(v_com**2, axis=-1) + 0.5 * np.einsum("...i,ij,...j", f.omega, b.inertia, f.omega)
    return total


def potential_energy(model: Model, q: Array) -> Array:
    """-sum m g . x_com."""
    total = np.zeros(q.shape[:-1])
    found = frames(model, q)
    for b in model.bodies:
        f = found[b.name]
        total = total - b.mass * (f.position + rotate(f.quaternion, b.com)) @ model.gravity
    return total


def momentum(model: Model, q: Array, v: Array) -> Array:
    """sum (R I omega + x_com x m v_com, m v_com), world axes, about the world origin."""
    total = np.zeros((*q.shape[:-1], 6))
    found = frames(model, q, v)
    for b in model.bodies:
        f = found[b.name]
        linear = b.mass * rotate(f.quaternion, f.velocity + np.cross(f.omega, b.com))
        spin = rotate(f.quaternion, np.einsum("ij,...j", b.inertia, f.omega))
        com = f.position + rotate(f.quaternion, b.com)
        total[..., :3] += spin + np.cross(com, linear)
        total[..., 3:] += linear
    return total
