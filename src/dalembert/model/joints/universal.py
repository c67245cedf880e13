"""`universal`: two rotations about axes that meet in the anchor.

q = (angle about a, angle about b),  v = dq/dt;  a (`axis`) is fixed in the parent, b (`axis2`) in the child; they need not be perpendicular
g = (0, R),  R = R_a R_b,  R_a = exp(q_1 hat(a)),  R_b = exp(q_2 hat(b))
R^T R_dot = v_1 R_b^T hat(a) R_b + v_2 hat(b):  omega = v_1 R_b^T a + v_2 b,  S = (R_b^T a, b; 0, 0)
S has rank 2 at every q: R_b^T a is parallel to b only if a is, because R_b b = b, and the builder refuses such axes.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind, angle_about
from dalembert.model.rotation import quat_about, quat_conj, quat_mul, rotate


class Universal(VectorKind):
    """Hooke's joint."""

    name = "universal"
    nq, nv = 2, 2
    second_axis = "required"
    q_names, q_units = ("angle1", "angle2"), ("rad", "rad")
    v_names, v_units = ("rate1", "rate2"), ("rad/s", "rad/s")

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        turn = quat_mul(quat_about(axes.axis, q[..., :1]), quat_about(axes.axis2, q[..., 1:]))
        return np.zeros((*q.shape[:-1], 3)), turn

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 2))
        S[..., :3, 0] = rotate(quat_about(axes.axis2, -q[..., 1:]), axes.axis)
        S[..., :3, 1] = axes.axis2
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        """R b = R_a b: the first angle is that between the parts of b and R b across a; the second is left in R_a^T R."""
        a, b = axes
        x = b - (a @ b) * a
        image = rotate(quaternion, b)
        first = np.arctan2(image @ np.cross(a, x), image @ x)[..., None]
        return np.concatenate([first, angle_about(b, quat_mul(quat_conj(quat_about(a, first)), quaternion))], axis=-1)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return ("revolute", axes.axis), ("revolute", axes.axis2)


KIND = Universal()
