"""`revolute`: rotation about an axis.

q = angle of the child relative to the parent, right-handed about the unit axis a,  v = dq/dt
g = (0, exp(q hat(a)))
R^T R_dot = v hat(a)  because a is the eigenvector of R:  S = (a; 0), constant
The angle is not wrapped: q counts turns.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind, angle_about
from dalembert.model.rotation import quat_about


class Revolute(VectorKind):
    """Hinge."""

    name = "revolute"
    nq, nv = 1, 1
    limitable = True
    q_names, q_units = ("angle",), ("rad",)
    v_names, v_units = ("rate",), ("rad/s",)

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return np.zeros((*q.shape[:-1], 3)), quat_about(axes.axis, q)

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 1))
        S[..., :3, 0] = axes.axis
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return angle_about(axes.axis, quaternion)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return (("revolute", axes.axis),)


KIND = Revolute()
