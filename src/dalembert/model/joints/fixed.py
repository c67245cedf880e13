"""`fixed`: no degree of freedom. q = (), v = (),  g = 1,  S has no columns: the child moves as a part of its parent."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.joints._base import Axes, Primitive, VectorKind


class Fixed(VectorKind):
    """Weld."""

    name = "fixed"
    nq, nv = 0, 0
    elastic = has_rest = False
    q_names, q_units = (), ()
    v_names, v_units = (), ()

    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        lead = q.shape[:-1]
        return np.zeros((*lead, 3)), np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*lead, 4))

    def subspace(self, q: Array, axes: Axes) -> Array:
        return np.zeros((*q.shape[:-1], 6, 0))

    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        return np.zeros((*position.shape[:-1], 0))

    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        return ()


KIND = Fixed()
