"""Kinematics, energy and momentum of a model over whole trajectories (NumPy, any leading dimensions).

The pose of a child is  g_child = g_parent X_PJ g_joint(q) X_JC, with both joint frames at the anchor, in the axes of the child at the
reference configuration. Twists are body-fixed, angular first: V_child = Ad(g_rel^-1) V_parent + Ad(X_JC^-1) S(q) v.
Products of quaternions are normalised, so that the poses of long chains stay orthogonal to a few eps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.model.joints import Axes
from dalembert.model.parts import WORLD, Body, Joint
from dalembert.model.rotation import matrix, quat_conj, quat_mul, rotate, unit

if TYPE_CHECKING:
    from dalembert.model.model import Model


class Frame(NamedTuple):
    """Pose and body-fixed twist of a body frame."""

    position: Array
    quaternion: Array
    omega: Array
    velocity: Array


class Placement(NamedTuple):
    """Where a joint sits at the reference configuration; constants of the model.

    anchor_P, q_PJ: position and axes of the joint frame in the parent's body frame (X_PJ); anchor_C: its position in the child's body
    frame, whose axes are the joint's (X_JC is the shift by -anchor_C); axes: directions of the joint in the joint frame.
    """

    anchor_P: Array
    q_PJ: Array
    anchor_C: Array
    axes: Axes


def place(model: Model, joint: Joint) -> Placement:
    """Placement of a joint from the reference poses of its bodies."""
    child = model.body(joint.child)
    p_P, q_P = (np.zeros(3), np.array([1.0, 0, 0, 0])) if joint.parent == WORLD else _reference(model, joint.parent)
    to_P, to_C = quat_conj(q_P), quat_conj(child.quaternion)
    directions = joint.coordinates.axes(joint.axis, joint.axis2)
    absolute = joint.coordinates.absolute
    return Placement(
        np.zeros(3) if absolute else rotate(to_P, joint.anchor - p_P),
        quat_mul(to_P, child.quaternion),
        np.zeros(3) if absolute else rotate(to_C, joint.anchor - child.position),
        Axes(*(rotate(to_C, a) for a in directions)),
    )


def tree_order(model: Model) -> tuple[Joint, ...]:
    """All joints, depth first: each after the joint that carries its parent, whole branches together, siblings as they were added."""
    carried: dict[str, list[Joint]] = {}
    for j in model.joints:
        carried.setdefault(j.parent, []).append(j)
    out: list[Joint] = []
    waiting = carried.get(WORLD, [])[::-1]
    while waiting:
        out.append(waiting.pop())
        waiting += carried.get(out[-1].child, [])[::-1]
    return tuple(out)


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
    if joint.coordinates.absolute:
        return np.array(model.body(joint.child).position)
    return joint.coordinates.neutral()


def need(what: str, a: Array, n: int) -> None:
    """OptionError for an array of states whose rows are of another length."""
    if a.ndim == 0 or a.shape[-1] != n:
        raise OptionError(f"{what} has shape {a.shape}; expected (..., {n}).")


def integrate(model: Model, q: Array, dq: Array) -> Array:
    """Joint by joint."""
    need("q", q, model.nq)
    need("dq", dq, model.nv)
    sq, sv = model.q_slices(), model.v_slices()
    return np.concatenate([j.coordinates.integrate(q[..., sq[j.name]], dq[..., sv[j.name]]) for j in model.joints], axis=-1)


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """Joint by joint."""
    need("q0", q0, model.nq)
    need("q1", q1, model.nq)
    sq = model.q_slices()
    return np.concatenate([j.coordinates.difference(q0[..., sq[j.name]], q1[..., sq[j.name]]) for j in model.joints], axis=-1)


def frames(model: Model, q: Array, v: Array | None = None) -> dict[str, Frame]:
    """Pose and twist of every body; twists are zero without v."""
    need("q", q, model.nq)
    if v is None:
        v = np.zeros((*q.shape[:-1], model.nv))
    need("v", v, model.nv)
    sq, sv = model.q_slices(), model.v_slices()
    lead = q.shape[:-1]
    zero = np.zeros((*lead, 3))
    done = {WORLD: Frame(zero, np.broadcast_to([1.0, 0, 0, 0], (*lead, 4)), zero, zero)}
    for j in tree_order(model):
        done[j.child] = _child_frame(model, j, done[j.parent], q[..., sq[j.name]], v[..., sv[j.name]])
    del done[WORLD]
    return done


def _child_frame(model: Model, joint: Joint, parent: Frame, q: Array, v: Array) -> Frame:
    anchor_P, q_PJ, anchor_C, axes = model.placement(joint.name)
    twist = joint.coordinates.twist(q, v, axes)
    if joint.kind == "free":
        return Frame(q[..., :3], q[..., 3:], twist[..., :3], twist[..., 3:])
    shift, turn = joint.coordinates.transform(q, axes)
    q_PC = quat_mul(np.broadcast_to(q_PJ, turn.shape), turn)
    p_PC = anchor_P + rotate(q_PJ, shift) - rotate(q_PC, anchor_C)
    position = parent.position + rotate(parent.quaternion, p_PC)
    to_child = quat_conj(q_PC)
    omega_P = rotate(to_child, parent.omega)
    velocity_P = rotate(to_child, parent.velocity + np.cross(parent.omega, p_PC))
    omega = twist[..., :3]
    velocity = twist[..., 3:] - np.cross(omega, anchor_C)
    return Frame(position, unit(quat_mul(parent.quaternion, q_PC)), omega_P + omega, velocity_P + velocity)


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
    """sum m |v_com|^2/2 + omega . I omega/2, and armature |v|^2/2 of the joints."""
    total = np.zeros(q.shape[:-1])
    found = frames(model, q, v)
    for b in model.bodies:
        f = found[b.name]
        v_com = f.velocity + np.cross(f.omega, b.com)
        total = total + 0.5 * b.mass * np.sum(v_com**2, axis=-1) + 0.5 * np.einsum("...i,ij,...j", f.omega, b.inertia, f.omega)
    sv = model.v_slices()
    for j in model.joints:
        if j.armature > 0:
            total = total + 0.5 * j.armature * np.sum(v[..., sv[j.name]] ** 2, axis=-1)
    return total


def potential_energy(model: Model, q: Array) -> Array:
    """-sum m g . x_com, what forces have stored, joint stiffness k |strain|^2/2."""
    total = np.zeros(q.shape[:-1])
    found = frames(model, q)
    for b in model.bodies:
        total = total - b.mass * point(found, b.name, b.com) @ model.gravity
    for f in model.forces:
        total = total + f.stored(lambda body, x: point(found, body, x))
    sq = model.q_slices()
    for j in model.joints:
        if j.stiffness > 0:
            total = total + 0.5 * j.stiffness * np.sum(j.coordinates.strain(q[..., sq[j.name]], j.rest) ** 2, axis=-1)
    return total


def point(found: dict[str, Frame], body: str, where: Array | tuple[float, ...]) -> Array:
    """World position of a point given in the frame of a body or of the world."""
    x = np.asarray(where, dtype=float)
    return x if body == WORLD else found[body].position + rotate(found[body].quaternion, x)


def jacobian(model: Model, body: str, q: Array, found: dict[str, Frame] | None = None) -> Array:
    """J (..., 6, nv) with (omega, v) of the body frame = J v, body axes: Ad(g_child,body^-1) Ad(X_JC^-1) S(q) of every joint on the way.

    found: `frames(model, q)` if known.
    """
    model.body(body)
    found = found or frames(model, q)
    sq, sv = model.q_slices(), model.v_slices()
    above = {j.child: j for j in model.joints}
    here = found[body]
    J = np.zeros((*q.shape[:-1], 6, model.nv))
    while body != WORLD:
        joint = above[body]
        if joint.coordinates.nv:
            place = model.placement(joint.name)
            S = joint.coordinates.subspace(q[..., sq[joint.name]], place.axes)
            J[..., sv[joint.name]] = _seen_from(here, found[body], place.anchor_C, S)
        body = joint.parent
    return J


def _seen_from(to: Frame, child: Frame, anchor_C: Array, S: Array) -> Array:
    """Columns of S, twists of the child at the anchor in child axes, as twists of the frame `to` in its own axes."""
    q_rel = quat_mul(quat_conj(to.quaternion), child.quaternion)[..., None, :]
    arm = rotate(quat_conj(child.quaternion), to.position - child.position) - anchor_C
    omega, velocity = np.moveaxis(S[..., :3, :], -1, -2), np.moveaxis(S[..., 3:, :], -1, -2)
    moved = velocity + np.cross(omega, arm[..., None, :])
    return np.moveaxis(np.concatenate([rotate(q_rel, omega), rotate(q_rel, moved)], axis=-1), -1, -2)


def mass_matrix_reference(model: Model, q: Array) -> Array:
    """M = sum J_b^T I_b J_b + diag(armature), (..., nv, nv): O(n^2) per body, a judge for the compiled algorithms."""
    M = np.zeros((*q.shape[:-1], model.nv, model.nv))
    found = frames(model, q)
    for b in model.bodies:
        J = jacobian(model, b.name, q, found)
        M += np.einsum("...ji,jk,...kl->...il", J, spatial_inertia(b), J)
    return M + np.diag(np.concatenate([np.full(j.coordinates.nv, j.armature) for j in model.joints]))


def spatial_inertia(body: Body) -> Array:
    """6x6 inertia about the body-frame origin: (I + m (c.c 1 - c c^T), m hat(c); -m hat(c), m 1)."""
    m, c = body.mass, body.com
    hat = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    return np.block([[body.inertia + m * (c @ c * np.eye(3) - np.outer(c, c)), m * hat], [-m * hat, m * np.eye(3)]])


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


class Reference:
    """The functions of `model/rows.py` in NumPy: their judge, and the answer for models without a degree of freedom."""

    def __init__(self, model: Model):
        self.model = model

    def poses(self, q: Array) -> Array:
        """4x4 world poses of the body frames."""
        return poses(self.model, q)

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Of bodies and armatures."""
        return kinetic_energy(self.model, q, v)

    def potential_energy(self, q: Array) -> Array:
        """Of gravity, springs and joint stiffness."""
        return potential_energy(self.model, q)

    def momentum(self, q: Array, v: Array) -> Array:
        """About the world origin."""
        return momentum(self.model, q, v)
