"""Quaternions and rotations of whole trajectories: NumPy functions over any number of leading dimensions.

The kernels in `dalembert.kernels` do the same for one state at a time inside compiled loops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array


def quat_mul(p: Array, q: Array) -> Array:
    """Hamilton product, (..., 4)."""
    ps, pv = p[..., :1], p[..., 1:]
    qs, qv = q[..., :1], q[..., 1:]
    scalar = ps * qs - np.sum(pv * qv, axis=-1, keepdims=True)
    return np.concatenate([scalar, ps * qv + qs * pv + cross(pv, qv)], axis=-1)


def quat_conj(q: Array) -> Array:
    """(q_s, -q_v)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def sinc(x: Array) -> Array:
    """sin(x) / x, 1 at x = 0, to round-off for any x: a detour by x / pi, as `np.sinc` takes it, moves the angle by eps |x|."""
    safe = np.where(x == 0.0, 1.0, x)
    return np.where(x == 0.0, 1.0, np.sin(safe) / safe)


def quat_exp(w: Array) -> Array:
    """Rotation vector (..., 3) to unit quaternion."""
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * sinc(half) * w], axis=-1)


def quat_about(axis: Array, angle: Array) -> Array:
    """Unit quaternion of the turn by an angle (..., 1) about a unit axis: exact for many turns too, where |angle axis| would round."""
    half = 0.5 * angle
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def unit(q: Array) -> Array:
    """q / |q| over leading dimensions."""
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def quat_log(q: Array) -> Array:
    """Unit quaternion to the rotation vector of angle at most pi."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    n = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(n, q[..., :1])
    return np.where(n > 0.0, angle / np.where(n > 0.0, n, 1.0), 2.0) * q[..., 1:]


def matrix(q: Array) -> Array:
    """R(q) = 1 + 2 q_s hat(q_v) + 2 hat(q_v)^2, (..., 3, 3)."""
    if q.ndim == 1:
        s, x, y, z = q.tolist()
        return np.array(
            (
                (1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)),
                (2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)),
                (2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)),
            ),
            dtype=float,
        )
    s, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.empty((*q.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = 2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = 2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)
    return out


def from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion (scalar >= 0) of one rotation matrix, from its largest component: no loss near half turns."""
    R = np.asarray(R, dtype=float)
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    four_qq = np.eye(4) + K + np.triu(K, 1).T  # 4 q q^T
    column = four_qq[:, np.argmax(np.diag(four_qq))]
    q = column / np.linalg.norm(column)
    return -q if q[0] < 0 else q


def rotate(q: Array, x: Array) -> Array:
    """R(q) x over leading dimensions."""
    u = cross(q[..., 1:], x) + q[..., :1] * x
    return x + 2.0 * cross(q[..., 1:], u)


def cross(a: Array, b: Array) -> Array:
    """a x b over leading dimensions, bit for bit `np.cross`, whose handling of axes takes ten times as long for single vectors."""
    if a.ndim == 1 and b.ndim == 1:
        x, y, z = a.tolist()
        u, v, w = b.tolist()
        return np.array((y * w - z * v, z * u - x * w, x * v - y * u), dtype=float)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    out[..., 0] = a1 * b2 - a2 * b1
    out[..., 1] = a2 * b0 - a0 * b2
    out[..., 2] = a0 * b1 - a1 * b0
    return out
