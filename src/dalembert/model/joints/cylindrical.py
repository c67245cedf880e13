"""`cylindrical`: rotation about an axis and shift along it.

q = (angle, shift) about and along the unit axis a,  v = dq/dt
g = (q_2 a, exp(q_1 hat(a)))
omega = v_1 a;  in child axes the velocity of the origin is R^T (v_2 a) = v_2 a:  S = diag(a; a), constant
Rotation and shift about one axis commute; as a chain the rotation comes first.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind, angle_about
from dalembert.model.rotation import quat_about


class Cylindrical(VectorKind):
    """Sleeve on a shaft."""

    name = "cylindrical"
    nq, nv = 2, 2
    q_names, q_units = ("angle", "shift"), ("rad", "m")
    v_names, v_units = ("rate", "speed"), ("rad/s", "m/s")

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return q[..., 1:] * axes.axis, quat_about(axes.axis, q[..., :1])

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 2))
        S[..., :3, 0] = axes.axis
        S[..., 3:, 1] = axes.axis
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return np.concatenate([angle_about(axes.axis, quaternion), (position @ axes.axis)[..., None]], axis=-1)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return ("revolute", axes.axis), ("prismatic", axes.axis)


KIND = Cylindrical()
