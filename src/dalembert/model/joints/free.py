"""`free`: six degrees of freedom.

q = (position, quaternion): pose of the body frame in the parent (the world),  v = (omega, velocity of the origin), body axes
g = (position, R(quaternion)) is absolute, so the axes of the joint play no part:  g_dot = g hat(v) on SE(3),  S = 1
integrate: g exp(dq),  difference: log(g0^-1 g1)
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, JointKind, Primitive
from dalembert.model.rotation import quat_conj, quat_exp, quat_log, quat_mul, rotate, sinc


def left_jacobian_times(w: Array, x: Array) -> Array:
    """V(w) x with V = 1 + (1 - cos t)/t^2 hat(w) + (t - sin t)/t^3 hat(w)^2: the translation of exp on SE(3).

    (1 - cos t)/t^2 = sinc(t/2)^2/2 has no cancellation; (t - sin t)/t^3 is its series below t = 0.5, where seven terms leave 1e-17.
    """
    t = np.linalg.norm(w, axis=-1, keepdims=True)
    b = 0.5 * sinc(0.5 * t) ** 2
    small = t < 0.5
    t2 = np.where(small, t * t, 0.0)
    series = (1 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72 * (1 - t2 / 110 * (1 - t2 / 156 * (1 - t2 / 210)))))) / 6
    safe = np.where(small, 1.0, t)
    c = np.where(small, series, (safe - np.sin(safe)) / safe**3)
    wx = np.cross(w, x)
    return x + b * wx + c * np.cross(w, wx)


def left_jacobian_solve(w: Array, x: Array) -> Array:
    """V(w)^-1 x = x - w x x/2 + k w x (w x x), k = (1 - (t/2) cot(t/2))/t^2."""
    t = np.linalg.norm(w, axis=-1, keepdims=True)
    small = t < 0.25
    t2 = np.where(small, t * t, 0.0)
    series = 1 / 12 + t2 / 720 * (1 + t2 / 42 * (1 + t2 / 40 * (1 + t2 * 5 / 198)))
    half = np.where(small, 0.5, 0.5 * t)
    k = np.where(small, series, (1 - half * np.cos(half) / np.sin(half)) / (4 * half**2))
    wx = np.cross(w, x)
    return x - 0.5 * wx + k * np.cross(w, wx)


class Free(JointKind):
    """No joint at all: an absolute pose."""

    name = "free"
    nq, nv = 7, 6
    absolute = True
    elastic = False
    q_names, q_units = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("m",) * 3 + ("1",) * 4
    v_names, v_units = ("wx", "wy", "wz", "vx", "vy", "vz"), ("rad/s",) * 3 + ("m/s",) * 3

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator) -> Array:
        q = rng.normal(size=4)
        return np.concatenate([rng.uniform(-1, 1, size=3), q / np.linalg.norm(q)])

    def integrate(self, q: Array, dq: Array) -> Array:
        w, x = dq[..., :3], dq[..., 3:]
        position = q[..., :3] + rotate(q[..., 3:], left_jacobian_times(w, x))
        attitude = quat_mul(q[..., 3:], quat_exp(w))
        return np.concatenate([position, attitude / np.linalg.norm(attitude, axis=-1, keepdims=True)], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        inverse = quat_conj(q0[..., 3:])
        w = quat_log(quat_mul(inverse, q1[..., 3:]))
        x = rotate(inverse, q1[..., :3] - q0[..., :3])
        return np.concatenate([w, left_jacobian_solve(w, x)], axis=-1)

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return q[..., :3], q[..., 3:]

    def subspace(self, q: Array, axes: Axes) -> Array:
        return np.broadcast_to(np.eye(6), (*q.shape[:-1], 6, 6))

    def twist(self, q: Array, v: Array, axes: Axes) -> Array:
        return v

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return np.concatenate([position, quaternion], axis=-1)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return (("free", None),)

    def quaternion_slots(self) -> tuple[int, ...]:
        return (3,)


KIND = Free()
