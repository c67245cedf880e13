"""`prismatic`: shift along an axis.

q = shift of the child relative to the parent along the unit axis a,  v = dq/dt
g = (q a, 1),  g^-1 g_dot = (0, v a):  S = (0; a), constant
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind


class Prismatic(VectorKind):
    """Slider."""

    name = "prismatic"
    nq, nv = 1, 1
    limitable = True
    q_names, q_units = ("shift",), ("m",)
    v_names, v_units = ("speed",), ("m/s",)

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return q * axes.axis, np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*q.shape[:-1], 4))

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 1))
        S[..., 3:, 0] = axes.axis
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return np.asarray(position @ axes.axis)[..., None]

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return (("prismatic", axes.axis),)


KIND = Prismatic()
