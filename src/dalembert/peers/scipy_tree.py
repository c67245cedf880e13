"""The equations of motion of a tree for SciPy: accelerations by `model.forward_dynamics`, configurations by their derivative.

    y = (q, v),    q_dot of a free joint (R v, quaternion * (0, omega)/2), of a spherical one quaternion * (0, omega)/2, of all others v

Quaternions are integrated as four numbers and never normalised in y.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.rotation import quat_mul, rotate


class TreeMotion:
    """Right-hand side for y = (q, v)."""

    def __init__(self, model: Model):
        self.model, self.nq = model, model.nq
        sq, sv = model.q_slices(), model.v_slices()
        self.slots = [(j.kind, sq[j.name], sv[j.name]) for j in model.joints if j.coordinates.nv]
        self.quaternions = [sq[j.name].start + slot for j in model.joints for slot in j.coordinates.quaternion_slots()]

    def start(self, q: Array, v: Array) -> Array:
        """y of q, v."""
        return np.concatenate([q, v])

    def nodes(self, y: Array) -> tuple[Array, Array]:
        """q, v of rows of y."""
        return y[:, : self.nq], y[:, self.nq :]

    def __call__(self, t: float, y: Array) -> Array:
        q, v = y[: self.nq].copy(), y[self.nq :]
        for at in self.quaternions:
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        return np.concatenate([self._rates(y[: self.nq], q, v), self.model.forward_dynamics(q, v)])

    def _rates(self, given: Array, q: Array, v: Array) -> Array:
        out = np.empty(self.nq)
        for kind, sq, sv in self.slots:
            rate = v[sv]
            if kind == "free":
                out[sq.start : sq.start + 3] = rotate(q[sq][3:], rate[3:])
                out[sq.start + 3 : sq.stop] = _turn(given[sq][3:], rate[:3])
            else:
                out[sq] = _turn(given[sq], rate) if kind == "spherical" else rate
        return out


def _turn(quaternion: Array, omega: Array) -> Array:
    return 0.5 * quat_mul(quaternion, np.concatenate([[0.0], omega]))
