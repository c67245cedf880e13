"""`spherical`: three rotations about a point.

q = quaternion of the child relative to the parent (1 at the reference configuration), v = omega of the child relative to the
parent, child axes
g = (0, R(q)),  q_dot = q * (0, v)/2,  S = (1; 0)
integrate: q exp(dq/2),  difference: 2 log(q0^-1 q1)
A stiffness k has the energy k |phi|^2/2 with phi the rotation vector of q, |phi| <= pi; its torque in child axes is -k phi, because the
tangent map of the exponential leaves phi itself unchanged. Limits (0, b) bound the angle |phi|.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, JointKind, Primitive
from dalembert.model.rotation import quat_conj, quat_exp, quat_log, quat_mul


class Spherical(JointKind):
    """Ball joint."""

    name = "spherical"
    nq, nv = 4, 3
    limitable = True
    q_names, q_units = ("qw", "qx", "qy", "qz"), ("1",) * 4
    v_names, v_units = ("wx", "wy", "wz"), ("rad/s",) * 3

    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator) -> Array:
        q = rng.normal(size=4)
        return q / np.linalg.norm(q)

    def integrate(self, q: Array, dq: Array) -> Array:
        q1 = quat_mul(q, quat_exp(dq))
        return q1 / np.linalg.norm(q1, axis=-1, keepdims=True)

    def difference(self, q0: Array, q1: Array) -> Array:
        return quat_log(quat_mul(quat_conj(q0), q1))

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return np.zeros((*q.shape[:-1], 3)), q

    def subspace(self, q: Array, axes: Axes) -> Array:
        return np.broadcast_to(np.eye(6, 3), (*q.shape[:-1], 6, 3))

    def twist(self, q: Array, v: Array, axes: Axes) -> Array:
        return np.concatenate([v, np.zeros_like(v)], axis=-1)

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return quaternion

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return (("spherical", None),)

    def quaternion_slots(self) -> tuple[int, ...]:
        return (0,)


KIND = Spherical()
