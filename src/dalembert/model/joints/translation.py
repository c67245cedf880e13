"""`translation`: shifts in all directions, no rotation; the joint of a particle to the world.

q = position of the body frame in the world: absolute, so the anchor and the axes of the joint play no part,  v = dq/dt, world axes
The joint frames have the axes of the child, in which e_x, e_y, e_z of the world are constant:
g = (x e_x + y e_y + z e_z, 1),  g^-1 g_dot = (0, v):  S = (0; e_x, e_y, e_z), constant
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind


def _world(axes: Axes) -> Array:
    """e_x, e_y, e_z, rows."""
    return np.stack([axes.axis, axes.axis2, np.cross(axes.axis, axes.axis2)])


class Translation(VectorKind):
    """A particle: an absolute position."""

    name = "translation"
    nq, nv = 3, 3
    absolute = True
    elastic = has_rest = False
    q_names, q_units = ("x", "y", "z"), ("m",) * 3
    v_names, v_units = ("vx", "vy", "vz"), ("m/s",) * 3

    def axes(self, axis: Array, axis2: Array | None) -> Axes:
        """Those of the world, whatever is given."""
        return Axes(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        return q @ _world(axes), np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*q.shape[:-1], 4))

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 3))
        S[..., 3:, :] = _world(axes).T
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return np.asarray(position @ _world(axes).T)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        x, y, z = _world(axes)
        return ("prismatic", x), ("prismatic", y), ("prismatic", z)


KIND = Translation()
