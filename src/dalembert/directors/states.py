"""States: director coordinates of a machine from those of its joints, and back.

Of the frame of the body that leads a node, at p with axes R, spin omega and velocity v in body axes; centre of mass c and principal axes A
in that frame:

    phi = p + R c,   D = (d_1, d_2, d_3) = R A,   phi_dot = R (v + omega x c),   D_dot = R hat(omega) A
    R = D A^T,  p = phi - R c,  R omega = sum of d_i x d_i_dot / 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.directors.nodes import Node
from dalembert.kernels.directors.layout import ZERO
from dalembert.model import kinematics
from dalembert.model.kinematics import Frame
from dalembert.model.loop_coordinates import continued, state_of
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.directors.compile import Compiled
    from dalembert.model.model import Model


def vectors(q: Array, first: int, count: int) -> Array:
    """(..., count, 3) of the vectors from number `first` on."""
    at = 3 * (first - ZERO - 1)
    return q[..., at : at + 3 * count].reshape(*q.shape[:-1], count, 3)


def from_joints(model: Model, c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """(q, v) in director coordinates, over any leading dimensions."""
    found = kinematics.frames(model, q, v)
    Q, V = [], []
    for node in c.nodes.values():
        if node.name == WORLD:
            continue
        f = found[node.name]
        R = matrix(f.quaternion)
        turned = np.einsum("...ij,...j->...i", R, f.velocity + np.cross(f.omega, node.com))
        Q.append(f.position + np.einsum("...ij,j->...i", R, node.com))
        V.append(turned)
        if node.rigid:
            D, spin = R @ node.axes_B, np.einsum("...ij,...j->...i", R, f.omega)
            for i in range(3):
                Q.append(D[..., :, i])
                V.append(np.cross(spin, D[..., :, i]))
    return np.concatenate(Q, axis=-1), np.concatenate(V, axis=-1)


def rotations(q: Array, node: Node) -> Array:
    """R of the leading body, (..., 3, 3)."""
    if not node.rigid:
        return np.broadcast_to((node.axes @ node.axes_B.T), (*q.shape[:-1], 3, 3))
    D = np.swapaxes(vectors(q, node.dirs, 3), -1, -2)
    return D @ node.axes_B.T


def places(q: Array, node: Node) -> tuple[Array, Array]:
    """(p, R) of the leading body."""
    R = rotations(q, node)
    return vectors(q, node.phi, 1)[..., 0, :] - np.einsum("...ij,j->...i", R, node.com), R


def quaternions(R: Array) -> Array:
    """Unit quaternions of rotation matrices (..., 3, 3), scalar part not negative, from their largest components."""
    m = np.moveaxis(R, (-2, -1), (0, 1))
    K = np.zeros((*R.shape[:-2], 4, 4))
    K[..., 0, 0], K[..., 1, 1] = 1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2]
    K[..., 2, 2], K[..., 3, 3] = 1 + m[1, 1] - m[0, 0] - m[2, 2], 1 + m[2, 2] - m[0, 0] - m[1, 1]
    K[..., 0, 1], K[..., 0, 2], K[..., 0, 3] = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    K[..., 1, 2], K[..., 1, 3], K[..., 2, 3] = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    K = K + np.swapaxes(np.triu(K, 1), -1, -2)
    largest = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    column = np.take_along_axis(K, largest[..., None, None], axis=-1)[..., 0]
    column = column / np.linalg.norm(column, axis=-1, keepdims=True)
    return np.where(column[..., :1] < 0.0, -column, column)


def frames(model: Model, c: Compiled, q: Array, v: Array) -> dict[str, Frame]:
    """Pose and body-fixed twist of every body frame."""
    found = {}
    for b in model.bodies:
        lead = c.lead[b.name]
        if lead == WORLD:
            zero = np.zeros((*q.shape[:-1], 3))
            found[b.name] = Frame(zero + b.position, np.broadcast_to(b.quaternion, (*q.shape[:-1], 4)), zero, zero)
            continue
        node, whole = c.nodes[lead], model.body(lead)
        p, R = places(q, node)
        spin = 0.5 * np.cross(vectors(q, node.dirs, 3), vectors(v, node.dirs, 3)).sum(axis=-2) if node.rigid else np.zeros_like(p)
        R_0 = matrix(whole.quaternion)
        R_b = R @ (R_0.T @ matrix(b.quaternion))
        place = p + np.einsum("...ij,j->...i", R, R_0.T @ (b.position - whole.position))
        velocity = vectors(v, node.phi, 1)[..., 0, :] + np.cross(spin, place - vectors(q, node.phi, 1)[..., 0, :])
        back = np.swapaxes(R_b, -1, -2)
        found[b.name] = Frame(place, quaternions(R_b), *(np.einsum("...ij,...j->...i", back, x) for x in (spin, velocity)))
    return found


def to_joints(model: Model, c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """(q, v) of the joints of the model: one state, or nodes (N, n) along which angles are continued."""
    found = frames(model, c, q, v)
    parts = []
    for j in model.joints:
        state = state_of(j.kind, model.placement(j.name), None if j.parent == WORLD else found[j.parent], found[j.child])
        parts.append((continued(j.kind, state.q) if q.ndim == 2 else state.q, state.v))
    return np.concatenate([p[0] for p in parts], axis=-1), np.concatenate([p[1] for p in parts], axis=-1)


def poses(model: Model, c: Compiled, q: Array) -> Array:
    """World poses of the body frames, (..., bodies, 4, 4)."""
    out = np.zeros((*q.shape[:-1], len(model.bodies), 4, 4))
    out[..., 3, 3] = 1.0
    for i, b in enumerate(model.bodies):
        lead = c.lead[b.name]
        R_b = matrix(b.quaternion)
        if lead == WORLD:
            out[..., i, :3, :3], out[..., i, :3, 3] = R_b, b.position
            continue
        whole = model.body(lead)
        R_0 = matrix(whole.quaternion)
        p, R = places(q, c.nodes[lead])
        out[..., i, :3, :3] = R @ (R_0.T @ R_b)
        out[..., i, :3, 3] = p + np.einsum("...ij,j->...i", R, R_0.T @ (b.position - whole.position))
    return out
