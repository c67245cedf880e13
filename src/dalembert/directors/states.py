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
from dalembert.model.cut import _free_bodies, joint_state
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


def to_joints(model: Model, c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """(q, v) of the joints of the model: one state, or nodes (N, n) along which angles are continued."""
    Q, V = [], []
    for name in _free_bodies(model, fixed=True):
        node = c.nodes[name]
        p, R = places(q, node)
        D, Dd = (vectors(x, node.dirs, 3) if node.rigid else None for x in (q, v))
        spin = np.zeros_like(p) if D is None or Dd is None else 0.5 * np.cross(D, Dd).sum(axis=-2)
        back = np.swapaxes(R, -1, -2)
        omega = np.einsum("...ij,...j->...i", back, spin)
        velocity = np.einsum("...ij,...j->...i", back, vectors(v, node.phi, 1)[..., 0, :]) - np.cross(omega, node.com)
        Q += [p, quaternions(R)]
        V += [omega, velocity]
    return joint_state(model, np.concatenate(Q, axis=-1), np.concatenate(V, axis=-1))


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
