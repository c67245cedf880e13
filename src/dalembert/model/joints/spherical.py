"""`spherical`: three rotations about a point.

q = quaternion of the child relative to the parent (1 at the reference configuration), v = omega of the child relative to the parent, child
axes
q_dot = q * (0, v)/2
"""

from __future__ import annotations

import numpy as np

from dalembert.model.joints._base import JointKind
from dalembert.model.rotation import Array, quat_conj, quat_exp, quat_log, quat_mul


class Spherical(JointKind):
    """Ball joint."""

    name = "spherical"
    nq, nv = 4, 3
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

    def transform(self, q: Array) -> tuple[Array, Array]:
        return np.zeros((*q.shape[:-1], 3)), q

    def twist(self, q: Array, v: Array) -> Array:
        return np.concatenate([v, np.zeros_like(v)], axis=-1)

    def quaternion_slots(self) -> tuple[int, ...]:
        return (0,)
