"""`planar`: shifts in a plane and rotation about its normal.

q = (x, y, angle),  v = dq/dt
normal a = `axis`;  e_x = part of `axis2` across a (default: see `perpendicular`),  e_y = a x e_x;  both fixed in the parent
g = (x e_x + y e_y, R),  R = exp(angle hat(a))
omega = v_3 a;  in child axes the velocity of the origin is R^T (v_1 e_x + v_2 e_y):  S = (0, 0, a; R^T e_x, R^T e_y, 0)
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind, across, angle_about
from dalembert.model.rotation import quat_about, rotate


class Planar(VectorKind):
    """Puck on a table."""

    name = "planar"
    nq, nv = 3, 3
    second_axis = "optional"
    q_names, q_units = ("x", "y", "angle"), ("m", "m", "rad")
    v_names, v_units = ("vx", "vy", "rate"), ("m/s", "m/s", "rad/s")

    def axes(self, axis: Array, axis2: Array | None) -> Axes:
        given = super().axes(axis, axis2)
        return Axes(axis, across(axis, given.axis2))

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        shift = q[..., :1] * axes.axis2 + q[..., 1:2] * np.cross(axes.axis, axes.axis2)
        return shift, quat_about(axes.axis, q[..., 2:])

    def subspace(self, q: Array, axes: Axes) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 3))
        back = quat_about(axes.axis, -q[..., 2:])
        S[..., 3:, 0] = rotate(back, axes.axis2)
        S[..., 3:, 1] = rotate(back, np.cross(axes.axis, axes.axis2))
        S[..., :3, 2] = axes.axis
        return S

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        shifts = [position @ axes.axis2, position @ np.cross(axes.axis, axes.axis2)]
        return np.concatenate([np.stack(shifts, axis=-1), angle_about(axes.axis, quaternion)], axis=-1)

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return ("prismatic", axes.axis2), ("prismatic", np.cross(axes.axis, axes.axis2)), ("revolute", axes.axis)


KIND = Planar()
